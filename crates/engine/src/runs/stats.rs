//! The figures of all runs, by processor and runner.

use super::Runs;
use crate::{
    error::{EngineError, EngineResult},
    execution::{Metrics, StepMetrics},
    runner::RunnerKind,
};
use bindery_core::{
    EventSeq,
    event::{Event, kind},
    outcome::Step,
};
use bindery_store::query::EventFilter;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many events are read at a time.
const PAGE: usize = 1_000;

/// The mean time of one step, over all inputs that ran it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StepMean {
    pub step: Step,
    pub runs: u64,
    pub mean_ms: f64,
}

/// What the ended runs of one processor with one runner have come to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunStats {
    pub processor: String,
    pub runner: RunnerKind,
    pub runs: u64,
    /// Runs in which every input succeeded.
    pub succeeded_runs: u64,
    /// Inputs that ran; one that was retried counts each time.
    pub inputs: u64,
    /// Of those, the share that succeeded; 0 to 1.
    pub success_rate: f64,
    /// Of those, the share that ran because an earlier run had not done them; 0 to 1.
    pub retry_rate: f64,
    pub steps: Vec<StepMean>,
    /// Inputs that ran, per second of the runs.
    pub throughput_per_second: f64,
    pub cost_micros: i64,
}

/// What the event at the end of a run says.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RunEnded {
    run_id: String,
    processor: String,
    retry_count: u32,
    metrics: Metrics,
}

#[derive(Debug, Default)]
struct Sums {
    runs: u64,
    succeeded_runs: u64,
    succeeded: u64,
    ran: u64,
    retried: u64,
    duration_ms: f64,
    steps: BTreeMap<Step, StepMetrics>,
    cost_micros: i64,
}

impl Runs {
    /// Of all runs that have ended, well or not, as long as they are stored.
    pub async fn stats(&self) -> EngineResult<Vec<RunStats>> {
        let kinds = vec![kind::RUN_COMPLETED.into(), kind::RUN_FAILED.into()];
        let filter = EventFilter { kinds, submission: None };
        let mut sums: BTreeMap<(String, RunnerKind), Sums> = BTreeMap::new();
        let mut after = EventSeq::START;
        loop {
            let page = self.engine.store().read_events(after, filter.clone(), PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            for event in &page {
                // Anybody may append events; ours carry the id that we give them.
                let Some(ended) = read(event)? else { continue };
                let key = (ended.processor.clone(), ended.metrics.runner);
                sums.entry(key).or_default().add(&ended, event.kind == kind::RUN_COMPLETED);
            }
        }
        Ok(sums.into_iter().map(|((processor, runner), sums)| sums.stats(processor, runner)).collect())
    }
}

fn read(event: &Event) -> EngineResult<Option<RunEnded>> {
    let ended: RunEnded = match serde_json::from_str(&event.data) {
        Ok(ended) => ended,
        Err(_) if event.submission.is_none() => return Ok(None),
        Err(error) => return Err(EngineError::Invalid(format!("event {}: {error}", event.public_id()))),
    };
    Ok(event.id.as_deref().is_some_and(|id| id == format!("{}:run-ended", ended.run_id)).then_some(ended))
}

impl Sums {
    fn add(&mut self, ended: &RunEnded, succeeded: bool) {
        let metrics = &ended.metrics;
        let ran = (metrics.succeeded + metrics.failed) as u64;
        self.runs += 1;
        self.succeeded_runs += u64::from(succeeded);
        self.succeeded += metrics.succeeded as u64;
        self.ran += ran;
        self.retried += if ended.retry_count > 0 { ran } else { 0 };
        self.duration_ms += metrics.duration_ms;
        self.cost_micros += metrics.cost_micros;
        for (step, one) in &metrics.steps {
            let all = self.steps.entry(*step).or_default();
            all.runs += one.runs;
            all.total_ms += one.total_ms;
        }
    }

    fn stats(self, processor: String, runner: RunnerKind) -> RunStats {
        let per = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let share = |part: u64| per(part as f64, self.ran as f64);
        let mean = |(step, all): (&Step, &StepMetrics)| StepMean {
            step: *step,
            runs: all.runs,
            mean_ms: per(all.total_ms, all.runs as f64),
        };
        RunStats {
            processor,
            runner,
            runs: self.runs,
            succeeded_runs: self.succeeded_runs,
            inputs: self.ran,
            success_rate: share(self.succeeded),
            retry_rate: share(self.retried),
            steps: self.steps.iter().map(mean).collect(),
            throughput_per_second: per(self.ran as f64 * 1_000.0, self.duration_ms),
            cost_micros: self.cost_micros,
        }
    }
}
