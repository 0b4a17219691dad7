//! Lists what was read of a submission.

use super::{PageCombiner, SPLITTER};
use crate::results::{name_of, none_read, of_each, reason, store_result};
use bindery_core::{StepError, item::ItemKind, outcome::OutcomeStatus};
use bindery_engine::{Extracted, Processor, context::StepContext};
use serde_json::{Value, json};

/// One result for the submission: its files in order, where the text of each is, and what is missing and why. If none of
/// them could be read, the result is a failure.
#[derive(Debug, Clone, Copy)]
pub struct ReadingConsolidator;

impl Processor for ReadingConsolidator {
    fn name(&self) -> &'static str {
        "reading_consolidator"
    }

    /// Is there anything to list?
    fn validate(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        none_read(context, SPLITTER)?;
        Ok(Value::Null)
    }

    fn process(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        files_read(context)
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        store_result(context, processed)
    }
}

/// The files of the submission in order, where the text of each is, and what is missing and why.
pub(crate) fn files_read(context: &StepContext) -> Result<Value, StepError> {
    let read = of_each(context, ItemKind::File, [PageCombiner.name(), SPLITTER], |file, [combined, opened]| {
        let name = name_of(file);
        let mut failed = Vec::new();
        let Some(outcome) = combined.filter(|outcome| outcome.status == OutcomeStatus::Completed) else {
            let why = combined.or(opened).map_or_else(|| "was not read".to_owned(), reason);
            failed.push(json!({"file": name, "reason": why}));
            return Ok((json!({"name": name, "error": why}), failed));
        };
        let found = context.read(&outcome.output)?;
        let count = |key: &str| found[key].as_u64().unwrap_or(0);
        for gap in found["missing"].as_array().into_iter().flatten() {
            failed.push(json!({"file": name, "page": gap["page"], "reason": gap["reason"]}));
        }
        let file = json!({
            "name": name, "type": found["type"], "pages": count("pages"), "words": count("words"),
            "by_ocr": count("by_ocr"), "markdown": found["md"], "json": found["json"],
        });
        Ok((file, failed))
    })?;
    let (files, failed): (Vec<Value>, Vec<Vec<Value>>) = read.into_iter().unzip();
    let failed: Vec<Value> = failed.into_iter().flatten().collect();
    let sum = |key: &str| files.iter().filter_map(|file| file[key].as_u64()).sum::<u64>();
    let (pages, words, by_ocr) = (sum("pages"), sum("words"), sum("by_ocr"));
    Ok(json!({
        "submission": context.submission()?.public_id(),
        "totals": {"files": files.len(), "pages": pages, "words": words, "by_ocr": by_ocr, "failed": failed.len()},
        "files": files,
        "failed": failed,
    }))
}
