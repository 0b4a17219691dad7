//! Reads one page.

use super::{
    READER, ReadingRoom, SPLITTER,
    isolated::PageFacts,
    open_files::{SharedFile, refused},
};
use bindery_core::{ContentHash, StepError};
use bindery_engine::{Extracted, Processor, context::StepContext};
use bindery_reader::Page;
use bindery_store::blobs::Stored;
use serde_json::{Value, json};
use std::sync::Arc;

/// Reads a page as the stage's settings say: `ocr` (auto, force, never), `ocr_engine` (auto, tesseract, ppocr), `languages`, `dpi`.
#[derive(Debug, Clone)]
pub struct PageReader {
    room: Arc<ReadingRoom>,
}

impl PageReader {
    pub fn new(room: Arc<ReadingRoom>) -> Self {
        Self { room }
    }

    /// The page that the data of an item is about.
    pub(crate) fn read(&self, context: &StepContext, input: &Value) -> Result<Page, StepError> {
        let (file, index) = self.file(context, input)?;
        self.room.reader(context)?.read_page(&*file, index).map_err(|error| refused(&error))
    }

    /// The same as JSON, with what people ask first: what comes from a child in that form goes to the store in it.
    fn read_json(&self, context: &StepContext, input: &Value) -> Result<(PageFacts, Vec<u8>), StepError> {
        let (file, index) = self.file(context, input)?;
        let reader = self.room.reader(context)?;
        if let SharedFile::InChildren(file) = &file {
            return file.read_json(index, reader.options()).map_err(|error| refused(&error));
        }
        let page = reader.read_page(&*file, index).map_err(|error| refused(&error))?;
        Ok((PageFacts::of(&page), page_json(&page)?))
    }

    fn file(&self, context: &StepContext, input: &Value) -> Result<(SharedFile, usize), StepError> {
        let number = input["page"].as_u64().and_then(|page| usize::try_from(page).ok()).unwrap_or(0);
        let content = content_of(input).ok_or_else(|| StepError::bug("the step before left no file"))?;
        Ok((self.room.open(context, content, input["name"].as_str())?, number.saturating_sub(1)))
    }
}

impl Processor for PageReader {
    fn name(&self) -> &'static str {
        READER
    }

    /// Is it a page of a file that has bytes, and are the settings right?
    fn validate(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        self.room.reader(context)?;
        let numbered = input["page"].as_u64().is_some_and(|page| page > 0);
        if !numbered || content_of(&input).is_none() {
            let message = format!("this is no page of a file: the stage before should be {SPLITTER}");
            return Err(StepError::reject(message).named("NoPage"));
        }
        Ok(input)
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        // With its Markdown, while the page is at hand: who binds the file would have to read every page again.
        let (facts, page) = self.read_json(context, &input)?;
        let stored = context.keep_blob(page)?;
        Ok(json!({
            "page": facts.page, "kind": facts.kind, "read_by": facts.read_by, "reason": facts.reason,
            "confidence": facts.confidence, "words": facts.words, "warnings": facts.warnings,
            "content": stored.hash.to_string(), "markdown": facts.markdown,
        }))
    }

    fn extract(&self, _context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        let confidence = processed["confidence"].as_f64().unwrap_or(1.0);
        Ok(Extracted::new(processed).with_confidence(confidence))
    }
}

/// Keeps a page with the result of this step.
pub(crate) fn keep_page(context: &StepContext, page: &Page) -> Result<Stored, StepError> {
    context.keep_blob(page_json(page)?)
}

/// Straight to bytes: a page has hundreds of words, and a tree of values for each would cost more than reading it.
fn page_json(page: &Page) -> Result<Vec<u8>, StepError> {
    serde_json::to_vec(page).map_err(|error| StepError::bug(format!("the page cannot be written: {error}")))
}

/// The page that a result of this processor tells of.
pub(crate) fn stored_page(context: &StepContext, output: &Value) -> Result<Page, StepError> {
    let hash = content_of(output).ok_or_else(|| StepError::bug("the result of a page names no content"))?;
    serde_json::from_slice(&context.blob(hash)?)
        .map_err(|error| StepError::bug(format!("a stored page cannot be understood: {error}")))
}

/// The bytes that a page's data or result is about.
pub(crate) fn content_of(value: &Value) -> Option<ContentHash> {
    value["content"].as_str()?.parse().ok()
}
