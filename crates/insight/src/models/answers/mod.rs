//! What a model said, made into an answer or into faults that can be told to it.
//!
//! | module | what it owns |
//! |---|---|
//! | `schema` | the part of JSON Schema that we send and check |
//! | `text` | the JSON in what a model said, whole or broken off |
//! | `read` | all of it in order, the echoed item included |
//! | [`numbers`] | the numbers of a summary, looked up in its source |
//! | `subject` | whether a summary speaks of what its title names |

pub mod numbers;
mod read;
mod schema;
mod subject;
mod text;

pub use read::{Reading, WrongAnswer, echoed_item, read, with_echo};
pub use schema::{Schema, SchemaError};
pub use subject::{shared_stems, speaks_of, telling_stems};
