//! Progress is a type, not a string: the command line, the pages and the API read the same value.

use crate::{Name, SubmissionId, Timestamp, submission::SubmissionStatus};
use serde::Serialize;

/// How one stage of one submission stands. Every number is counted, none is guessed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct StageCounts {
    pub completed: u64,
    pub failed: u64,
    pub skipped: u64,
    pub review: u64,
    pub running: u64,
    /// Ready, and waiting for a worker.
    pub waiting: u64,
    /// Waiting for their next try or a later time.
    pub scheduled: u64,
    pub parked: u64,
    /// Waiting for an outside processor.
    pub awaiting: u64,
    pub cancelled: u64,
}

impl StageCounts {
    /// Work that has ended.
    pub fn done(&self) -> u64 {
        self.completed + self.failed + self.skipped
    }

    /// Work that has not ended but exists already.
    pub fn open(&self) -> u64 {
        self.review + self.running + self.waiting + self.scheduled + self.parked + self.awaiting + self.cancelled
    }

    pub fn total(&self) -> u64 {
        self.done() + self.open()
    }
}

/// A stage with its counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StageProgress {
    pub stage: Name,
    /// How many pieces of work there will be, once that is certain.
    pub expected: Option<u64>,
    #[serde(flatten)]
    pub counts: StageCounts,
}

impl StageProgress {
    /// None when there is no honest number: show a spinner, never an invented percentage.
    pub fn percent(&self) -> Option<u8> {
        let expected = self.expected.filter(|expected| *expected > 0)?;
        Some(u8::try_from(self.counts.done() * 100 / expected).unwrap_or(100).min(100))
    }
}

/// How a submission stands, stage by stage in the order of its workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Progress {
    pub submission: SubmissionId,
    pub external_id: Option<String>,
    pub workflow: Name,
    pub workflow_version: i64,
    pub status: SubmissionStatus,
    pub received_at: Timestamp,
    pub deadline_at: Option<Timestamp>,
    pub sla_breached: bool,
    pub completed_at: Option<Timestamp>,
    pub error: Option<String>,
    pub files: u64,
    pub pages: u64,
    pub documents: u64,
    pub stages: Vec<StageProgress>,
}

impl Progress {
    pub fn failed(&self) -> u64 {
        self.stages.iter().map(|stage| stage.counts.failed).sum()
    }

    pub fn open_reviews(&self) -> u64 {
        self.stages.iter().map(|stage| stage.counts.review).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_invented_percentages() {
        let counts = StageCounts { completed: 1, ..StageCounts::default() };
        let mut stage = StageProgress { stage: "ocr".into(), expected: Some(3), counts };
        assert_eq!(stage.percent(), Some(33));
        stage.expected = None;
        assert_eq!(stage.percent(), None);
    }
}
