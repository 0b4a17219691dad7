//! Whether a page has text of its own.

use super::{
    OCR, PAGE_KIND, TEXT,
    outward::{Bytes, Outward},
    places::Places,
    switched_on, to_stage_of,
};
use crate::reading::{ReadingRoom, content_of, refused};
use bindery_core::StepError;
use bindery_engine::{Extracted, Processor, context::StepContext};
use bindery_reader::model::PageKind;
use serde_json::{Value, json};
use std::sync::Arc;

/// Sends a page to where its text is extracted, or to OCR: scans, and pages with pictures that may hold more text. With
/// the setting `force_ocr` every page goes to OCR.
#[derive(Debug, Clone)]
pub struct PageKindClassifier {
    room: Arc<ReadingRoom>,
    places: Arc<Places>,
}

impl PageKindClassifier {
    pub fn new(room: Arc<ReadingRoom>, places: Arc<Places>) -> Self {
        Self { room, places }
    }
}

impl Processor for PageKindClassifier {
    fn name(&self) -> &'static str {
        PAGE_KIND
    }

    /// Is it a page of a file that was taken apart?
    fn validate(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        switched_on(context, "force_ocr")?;
        if input["page"].as_u64().is_none_or(|page| page == 0) || content_of(&input).is_none() {
            let message = format!("this is no page of a file: the stage before should be {}", super::SPLITTER);
            return Err(StepError::reject(message).named("NoPage"));
        }
        if let Some(error) = input["file"]["error"].as_str() {
            return Err(StepError::reject(error).named("Damaged"));
        }
        Ok(input)
    }

    fn process(&self, context: &StepContext, mut input: Value) -> Result<Value, StepError> {
        let content = content_of(&input).ok_or_else(|| StepError::bug("the step before left no file"))?;
        let index = input["page"].as_u64().and_then(|page| usize::try_from(page).ok()).unwrap_or(1).saturating_sub(1);
        let file = self.room.open(context, content, input["name"].as_str())?;
        let page = file.page(index).map_err(|error| refused(&error))?;
        let force = switched_on(context, "force_ocr")?;
        let needs_ocr = force || matches!(page.kind, PageKind::Scan | PageKind::Mixed);
        input["kind"] = json!(page.kind);
        input["ocr"] = json!(needs_ocr);
        input["reason"] = if force { json!("OCR is asked for on every page") } else { json!(page.reason) };
        if !needs_ocr {
            // What was read to tell it is kept: the stage behind need not read it again.
            let bytes = serde_json::to_vec(&page)
                .map_err(|error| StepError::bug(format!("the page cannot be written: {error}")))?;
            input["read"] = json!(context.put_blob(bytes)?.hash);
        }
        Ok(input)
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        let needs_ocr = processed["ocr"] == true;
        let (kind, next) = if needs_ocr { ("scan_page", OCR) } else { ("text_page", TEXT) };
        let text = |name: &str| processed[name].as_str().unwrap_or_default();
        let outward = Outward::of(context, &self.places)?;
        let key = outward.page(kind, text("document"), processed["page"].as_u64().unwrap_or(0), text("ending"))?;
        let file = content_of(&processed["file"]).ok_or_else(|| StepError::bug("the page has no file"))?;
        let bytes = Bytes::Known(file, processed["file"]["size"].as_u64().unwrap_or(0));
        let artifact = outward.keep(context, &key, bytes, text("media_type"))?;
        let target = to_stage_of(context, next)?;
        let mut extracted = Extracted::new(processed);
        extracted.label = Some(if needs_ocr { "scan" } else { "text" }.to_owned());
        extracted.artifacts.push(artifact);
        extracted.target = Some(target);
        Ok(extracted)
    }
}
