//! Binds the counted pages of a submission into one result.

use super::{TextSplitter, WordCounter, missing, words};
use crate::results::{in_order, name_of, none_read, outcomes, reason, store_result};
use bindery_core::{
    ItemId, StepError,
    item::{Item, ItemKind},
    outcome::{Outcome, OutcomeStatus},
};
use bindery_engine::{Extracted, Processor, context::StepContext};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};

const TOP_WORDS: usize = 10;

/// One result from all pages: totals, files in order, the most frequent words, and where each word stands. What failed
/// is listed with its reason. If there were files and none of them could be read, the result is a failure.
#[derive(Debug, Clone, Copy)]
pub struct WordConsolidator;

impl Processor for WordConsolidator {
    fn name(&self) -> &'static str {
        "word_consolidator"
    }

    /// Is there anything to bind?
    fn validate(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        none_read(&context.items(Some(ItemKind::File), None)?, &outcomes(context, TextSplitter.name())?)?;
        Ok(Value::Null)
    }

    fn process(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        let split = outcomes(context, TextSplitter.name())?;
        let counted = outcomes(context, WordCounter.name())?;
        let mut pages: HashMap<ItemId, Vec<Item>> = HashMap::new();
        for page in context.items(Some(ItemKind::Page), None)? {
            if let Some(file) = page.parent {
                pages.entry(file).or_default().push(page);
            }
        }
        let mut bound = Bound::default();
        for file in in_order(context.items(Some(ItemKind::File), None)?) {
            let pages = in_order(pages.remove(&file.id).unwrap_or_default());
            bound.file(context, &file, split.get(&file.id), &pages, &counted)?;
        }
        Ok(bound.into_value(&context.submission()?.public_id()))
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        if !processed.is_object() {
            return Err(missing("result"));
        }
        store_result(context, processed)
    }
}

/// The result so far.
#[derive(Debug, Default)]
struct Bound {
    files: Vec<Value>,
    failed: Vec<Value>,
    failed_files: u64,
    pages: u64,
    words: u64,
    counts: BTreeMap<String, u64>,
    /// Word to places, each a file and a page counted from 1.
    places: BTreeMap<String, Vec<(usize, u64)>>,
}

impl Bound {
    fn file(
        &mut self,
        context: &StepContext,
        file: &Item,
        split: Option<&Outcome>,
        pages: &[Item],
        counted: &HashMap<ItemId, Outcome>,
    ) -> Result<(), StepError> {
        let name = name_of(file);
        let mut words = 0;
        for page in pages {
            let number = page.ordinal as u64 + 1;
            match counted.get(&page.id) {
                Some(outcome) if outcome.status == OutcomeStatus::Completed => {
                    words += self.page(self.files.len() + 1, number, &context.read(&outcome.output)?);
                }
                Some(outcome) => self.fail(&name, Some(number), &reason(outcome)),
                None => self.fail(&name, Some(number), "was not counted"),
            }
        }
        let mut entry = json!({"name": name, "pages": pages.len(), "words": words});
        if let Some(split) = split.filter(|split| split.status == OutcomeStatus::Failed) {
            let why = reason(split);
            self.fail(&name, None, &why);
            self.failed_files += 1;
            entry["error"] = json!(why);
        }
        self.files.push(entry);
        self.words += words;
        self.pages += pages.len() as u64;
        Ok(())
    }

    fn page(&mut self, file: usize, page: u64, output: &Value) -> u64 {
        for (word, count) in output["index"].as_object().into_iter().flatten() {
            *self.counts.entry(word.clone()).or_default() += count.as_u64().unwrap_or(0);
            self.places.entry(word.clone()).or_default().push((file, page));
        }
        output["words"].as_u64().unwrap_or(0)
    }

    fn fail(&mut self, file: &str, page: Option<u64>, why: &str) {
        let mut entry = Map::new();
        entry.insert("file".to_owned(), json!(file));
        if let Some(page) = page {
            entry.insert("page".to_owned(), json!(page));
        }
        entry.insert("reason".to_owned(), json!(why));
        self.failed.push(Value::Object(entry));
    }

    fn into_value(self, submission: &str) -> Value {
        let counts = self.counts.iter().map(|(word, count)| (word.as_str(), *count));
        let top: Vec<Value> = words::top(counts, TOP_WORDS)
            .into_iter()
            .map(|(word, count)| json!({"word": word, "count": count}))
            .collect();
        let failed_pages = self.failed.len() as u64 - self.failed_files;
        json!({
            "submission": submission,
            "totals": {
                "files": self.files.len(), "pages": self.pages, "words": self.words,
                "distinct_words": self.counts.len(),
                "failed_files": self.failed_files, "failed_pages": failed_pages,
            },
            "files": self.files,
            "top_words": top,
            "failed": self.failed,
            "index": self.places,
        })
    }
}
