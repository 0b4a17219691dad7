//! Reads one page.

use super::{ReadingRoom, content_of, open_files::refused};
use bindery_core::{ContentHash, Payload, StepError, item::Item};
use bindery_engine::{Extracted, Processor, context::StepContext};
use bindery_reader::{Page, render};
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::sync::Arc;

/// Reads a page as the stage's settings say: `ocr` (auto, force, never), `languages`, `dpi`.
#[derive(Debug, Clone)]
pub struct PageReader {
    name: &'static str,
    room: Arc<ReadingRoom>,
}

impl PageReader {
    pub fn new(name: &'static str, room: Arc<ReadingRoom>) -> Self {
        Self { name, room }
    }

    fn file_of(context: &StepContext) -> Result<Item, StepError> {
        let page = context.item()?;
        let file = page.parent.map(|parent| context.item_of(parent)).transpose()?;
        file.ok_or_else(|| StepError::bug("the page belongs to no file"))
    }
}

impl Processor for PageReader {
    fn name(&self) -> &str {
        self.name
    }

    /// Is it a page of a file that has bytes, and are the settings right?
    fn validate(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        self.room.reader(context)?;
        content_of(&Self::file_of(context)?)?;
        if input["page"].as_u64().is_none_or(|page| page == 0) {
            let message = "the page has no number: the stage before should take files apart into pages";
            return Err(StepError::reject(message).named("NoPage"));
        }
        Ok(json!({"page": input["page"]}))
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        let number = input["page"].as_u64().and_then(|page| usize::try_from(page).ok()).unwrap_or(0);
        let reader = self.room.reader(context)?;
        let file = self.room.open(context, &reader, &Self::file_of(context)?)?;
        let page = reader.read_page(&*file, number.saturating_sub(1)).map_err(|error| refused(&error))?;
        serde_json::to_value(&page).map_err(|error| StepError::bug(format!("the page cannot be written: {error}")))
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        let page: Page = page_of(&processed)?;
        let stored = context.put_json(&processed)?;
        let output = json!({
            "page": page.number, "kind": page.kind, "read_by": page.read_by, "reason": page.reason,
            "words": render::text(&page).split_whitespace().count(), "warnings": page.warnings,
            "content": stored.hash.to_string(),
        });
        Ok(Extracted::new(output).with_confidence(page.confidence.map_or(1.0, f64::from)))
    }
}

/// The page that a result of this processor tells of.
pub(super) fn stored_page(context: &StepContext, output: &Value) -> Result<Page, StepError> {
    let hash = output["content"].as_str().and_then(|hash| hash.parse().ok());
    let hash: ContentHash = hash.ok_or_else(|| StepError::bug("the result of a page names no content"))?;
    page_of(&context.read(&Payload::Blob(hash))?)
}

fn page_of(value: &Value) -> Result<Page, StepError> {
    Page::deserialize(value).map_err(|error| StepError::bug(format!("a stored page cannot be understood: {error}")))
}
