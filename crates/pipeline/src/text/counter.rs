//! Counts the words of a page.

use super::{TextPage, decode::Encoding, words};
use crate::{settings, stage::Stage};
use bindery_core::StepError;
use bindery_engine::{Extracted, context::StepContext};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
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
pub(super) struct WordCounter;

/// The words of a page.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CountedPage {
    page: Option<u64>,
    encoding: Option<Encoding>,
    pub(super) words: u64,
    lines: usize,
    /// How often each is there.
    pub(super) index: BTreeMap<String, u64>,
    top: Vec<String>,
}

impl Stage for WordCounter {
    const NAME: &'static str = "word_counter";
    const EXPECTS: &'static str = "a page of a text, as text_splitter makes them";
    type Input = TextPage;
    type Made = CountedPage;
    type Output = CountedPage;

    /// Is there a text, with the page's row or in the blob store?
    fn validate(&self, context: &StepContext, page: &TextPage) -> Result<(), StepError> {
        delay_of(context)?;
        if page.text.is_none() { stored_text(context).map(drop) } else { Ok(()) }
    }

    fn process(&self, context: &StepContext, page: TextPage) -> Result<CountedPage, StepError> {
        delay(context, delay_of(context)?)?;
        let TextPage { page, encoding, text } = page;
        let text = text.map_or_else(|| stored_text(context), Ok)?;
        let counted = words::count(&text);
        let counts = counted.index.iter().map(|(word, count)| (word.as_str(), *count));
        let top = words::top(counts, TOP_WORDS).into_iter().map(|(word, _)| word.to_owned()).collect();
        let lines = text.lines().count();
        Ok(CountedPage { page, encoding, words: counted.words, lines, index: counted.index, top })
    }

    fn extract(&self, _context: &StepContext, page: CountedPage) -> Result<Extracted<CountedPage>, StepError> {
        let is_guessed = page.encoding == Some(Encoding::Windows1252);
        Ok(Extracted::new(page).with_confidence(if is_guessed { GUESSED } else { 1.0 }))
    }
}

fn delay_of(context: &StepContext) -> Result<Duration, StepError> {
    Ok(Duration::from_millis(settings::whole(context, "delay_ms", 0, 0..=600_000)?))
}

fn stored_text(context: &StepContext) -> Result<String, StepError> {
    let content = context.item()?.content.ok_or_else(|| {
        StepError::reject("the page has no text: the stage before should be text_splitter").named("NoText")
    })?;
    String::from_utf8(context.blob(content)?).map_err(|_| StepError::bug("the stored text of the page is not UTF-8"))
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
