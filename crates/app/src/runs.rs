//! Runs of one processor on inputs, without a workflow: set up, kept, listed.
//!
//! Runs and what is told of them come from the engine; circuits of outside processors from those.

use crate::{
    app::App,
    error::{AppError, AppResult},
    inputs::Owner,
    processors::Processors,
    settings::Settings,
};
use bindery_engine::{
    EngineResult, Kind,
    runner::{Runner, RunnerKind, Sequential, Threads},
};
pub use bindery_engine::{
    context::CancelFlag,
    execution::{
        Conflict, Duplicates, Execution, ExecutionContext, FactorPolicy, INVALID_INPUT, InputReport, MergePolicy,
        Output, Passed, ProcessingResult, Trigger,
    },
    runner::{Limits, RunnerChoice},
    runs::{
        InputStatus, InputView, RunFilter, RunProgress, RunStats, RunStatus, RunSummary, RunView, Runs, StepState,
        is_run,
    },
};
pub use bindery_processors::outside::{CircuitSnapshot, CircuitState, circuits};
use std::sync::Arc;

/// What a run ends with.
pub type RunResult = EngineResult<ProcessingResult>;

/// Why a run cannot be set up; nothing was run.
#[derive(Debug, thiserror::Error)]
pub enum RunRefused {
    /// A thread can be left behind, but not held to a limit.
    #[error("the runner {choice} cannot keep a limit on memory, which needs processes")]
    Memory { choice: RunnerChoice },
    #[error("{0}")]
    Owner(String),
}

impl App {
    pub fn runs(&self) -> Runs {
        Runs::new(self.engine.clone(), bindery_engine::runs::HEARTBEAT_INTERVAL)
    }
}

/// What executions are made of, for first runs and for retries.
#[derive(Debug)]
pub struct RunSetup<'a> {
    pub settings: &'a Settings,
    pub app: &'a App,
    pub processors: &'a Processors,
    pub limits: Limits,
    pub runner: RunnerChoice,
}

impl RunSetup<'_> {
    /// A processor for so many inputs of an owner.
    pub fn execution(&self, processor: &str, owner: &Owner, inputs: usize) -> AppResult<Execution> {
        let processor = self.processors.find(processor)?;
        let runner = self.make_runner(processor.kind(), inputs)?;
        let execution = Execution::new(processor.clone(), &*owner.account_id, &*owner.underwriting_id)
            .map_err(|error| AppError::Run(RunRefused::Owner(error.to_string())))?;
        Ok(execution.with_runner(runner).with_limits(self.limits))
    }

    fn make_runner(&self, kind: Kind, inputs: usize) -> AppResult<Arc<dyn Runner>> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let choice = enforcing(self.runner, self.limits, kind)?;
        Ok(match choice.resolve(kind, inputs, cores) {
            (RunnerKind::Sequential, _) => Arc::new(Sequential),
            (RunnerKind::Threads, workers) => Arc::new(Threads::new(workers)),
            (RunnerKind::Processes, workers) => Arc::new(self.app.processes(self.settings.child_command()?, workers)),
        })
    }
}

/// A limit needs somebody who can enforce it: a thread can be left behind, a process killed.
fn enforcing(choice: RunnerChoice, limits: Limits, kind: Kind) -> Result<RunnerChoice, RunRefused> {
    match choice {
        RunnerChoice::Fixed(RunnerKind::Sequential | RunnerKind::Threads, _) if limits.memory.is_some() => {
            Err(RunRefused::Memory { choice })
        }
        RunnerChoice::Auto if limits.memory.is_some() => Ok(RunnerChoice::Fixed(RunnerKind::Processes, None)),
        RunnerChoice::Auto if limits.time.is_some() && kind == Kind::Io => {
            Ok(RunnerChoice::Fixed(RunnerKind::Threads, None))
        }
        RunnerChoice::Auto if limits.time.is_some() => Ok(RunnerChoice::Fixed(RunnerKind::Processes, None)),
        choice => Ok(choice),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn limits_are_given_to_somebody_who_can_enforce_them() {
        let time = Limits { time: Some(Duration::from_secs(1)), memory: None };
        let memory = Limits { time: None, memory: Some(1_000_000) };
        let chosen = |text: &str, limits, kind| {
            enforcing(text.parse().unwrap(), limits, kind).map(|choice| choice.to_string()).map_err(|e| e.to_string())
        };
        assert_eq!(chosen("auto", Limits::default(), Kind::Cpu).as_deref(), Ok("auto"));
        assert_eq!(chosen("auto", time, Kind::Cpu).as_deref(), Ok("processes"));
        assert_eq!(chosen("auto", time, Kind::Io).as_deref(), Ok("threads"));
        assert_eq!(chosen("auto", memory, Kind::Io).as_deref(), Ok("processes"));
        assert_eq!(chosen("sequential", time, Kind::Cpu).as_deref(), Ok("sequential"));
        assert_eq!(chosen("processes:3", memory, Kind::Cpu).as_deref(), Ok("processes:3"));
        assert_eq!(
            chosen("threads:2", memory, Kind::Cpu).unwrap_err(),
            "the runner threads:2 cannot keep a limit on memory, which needs processes"
        );
    }
}
