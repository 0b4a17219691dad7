//! A file that was opened: whatever its type, it is asked for its pages the same way.

use crate::{
    error::ReadResult,
    model::{About, Attachment, AttachmentName, FileType, Page, PageImage, Rect},
    options::ReadOptions,
    render::RenderedPage,
};
use std::{fmt, path::PathBuf, sync::Arc};

/// Where the bytes of a file are.
#[derive(Debug, Clone)]
pub enum Source {
    Bytes(Arc<Vec<u8>>),
    /// It is read by whoever opens it, and not before.
    Path(PathBuf),
}

/// Opens files elsewhere than in this process, so that what a file does to its parser ends there.
pub trait Opener: Send + Sync + fmt::Debug {
    /// Opens a file by what it holds. The name only tells kinds of text from each other.
    fn open(&self, source: Source, name: Option<&str>, options: &ReadOptions) -> ReadResult<Box<dyn OpenFile>>;

    /// The type of a file, without opening it.
    fn detect(&self, source: Source, name: Option<&str>, options: &ReadOptions) -> ReadResult<FileType>;
}

/// A file whose pages can be read, in any order and from several threads at once.
pub trait OpenFile: Send + Sync + fmt::Debug {
    /// What is known without reading a page.
    fn info(&self) -> &About;

    /// Reads a page as the file itself has it, without OCR; `index` counts from 0.
    fn page(&self, index: usize) -> ReadResult<Page>;

    /// Reads a page with OCR where it needs that, for files that are open in another process, which has an engine of its
    /// own. None: the caller asks for the page and its image, and reads it here.
    fn read(&self, index: usize, options: &ReadOptions) -> Option<ReadResult<Page>> {
        let _ = (index, options);
        None
    }

    /// The same as [`Self::read`], and written there in the forms of the options.
    fn render(&self, index: usize, options: &ReadOptions) -> Option<ReadResult<RenderedPage>> {
        let _ = (index, options);
        None
    }

    /// Whether all pages were read when it was opened, and cost nothing more.
    fn is_converted(&self) -> bool {
        false
    }

    /// What has to be known of the whole file before its first page is read, as text: other processes that open the same
    /// file need not find it out again.
    fn hints(&self) -> Option<String> {
        None
    }

    /// The pages that were taken apart to find that out, and cost little to be read now; they count from 0.
    fn at_hand(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Takes what another process has found out, unless it is known here. `null`: that could not be found out, and is not
    /// to be tried again.
    fn take_hints(&self, hints: &str) {
        let _ = hints;
    }

    /// A page as a file of its own, which shows it as this one does; None for files whose pages have no such form.
    fn page_file(&self, index: usize) -> ReadResult<Option<Vec<u8>>> {
        let _ = index;
        Ok(None)
    }

    /// Where pictures lie on a page, for those that hold text; empty if it is not known.
    fn pictures(&self, index: usize) -> ReadResult<Vec<Rect>> {
        let _ = index;
        Ok(Vec::new())
    }

    /// The page as it would be printed. None for files that have no pages to be printed, such as mails.
    fn image(&self, index: usize, dpi: f32) -> ReadResult<Option<PageImage>>;

    /// Files inside the file: attachments, embedded files, members of an archive.
    fn attachments(&self) -> ReadResult<Vec<Attachment>>;

    /// Their names alone, in the same order.
    fn attachment_names(&self) -> ReadResult<Vec<AttachmentName>> {
        let name = |Attachment { name, media_type, .. }| AttachmentName { name, media_type };
        Ok(self.attachments()?.into_iter().map(name).collect())
    }

    /// The bytes of one of them, so that not all are in memory twice; None if there is no such one.
    fn attachment(&self, index: usize) -> ReadResult<Option<Vec<u8>>> {
        Ok(self.attachments()?.into_iter().nth(index).map(|attachment| attachment.bytes))
    }
}
