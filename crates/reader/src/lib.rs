//! Any file in; pages of text, words, boxes and tables out.
//!
//! ```text
//!  bytes ──detect──► type ──open──► OpenFile ──page(n)──► Page ──render──► Markdown, text, JSON, hOCR
//!                                       │                   ▲
//!                                       └──image(n)──► ocr ─┘   only where the page has no usable text
//! ```
//!
//! The type is told by the content, never by the name. A file is opened once and its pages are read one at a time, from
//! any number of threads, so that a file of thousands of pages costs no more memory than the pages in hand. Every page
//! says how it was read and why. Bad input is an error of one sentence; it never panics, and one bad page does not
//! spoil the others.
//!
//! | module | what it owns |
//! |---|---|
//! | [`model`] | what a file and a page are, once read |
//! | [`options`] | what a caller may choose, and the limits no file gets past |
//! | [`error`] | what can be wrong with a file |
//! | [`file`](mod@file) | the trait that every kind of file is opened as |

pub mod error;
pub mod file;
pub mod model;
pub mod options;

pub use error::ReadError;
pub use file::OpenFile;
pub use model::{About, Attachment, Block, BlockKind, Metadata, Page, Rect, Size, Table, Word};
pub use options::{Limits, OcrMode, ReadOptions};
