//! Lists what was read of a submission.

use super::{PageCombiner, SPLITTER};
use crate::results::{in_order, name_of, none_read, outcomes, reason, store_result};
use bindery_core::{
    StepError,
    item::ItemKind,
    outcome::{Outcome, OutcomeStatus},
};
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
        none_read(&context.items(Some(ItemKind::File), None)?, &outcomes(context, SPLITTER)?)?;
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
    let (opened, combined) = (outcomes(context, SPLITTER)?, outcomes(context, PageCombiner.name())?);
    let (mut files, mut failed) = (Vec::new(), Vec::new());
    let (mut pages, mut words, mut by_ocr) = (0, 0, 0);
    for file in in_order(context.items(Some(ItemKind::File), None)?) {
        let name = name_of(&file);
        let done = |outcome: &&Outcome| outcome.status == OutcomeStatus::Completed;
        if let Some(outcome) = combined.get(&file.id).filter(done) {
            let found = context.read(&outcome.output)?;
            let count = |key: &str| found[key].as_u64().unwrap_or(0);
            pages += count("pages");
            words += count("words");
            by_ocr += count("by_ocr");
            for gap in found["missing"].as_array().into_iter().flatten() {
                failed.push(json!({"file": name, "page": gap["page"], "reason": gap["reason"]}));
            }
            files.push(json!({
                "name": name, "type": found["type"], "pages": count("pages"), "words": count("words"),
                "by_ocr": count("by_ocr"), "markdown": found["md"], "json": found["json"],
            }));
        } else {
            let outcome = combined.get(&file.id).or_else(|| opened.get(&file.id));
            let why = outcome.map_or_else(|| "was not read".to_owned(), reason);
            files.push(json!({"name": name, "error": why}));
            failed.push(json!({"file": name, "reason": why}));
        }
    }
    Ok(json!({
        "submission": context.submission()?.public_id(),
        "totals": {"files": files.len(), "pages": pages, "words": words, "by_ocr": by_ocr, "failed": failed.len()},
        "files": files,
        "failed": failed,
    }))
}
