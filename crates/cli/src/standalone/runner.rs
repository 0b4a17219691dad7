//! Flags about how inputs are run, and the runner that they ask for.

use crate::failure::Failure;
use bindery_app::{App, Settings};
use bindery_engine::{
    Kind,
    runner::{Limits, Runner, RunnerChoice, RunnerKind, Sequential, Threads},
};
use std::{sync::Arc, time::Duration};

const MEGABYTE: u64 = 1_000_000;

/// A day.
const LONGEST: f64 = 86_400.0;

#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct RunnerArgs {
    /// How inputs are run: auto, sequential, threads, threads:N, processes or processes:N
    #[arg(long, value_name = "RUNNER")]
    pub(crate) runner: Option<RunnerChoice>,

    /// How long one input may take
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,

    /// How much memory one input may use; only processes can be held to it
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    memory: Option<u64>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse::<f64>().ok().filter(|number| *number > 0.0 && *number <= LONGEST);
    number.map(Duration::from_secs_f64).ok_or_else(|| format!("expected a number of seconds up to {LONGEST}"))
}

impl RunnerArgs {
    /// What is asked for, and otherwise what was allowed before.
    pub(crate) fn limits(&self, before: Limits) -> Limits {
        let memory = self.memory.map(|megabytes| megabytes * MEGABYTE);
        Limits { time: self.timeout.or(before.time), memory: memory.or(before.memory) }
    }
}

/// A runner for so many inputs.
pub(crate) fn make(
    choice: RunnerChoice,
    limits: Limits,
    kind: Kind,
    inputs: usize,
    settings: &Settings,
    app: &App,
) -> anyhow::Result<Arc<dyn Runner>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let choice = enforcing(choice, limits, kind)?;
    Ok(match choice.resolve(kind, inputs, cores) {
        (RunnerKind::Sequential, _) => Arc::new(Sequential),
        (RunnerKind::Threads, workers) => Arc::new(Threads::new(workers)),
        (RunnerKind::Processes, workers) => Arc::new(app.processes(settings.child_command()?, workers)),
    })
}

/// A limit needs somebody who can enforce it: a thread can be left behind, a process killed.
fn enforcing(choice: RunnerChoice, limits: Limits, kind: Kind) -> anyhow::Result<RunnerChoice> {
    match choice {
        RunnerChoice::Fixed(RunnerKind::Sequential | RunnerKind::Threads, _) if limits.memory.is_some() => {
            let message = format!("--memory cannot be kept by --runner {choice}: a limit on memory needs processes");
            Err(Failure::usage(message).hint("leave --runner out, or say --runner processes").into())
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

    #[test]
    fn limits_are_given_to_somebody_who_can_enforce_them() {
        let time = Limits { time: Some(Duration::from_secs(1)), memory: None };
        let memory = Limits { time: None, memory: Some(MEGABYTE) };
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
            "--memory cannot be kept by --runner threads:2: a limit on memory needs processes"
        );
    }
}
