//! A whole file in, Markdown out, read on this machine.

use super::{
    MARKITDOWN,
    parsed::{About, Parsed, ParsedFile},
};
use crate::{
    borders::BoundPages,
    reading::{SharedReaders, received, refusal},
    stage::Stage,
};
use bindery_core::{StepError, error::ErrorClass};
use bindery_engine::{Extracted, context::StepContext};
use bindery_reader::{BlockKind, Page, model::ReadBy, render};
use serde::de::IgnoredAny;
use std::sync::Arc;

/// Reads a file as the stage's settings say: `ocr` (auto, force, never), `languages`, `dpi`. A page that cannot be read
/// is a stated gap; a file of which no page can be read has failed.
#[derive(Debug, Clone)]
pub(super) struct MarkItDown {
    readers: Arc<SharedReaders>,
}

impl MarkItDown {
    pub(super) fn new(readers: Arc<SharedReaders>) -> Self {
        Self { readers }
    }
}

impl Stage for MarkItDown {
    const NAME: &'static str = MARKITDOWN;
    type Input = IgnoredAny;
    type Made = Parsed;
    type Output = ParsedFile;

    /// Are there bytes of a type that can be read, and are the settings right?
    fn validate(&self, context: &StepContext, _input: &IgnoredAny) -> Result<(), StepError> {
        self.readers.reader(context)?;
        let (item, content) = received(context)?;
        self.readers.open_shared(context, content, item.label).map(drop)
    }

    fn process(&self, context: &StepContext, _input: IgnoredAny) -> Result<Parsed, StepError> {
        let reader = self.readers.reader(context)?;
        let (item, content) = received(context)?;
        let opened = self.readers.open_shared(context, content, item.label.clone())?;
        let file = self.readers.open(context, content, item.label.as_deref())?;
        let (mut bound, mut tables) = (BoundPages::default(), 0);
        for index in 0..file.info().page_count {
            if context.is_cancelled() {
                let message = format!("this work was cancelled while page {} was read", index + 1);
                return Err(StepError::retry(message).named("Cancelled"));
            }
            match reader.read_page(&*file, index).map_err(|error| refusal(&error)) {
                Ok(page) => {
                    bound.by_ocr += u64::from(page.read_by == ReadBy::Ocr);
                    tables += tables_of(&page);
                    bound.page(index + 1, &render::markdown(&page));
                }
                // What is wrong with one page is not wrong with the next; what this machine lacks can be installed.
                Err(error) if error.class() == ErrorClass::Reject => bound.gap(index + 1, error.message),
                Err(error) => return Err(error),
            }
        }
        if bound.missing.len() == bound.pages.len()
            && let Some(first) = bound.missing.first()
        {
            let message = format!("no page could be read; the first: {}", first.reason);
            return Err(StepError::reject(message).named("NothingRead"));
        }
        let markdown = bound.markdown();
        let BoundPages { by_ocr, missing, .. } = bound;
        let about = About {
            file_type: opened.file_type,
            pages: Some(opened.pages),
            metadata: Some(opened.metadata),
            warnings: Some(opened.warnings),
            by_ocr: Some(by_ocr),
            tables: Some(tables),
            missing: Some(missing),
            ..About::default()
        };
        Parsed::keep(context, &markdown, about, None)
    }

    fn extract(&self, context: &StepContext, parsed: Parsed) -> Result<Extracted<ParsedFile>, StepError> {
        parsed.finish(context, MARKITDOWN)
    }
}

fn tables_of(page: &Page) -> usize {
    page.blocks.iter().filter(|block| matches!(block.kind, BlockKind::Table { .. })).count()
}
