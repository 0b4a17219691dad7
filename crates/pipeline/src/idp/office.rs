//! Files without printed pages: Office documents, mails, web pages, text.

use super::{
    COMBINER, OFFICE,
    border::{IdpFile, OfficePages},
    clean::clean,
    outward::{Bytes, Outward},
    places::Places,
    to_stage_of,
};
use crate::{
    reading::{SharedReaders, refusal},
    stage::Stage,
};
use bindery_core::StepError;
use bindery_engine::{Extracted, context::StepContext};
use bindery_reader::{combine::page_markdown, render};
use std::sync::Arc;

/// Converts a file to Markdown pages: a text is one, a presentation has one for each slide, a workbook for each sheet.
#[derive(Debug, Clone)]
pub(crate) struct OfficeExtractor {
    readers: Arc<SharedReaders>,
    places: Arc<Places>,
}

impl OfficeExtractor {
    pub(crate) fn new(readers: Arc<SharedReaders>, places: Arc<Places>) -> Self {
        Self { readers, places }
    }
}

impl Stage for OfficeExtractor {
    const NAME: &'static str = OFFICE;
    const EXPECTS: &'static str = "a file that idp_file_classifier has opened";
    type Input = IdpFile;
    type Made = OfficePages;
    type Output = OfficePages;

    fn process(&self, context: &StepContext, received: IdpFile) -> Result<OfficePages, StepError> {
        let outward = Outward::from_context(context, &self.places)?;
        let file = self.readers.open(context, received.content, received.name.as_deref())?;
        let IdpFile { document, file_type, .. } = received;
        let (mut pages, mut words) = (Vec::new(), 0);
        for index in 0..file.info().page_count {
            if context.is_cancelled() {
                return Err(StepError::retry("the work was stopped"));
            }
            let page = file.page(index).map_err(|error| refusal(&error))?;
            words += render::text(&page).split_whitespace().count() as u64;
            let markdown = page_markdown(index + 1, &clean(&render::markdown(&page)));
            let key = outward.page("text_page", &document, index + 1, "md")?;
            pages.push(outward.keep(context, &key, Bytes::New(markdown.as_bytes()), "text/markdown")?.into());
        }
        Ok(OfficePages { document, file_type, words, pages })
    }

    fn extract(&self, context: &StepContext, converted: OfficePages) -> Result<Extracted<OfficePages>, StepError> {
        let artifacts = converted.pages.iter().map(|page| page.artifact("text/markdown")).collect();
        let target = Some(to_stage_of(context, COMBINER)?);
        Ok(Extracted { artifacts, target, ..Extracted::new(converted) })
    }
}
