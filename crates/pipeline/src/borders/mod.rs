//! What passes from stage to stage, as types: one set for all workflows.
//!
//! | module | what it owns |
//! |---|---|
//! | `file` | a received file, and what opening it tells |
//! | `page` | a page of a file, its text and its class |
//! | `document` | pages that belong together, and the fields read from them |
//! | `bound` | the pages of a file put together, with stated gaps |
//! | `result` | what became of a submission's files: the common part of all results |
//!
//! The names of their fields are those that the workflows `documents`, `read`, `words` and `parsers` have on the wire.
//! Where a seed has other names, its module has the adapter: `docproc::message`, `idp::border`.

mod bound;
mod document;
mod file;
mod page;
mod result;

pub(crate) use bound::{BoundPages, Combined, Gap};
pub(crate) use document::{DocumentGroup, ExtractedDocument};
pub(crate) use file::{FileData, OpenedFile, StoredFile};
pub(crate) use page::{ClassifiedPage, PageOfFile, PageText, page_children, stored_page};
pub(crate) use result::{Failed, FileEntry, FilesBound, Totals};

use crate::stage::{fit, lenient};
use bindery_core::{Payload, StepError, item::Item, outcome::Outcome};
use bindery_engine::{Engine, EngineResult, context::StepContext};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A confidence as people read it: more than three digits say nothing.
pub(crate) fn rounded(confidence: f64) -> f64 {
    (confidence * 1000.0).round() / 1000.0
}

/// What an earlier stage has found, as the type that this stage works on.
pub(crate) fn output_of<T: DeserializeOwned>(context: &StepContext, outcome: &Outcome) -> Result<T, StepError> {
    // Short ones are read straight from their row.
    if let Payload::Inline(text) = &outcome.output
        && let Ok(found) = serde_json::from_str(text)
    {
        return Ok(found);
    }
    read_output(outcome, &context.read(&outcome.output)?)
}

fn read_output<T: DeserializeOwned>(outcome: &Outcome, output: &Value) -> Result<T, StepError> {
    fit(output).map_err(|misfit| {
        let (stage, processor) = (&outcome.stage, &outcome.processor);
        let message = format!("the result of {processor} in stage {stage} is not what is expected here; {misfit}");
        StepError::reject(message).named("BadResult")
    })
}

/// What can be understood of it, where a program outside may have said it.
pub(crate) fn said_by<T: DeserializeOwned + Default>(context: &StepContext, outcome: &Outcome) -> Result<T, StepError> {
    Ok(lenient(&context.read(&outcome.output)?))
}

/// The same outside of a step.
pub(crate) async fn seen_output<T: DeserializeOwned + Default>(
    engine: &Engine,
    outcome: Option<&Outcome>,
) -> EngineResult<T> {
    let Some(outcome) = outcome else { return Ok(T::default()) };
    Ok(lenient(&engine.read_payload(&outcome.output).await?))
}

/// What was said of an item when it was made.
pub(crate) fn data_of<T: DeserializeOwned + Default>(item: &Item) -> T {
    serde_json::from_str(&item.data).unwrap_or_else(|_| lenient(&serde_json::from_str(&item.data).unwrap_or_default()))
}
