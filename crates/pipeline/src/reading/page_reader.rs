//! Reads one page.

use super::{
    PAGE_READER, SharedReaders,
    isolated::PageFacts,
    open_files::{SharedFile, refusal},
};
use crate::{
    borders::{PageOfFile, PageText},
    stage::Stage,
};
use bindery_core::StepError;
use bindery_engine::{Extracted, Reusable, context::StepContext};
use bindery_reader::Page;
use bindery_store::blobs::Stored;
use std::sync::Arc;

/// Reads a page as the stage's settings say: `ocr` (auto, force, never), `ocr_engine` (auto, tesseract, ppocr), `languages`, `dpi`.
#[derive(Debug, Clone)]
pub(crate) struct PageReader {
    readers: Arc<SharedReaders>,
}

impl PageReader {
    pub(crate) fn new(readers: Arc<SharedReaders>) -> Self {
        Self { readers }
    }

    /// Are the settings right?
    pub(crate) fn check(&self, context: &StepContext) -> Result<(), StepError> {
        self.readers.reader(context).map(drop)
    }

    pub(crate) fn read(&self, context: &StepContext, page: &PageOfFile) -> Result<Page, StepError> {
        let file = self.readers.open(context, page.content, page.name.as_deref())?;
        self.readers.reader(context)?.read_page(&*file, page.index()).map_err(|error| refusal(&error))
    }

    /// The same as JSON, with what people ask first: what comes from a child in that form goes to the store in it.
    fn read_json(&self, context: &StepContext, page: &PageOfFile) -> Result<(PageFacts, Vec<u8>), StepError> {
        let file = self.readers.open(context, page.content, page.name.as_deref())?;
        let reader = self.readers.reader(context)?;
        if let SharedFile::InChildren(file) = &file {
            return file.read_json(page.index(), reader.options()).map_err(|error| refusal(&error));
        }
        let page = reader.read_page(&*file, page.index()).map_err(|error| refusal(&error))?;
        Ok((PageFacts::from_page(&page), page_json(&page)?))
    }
}

impl Stage for PageReader {
    const NAME: &'static str = PAGE_READER;
    const EXPECTS: &'static str = "a page of a file, as file_splitter makes them";
    type Input = PageOfFile;
    type Made = PageText;
    type Output = PageText;

    fn reuse(&self) -> Option<&dyn Reusable> {
        Some(self)
    }

    /// Are the settings right?
    fn validate(&self, context: &StepContext, _page: &PageOfFile) -> Result<(), StepError> {
        self.check(context)
    }

    fn process(&self, context: &StepContext, page: PageOfFile) -> Result<PageText, StepError> {
        let (facts, page) = self.read_json(context, &page)?;
        let PageFacts { page: number, kind, read_by, reason, confidence, words, warnings, markdown } = facts;
        let content = context.keep_blob(page)?.hash;
        // With its Markdown, while the page is at hand: who binds the file would have to read every page again.
        let markdown = Some(markdown);
        Ok(PageText { page: number, kind, read_by, reason, confidence, words, warnings, content, markdown })
    }

    fn extract(&self, _context: &StepContext, page: PageText) -> Result<Extracted<PageText>, StepError> {
        let confidence = page.confidence.map_or(1.0, f64::from);
        Ok(Extracted::new(page).with_confidence(confidence))
    }
}

/// Keeps a page with the result of this step.
pub(crate) fn keep_page(context: &StepContext, page: &Page) -> Result<Stored, StepError> {
    context.keep_blob(page_json(page)?)
}

/// Straight to bytes: a page has hundreds of words, and a tree of values for each would cost more than reading it.
pub(crate) fn page_json(page: &Page) -> Result<Vec<u8>, StepError> {
    serde_json::to_vec(page).map_err(|error| StepError::bug(format!("the page cannot be written: {error}")))
}
