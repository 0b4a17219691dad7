//! Whether a page has text of its own.

use super::{
    OCR, PAGE_KIND, TEXT,
    border::IdpPage,
    outward::{Bytes, Outward},
    places::Places,
    switched_on, to_stage_of,
};
use crate::{
    reading::{SharedReaders, page_json, refusal},
    stage::Stage,
};
use bindery_core::StepError;
use bindery_engine::{Extracted, context::StepContext};
use bindery_reader::model::PageKind;
use std::sync::Arc;

/// Sends a page to where its text is extracted, or to OCR: scans, and pages with pictures that may hold more text. With
/// the setting `force_ocr` every page goes to OCR.
#[derive(Debug, Clone)]
pub(crate) struct PageKindClassifier {
    readers: Arc<SharedReaders>,
    places: Arc<Places>,
}

impl PageKindClassifier {
    pub(crate) fn new(readers: Arc<SharedReaders>, places: Arc<Places>) -> Self {
        Self { readers, places }
    }
}

impl Stage for PageKindClassifier {
    const NAME: &'static str = PAGE_KIND;
    const EXPECTS: &'static str = "a page of a file, as idp_pdf_split makes them";
    type Input = IdpPage;
    type Made = IdpPage;
    type Output = IdpPage;

    /// Could it be taken out of its file?
    fn validate(&self, context: &StepContext, page: &IdpPage) -> Result<(), StepError> {
        switched_on(context, "force_ocr")?;
        page.file.error.as_ref().map_or(Ok(()), |error| Err(StepError::reject(error).named("Damaged")))
    }

    fn process(&self, context: &StepContext, mut page: IdpPage) -> Result<IdpPage, StepError> {
        let file = self.readers.open(context, page.content, page.name.as_deref())?;
        let read = file.page(page.index()).map_err(|error| refusal(&error))?;
        let force = switched_on(context, "force_ocr")?;
        let needs_ocr = force || matches!(read.kind, PageKind::Scan | PageKind::Mixed);
        page.kind = Some(read.kind);
        page.ocr = Some(needs_ocr);
        page.reason = Some(if force { "OCR is asked for on every page".to_owned() } else { read.reason.clone() });
        if !needs_ocr {
            // What was read to tell it is kept: the stage behind need not read it again.
            page.read = Some(context.put_blob(page_json(&read)?)?.hash);
        }
        Ok(page)
    }

    fn extract(&self, context: &StepContext, page: IdpPage) -> Result<Extracted<IdpPage>, StepError> {
        let needs_ocr = page.ocr == Some(true);
        let (kind, next, label) = if needs_ocr { ("scan_page", OCR, "scan") } else { ("text_page", TEXT, "text") };
        let outward = Outward::from_context(context, &self.places)?;
        let key = outward.page(kind, &page.document, page.page.get(), &page.ending)?;
        let file = page.file.kept.as_ref().ok_or_else(|| StepError::bug("the page has no file"))?;
        let artifact = outward.keep(context, &key, Bytes::Known(file.content, file.size), &page.media_type)?;
        let target = Some(to_stage_of(context, next)?);
        let label = Some(label.to_owned());
        Ok(Extracted { artifacts: vec![artifact], target, label, ..Extracted::new(page) })
    }
}
