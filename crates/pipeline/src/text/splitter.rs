//! Takes a text file apart into pages.

use super::{
    TextPage,
    decode::{self, Encoding},
    split::spans,
};
use crate::{
    borders::{FileData, data_of},
    reading::received,
    settings,
    stage::{Stage, fields_of},
};
use bindery_core::{StepError, item::ItemKind};
use bindery_engine::{Child, Children, Extracted, context::StepContext};
use serde::{Serialize, de::IgnoredAny};
use std::collections::HashMap;

/// The whole text is in memory while it is split.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Pages up to this many bytes travel with their rows; longer ones get a blob of their own.
const INLINE_BYTES: usize = 4 * 1024;

/// Splits a text into pages: at form feeds, or else every `lines_per_page` lines (settings; 60 unless said).
#[derive(Debug, Clone, Copy)]
pub(super) struct TextSplitter;

/// What is said of a text that was split.
#[derive(Debug, Serialize)]
pub(super) struct SplitText {
    pages: usize,
    encoding: Encoding,
}

impl Stage for TextSplitter {
    const NAME: &'static str = "text_splitter";
    /// 2: the text stays in the blob store between the steps.
    const VERSION: u32 = 2;
    type Input = IgnoredAny;
    type Made = u64;
    type Output = SplitText;

    /// Is it text, and not too much of it?
    fn validate(&self, context: &StepContext, _input: &IgnoredAny) -> Result<(), StepError> {
        lines_per_page(context)?;
        text(context).map(drop)
    }

    fn process(&self, context: &StepContext, _input: IgnoredAny) -> Result<u64, StepError> {
        lines_per_page(context)
    }

    /// The pages are made one by one when they are stored: a file may have a million of them, so the text is held once,
    /// with the places where its pages are.
    fn extract(&self, context: &StepContext, lines_per_page: u64) -> Result<Extracted<SplitText>, StepError> {
        let (text, encoding) = text(context)?;
        let spans = spans(&text, usize::try_from(lines_per_page).unwrap_or(usize::MAX));
        let mut long = HashMap::new();
        for (index, span) in spans.iter().enumerate().filter(|(_, span)| span.len() > INLINE_BYTES) {
            long.insert(index, context.put_blob(text[span.clone()].as_bytes().to_vec())?.hash);
        }
        let pages = spans.len();
        let child = move |index: usize| {
            let content = long.get(&index).copied();
            let text = spans.get(index).and_then(|span| text.get(span.clone())).filter(|_| content.is_none());
            let number = index + 1;
            let page = TextPage { page: Some(number as u64), encoding: Some(encoding), text: text.map(str::to_owned) };
            Child { label: Some(format!("page {number}")), content, data: fields_of(&page), ..Child::default() }
        };
        let children = Children::generate(ItemKind::Page, pages, child);
        Ok(Extracted::new(SplitText { pages, encoding }).with_children(children))
    }
}

fn lines_per_page(context: &StepContext) -> Result<u64, StepError> {
    settings::whole(context, "lines_per_page", 60, 1..=1_000_000)
}

/// The text of the file, and the encoding that it was in.
fn text(context: &StepContext) -> Result<(String, Encoding), StepError> {
    let (item, content) = received(context)?;
    let size = data_of::<FileData>(&item).size.unwrap_or(0);
    if size > MAX_BYTES {
        let message = format!("the file has {size} bytes, at most {MAX_BYTES} are read as text");
        return Err(StepError::reject(message).named("TooLarge"));
    }
    decode::decode(context.blob(content)?).map_err(|why| StepError::reject(why).named("NotText"))
}
