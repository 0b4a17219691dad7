//! Reads one page.

use super::message::{ReadPart, UnreadPage};
use crate::{
    borders::PageOfFile,
    reading::{PageReader, SharedReaders, keep_page},
    stage::{Carried, Stage},
};
use bindery_core::StepError;
use bindery_engine::{Extracted, context::StepContext};
use bindery_reader::render;
use std::sync::Arc;

/// Reads a page as `page_reader` does. The message goes on with `ocr_text`, `ocr_confidence` and how it was read.
#[derive(Debug, Clone)]
pub(super) struct Ocr {
    reader: PageReader,
}

impl Ocr {
    pub(super) fn new(readers: Arc<SharedReaders>) -> Self {
        Self { reader: PageReader::new(readers) }
    }
}

impl Stage for Ocr {
    const NAME: &'static str = "ocr";
    const EXPECTS: &'static str = "a page of a file, as splitter sends them";
    type Input = Carried<UnreadPage>;
    type Made = Carried<ReadPart>;
    type Output = Carried<ReadPart>;

    /// Are the settings right?
    fn validate(&self, context: &StepContext, _page: &Carried<UnreadPage>) -> Result<(), StepError> {
        self.reader.check(context)
    }

    fn process(&self, context: &StepContext, message: Carried<UnreadPage>) -> Result<Carried<ReadPart>, StepError> {
        let UnreadPage { page_number, file_content, original_filename } = &message.part;
        let asked = PageOfFile { page: *page_number, content: *file_content, name: original_filename.clone() };
        let page = self.reader.read(context, &asked)?;
        let page_content = keep_page(context, &page)?.hash;
        Ok(message.with(ReadPart {
            ocr_text: render::text(&page).trim_end().to_owned(),
            ocr_confidence: page.confidence.unwrap_or(1.0),
            read_by: page.read_by,
            warnings: page.warnings,
            page_content,
        }))
    }

    fn extract(&self, _context: &StepContext, read: Carried<ReadPart>) -> Result<Extracted<Self::Output>, StepError> {
        let confidence = f64::from(read.part.ocr_confidence);
        Ok(Extracted::new(read).with_confidence(confidence))
    }
}
