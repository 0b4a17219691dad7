//! What earlier stages have found, for the stages that gather it.

use crate::intake;
use bindery_core::{
    ContentHash, Name, StepError,
    item::{Item, ItemKind},
    outcome::{Outcome, OutcomeStatus},
};
use bindery_engine::{Extracted, context::StepContext, processor::NewArtifact, workflow::Stage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::io::{self, Write};

/// The name of the stage that runs a processor. The workflow may call that stage what it likes.
pub(crate) fn stage_of(context: &StepContext, processor: &str) -> Result<Name, StepError> {
    let workflow = context.workflow()?;
    let stage = workflow.stages.iter().find(|stage| stage.processor(processor).is_some());
    stage.map(|stage| stage.name.clone()).ok_or_else(|| {
        let message = format!("workflow {} has no stage with the processor {processor}", workflow.name);
        StepError::reject(message).named("BadWorkflow")
    })
}

/// Whether one of these processors runs in a stage.
pub(crate) fn runs_any(stage: &Stage, processors: &[&str]) -> bool {
    processors.iter().any(|processor| stage.processor(processor).is_some())
}

/// The items of a kind in their order, each with what `make` makes of it and of what the stages with these processors have
/// found. Only what `make` returns is kept: there may be a million of them.
pub(crate) fn of_each<T, const N: usize>(
    context: &StepContext,
    kind: ItemKind,
    processors: [&str; N],
    mut make: impl FnMut(&Item, [Option<&Outcome>; N]) -> Result<T, StepError>,
) -> Result<Vec<T>, StepError> {
    let stages = processors.iter().map(|processor| stage_of(context, processor)).collect::<Result<Vec<_>, _>>()?;
    of_each_in(context, kind, &stages, |item, found| {
        make(item, std::array::from_fn(|stage| found.get(stage).and_then(|outcomes| outcomes.last())))
    })
}

/// The same for stages by their names, with all that the processors of each have found.
pub(crate) fn of_each_in<T>(
    context: &StepContext,
    kind: ItemKind,
    stages: &[Name],
    mut make: impl FnMut(&Item, &[Vec<Outcome>]) -> Result<T, StepError>,
) -> Result<Vec<T>, StepError> {
    let mut made = Vec::new();
    for part in context.each_part(kind, stages)? {
        let (item, found) = part?;
        made.push((item.ordinal, item.id, make(&item, &found)?));
    }
    made.sort_by_key(|(ordinal, id, _)| (*ordinal, *id));
    Ok(made.into_iter().map(|(_, _, made)| made).collect())
}

/// Whether there is a result to work with, be it one that a person is asked about.
pub(crate) fn has_result(outcome: &Outcome) -> bool {
    matches!(outcome.status, OutcomeStatus::Completed | OutcomeStatus::Review)
}

/// Why something failed.
pub(crate) fn reason(outcome: &Outcome) -> String {
    outcome.error.as_ref().map_or_else(|| "failed, without a message".to_owned(), |error| error.message.clone())
}

/// A submission of which nothing could be read has failed, and says so. `opener` is the processor that opens the files.
pub(crate) fn none_read(context: &StepContext, opener: &str) -> Result<(), StepError> {
    let failed = context.each_outcome(&stage_of(context, opener)?, Some(OutcomeStatus::Failed))?;
    let files = usize::try_from(context.item_counts()?.files).unwrap_or(usize::MAX);
    // Counted, and only the first one kept.
    let (mut first, mut number) = (None, 0);
    for outcome in failed {
        let outcome = outcome?;
        first.get_or_insert_with(|| reason(&outcome));
        number += 1;
    }
    first.map_or(Ok(()), |first| none_opened(files, number, &first))
}

/// The same, where it is known how many files there are and why some cannot be read.
pub(crate) fn none_opened(files: usize, failed: usize, first: &str) -> Result<(), StepError> {
    if failed < files {
        return Ok(());
    }
    let message = match failed {
        1 => format!("the only file could not be read: {first}"),
        _ => format!("none of the {files} files could be read; the first: {first}"),
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
    let stored = context.keep_as_file(result.to_string().into_bytes())?;
    let mut extracted = Extracted::new(result);
    extracted.artifacts.push(artifact(context, stored.hash, stored.size)?);
    Ok(extracted)
}

fn artifact(context: &StepContext, hash: ContentHash, size: u64) -> Result<NewArtifact, StepError> {
    let key = format!("output/{}.json", context.submission()?.id);
    Ok(NewArtifact { key, hash, size, media_type: "application/json".to_owned() })
}

/// Where a result is kept that may be too large to be held as a value: what a step leaves to the next one instead of the
/// result itself.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeptResult {
    hash: ContentHash,
    size: u64,
}

impl KeptResult {
    /// Keeps a result: it is written as it is serialised.
    pub(crate) fn keep(context: &StepContext, result: &impl Serialize) -> Result<Self, StepError> {
        Self::keep_written(context, |into| Ok(serde_json::to_writer(into, result)?))
    }

    /// Keeps a result that `write` writes as JSON.
    pub(crate) fn keep_written(
        context: &StepContext,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Self, StepError> {
        let stored = context.keep_written(write)?;
        Ok(Self { hash: stored.hash, size: stored.size })
    }

    pub(crate) fn read(kept: &Value) -> Result<Self, StepError> {
        Self::deserialize(kept).map_err(|_| StepError::bug("the step before left no result"))
    }

    /// The result of the submission, also as an artifact.
    pub(crate) fn finish(self, context: &StepContext) -> Result<Extracted, StepError> {
        let artifacts = vec![artifact(context, self.hash, self.size)?];
        Ok(Extracted { output_blob: Some(self.hash), artifacts, ..Extracted::default() })
    }
}
