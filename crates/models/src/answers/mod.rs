//! What a model said, made into an answer or into faults that can be told to it.
//!
//! | module | what it owns |
//! |---|---|
//! | `schema` | the part of JSON Schema that we send and check |
//! | `text` | the JSON in what a model said, whole or broken off |
//! | `read` | all of it in order, the echoed item included |

mod read;
mod schema;
mod text;

pub(crate) use read::{Reading, WrongAnswer, read, with_echo};
pub use schema::{Schema, SchemaError};
