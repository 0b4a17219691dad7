//! Reading in child processes, so that a file which makes its parser swell, hang or crash ends a child and nothing else.
//!
//! ```text
//!  parent                                                 child
//!  IsolatedFile ── open, page, image, attachments ──────► FileService ──► bindery_reader
//!    │               one request, one answer, under       keeps a few files open for the next request
//!    │               limits of memory and time
//!    └── what opening has read already: all pages of a file that is converted as a whole
//! ```
//!
//! | module | what it owns |
//! |---|---|
//! | `protocol` | requests and answers as bytes: a head in JSON, large contents behind it as they are |
//! | `service` | the child's side |
//! | `file` | the parent's side: an [`OpenFile`](bindery_reader::OpenFile) whose bytes are parsed elsewhere |
//!
//! A file that needs too much fails with one sentence; the request is tried again only where the child had worked on
//! others before, whose remains may be the reason.

mod file;
mod protocol;
mod service;

pub use file::IsolatedReader;
pub(crate) use file::{IsolatedFile, Opened};
pub(crate) use protocol::PageFacts;
pub use service::FileService;
