//! What a run took.

use super::result::{InputReport, Passed};
use crate::runner::{RunnerKind, RunnerReport};
use bindery_core::outcome::Step;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Duration};

/// The time that one of the three steps took, over all inputs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct StepMetrics {
    /// How often it ran.
    pub runs: u64,
    pub total_ms: f64,
    pub longest_ms: f64,
}

/// The figures of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    pub runner: RunnerKind,
    pub inputs: usize,
    pub succeeded: usize,
    pub failed: usize,
    /// Done by an earlier run of the lineage.
    pub skipped: usize,
    /// Cancelled before their turn.
    pub not_run: usize,
    /// Of those that ran now, how many began behind the first step.
    pub resumed: usize,
    /// Succeeded or skipped, of all; 0 to 1.
    pub success_rate: f64,
    /// Inputs that an earlier run had failed on, of all; 0 to 1.
    pub retry_rate: f64,
    /// Inputs that ran, per second.
    pub throughput_per_second: f64,
    pub duration_ms: f64,
    pub steps: BTreeMap<Step, StepMetrics>,
    /// Threads or processes at the same time.
    pub workers: usize,
    /// Threads left behind, and processes replaced.
    pub replaced: u64,
    /// The largest child process, in bytes.
    pub peak_memory: Option<u64>,
    /// In millionths of the currency unit. What an earlier run has paid for is not in it.
    pub cost_micros: i64,
}

impl Metrics {
    pub(super) fn from_reports(
        inputs: &[InputReport],
        runner: RunnerKind,
        report: RunnerReport,
        is_retry: bool,
        took: Duration,
    ) -> Self {
        let mut metrics = Self {
            runner,
            inputs: inputs.len(),
            succeeded: 0,
            failed: 0,
            skipped: 0,
            not_run: 0,
            resumed: 0,
            success_rate: 1.0,
            retry_rate: 0.0,
            throughput_per_second: 0.0,
            duration_ms: milliseconds(took),
            steps: BTreeMap::new(),
            workers: report.workers,
            replaced: report.replaced,
            peak_memory: report.peak_memory,
            cost_micros: 0,
        };
        for input in inputs {
            metrics.add(input);
        }
        let ran = metrics.succeeded + metrics.failed;
        if !inputs.is_empty() {
            let share = |part: usize| part as f64 / inputs.len() as f64;
            metrics.success_rate = share(metrics.succeeded + metrics.skipped);
            metrics.retry_rate = if is_retry { share(ran) } else { 0.0 };
        }
        if !took.is_zero() {
            metrics.throughput_per_second = ran as f64 / took.as_secs_f64();
        }
        metrics
    }

    fn add(&mut self, input: &InputReport) {
        match input.passed {
            Passed::Succeeded { .. } => self.succeeded += 1,
            Passed::Failed { .. } => self.failed += 1,
            Passed::Skipped { .. } => self.skipped += 1,
            Passed::NotRun => self.not_run += 1,
        }
        if input.from != Step::Validation && matches!(input.passed, Passed::Succeeded { .. } | Passed::Failed { .. }) {
            self.resumed += 1;
        }
        self.cost_micros += input.cost_micros();
        for step in Step::ALL {
            let Some(took) = input.times.duration_of(step) else { continue };
            let all = self.steps.entry(step).or_default();
            all.runs += 1;
            all.total_ms += milliseconds(took);
            all.longest_ms = all.longest_ms.max(milliseconds(took));
        }
    }
}

pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
