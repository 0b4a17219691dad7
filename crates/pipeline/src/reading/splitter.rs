//! Opens a file and counts its pages.

use super::{SPLITTER, SharedReaders, received};
use crate::{
    borders::{OpenedFile, PageOfFile, page_children},
    stage::Stage,
};
use bindery_core::StepError;
use bindery_engine::{Extracted, Reusable, context::StepContext};
use bindery_reader::model::Metadata;
use serde::{Serialize, de::IgnoredAny};
use std::sync::Arc;

/// Takes a file apart into its pages: those of a PDF, an image, a presentation's slides, a workbook's sheets.
#[derive(Debug, Clone)]
pub(crate) struct FileSplitter {
    readers: Arc<SharedReaders>,
}

impl FileSplitter {
    pub(crate) fn new(readers: Arc<SharedReaders>) -> Self {
        Self { readers }
    }

    fn open(&self, context: &StepContext) -> Result<OpenedFile, StepError> {
        let (item, content) = received(context)?;
        self.readers.open_shared(context, content, item.label)
    }
}

/// What is said of a file that was taken apart.
#[derive(Debug, Serialize)]
pub(crate) struct SplitFile {
    #[serde(rename = "type")]
    file_type: String,
    pages: usize,
    metadata: Metadata,
    warnings: Vec<String>,
}

impl Stage for FileSplitter {
    const NAME: &'static str = SPLITTER;
    type Input = IgnoredAny;
    type Made = OpenedFile;
    type Output = SplitFile;

    fn reuse(&self) -> Option<&dyn Reusable> {
        Some(self)
    }

    /// Are there bytes, and are they of a type that can be read?
    fn validate(&self, context: &StepContext, _input: &IgnoredAny) -> Result<(), StepError> {
        self.open(context).map(drop)
    }

    fn process(&self, context: &StepContext, _input: IgnoredAny) -> Result<OpenedFile, StepError> {
        self.open(context)
    }

    fn extract(&self, _context: &StepContext, file: OpenedFile) -> Result<Extracted<SplitFile>, StepError> {
        let OpenedFile { content, name, file_type, pages, metadata, warnings } = file;
        // Whoever reads a page needs no more than its number and where the bytes of the file are.
        let children = page_children(pages, move |page| PageOfFile { page, content, name: name.clone() });
        Ok(Extracted::new(SplitFile { file_type, pages, metadata, warnings }).with_children(children))
    }
}
