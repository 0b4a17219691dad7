//! Reads one page.

use super::{READER, ReadingRoom, SPLITTER, open_files::refused};
use bindery_core::{ContentHash, StepError};
use bindery_engine::{Extracted, Processor, context::StepContext};
use bindery_reader::{Page, render};
use bindery_store::blobs::Stored;
use serde_json::{Value, json};
use std::sync::Arc;

/// Reads a page as the stage's settings say: `ocr` (auto, force, never), `languages`, `dpi`.
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
        let number = input["page"].as_u64().and_then(|page| usize::try_from(page).ok()).unwrap_or(0);
        let content = content_of(input).ok_or_else(|| StepError::bug("the step before left no file"))?;
        let reader = self.room.reader(context)?;
        let file = self.room.open(context, content, input["name"].as_str())?;
        reader.read_page(&*file, number.saturating_sub(1)).map_err(|error| refused(&error))
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
        let page = self.read(context, &input)?;
        let stored = keep_page(context, &page)?;
        // Rendered here, where the page is at hand: who binds the file would have to read every page again.
        Ok(json!({
            "page": page.number, "kind": page.kind, "read_by": page.read_by, "reason": page.reason,
            "confidence": page.confidence, "words": render::text(&page).split_whitespace().count(),
            "warnings": page.warnings, "content": stored.hash.to_string(), "markdown": render::markdown(&page),
        }))
    }

    fn extract(&self, _context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        let confidence = processed["confidence"].as_f64().unwrap_or(1.0);
        Ok(Extracted::new(processed).with_confidence(confidence))
    }
}

/// Keeps a page with the result of this step.
pub(crate) fn keep_page(context: &StepContext, page: &Page) -> Result<Stored, StepError> {
    // Straight to bytes: a page has hundreds of words, and a tree of values for each would cost more than reading it.
    let bytes = serde_json::to_vec(page);
    context.keep_blob(bytes.map_err(|error| StepError::bug(format!("the page cannot be written: {error}")))?)
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
