//! The whole way from a file's bytes to its pages, with OCR where a page needs it.
//!
//! | module | what it owns |
//! |---|---|
//! | `lanes` | how much is read at once, over all files that are read side by side |
//! | `open` | which opener a type of file has |
//! | `page` | whether a page is read by OCR, and how the words join what the page has |
//! | `pictures` | the pictures of a page that has text as well, cut out for OCR |
//! | `parallel` | pages of a file over several threads, given out in order |

mod lanes;
mod open;
mod page;
mod parallel;
mod pictures;

use crate::{
    error::ReadResult,
    file::OpenFile,
    image::raster,
    model::{Page, PageImage},
    ocr::OcrEngine,
    options::ReadOptions,
};
use std::sync::Arc;

pub use lanes::{Lane, Lanes};
pub use parallel::ReadPage;

/// Reads files as its options say. One serves any number of files and threads.
#[derive(Debug, Clone)]
pub struct Reader {
    options: ReadOptions,
    engine: Option<Arc<dyn OcrEngine>>,
}

impl Reader {
    /// Without an engine, a page that needs OCR is an error that says so.
    pub fn new(options: ReadOptions, engine: Option<Arc<dyn OcrEngine>>) -> Self {
        Self { options, engine }
    }

    pub fn options(&self) -> &ReadOptions {
        &self.options
    }

    /// Opens a file by what it holds. The name only tells kinds of text from each other.
    pub fn open(&self, bytes: Vec<u8>, name: Option<&str>) -> ReadResult<Box<dyn OpenFile>> {
        open::open(bytes, name, &self.options)
    }

    /// Reads a page, with OCR if it needs it and it is allowed; `index` counts from 0.
    pub fn read_page(&self, file: &dyn OpenFile, index: usize) -> ReadResult<Page> {
        page::read(file, index, &self.options, self.engine.as_deref())
    }

    /// Reads pages with a thread for each lane and gives them out in order; see [`parallel`](self).
    pub fn read_pages(
        &self,
        file: &dyn OpenFile,
        indexes: std::ops::Range<usize>,
        lanes: &Lanes,
        deliver: impl FnMut(ReadPage) -> std::ops::ControlFlow<()>,
    ) {
        parallel::read_pages(self, file, indexes, lanes, deliver);
    }

    /// The picture in which a page's boxes lie: as the file prints it, and turned as OCR found it to be upright.
    pub fn picture_of(&self, file: &dyn OpenFile, page: &Page, dpi: f32) -> ReadResult<Option<PageImage>> {
        let index = page.number.saturating_sub(1);
        let Some(image) = file.image(index, dpi)? else { return Ok(None) };
        let as_stored = file.page(index)?.rotation;
        Ok(Some(raster::turned(&image, (page.rotation + 360 - as_stored % 360) % 360)))
    }
}
