//! What was read of one page, under the keys of its document.

use super::{
    COMBINER, TEXT,
    clean::clean,
    outward::{Bytes, Outward},
    places::Places,
    setting, switched_on, to_stage_of,
};
use crate::reading::stored_page;
use bindery_core::StepError;
use bindery_engine::{Extracted, Processor, context::StepContext};
use bindery_reader::{Page, combine::page_markdown, render};
use serde_json::{Value, json};
use std::sync::Arc;

/// How many pixels make an inch in the boxes of words, and in the pictures that OCR reads.
pub(super) const DPI: u64 = 300;

/// Extracts the text of a page that has its own. With the setting `hocr`, also its words with their boxes.
#[derive(Debug, Clone)]
pub struct TextExtractor {
    places: Arc<Places>,
}

impl TextExtractor {
    pub fn new(places: Arc<Places>) -> Self {
        Self { places }
    }
}

impl Processor for TextExtractor {
    fn name(&self) -> &'static str {
        TEXT
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        let page = stored_page(context, &json!({"content": input["read"]}))?;
        written(context, &self.places, &input, &page)
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        extracted(context, processed)
    }
}

/// Writes a page: its Markdown under its number and, where they are asked for, its words.
pub(super) fn written(context: &StepContext, places: &Places, input: &Value, page: &Page) -> Result<Value, StepError> {
    let outward = Outward::of(context, places)?;
    let document = input["document"].as_str().unwrap_or_default();
    let number = input["page"].as_u64().unwrap_or(0);
    let markdown = page_markdown(usize::try_from(number).unwrap_or(0), &clean(&render::markdown(page)));
    let key = outward.page("text_page", document, number, "md")?;
    let kept = outward.keep(context, &key, Bytes::New(markdown.as_bytes()), "text/markdown")?;
    let mut output = json!({
        "document": document, "page": number, "read_by": page.read_by, "reason": page.reason,
        "confidence": confidence(page), "words": page.words.len(), "warnings": page.warnings,
        "text": {"key": kept.key, "content": kept.hash, "size": kept.size},
    });
    if switched_on(context, "hocr")? {
        // Of the whole chain, so that the boxes of all pages are at one scale.
        let dpi = setting(context, "dpi").and_then(Value::as_u64).unwrap_or(DPI) as f32;
        let words = serde_json::to_vec(&render::page_words(page, dpi))
            .map_err(|error| StepError::bug(format!("the words cannot be written: {error}")))?;
        let key = outward.page("hocr", document, number, "json")?;
        let kept = outward.keep(context, &key, Bytes::New(&words), "application/json")?;
        output["hocr"] = json!({"key": kept.key, "content": kept.hash, "size": kept.size});
    }
    Ok(output)
}

/// The mean over the words, each counting once; the engine's own where it gives no words.
fn confidence(page: &Page) -> Option<f32> {
    let known: Vec<f32> = page.words.iter().filter_map(|word| word.confidence).collect();
    if known.is_empty() { page.confidence } else { Some(known.iter().sum::<f32>() / known.len() as f32) }
}

/// A page goes on to where its document is put together.
pub(super) fn extracted(context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
    let artifacts = [("text", "text/markdown"), ("hocr", "application/json")];
    let artifacts = artifacts.iter().filter_map(|(name, kind)| super::office::kept(&processed[*name], kind)).collect();
    let confidence = processed["confidence"].as_f64().unwrap_or(1.0);
    let target = to_stage_of(context, COMBINER)?;
    Ok(Extracted { artifacts, target: Some(target), ..Extracted::new(processed).with_confidence(confidence) })
}
