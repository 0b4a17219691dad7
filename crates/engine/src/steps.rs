//! Running a processor's three steps, from the start or from where an earlier try failed.

use crate::{
    context::StepContext,
    processor::{Extracted, Processor},
};
use bindery_core::{
    ContentHash, Payload, StepError,
    outcome::{ResumePoint, Step},
};
use serde_json::Value;
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// A step that failed, and where a retry may begin.
#[derive(Debug)]
pub struct Failure {
    pub error: StepError,
    pub step: Option<Step>,
    pub resume: Option<Box<ResumePoint>>,
}

/// The hash that tells whether an input has changed since an earlier try.
pub fn input_hash(payload: &Payload) -> ContentHash {
    match payload {
        Payload::Inline(text) => ContentHash::of(text.as_bytes()),
        Payload::Blob(hash) => *hash,
    }
}

/// Runs what is left to run. A resume point counts only for the same input and the same version of the processor.
pub fn run(
    processor: &dyn Processor,
    context: &StepContext,
    payload: &Payload,
    resume: Option<&ResumePoint>,
) -> Result<Extracted, Failure> {
    let version = processor.version();
    let input_hash = input_hash(payload);
    let resume = resume.filter(|point| point.input_hash == input_hash && point.processor_version == version);
    let (mut step, start) = match resume {
        Some(point) => (point.step, &point.input),
        None => (Step::Validation, payload),
    };
    let mut current = context.read(start).map_err(|error| Failure { error, step: None, resume: None })?;
    loop {
        let given = current;
        let kept = keep(&given, step);
        let result = match step {
            Step::Validation => guarded(|| processor.validate(context, given)),
            Step::Processing => guarded(|| processor.process(context, given)),
            Step::Extraction => {
                return guarded(|| processor.extract(context, given))
                    .map_err(|error| failure(context, error, step, &kept, payload, version));
            }
        };
        current = result.map_err(|error| failure(context, error, step, &kept, payload, version))?;
        step = if step == Step::Validation { Step::Processing } else { Step::Extraction };
    }
}

/// A copy of a step's input, in case it fails. Validation's input is the job's own payload, which is kept anyway.
fn keep(given: &Value, step: Step) -> Value {
    if step == Step::Validation { Value::Null } else { given.clone() }
}

fn failure(
    context: &StepContext,
    error: StepError,
    step: Step,
    kept: &Value,
    payload: &Payload,
    processor_version: u32,
) -> Failure {
    let input = match step {
        Step::Validation => Ok(payload.clone()),
        _ => context.payload(kept),
    };
    // Without its input a retry starts over: slower, but right.
    let resume = input
        .ok()
        .map(|input| Box::new(ResumePoint { step, input, input_hash: input_hash(payload), processor_version }));
    Failure { error, step: Some(step), resume }
}

/// One bad input never takes the worker with it.
fn guarded<T>(step: impl FnOnce() -> Result<T, StepError>) -> Result<T, StepError> {
    catch_unwind(AssertUnwindSafe(step)).unwrap_or_else(|panic| {
        Err(StepError::bug(format!("the processor panicked: {}", panic_text(panic.as_ref()))).named("Panic"))
    })
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}
