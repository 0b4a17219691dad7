//! Files as Bindery writes them, for every crate that writes one: the store, the reader, the councils' mails, the command
//! line. It is a crate of its own because the core does no I/O and none of those may use another.
//!
//! | module | what it owns |
//! |---|---|
//! | `whole_file` | the atomic file writer: a file appears when it is complete; links are followed, devices and pipes stay |
//! | [`private`] | folders and files that only their owner can read |
//! | [`scratch`] | temporary folders that go with the process that made them, however it ends |

pub mod private;
pub mod scratch;
mod whole_file;

pub use scratch::ScratchFolder;
pub use whole_file::{WholeFile, write};
