//! Takes a text file apart into pages.

use super::{decode, missing, split};
use crate::settings;
use bindery_core::{StepError, item::ItemKind};
use bindery_engine::{Child, Children, Extracted, Processor, context::StepContext};
use serde_json::{Map, Value, json};

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

    /// Is it text, and not too much of it? Decodes it.
    fn validate(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        settings::whole(context, "lines_per_page", 60, 1..=1_000_000)?;
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
        let (text, encoding) = decode::decode(&bytes).map_err(|why| StepError::reject(why).named("NotText"))?;
        Ok(json!({"text": text, "encoding": encoding.as_str()}))
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        let lines_per_page = settings::whole(context, "lines_per_page", 60, 1..=1_000_000)?;
        let text = input["text"].as_str().ok_or_else(|| missing("text"))?;
        let pages = split::pages(text, usize::try_from(lines_per_page).unwrap_or(usize::MAX));
        Ok(json!({"pages": pages, "encoding": input["encoding"]}))
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        let pages = processed["pages"].as_array().ok_or_else(|| missing("pages"))?;
        let encoding = &processed["encoding"];
        let mut children = Vec::with_capacity(pages.len());
        for (index, page) in pages.iter().enumerate() {
            children.push(page_child(context, index + 1, page.as_str().unwrap_or_default(), encoding)?);
        }
        let output = json!({"pages": children.len(), "encoding": encoding});
        Ok(Extracted::new(output).with_children(Children::new(ItemKind::Page, children)))
    }
}

fn page_child(context: &StepContext, number: usize, text: &str, encoding: &Value) -> Result<Child, StepError> {
    let mut data = Map::new();
    data.insert("page".to_owned(), json!(number));
    data.insert("encoding".to_owned(), encoding.clone());
    let mut child = Child { label: Some(format!("page {number}")), ..Child::default() };
    if text.len() <= INLINE_BYTES {
        data.insert("text".to_owned(), json!(text));
    } else {
        child.content = Some(context.put_blob(text.as_bytes().to_vec())?.hash);
    }
    child.data = data;
    Ok(child)
}
