//! Files as Bindery writes them, for every crate that writes one: the store, the reader, the councils' mails, the command
//! line. It is a crate of its own because the core does no I/O and none of those may use another.
//!
//! | module | what it owns |
//! |---|---|
//! | `whole_file` | the atomic file writer: a file appears when it is complete; links are followed, devices and pipes stay |
//! | [`private`] | folders and files that only their owner can read |

pub mod private;
mod whole_file;

pub use whole_file::{WholeFile, write};
