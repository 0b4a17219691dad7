//! Reading in child processes, so that a file which makes its parser swell, hang or crash ends a child and nothing else.
//!
//! ```text
//!  parent                                                 child
//!  IsolatedFile ── open, page, image, attachments ──────► FileService ──► bindery_reader
//!    │               one request, one answer, under       keeps a few files open for the next request
//!    │               limits of memory and time
//!    └── what is known without another request: all pages of a file that is converted as a whole, and those of a
//!        short one once the first of them was asked for
//! ```
//!
//! | module | what it owns |
//! |---|---|
//! | `protocol` | requests and answers as bytes: a head in JSON, large contents behind it as they are |
//! | `service` | the child's side |
//! | `opened` | what the parent keeps of a file |
//! | `file` | the parent's side: an [`OpenFile`](bindery_reader::OpenFile) whose bytes are parsed elsewhere |
//!
//! A file that needs too much fails with one sentence; the request is tried again only where the child had worked on
//! others before, whose remains may be the reason.

mod file;
mod opened;
mod protocol;
mod service;

pub use file::IsolatedReader;
pub(crate) use file::{IsolatedFile, Opening};
pub(crate) use opened::Opened;
pub(crate) use protocol::PageFacts;
pub use service::FileService;
