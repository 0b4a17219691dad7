//! What earlier stages have found, for the stages that gather it.

use crate::intake;
use bindery_core::{
    ItemId, Name, StepError,
    item::Item,
    outcome::{Outcome, OutcomeStatus},
};
use bindery_engine::{Extracted, context::StepContext, processor::NewArtifact};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The name of the stage that runs a processor. The workflow may call that stage what it likes.
pub(crate) fn stage_of(context: &StepContext, processor: &str) -> Result<Name, StepError> {
    let workflow = context.workflow()?;
    let stage = workflow.stages.iter().find(|stage| stage.processor(processor).is_some());
    stage.map(|stage| stage.name.clone()).ok_or_else(|| {
        let message = format!("workflow {} has no stage with the processor {processor}", workflow.name);
        StepError::reject(message).named("BadWorkflow")
    })
}

/// The results of the stage that runs a processor, by item.
pub(crate) fn outcomes(context: &StepContext, processor: &str) -> Result<HashMap<ItemId, Outcome>, StepError> {
    let found = context.outcomes(&stage_of(context, processor)?)?;
    Ok(found.into_iter().filter_map(|outcome| Some((outcome.item?, outcome))).collect())
}

/// Whether there is a result to work with, be it one that a person is asked about.
pub(crate) fn has_result(outcome: &Outcome) -> bool {
    matches!(outcome.status, OutcomeStatus::Completed | OutcomeStatus::Review)
}

/// Why something failed.
pub(crate) fn reason(outcome: &Outcome) -> String {
    outcome.error.as_ref().map_or_else(|| "failed, without a message".to_owned(), |error| error.message.clone())
}

/// A submission of which nothing could be read has failed, and says so.
pub(crate) fn none_read(files: &[Item], opened: &HashMap<ItemId, Outcome>) -> Result<(), StepError> {
    let failed = opened.values().filter(|outcome| outcome.status == OutcomeStatus::Failed);
    let reasons: Vec<String> = failed.map(reason).collect();
    none_opened(files.len(), &reasons)
}

/// The same, where it is known how many files there are and why some cannot be read.
pub(crate) fn none_opened(files: usize, reasons: &[String]) -> Result<(), StepError> {
    if reasons.len() < files {
        return Ok(());
    }
    let message = match reasons {
        [only] => format!("the only file could not be read: {only}"),
        [first, ..] => format!("none of the {files} files could be read; the first: {first}"),
        [] => return Ok(()),
    };
    Err(StepError::reject(message).named("NothingRead"))
}

pub(crate) fn in_order(mut items: Vec<Item>) -> Vec<Item> {
    items.sort_by_key(|item| (item.ordinal, item.id));
    items
}

/// What a person calls a file.
pub(crate) fn name_of(file: &Item) -> String {
    file.label.clone().unwrap_or_else(|| file.public_id())
}

/// The result of a submission, also as an artifact. What was taken in twice is listed in every result.
pub(crate) fn store_result(context: &StepContext, mut result: Value) -> Result<Extracted, StepError> {
    let duplicates = intake::duplicates(&context.submission()?.metadata);
    if let Some(result) = result.as_object_mut().filter(|_| !duplicates.is_empty()) {
        result.insert("duplicates".to_owned(), json!(duplicates));
    }
    let stored = context.keep_json(&result)?;
    let mut extracted = Extracted::new(result);
    extracted.artifacts.push(NewArtifact {
        key: format!("output/{}.json", context.submission()?.id),
        hash: stored.hash,
        size: stored.size,
        media_type: "application/json".to_owned(),
    });
    Ok(extracted)
}
