//! Office files: Word, PowerPoint, Excel, OpenDocument and EPUB.
//!
//! Each is converted as a whole when it is opened. A Word or OpenDocument text is one page, because where its pages end
//! is decided by whoever prints it; a presentation has a page for each slide, a workbook one for each sheet, a book one
//! for each of its chapters.
//!
//! What was decided for all of them:
//!
//! - The text is the text as it stands now: what tracked changes inserted is shown, what they deleted is left out, and
//!   a warning says how much that was. Hidden text is left out; hidden slides and sheets are read, with a warning.
//! - Fields show their results, content controls and forms what was chosen or ticked.
//! - Headers and footers are given once each, footnotes and comments at the end of their page.
//! - Files that were embedded become attachments. Pictures do only where a file has no text at all, so that a scan that
//!   was pasted into a document can still be read.

pub mod docx;
pub mod epub;
pub mod odf;
pub mod pptx;
pub mod workbook;
pub mod xlsx;

mod attached;
mod collect;
mod drawing;
mod drawn_text;
mod encrypted;
mod flatten;
mod math;
mod order;
mod properties;
mod sheet;
mod sheet_extras;
mod xls_extras;
mod xls_formats;
mod xls_records;

pub(crate) use encrypted::decrypted;
