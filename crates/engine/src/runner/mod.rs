//! Runners: how the steps of one processor are run on many inputs. The results are the same; what differs is who runs
//! them.
//!
//! | runner | good for | a time limit | a crash |
//! |---|---|---|---|
//! | [`Sequential`] | development, small piles | asks the step to stop | a panic fails its input |
//! | [`Threads`] | services and files, where most of the time is waiting | leaves the thread behind | a panic fails its input |
//! | [`Processes`] | heavy computing, and code that may hang, crash or swell | kills the child | the input is tried again in a new child |
//!
//! Every runner hands over each result as soon as it has it, with the place of its input, so that a caller can store
//! what is done while the rest goes on. One bad input never takes others with it.

mod choice;
pub mod processes;
mod sequential;
mod threads;

pub use choice::{ChoiceError, IO_THREADS, MOST_WORKERS, RunnerChoice, RunnerKind, SMALL_PILE};
pub use processes::{ChildCommand, Processes};
pub use sequential::Sequential;
pub use threads::Threads;

use crate::{
    context::{BlobAccess, CancelFlag, Cost, StepContext},
    processor::{Extracted, Processor},
    steps::{self, StepTimes, Stopped},
    work_id::WorkId,
};
use bindery_core::{AwakeInstant, StepError, outcome::Step};
use serde::Serialize;
use serde_json::{Map, Value};
use std::{fmt, sync::Arc, time::Duration};

/// What one input may use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    pub time: Option<Duration>,
    /// In bytes; only a process of its own can be held to it.
    pub memory: Option<u64>,
}

impl Limits {
    /// What reading one file or page may take in memory, where nothing else is set: 1 GiB.
    pub const DEFAULT_MEMORY: u64 = 1 << 30;
}

/// What is to be done, the same for all inputs.
#[derive(Clone)]
pub struct Task {
    pub processor: Arc<dyn Processor>,
    pub settings: Arc<Map<String, Value>>,
    pub limits: Limits,
    /// Set it to stop early: inputs that have not begun are not begun any more.
    pub cancel: CancelFlag,
    pub blobs: Option<BlobAccess>,
}

impl Task {
    pub fn new(processor: Arc<dyn Processor>) -> Self {
        Self {
            processor,
            settings: Arc::default(),
            limits: Limits::default(),
            cancel: CancelFlag::default(),
            blobs: None,
        }
    }

    /// Runs the steps of one input here and now.
    pub fn run(&self, unit: Unit) -> Ran {
        let deadline = self.limits.time.and_then(|time| AwakeInstant::now().checked_add(time));
        let context = StepContext::standalone(Arc::clone(&self.settings), unit.attempt, self.cancel.clone())
            .with_blobs(self.blobs.clone())
            .with_work(unit.work)
            .with_deadline(deadline);
        let mut times = StepTimes::default();
        let result = steps::run_from(self.processor.as_ref(), &context, unit.from, unit.value, &mut times);
        Ran { result, times, costs: context.take_costs(), peak_memory: None }
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task")
            .field("processor", &self.processor.name())
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// One input: where its steps begin, and with what.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    pub from: Step,
    pub value: Value,
    /// 1 for the first try.
    pub attempt: u32,
    /// Which work it is, for those outside.
    pub work: Option<WorkId>,
}

impl Unit {
    /// From the start.
    pub fn new(value: Value) -> Self {
        Self { from: Step::Validation, value, attempt: 1, work: None }
    }
}

/// What became of one input.
#[derive(Debug)]
pub struct Ran {
    pub result: Result<Extracted, Box<Stopped>>,
    pub times: StepTimes,
    pub costs: Vec<Cost>,
    /// Of the process that ran it, in bytes, where it had one.
    pub peak_memory: Option<u64>,
}

impl Ran {
    /// Failed before, between or outside of the steps; `step` is where a retry begins.
    pub fn failed(step: Step, error: StepError, times: StepTimes) -> Self {
        let stopped = Stopped { step, error, input: None };
        Self { result: Err(Box::new(stopped)), times, costs: Vec::new(), peak_memory: None }
    }
}

/// What a runner can tell about itself afterwards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RunnerReport {
    /// Threads or processes that worked at the same time, at most.
    pub workers: usize,
    /// Threads left behind, and processes that were replaced.
    pub replaced: u64,
    /// The largest child, in bytes.
    pub peak_memory: Option<u64>,
}

/// Told of each result, with the place of its input, on the thread that called [`Runner::run`].
pub type OnResult<'a> = &'a mut dyn FnMut(usize, Ran);

/// A way to run one processor's steps on many inputs.
pub trait Runner: Send + Sync + fmt::Debug {
    fn kind(&self) -> RunnerKind;

    /// Runs every unit, each once to its end, and hands over its result. Blocks until all are done; when the task is
    /// cancelled, those that have not begun are left out.
    fn run(&self, task: &Task, units: Vec<Unit>, on_result: OnResult<'_>) -> RunnerReport;
}

/// What an input is told whose time is over.
pub fn too_slow(limit: Duration) -> StepError {
    StepError::retry(format!("took longer than {} s", limit.as_secs_f64())).named("Timeout")
}
