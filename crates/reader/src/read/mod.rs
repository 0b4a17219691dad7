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
    detect::detect,
    error::{ReadError, ReadResult},
    file::{OpenFile, Opener, Source},
    image::raster,
    model::{FileType, Page, PageImage},
    ocr::OcrEngine,
    options::ReadOptions,
    render::RenderedPage,
};
use std::{fs, io::Read as _, path::Path, sync::Arc};

pub use lanes::{Lane, Lanes};
pub use parallel::ReadPage;

/// Reads files as its options say. One serves any number of files and threads.
#[derive(Debug, Clone)]
pub struct Reader {
    options: ReadOptions,
    engine: Option<Arc<dyn OcrEngine>>,
    opener: Option<Arc<dyn Opener>>,
}

impl Reader {
    /// Without an engine, a page that needs OCR is an error that says so.
    pub fn new(options: ReadOptions, engine: Option<Arc<dyn OcrEngine>>) -> Self {
        Self { options, engine, opener: None }
    }

    /// Opens files elsewhere, and reads them there.
    #[must_use]
    pub fn with_opener(mut self, opener: Arc<dyn Opener>) -> Self {
        self.opener = Some(opener);
        self
    }

    pub fn options(&self) -> &ReadOptions {
        &self.options
    }

    /// Opens a file by what it holds. The name only tells kinds of text from each other.
    pub fn open(&self, bytes: Vec<u8>, name: Option<&str>) -> ReadResult<Box<dyn OpenFile>> {
        self.open_source(Source::Bytes(Arc::new(bytes)), name)
    }

    /// The same, wherever its bytes are. A file of this machine is read only where it is opened.
    pub fn open_source(&self, source: Source, name: Option<&str>) -> ReadResult<Box<dyn OpenFile>> {
        match &self.opener {
            Some(opener) => opener.open(source, name, &self.options),
            None => open::open(self.bytes(source)?, name, &self.options),
        }
    }

    /// The type of a file, by what it holds.
    pub fn detect(&self, source: Source, name: Option<&str>) -> ReadResult<FileType> {
        match &self.opener {
            Some(opener) => opener.detect(source, name, &self.options),
            None => detect(&self.bytes(source)?, name),
        }
    }

    fn bytes(&self, source: Source) -> ReadResult<Vec<u8>> {
        match source {
            Source::Bytes(bytes) => Ok(Arc::unwrap_or_clone(bytes)),
            Source::Path(path) => read_file(&path, &self.options),
        }
    }

    /// Reads a page, with OCR if it needs it and it is allowed; `index` counts from 0.
    pub fn read_page(&self, file: &dyn OpenFile, index: usize) -> ReadResult<Page> {
        if self.engine.as_ref().is_some_and(|engine| engine.is_everywhere())
            && let Some(read) = file.read(index, &self.options)
        {
            return read;
        }
        page::read(file, index, &self.options, self.engine.as_deref())
    }

    /// Reads a page and writes it in the forms of the options.
    fn render_page(&self, file: &dyn OpenFile, index: usize) -> ReadResult<RenderedPage> {
        if self.engine.as_ref().is_some_and(|engine| engine.is_everywhere())
            && let Some(rendered) = file.render(index, &self.options)
        {
            return rendered;
        }
        let page = page::read(file, index, &self.options, self.engine.as_deref())?;
        Ok(RenderedPage::new(&page, &self.options.forms))
    }

    /// Reads pages with a thread for each lane and gives them out in order; see [`parallel`](self).
    pub fn read_pages(
        &self,
        file: &dyn OpenFile,
        indexes: std::ops::Range<usize>,
        lanes: &Lanes,
        deliver: impl FnMut(ReadPage) -> std::ops::ControlFlow<()>,
    ) {
        let read = |index: usize| self.read_page(file, index);
        parallel::read_pages(&self.options.limits, indexes, lanes, read, |page| page, deliver);
    }

    /// The same for pages that are written in the forms of the options, each by the thread that has read it.
    pub fn render_pages(
        &self,
        file: &dyn OpenFile,
        indexes: std::ops::Range<usize>,
        lanes: &Lanes,
        deliver: impl FnMut(ReadPage<RenderedPage>) -> std::ops::ControlFlow<()>,
    ) {
        let read = |index: usize| self.render_page(file, index);
        let empty = |page: Page| RenderedPage::new(&page, &self.options.forms);
        parallel::read_pages(&self.options.limits, indexes, lanes, read, empty, deliver);
    }

    /// The picture in which a page's boxes lie: as the file prints it, and turned as OCR found it to be upright.
    pub fn picture_of(&self, file: &dyn OpenFile, page: &Page, dpi: f32) -> ReadResult<Option<PageImage>> {
        let index = page.number.saturating_sub(1);
        let Some(image) = file.image(index, dpi)? else { return Ok(None) };
        let as_stored = file.page(index)?.rotation;
        Ok(Some(raster::turned(&image, (page.rotation + 360 - as_stored % 360) % 360)))
    }
}

/// The bytes of a file that is not larger than the limit: a larger one is not read at all.
pub fn read_file(path: &Path, options: &ReadOptions) -> ReadResult<Vec<u8>> {
    let unreadable = |error: std::io::Error| ReadError::Unreadable { what: error.to_string() };
    let limits = &options.limits;
    let file = fs::File::open(path).map_err(unreadable)?;
    let size = file.metadata().map_err(unreadable)?.len();
    // What has no size, such as a pipe, is read up to the limit.
    if size > 0 {
        limits.check_file(size)?;
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(limits.file_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
    limits.check_file(bytes.len() as u64)?;
    Ok(bytes)
}
