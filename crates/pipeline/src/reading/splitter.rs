//! Opens a file and counts its pages.

use super::{ReadingRoom, SPLITTER};
use bindery_core::{StepError, item::ItemKind};
use bindery_engine::{Child, Children, Extracted, Processor, context::StepContext};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Takes a file apart into its pages: those of a PDF, an image, a presentation's slides, a workbook's sheets.
#[derive(Debug, Clone)]
pub struct FileSplitter {
    room: Arc<ReadingRoom>,
}

impl FileSplitter {
    pub fn new(room: Arc<ReadingRoom>) -> Self {
        Self { room }
    }
}

impl Processor for FileSplitter {
    fn name(&self) -> &'static str {
        SPLITTER
    }

    /// Are there bytes, and are they of a type that can be read?
    fn validate(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        let item = context.item()?;
        let content = item.content.ok_or_else(|| {
            StepError::reject("the file has no bytes here: it is known from outside only").named("NoContent")
        })?;
        let file = self.room.open(context, content, item.label.as_deref())?;
        let about = file.about();
        Ok(json!({
            "content": content.to_string(), "name": item.label,
            "type": about.file_type.name(), "pages": about.page_count, "metadata": about.metadata,
            "warnings": about.warnings,
        }))
    }

    fn process(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
        match input["pages"].as_u64() {
            Some(0) => Err(StepError::reject("the file has no pages").named("NoPages")),
            _ => Ok(input),
        }
    }

    fn extract(&self, _context: &StepContext, mut processed: Value) -> Result<Extracted, StepError> {
        let pages = processed["pages"].as_u64().and_then(|pages| usize::try_from(pages).ok()).unwrap_or(0);
        // Whoever reads a page needs no more than its number and where the bytes of the file are.
        let file = [("content", processed["content"].take()), ("name", processed["name"].take())];
        let children = Children::generate(ItemKind::Page, pages, move |index| {
            let mut data = Map::from_iter([("page".to_owned(), json!(index + 1))]);
            data.extend(file.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
            Child { label: Some(format!("page {}", index + 1)), data, ..Child::default() }
        });
        if let Value::Object(output) = &mut processed {
            output.retain(|_, value| !value.is_null());
        }
        Ok(Extracted::new(processed).with_children(children))
    }
}
