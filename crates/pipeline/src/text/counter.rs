//! Counts the words of a page.

use super::{missing, words};
use crate::settings;
use bindery_core::StepError;
use bindery_engine::{Extracted, Processor, context::StepContext};
use serde_json::{Value, json};
use std::{
    thread,
    time::{Duration, Instant},
};

/// How many of a page's words are listed as its most frequent.
const TOP_WORDS: usize = 5;

/// How sure a count is when the encoding of the text was only guessed.
const GUESSED: f64 = 0.6;

/// Counts a page's words and makes its small index. The settings know `delay_ms`, for trying things out: each page
/// takes that much longer.
#[derive(Debug, Clone, Copy)]
pub struct WordCounter;

impl Processor for WordCounter {
    fn name(&self) -> &'static str {
        "word_counter"
    }

    /// Finds the page's text, with its row or in the blob store.
    fn validate(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        settings::whole(context, "delay_ms", 0, 0..=600_000)?;
        if input["text"].is_string() {
            return Ok(input);
        }
        let hash = context.item()?.content.ok_or_else(|| {
            StepError::reject("the page has no text: the stage before should be text_splitter").named("NoText")
        })?;
        let text = String::from_utf8(context.blob(hash)?)
            .map_err(|_| StepError::bug("the stored text of the page is not UTF-8"))?;
        Ok(json!({"page": input["page"], "encoding": input["encoding"], "text": text}))
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        delay(context, Duration::from_millis(settings::whole(context, "delay_ms", 0, 0..=600_000)?))?;
        let text = input["text"].as_str().ok_or_else(|| missing("text"))?;
        let counted = words::count(text);
        Ok(json!({
            "page": input["page"], "encoding": input["encoding"],
            "words": counted.words, "lines": text.lines().count(), "index": counted.index,
        }))
    }

    fn extract(&self, _context: &StepContext, mut processed: Value) -> Result<Extracted, StepError> {
        let index = processed["index"].as_object().ok_or_else(|| missing("index"))?;
        let counts = index.iter().map(|(word, count)| (word.as_str(), count.as_u64().unwrap_or(0)));
        processed["top"] = words::top(counts, TOP_WORDS).into_iter().map(|(word, _)| word).collect();
        let guessed = processed["encoding"] == "windows-1252";
        Ok(Extracted::new(processed).with_confidence(if guessed { GUESSED } else { 1.0 }))
    }
}

/// Waits, and looks now and then whether it still should.
fn delay(context: &StepContext, length: Duration) -> Result<(), StepError> {
    let until = Instant::now() + length;
    while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
        if context.is_cancelled() {
            return Err(StepError::retry("stopped while waiting").named("Stopped"));
        }
        thread::sleep(left.min(Duration::from_millis(50)));
    }
    Ok(())
}
