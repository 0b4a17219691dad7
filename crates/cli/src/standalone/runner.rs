//! Flags about how inputs are run.

use bindery_app::runs::{Limits, RunnerChoice};
use std::time::Duration;

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
