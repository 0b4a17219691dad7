//! Reads one page.

use super::pages::with;
use crate::reading::{PageReader, ReadingRoom, keep_page};
use bindery_core::StepError;
use bindery_engine::{Extracted, Processor, context::StepContext};
use bindery_reader::render;
use serde_json::{Value, json};
use std::sync::Arc;

/// Reads a page as the stage's settings say: `ocr` (auto, force, never), `languages`, `dpi`. The message goes on with
/// `ocr_text`, `ocr_confidence` and how it was read.
#[derive(Debug, Clone)]
pub struct Ocr {
    reader: PageReader,
}

impl Ocr {
    pub fn new(room: Arc<ReadingRoom>) -> Self {
        Self { reader: PageReader::new(room) }
    }
}

impl Processor for Ocr {
    fn name(&self) -> &'static str {
        "ocr"
    }

    /// Is it a page of a file that has bytes, and are the settings right?
    fn validate(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        self.reader.validate(context, asked(&input))?;
        Ok(input)
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        let page = self.reader.read(context, &asked(&input))?;
        let stored = keep_page(context, &page)?;
        Ok(with(
            input,
            json!({
                "ocr_text": render::text(&page).trim_end(), "ocr_confidence": page.confidence.unwrap_or(1.0),
                "read_by": page.read_by, "warnings": page.warnings, "page_content": stored.hash.to_string(),
            }),
        ))
    }

    fn extract(&self, _context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        let confidence = processed["ocr_confidence"].as_f64().unwrap_or(1.0);
        Ok(Extracted::new(processed).with_confidence(confidence))
    }
}

/// What the reader of pages is asked for.
fn asked(input: &Value) -> Value {
    json!({"page": input["page_number"], "content": input["file_content"], "name": input["original_filename"]})
}
