//! A file that was opened: whatever its type, it is asked for its pages the same way.

use crate::{
    error::ReadResult,
    model::{About, Attachment, Page, PageImage, Rect},
};
use std::fmt;

/// A file whose pages can be read, in any order and from several threads at once.
pub trait OpenFile: Send + Sync + fmt::Debug {
    /// What is known without reading a page.
    fn about(&self) -> &About;

    /// Reads a page as the file itself has it, without OCR; `index` counts from 0.
    fn page(&self, index: usize) -> ReadResult<Page>;

    /// Where pictures lie on a page, for those that hold text; empty if it is not known.
    fn pictures(&self, index: usize) -> ReadResult<Vec<Rect>> {
        let _ = index;
        Ok(Vec::new())
    }

    /// The page as it would be printed. None for files that have no pages to be printed, such as mails.
    fn image(&self, index: usize, dpi: f32) -> ReadResult<Option<PageImage>>;

    /// Files inside the file: attachments, embedded files, members of an archive.
    fn attachments(&self) -> ReadResult<Vec<Attachment>>;
}
