//! Runs in a list: how they stand, in a line each.

use super::{Runs, STAGE, heartbeat::LastSeen, record::RunRecord};
use crate::{error::EngineResult, runner::RunnerKind};
use bindery_core::{Timestamp, submission::SubmissionStatus};
use serde::Serialize;
use std::fmt;

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    Running,
    /// It has not ended, and gives no sign of life: its process is gone. A retry goes on with it.
    Interrupted,
    Succeeded,
    /// Some input failed or was not run, or nothing might run at all.
    Failed,
}

impl RunStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
        }
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Which runs are meant.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// By its name, with or without `p_`.
    pub processor: Option<String>,
    /// None: all.
    pub limit: Option<usize>,
}

/// A run in a line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunSummary {
    pub run_id: String,
    pub status: RunStatus,
    pub processor: String,
    pub processor_version: u32,
    pub account_id: String,
    pub underwriting_id: String,
    pub runner: RunnerKind,
    /// All that the run is about; the sum of the four below.
    pub inputs: usize,
    pub succeeded: usize,
    pub failed: usize,
    /// Done by an earlier run of the lineage.
    pub skipped: usize,
    /// Not begun, or not stored before the process ended.
    pub not_run: usize,
    pub began: Timestamp,
    /// Until now for one that is under way; none where nobody knows when it stopped.
    pub duration_ms: Option<u64>,
    pub seen_at: Option<Timestamp>,
    pub retry_count: u32,
    /// The first run of the lineage.
    pub parent_run_id: Option<String>,
    pub previous_run_id: Option<String>,
    pub error: Option<String>,
}

impl Runs {
    /// The newest first.
    pub async fn list(&self, filter: RunFilter) -> EngineResult<Vec<RunSummary>> {
        let wanted = filter.processor.as_deref();
        // The store knows nothing of processors of runs, so its limit would count the others too.
        let mut records = self.records(filter.limit.filter(|_| wanted.is_none())).await?;
        records.retain(|record| {
            wanted.is_none_or(|name| name == record.details.processor || name == record.details.processor_name)
        });
        records.truncate(filter.limit.unwrap_or(usize::MAX));
        let seen = self.read_last_seen().await?;
        let mut summaries = Vec::with_capacity(records.len());
        for record in &records {
            summaries.push(self.summary(record, &seen).await?);
        }
        Ok(summaries)
    }

    pub(super) async fn summary(&self, record: &RunRecord, seen: &LastSeen) -> EngineResult<RunSummary> {
        let rows = self.engine.store().stage_counts(record.submission).await?;
        let counts = rows.into_iter().find(|row| row.stage == STAGE).map(|row| row.counts).unwrap_or_default();
        let (succeeded, failed) = (counts.completed as usize, counts.failed as usize);
        let status = match record.status {
            SubmissionStatus::Completed => RunStatus::Succeeded,
            SubmissionStatus::Failed | SubmissionStatus::Cancelled => RunStatus::Failed,
            _ if self.under_way_since(record, seen).is_some() => RunStatus::Running,
            _ => RunStatus::Interrupted,
        };
        let details = &record.details;
        let seen_at = seen.get(&record.run_id);
        let until = match status {
            RunStatus::Running => Some(self.engine.clock().now()),
            _ => record.ended,
        };
        let took = |until: Timestamp| u64::try_from(until.since(details.began).as_millis()).unwrap_or(u64::MAX);
        Ok(RunSummary {
            run_id: record.run_id.clone(),
            status,
            processor: details.processor.clone(),
            processor_version: details.processor_version,
            account_id: record.account_id.clone(),
            underwriting_id: details.underwriting_id.clone(),
            runner: details.runner,
            inputs: details.inputs,
            succeeded,
            failed,
            skipped: details.inputs.saturating_sub(details.executes),
            not_run: details.executes.saturating_sub(succeeded + failed),
            began: details.began,
            duration_ms: until.map(took),
            seen_at,
            retry_count: details.context.retry_count,
            parent_run_id: details.context.parent_run_id.clone(),
            previous_run_id: details.context.previous_run_id.clone(),
            error: record.error.clone(),
        })
    }
}
