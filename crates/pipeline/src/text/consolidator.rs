//! Binds the counted pages of a submission into one result.

use super::{
    TextSplitter, WordCounter,
    counter::CountedPage,
    word_index::{Places, WordIndex},
    words,
};
use crate::{
    borders::{Failed, output_of},
    consolidate::Gather,
    intake::{self, Duplicate},
    results::{KeptResult, name_of, none_read, reason, runs_any, stage_of},
    stage::Stage as _,
};
use bindery_core::{
    ItemId, StepError,
    item::{Item, ItemKind},
    outcome::{Outcome, OutcomeStatus},
};
use bindery_engine::{Extracted, context::StepContext, workflow};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;

const TOP_WORDS: usize = 10;

/// How many pages are bound before it is looked whether the work is still wanted.
const LOOK_EVERY: usize = 1_000;

/// One result from all pages: totals, files in order, the most frequent words, and where each word stands. What failed
/// is listed with its reason. If there were files and none of them could be read, the result is a failure.
#[derive(Debug, Clone, Copy)]
pub(super) struct WordsResult;

impl Gather for WordsResult {
    const NAME: &'static str = "word_consolidator";
    /// 2: the result itself stays in the blob store between the steps.
    const VERSION: u32 = 2;
    type Result = KeptResult;

    fn reads(&self, _here: &workflow::Stage, earlier: &workflow::Stage) -> bool {
        runs_any(earlier, &[WordCounter::NAME, TextSplitter::NAME])
    }

    fn check(&self, context: &StepContext) -> Result<(), StepError> {
        none_read(context, TextSplitter::NAME)
    }

    fn gather(&self, context: &StepContext) -> Result<KeptResult, StepError> {
        let mut bound = Bound::new(context)?;
        let counted = stage_of(context, WordCounter::NAME)?;
        for (number, part) in context.each_part(ItemKind::Page, &[counted])?.enumerate() {
            if number % LOOK_EVERY == 0 && context.is_cancelled() {
                return Err(StepError::retry("stopped while pages were bound").named("Stopped"));
            }
            let (page, outcomes) = part?;
            bound.page(context, &page, outcomes.first().and_then(|counted| counted.last()))?;
        }
        let submission = context.submission()?;
        let duplicates = intake::duplicates(&submission.metadata);
        KeptResult::keep(context, &bound.into_result(submission.public_id(), duplicates))
    }

    fn store(&self, context: &StepContext, result: Value) -> Result<Extracted, StepError> {
        KeptResult::read(&result)?.finish(context)
    }
}

/// The result so far. Pages come in any order.
#[derive(Debug, Default)]
struct Bound {
    files: Vec<FileEntry>,
    /// The place of each file in that list.
    place_of: HashMap<ItemId, usize>,
    failed: Vec<(usize, Failed)>,
    words: WordIndex,
}

#[derive(Debug, Serialize)]
struct FileEntry {
    name: String,
    pages: u64,
    words: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The result on the wire; its index is the long part.
#[derive(Debug, Serialize)]
struct WordsBound {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    duplicates: Vec<Duplicate>,
    failed: Vec<Failed>,
    files: Vec<FileEntry>,
    index: Places,
    submission: String,
    top_words: Vec<TopWord>,
    totals: Totals,
}

#[derive(Debug, Serialize)]
struct TopWord {
    word: String,
    count: u64,
}

#[derive(Debug, Serialize)]
struct Totals {
    files: usize,
    pages: u64,
    words: u64,
    distinct_words: usize,
    failed_files: usize,
    failed_pages: usize,
}

impl Bound {
    /// The files in order, and those of them that could not be split.
    fn new(context: &StepContext) -> Result<Self, StepError> {
        let mut files = Vec::new();
        for file in context.each_item(ItemKind::File)? {
            let file = file?;
            files.push((file.ordinal, file.id, name_of(&file)));
        }
        files.sort_unstable();
        let mut bound = Self::default();
        for (place, (_, id, name)) in files.into_iter().enumerate() {
            bound.place_of.insert(id, place);
            bound.files.push(FileEntry { name, pages: 0, words: 0, error: None });
        }
        let split = stage_of(context, TextSplitter::NAME)?;
        for outcome in context.each_outcome(&split, Some(OutcomeStatus::Failed))? {
            let outcome = outcome?;
            if let Some(place) = outcome.item.and_then(|file| bound.place_of.get(&file).copied()) {
                let why = reason(&outcome);
                bound.fail(place, None, why.clone());
                bound.files[place].error = Some(why);
            }
        }
        Ok(bound)
    }

    fn page(&mut self, context: &StepContext, page: &Item, outcome: Option<&Outcome>) -> Result<(), StepError> {
        let Some(place) = page.parent.and_then(|file| self.place_of.get(&file).copied()) else { return Ok(()) };
        let number = page.ordinal as u64 + 1;
        self.files[place].pages += 1;
        match outcome {
            Some(outcome) if outcome.status == OutcomeStatus::Completed => {
                let counted: CountedPage = output_of(context, outcome)?;
                let (file, page) = (one_based(place as u64 + 1), one_based(number));
                self.words.begin_page(file, page);
                for (word, count) in &counted.index {
                    self.words.add(word, *count);
                }
                self.files[place].words += counted.words;
            }
            Some(outcome) => self.fail(place, Some(number), reason(outcome)),
            None => self.fail(place, Some(number), "was not counted".to_owned()),
        }
        Ok(())
    }

    fn fail(&mut self, place: usize, page: Option<u64>, reason: String) {
        self.failed.push((place, Failed { page, ..Failed::file(&self.files[place].name, reason) }));
    }

    fn into_result(mut self, submission: String, duplicates: Vec<Duplicate>) -> WordsBound {
        let top = words::top(self.words.counts(), TOP_WORDS).into_iter();
        let top_words = top.map(|(word, count)| TopWord { word: word.to_owned(), count }).collect();
        // The pages of a file, then the file itself.
        self.failed.sort_by_key(|(place, failure)| (*place, failure.page.unwrap_or(u64::MAX)));
        let failed_files = self.failed.iter().filter(|(_, failure)| failure.page.is_none()).count();
        let totals = Totals {
            files: self.files.len(),
            pages: self.files.iter().map(|file| file.pages).sum(),
            words: self.files.iter().map(|file| file.words).sum(),
            distinct_words: self.words.distinct(),
            failed_files,
            failed_pages: self.failed.len() - failed_files,
        };
        WordsBound {
            duplicates,
            failed: self.failed.into_iter().map(|(_, failure)| failure).collect(),
            files: self.files,
            index: self.words.into_places(),
            submission,
            top_words,
            totals,
        }
    }
}

fn one_based(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
