//! A whole file in, Markdown out, read on this machine.

use super::{
    MARKITDOWN,
    parsed::{finished, kept, received},
};
use crate::reading::{ReadingRoom, refused};
use bindery_core::{StepError, error::ErrorClass};
use bindery_engine::{Extracted, Processor, context::StepContext};
use bindery_reader::{BlockKind, Page, combine::page_markdown, model::ReadBy, render};
use serde_json::{Value, json};
use std::sync::Arc;

/// Reads a file as the stage's settings say: `ocr` (auto, force, never), `languages`, `dpi`. A page that cannot be read
/// is a stated gap; a file of which no page can be read has failed.
#[derive(Debug, Clone)]
pub struct MarkItDown {
    room: Arc<ReadingRoom>,
}

impl MarkItDown {
    pub fn new(room: Arc<ReadingRoom>) -> Self {
        Self { room }
    }
}

impl Processor for MarkItDown {
    fn name(&self) -> &'static str {
        MARKITDOWN
    }

    /// Are there bytes of a type that can be read, and are the settings right?
    fn validate(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        self.room.reader(context)?;
        let (item, content) = received(context)?;
        let file = self.room.open(context, content, item.label.as_deref())?;
        let about = file.about();
        if about.page_count == 0 {
            return Err(StepError::reject("the file has no pages").named("NoPages"));
        }
        Ok(json!({
            "type": about.file_type.name(), "pages": about.page_count, "metadata": about.metadata,
            "warnings": about.warnings,
        }))
    }

    fn process(&self, context: &StepContext, mut about: Value) -> Result<Value, StepError> {
        let reader = self.room.reader(context)?;
        let (item, content) = received(context)?;
        let file = self.room.open(context, content, item.label.as_deref())?;
        let (mut markdown, mut missing) = (Vec::new(), Vec::new());
        let (mut by_ocr, mut tables) = (0_u64, 0);
        for index in 0..file.about().page_count {
            if context.is_cancelled() {
                let message = format!("this work was cancelled while page {} was read", index + 1);
                return Err(StepError::retry(message).named("Cancelled"));
            }
            let text = match reader.read_page(&*file, index).map_err(|error| refused(&error)) {
                Ok(page) => {
                    by_ocr += u64::from(page.read_by == ReadBy::Ocr);
                    tables += tables_of(&page);
                    render::markdown(&page)
                }
                // What is wrong with one page is not wrong with the next; what this machine lacks can be installed.
                Err(error) if error.class() == ErrorClass::Reject => {
                    missing.push(json!({"page": index + 1, "reason": error.message}));
                    format!("*This page could not be read: {error}*")
                }
                Err(error) => return Err(error),
            };
            markdown.push(page_markdown(index + 1, &text));
        }
        if missing.len() == markdown.len()
            && let Some(first) = missing.first()
        {
            let why = first["reason"].as_str().unwrap_or_default();
            return Err(StepError::reject(format!("no page could be read; the first: {why}")).named("NothingRead"));
        }
        about["by_ocr"] = json!(by_ocr);
        about["tables"] = json!(tables);
        about["missing"] = json!(missing);
        kept(context, &markdown.join("\n"), about)
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        finished(context, MARKITDOWN, processed)
    }
}

fn tables_of(page: &Page) -> usize {
    page.blocks.iter().filter(|block| matches!(block.kind, BlockKind::Table { .. })).count()
}
