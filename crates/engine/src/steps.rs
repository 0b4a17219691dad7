//! Running a processor's three steps, from the start or from where an earlier try failed.

use crate::{
    context::StepContext,
    processor::{Extracted, Processor},
};
use bindery_core::{
    ContentHash, Payload, StepError,
    outcome::{ResumePoint, Step},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

/// A step that failed, and where a retry may begin.
#[derive(Debug)]
pub struct Failure {
    pub error: StepError,
    pub step: Option<Step>,
    pub resume: Option<Box<ResumePoint>>,
    /// What the attempt has cost all the same, in millionths of the currency unit.
    pub cost_micros: i64,
}

impl Failure {
    /// Outside of the steps: a retry starts over.
    pub fn new(error: StepError) -> Self {
        Self { error, step: None, resume: None, cost_micros: 0 }
    }

    /// Outside of the steps: a retry begins where it would have begun anyway.
    pub fn with_resume(error: StepError, resume: Option<ResumePoint>) -> Self {
        Self { resume: resume.map(Box::new), ..Self::new(error) }
    }
}

/// The hash that tells whether an input has changed since an earlier try.
pub fn input_hash(payload: &Payload) -> ContentHash {
    match payload {
        Payload::Inline(text) => ContentHash::of(text.as_bytes()),
        Payload::Blob(hash) => *hash,
    }
}

/// How long each step took; none where it did not run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepTimes([Option<Duration>; 3]);

impl StepTimes {
    pub fn duration_of(&self, step: Step) -> Option<Duration> {
        self.0[step as usize]
    }

    pub fn set(&mut self, step: Step, took: Duration) {
        self.0[step as usize] = Some(took);
    }

    pub fn total(&self) -> Duration {
        self.0.iter().flatten().sum()
    }
}

/// A step that failed, with what it was given.
#[derive(Debug, Clone)]
pub struct Stopped {
    pub step: Step,
    pub error: StepError,
    /// None where the steps began with this one: the caller has what it gave.
    pub input: Option<Value>,
}

/// Runs the steps from one of them on, each with what the one before it returned.
pub fn run_from(
    processor: &dyn Processor,
    context: &StepContext,
    from: Step,
    given: Value,
    times: &mut StepTimes,
) -> Result<Extracted, Box<Stopped>> {
    let mut step = from;
    let mut current = given;
    let mut begun = Instant::now();
    loop {
        let given = current;
        // A copy in case it fails; of the first one the caller has its own.
        let kept = (step != from).then(|| given.clone());
        let result = match step {
            Step::Validation => catch_panic(|| processor.validate(context, given)).map(Ok),
            Step::Processing => catch_panic(|| processor.process(context, given)).map(Ok),
            Step::Extraction => catch_panic(|| processor.extract(context, given)).map(Err),
        };
        // One look at the clock ends a step and begins the next.
        let now = Instant::now();
        times.set(step, now - begun);
        begun = now;
        match result {
            Ok(Ok(output)) => current = output,
            Ok(Err(extracted)) => return Ok(extracted),
            Err(error) => return Err(Box::new(Stopped { step, error, input: kept })),
        }
        step = if step == Step::Validation { Step::Processing } else { Step::Extraction };
    }
}

/// Runs what is left to run, by `run_steps`. A resume point counts only for the same input and the same version of the processor.
pub fn run(
    processor: &dyn Processor,
    context: &StepContext,
    payload: &Payload,
    resume: Option<&ResumePoint>,
    run_steps: impl FnOnce(Step, Value) -> Result<Extracted, Box<Stopped>>,
) -> Result<Extracted, Failure> {
    let version = processor.version();
    let input_hash = input_hash(payload);
    let resume = resume.filter(|point| point.input_hash == input_hash && point.processor_version == version);
    let (from, start) = match resume {
        Some(point) => (point.step, &point.input),
        None => (Step::Validation, payload),
    };
    let given = context.read(start).map_err(Failure::new)?;
    run_steps(from, given).map_err(|stopped| {
        let Stopped { step, error, input } = *stopped;
        // Without its input a retry starts over: slower, but right.
        let input = input.map_or_else(|| Some(start.clone()), |value| context.payload(&value).ok());
        let resume = input.map(|input| Box::new(ResumePoint { step, input, input_hash, processor_version: version }));
        let cost_micros = context.take_costs().iter().map(|cost| cost.micros).sum();
        Failure { error, step: Some(step), resume, cost_micros }
    })
}

/// One bad input never takes the worker with it.
fn catch_panic<T>(step: impl FnOnce() -> Result<T, StepError>) -> Result<T, StepError> {
    catch_unwind(AssertUnwindSafe(step)).unwrap_or_else(|panic| {
        Err(StepError::bug(format!("the processor panicked: {}", panic_text(panic.as_ref()))).named("Panic"))
    })
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}
