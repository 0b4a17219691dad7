//! Takes a text file apart into pages.

use super::{decode, missing, split::spans};
use crate::settings;
use bindery_core::{ContentHash, StepError, item::ItemKind};
use bindery_engine::{Child, Children, Extracted, Processor, context::StepContext};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The whole text is in memory while it is split.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Pages up to this many bytes travel with their rows; longer ones get a blob of their own.
const INLINE_BYTES: usize = 4 * 1024;

/// Splits a text into pages: at form feeds, or else every `lines_per_page` lines (settings; 60 unless said).
#[derive(Debug, Clone, Copy)]
pub struct TextSplitter;

impl Processor for TextSplitter {
    fn name(&self) -> &'static str {
        "text_splitter"
    }

    /// 2: the text stays in the blob store between the steps.
    fn version(&self) -> u32 {
        2
    }

    /// Is it text, and not too much of it?
    fn validate(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        settings::whole(context, "lines_per_page", 60, 1..=1_000_000)?;
        let (_, encoding) = text(context)?;
        Ok(json!({"encoding": encoding}))
    }

    fn process(&self, context: &StepContext, mut input: Value) -> Result<Value, StepError> {
        input["lines_per_page"] = json!(settings::whole(context, "lines_per_page", 60, 1..=1_000_000)?);
        Ok(input)
    }

    /// The pages are made one by one when they are stored: a file may have a million of them, so the text is held once,
    /// with the places where its pages are.
    fn extract(&self, context: &StepContext, mut processed: Value) -> Result<Extracted, StepError> {
        let encoding = processed["encoding"].take();
        let lines_per_page = processed["lines_per_page"].as_u64().ok_or_else(|| missing("lines_per_page"))?;
        let (text, _) = text(context)?;
        let spans = spans(&text, usize::try_from(lines_per_page).unwrap_or(usize::MAX));
        let mut long = HashMap::new();
        for (index, span) in spans.iter().enumerate().filter(|(_, span)| span.len() > INLINE_BYTES) {
            long.insert(index, context.put_blob(text[span.clone()].as_bytes().to_vec())?.hash);
        }
        let count = spans.len();
        let output = json!({"pages": count, "encoding": encoding});
        let child = move |index: usize| {
            let page = spans.get(index).and_then(|span| text.get(span.clone())).unwrap_or_default();
            page_child(index + 1, page, long.get(&index), &encoding)
        };
        Ok(Extracted::new(output).with_children(Children::generate(ItemKind::Page, count, child)))
    }
}

/// The text of the file, and the encoding that it was in.
fn text(context: &StepContext) -> Result<(String, &'static str), StepError> {
    let item = context.item()?;
    let hash = item.content.ok_or_else(|| {
        StepError::reject("the file has no bytes here: it is known from outside only").named("NoContent")
    })?;
    let described: Value = serde_json::from_str(&item.data).unwrap_or_default();
    let size = described["size"].as_u64().unwrap_or(0);
    if size > MAX_BYTES {
        let message = format!("the file has {size} bytes, at most {MAX_BYTES} are read as text");
        return Err(StepError::reject(message).named("TooLarge"));
    }
    let bytes = context.blob(hash)?;
    let (text, encoding) = decode::decode(bytes).map_err(|why| StepError::reject(why).named("NotText"))?;
    Ok((text, encoding.as_str()))
}

fn page_child(number: usize, text: &str, content: Option<&ContentHash>, encoding: &Value) -> Child {
    let mut data = Map::new();
    data.insert("page".to_owned(), json!(number));
    data.insert("encoding".to_owned(), encoding.clone());
    if content.is_none() {
        data.insert("text".to_owned(), json!(text));
    }
    Child { label: Some(format!("page {number}")), content: content.copied(), data, ..Child::default() }
}
