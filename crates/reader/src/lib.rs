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
//! | [`image`] | image files, each picture a page |
//! | [`ocr`] | reading text from pictures of pages |
//! | [`split`] | a PDF as files of one page each |
//! | [`combine`] | pages put together to one document |
//! | [`overlay`] | what was read, drawn over the page |
//! | [`read`] | the whole way from bytes to pages, in parallel |
//! | [`detect`](mod@detect) | what a file is, by its content |
//! | [`archive`] | zip, tar and gzip as files of files |
//! | [`office`] | Word, PowerPoint, Excel, OpenDocument, EPUB |
//! | [`package`] | zip files of XML parts, unpacked within the limits |
//! | [`render`] | a page as Markdown or plain text |
//! | [`converted`] | a file that was converted as a whole when it was opened |
//! | [`legacy`] | RTF, and the Word and PowerPoint files of the nineties |
//! | [`mail`] | mails, as they are sent and as Outlook saves them |
//! | [`markup`] | HTML |
//! | [`plain`] | plain text, Markdown, CSV; which encoding bytes are in |
//! | [`pdf`] | PDF files: what their pages show |
//! | [`layout`] | from what a page shows to what a person reads |

pub mod archive;
pub mod combine;
pub mod converted;
pub mod detect;
pub mod error;
pub mod file;
mod heading_words;
pub mod image;
mod latex;
pub mod layout;
pub mod legacy;
pub mod mail;
pub mod markup;
pub mod model;
mod numerals;
pub mod ocr;
pub mod office;
pub mod options;
pub mod overlay;
pub mod package;
pub mod pdf;
pub mod plain;
pub mod read;
pub mod render;
pub mod split;

pub use converted::ConvertedFile;
pub use detect::detect;
pub use error::ReadError;
pub use file::{OpenFile, Opener, Source};
pub use model::{About, Attachment, Block, BlockKind, Metadata, Page, Rect, Size, Table, Word};
pub use options::{EngineChoice, Limits, OcrMode, ReadOptions};
pub use read::{Lanes, ReadPage, Reader, read_file};
