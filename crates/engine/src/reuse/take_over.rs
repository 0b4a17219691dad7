//! From an outcome of before to a result of now.

use super::{Prepared, made::Made};
use crate::{context::StepContext, error::EngineError, processor::Extracted, processor::Processor};
use bindery_core::{
    ContentHash, Payload, StepError, SubmissionId,
    job::ErrorRecord,
    outcome::{Outcome, OutcomeStatus},
};
use bindery_store::retention::mentions;
use serde_json::Value;

/// The kind of the error of a result that a person has rejected.
pub(crate) const REJECTED: &str = "Rejected";

/// What was done before, as the result of this work.
#[derive(Debug)]
pub(crate) struct TakenOver {
    pub(crate) from: SubmissionId,
    /// A person has decided about it.
    pub(crate) is_decided: bool,
    /// That person has rejected it.
    pub(crate) rejected: Option<ErrorRecord>,
    pub(crate) processor_version: u32,
    pub(crate) extracted: Extracted,
    /// The output where it is taken over as it is.
    pub(crate) output: Option<Payload>,
}

/// Looks for the result of the same work. None where there is none, or where bytes that it names are gone: then the work
/// is done.
pub(crate) fn take_over(
    processor: &dyn Processor,
    context: &StepContext,
    prepared: &Prepared,
    input: &Value,
) -> Option<TakenOver> {
    if prepared.is_anew {
        return None;
    }
    match find(processor, context, prepared, input) {
        Ok(found) => found,
        Err(error) => {
            tracing::warn!(processor = processor.name(), error = %error.message,
                "what was done before could not be taken over; it is done again");
            None
        }
    }
}

fn find(
    processor: &dyn Processor,
    context: &StepContext,
    prepared: &Prepared,
    input: &Value,
) -> Result<Option<TakenOver>, StepError> {
    let Some(reusable) = processor.reuse() else { return Ok(None) };
    let store = context.store()?;
    let found = context.block_on(store.reusable_outcome(prepared.key))?;
    let Some(outcome) = found.map_err(EngineError::from)? else { return Ok(None) };
    let rejected = outcome.error.clone().filter(|_| outcome.status == OutcomeStatus::Failed);
    if rejected.as_ref().is_some_and(|error| error.kind != REJECTED) {
        return Ok(None);
    }
    let is_own = outcome.submission == context.submission()?.id && outcome.item == context.item_id();
    if is_own && rejected.is_some() {
        // Whoever asks for rejected work once more wants it to be done.
        return Ok(None);
    }
    let made = outcome.reuse.as_ref().and_then(|reuse| reuse.made.as_deref());
    let Bytes::There { output } = bytes_of(context, &outcome, made)? else { return Ok(None) };
    let (made, from) = (Made::read(made)?, outcome.submission);
    let is_decided = made.decided;
    let must_adopt = reusable.names_its_submission() && rejected.is_none();
    let (extracted, output) = if must_adopt {
        let value = output.map_or_else(|| context.read(&outcome.output), Ok)?;
        (reusable.adopt(context, input, made.into_extracted(value, outcome.confidence))?, None)
    } else {
        (made.into_extracted(Value::Null, outcome.confidence), Some(outcome.output))
    };
    Ok(Some(TakenOver { from, is_decided, rejected, processor_version: outcome.processor_version, extracted, output }))
}

/// The bytes that a result names.
enum Bytes {
    /// All are there, and stay. The output is here where it had to be read.
    There {
        output: Option<Value>,
    },
    Gone,
}

fn bytes_of(context: &StepContext, outcome: &Outcome, made: Option<&str>) -> Result<Bytes, StepError> {
    let mut named = Vec::new();
    let mut output = None;
    match &outcome.output {
        Payload::Inline(text) => mentions(text.as_bytes(), |hash| named.push(hash)),
        Payload::Blob(hash) => {
            let Ok(bytes) = context.blob(*hash) else { return Ok(gone(outcome, *hash)) };
            named.push(*hash);
            mentions(&bytes, |hash| named.push(hash));
            output = serde_json::from_slice(&bytes).ok();
        }
    }
    mentions(made.unwrap_or_default().as_bytes(), |hash| named.push(hash));
    named.sort_unstable();
    named.dedup();
    for hash in named {
        if !context.touch_blob(hash)? {
            return Ok(gone(outcome, hash));
        }
    }
    Ok(Bytes::There { output })
}

fn gone(outcome: &Outcome, hash: ContentHash) -> Bytes {
    tracing::warn!(submission = %outcome.submission, stage = %outcome.stage, blob = %hash,
        "a result of before names bytes that are gone; its work is done again");
    Bytes::Gone
}
