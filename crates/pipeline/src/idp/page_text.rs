//! What was read of one page, under the keys of its document.

use super::{
    COMBINER, TEXT,
    border::{IdpPage, IdpPageText},
    clean::clean,
    outward::{Bytes, Outward},
    places::Places,
    setting, switched_on, to_stage_of,
};
use crate::{borders::stored_page, stage::Stage};
use bindery_core::StepError;
use bindery_engine::{Extracted, context::StepContext};
use bindery_reader::{Page, combine::page_markdown, render};
use serde_json::Value;
use std::sync::Arc;

/// How many pixels make an inch in the boxes of words, and in the pictures that OCR reads.
pub(super) const DPI: u64 = 300;

/// Extracts the text of a page that has its own. With the setting `hocr`, also its words with their boxes.
#[derive(Debug, Clone)]
pub(crate) struct TextExtractor {
    places: Arc<Places>,
}

impl TextExtractor {
    pub(crate) fn new(places: Arc<Places>) -> Self {
        Self { places }
    }
}

impl Stage for TextExtractor {
    const NAME: &'static str = TEXT;
    const EXPECTS: &'static str = "a page that idp_page_classifier has looked at";
    type Input = IdpPage;
    type Made = IdpPageText;
    type Output = IdpPageText;

    fn process(&self, context: &StepContext, page: IdpPage) -> Result<IdpPageText, StepError> {
        let content = page.read.ok_or_else(|| StepError::bug("the page that was read is not kept"))?;
        let read = stored_page(context, content)?;
        written(context, &self.places, page, &read)
    }

    fn extract(&self, context: &StepContext, text: IdpPageText) -> Result<Extracted<IdpPageText>, StepError> {
        extracted(context, text)
    }
}

/// Writes a page: its Markdown under its number and, where they are asked for, its words.
pub(super) fn written(
    context: &StepContext,
    places: &Places,
    page: IdpPage,
    read: &Page,
) -> Result<IdpPageText, StepError> {
    let outward = Outward::from_context(context, places)?;
    let (document, number) = (page.document, page.page.get());
    let markdown = page_markdown(number, &clean(&render::markdown(read)));
    let key = outward.page("text_page", &document, number, "md")?;
    let text = outward.keep(context, &key, Bytes::New(markdown.as_bytes()), "text/markdown")?.into();
    let mut hocr = None;
    if switched_on(context, "hocr")? {
        // Of the whole chain, so that the boxes of all pages are at one scale.
        let dpi = setting(context, "dpi").and_then(Value::as_u64).unwrap_or(DPI) as f32;
        let words = serde_json::to_vec(&render::page_words(read, dpi))
            .map_err(|error| StepError::bug(format!("the words cannot be written: {error}")))?;
        let key = outward.page("hocr", &document, number, "json")?;
        hocr = Some(outward.keep(context, &key, Bytes::New(&words), "application/json")?.into());
    }
    Ok(IdpPageText {
        document,
        page: number,
        read_by: read.read_by,
        reason: read.reason.clone(),
        confidence: confidence(read),
        words: read.words.len() as u64,
        warnings: read.warnings.clone(),
        text,
        hocr,
    })
}

/// The mean over the words, each counting once; the engine's own where it gives no words.
fn confidence(page: &Page) -> Option<f32> {
    let known: Vec<f32> = page.words.iter().filter_map(|word| word.confidence).collect();
    if known.is_empty() { page.confidence } else { Some(known.iter().sum::<f32>() / known.len() as f32) }
}

/// A page goes on to where its document is put together.
pub(super) fn extracted(context: &StepContext, text: IdpPageText) -> Result<Extracted<IdpPageText>, StepError> {
    let mut artifacts = vec![text.text.artifact("text/markdown")];
    artifacts.extend(text.hocr.as_ref().map(|words| words.artifact("application/json")));
    let confidence = text.confidence.map_or(1.0, f64::from);
    let target = Some(to_stage_of(context, COMBINER)?);
    Ok(Extracted { artifacts, target, ..Extracted::new(text).with_confidence(confidence) })
}
