//! What several parsers made of a submission, side by side.

use super::compare::agreement;
use crate::{
    reading::content_of,
    results::{in_order, name_of, reason, store_result},
};
use bindery_core::{
    StepError,
    item::{Item, ItemKind},
    outcome::{Outcome, OutcomeStatus},
};
use bindery_engine::{
    Extracted, Processor,
    context::StepContext,
    workflow::{Over, Stage},
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Parsers that agree on less than this have read different things: a person should look at both texts.
const DOUBTFUL_AGREEMENT: f64 = 0.8;

/// One result for the submission: for each file the text that has most of its words, what each parser did, and how far
/// two parsers agree. If no file could be read by any of them, the result is a failure.
#[derive(Debug, Clone, Copy)]
pub struct ParsingConsolidator;

impl Processor for ParsingConsolidator {
    fn name(&self) -> &'static str {
        "parsing_consolidator"
    }

    fn process(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        let stage = parsing_stage(context)?;
        let mut by_file: BTreeMap<_, Vec<Outcome>> = BTreeMap::new();
        for outcome in context.outcomes(&stage.name)? {
            by_file.entry(outcome.item).or_default().push(outcome);
        }
        let (mut files, mut failed, mut doubtful) = (Vec::new(), Vec::new(), Vec::new());
        for file in in_order(context.items(Some(ItemKind::File), None)?) {
            let outcomes = by_file.get(&Some(file.id)).map(Vec::as_slice).unwrap_or_default();
            let read = ReadFile::new(context, stage, &file, outcomes)?;
            failed.extend(read.failed);
            doubtful.extend(read.doubt);
            files.push(read.entry);
        }
        let none = files.iter().all(|file| file.get("error").is_some());
        if !files.is_empty() && none {
            let first = files[0]["error"].as_str().unwrap_or_default();
            let message =
                format!("none of the parsers could read any of the {} files; the first: {first}", files.len());
            return Err(StepError::reject(message).named("NothingRead"));
        }
        let sum = |key: &str| files.iter().filter_map(|file| file[key].as_u64()).sum::<u64>();
        let submission = context.submission()?;
        Ok(json!({
            "submission": submission.public_id(), "workflow": submission.workflow.name,
            "parsers": stage.processors.iter().map(|parser| parser.name.to_string()).collect::<Vec<_>>(),
            "totals": {
                "files": files.len(), "pages": sum("pages"), "words": sum("words"), "by_ocr": sum("by_ocr"),
                "failed": failed.len(), "doubtful": doubtful.len(),
            },
            "files": files, "failed": failed, "needs_review": doubtful,
        }))
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        store_result(context, processed)
    }
}

/// The stage whose results these are: the first one over each file.
fn parsing_stage(context: &StepContext) -> Result<&Stage, StepError> {
    let workflow = context.workflow()?;
    workflow.stages.iter().find(|stage| stage.over == Over::File).ok_or_else(|| {
        let message = format!("workflow {} has no stage in which parsers read each file", workflow.name);
        StepError::reject(message).named("BadWorkflow")
    })
}

/// What became of a file.
struct ReadFile {
    entry: Value,
    failed: Vec<Value>,
    doubt: Option<Value>,
}

impl ReadFile {
    fn new(context: &StepContext, stage: &Stage, file: &Item, outcomes: &[Outcome]) -> Result<Self, StepError> {
        let name = name_of(file);
        let (mut parsers, mut failed) = (Map::new(), Vec::new());
        let mut read: Vec<Value> = Vec::new();
        for parser in &stage.processors {
            let outcome = outcomes.iter().find(|outcome| outcome.processor == parser.name);
            let state = match outcome {
                Some(outcome) if outcome.status == OutcomeStatus::Completed => {
                    let found = context.read(&outcome.output)?;
                    let mut state = found.clone();
                    state["status"] = json!("completed");
                    read.push(found);
                    state
                }
                other => {
                    let why = other.map_or_else(|| "did not report".to_owned(), reason);
                    failed.push(json!({"file": name, "parser": parser.name, "reason": why}));
                    json!({"status": "failed", "error": why})
                }
            };
            parsers.insert(parser.name.to_string(), state);
        }
        // Of equals the first, which is the one that the workflow names first.
        let best = read.iter().rev().max_by_key(|found| found["words"].as_u64().unwrap_or(0));
        let Some(best) = best else {
            let why = failed.first().and_then(|first| first["reason"].as_str()).unwrap_or("was not read");
            let entry = json!({"name": name, "id": file.public_id(), "error": why, "parsers": parsers});
            return Ok(Self { entry, failed, doubt: None });
        };
        let mut entry = json!({
            "name": name, "id": file.public_id(), "type": best["type"], "pages": best["pages"],
            "words": best["words"], "by_ocr": best["by_ocr"], "text_by": best["parser"], "markdown": best["markdown"],
        });
        let mut doubt = None;
        if let [one, other, ..] = read.as_slice() {
            let agreed = agreement(&text_of(context, one)?, &text_of(context, other)?);
            entry["agreement"] = json!((agreed * 1000.0).round() / 1000.0);
            if agreed < DOUBTFUL_AGREEMENT {
                let percent = (agreed * 100.0).round();
                let why = format!("{} and {} agree on {percent} % of the words", shown(one), shown(other));
                doubt = Some(json!({"file": name, "reason": why}));
            }
        }
        entry["parsers"] = Value::Object(parsers);
        Ok(Self { entry, failed, doubt })
    }
}

fn shown(found: &Value) -> &str {
    found["parser"].as_str().unwrap_or_default()
}

fn text_of(context: &StepContext, found: &Value) -> Result<String, StepError> {
    // A program outside reports what it likes.
    let Some(content) = content_of(found) else { return Ok(String::new()) };
    Ok(String::from_utf8_lossy(&context.blob(content)?).into_owned())
}
