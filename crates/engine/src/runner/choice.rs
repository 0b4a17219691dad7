//! Which runner to use.

use crate::processor::Kind;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Fewer inputs than this are done before a second process has started.
pub const SMALL_PILE: usize = 32;

/// Threads that mostly wait may be more than there are cores.
pub const IO_THREADS: usize = 16;

/// The most threads or processes that may be asked for.
pub const MOST_WORKERS: usize = 1_024;

/// The three ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunnerKind {
    Sequential,
    Threads,
    Processes,
}

impl RunnerKind {
    pub const ALL: [Self; 3] = [Self::Sequential, Self::Threads, Self::Processes];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Threads => "threads",
            Self::Processes => "processes",
        }
    }
}

impl fmt::Display for RunnerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a person asked for: `auto`, `sequential`, `threads`, `threads:4`, `processes`, `processes:2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunnerChoice {
    /// By the processor's kind and the number of inputs.
    #[default]
    Auto,
    /// A number of workers that fits the machine, unless one is given.
    Fixed(RunnerKind, Option<usize>),
}

impl RunnerChoice {
    /// The guide: a small pile needs no helpers; waiting is done by threads; computing, and everything that may go
    /// wrong badly, by processes.
    pub fn resolve(self, kind: Kind, inputs: usize, cores: usize) -> (RunnerKind, usize) {
        let (runner, asked) = match self {
            Self::Fixed(runner, asked) => (runner, asked),
            Self::Auto => (Self::advice(kind, inputs), None),
        };
        let fitting = match (runner, kind) {
            (RunnerKind::Sequential, _) => 1,
            (RunnerKind::Threads, Kind::Io) => IO_THREADS.max(cores),
            (RunnerKind::Threads | RunnerKind::Processes, _) => cores,
        };
        (runner, asked.unwrap_or(fitting).min(inputs).max(1))
    }

    fn advice(kind: Kind, inputs: usize) -> RunnerKind {
        match kind {
            Kind::Risky => RunnerKind::Processes,
            Kind::Io if inputs > 1 => RunnerKind::Threads,
            Kind::Cpu if inputs >= SMALL_PILE => RunnerKind::Processes,
            Kind::Io | Kind::Cpu => RunnerKind::Sequential,
        }
    }
}

/// A runner that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a runner: expected auto, sequential, threads, threads:N, processes or processes:N, N from 1 to {MOST_WORKERS}"
)]
pub struct ChoiceError(String);

impl FromStr for RunnerChoice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || ChoiceError(text.to_owned());
        let (name, count) = match text.split_once(':') {
            Some((name, count)) => (name, Some(count)),
            None => (text, None),
        };
        let count = count.map(|count| count.parse().map_err(|_| unknown())).transpose()?;
        if count.is_some_and(|count| !(1..=MOST_WORKERS).contains(&count)) {
            return Err(unknown());
        }
        match (name, count) {
            ("auto", None) => Ok(Self::Auto),
            ("sequential", None | Some(1)) => Ok(Self::Fixed(RunnerKind::Sequential, None)),
            ("threads", count) => Ok(Self::Fixed(RunnerKind::Threads, count)),
            ("processes", count) => Ok(Self::Fixed(RunnerKind::Processes, count)),
            _ => Err(unknown()),
        }
    }
}

impl fmt::Display for RunnerChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Fixed(kind, None) => write!(f, "{kind}"),
            Self::Fixed(kind, Some(count)) => write!(f, "{kind}:{count}"),
        }
    }
}
