//! How much waits, and how long a meeting takes.

use super::{
    CivicRecords,
    jobs::{CIVIC_QUEUE, QueueJob, QueueStatus},
    meetings::Meeting,
    work::{Question, Seen, Work, Writes, run},
};
use crate::{commit::CommitResult, error::StoreResult};
use bindery_core::Timestamp;
use serde::Serialize;

/// So many of the newest meetings tell how long one takes.
const SAMPLE: usize = 500;

/// How many jobs there are of each status.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct QueueStats {
    pub pending: u64,
    pub processing: u64,
    /// Meetings that were read to their end: a finished job leaves no row.
    pub completed: u64,
    pub failed: u64,
    pub dead_letter: u64,
    /// Over the newest meetings that were read; none where none was.
    pub avg_processing_seconds: Option<f64>,
}

impl QueueStats {
    fn count(&mut self, job: &QueueJob) {
        match job.status {
            QueueStatus::Pending => self.pending += 1,
            QueueStatus::Processing => self.processing += 1,
            QueueStatus::Completed => self.completed += 1,
            QueueStatus::Failed => self.failed += 1,
            QueueStatus::DeadLetter => self.dead_letter += 1,
        }
    }
}

impl CivicRecords<'_> {
    /// Takes away the jobs that were made before this time and given up, and returns how many those were. Nothing
    /// remembers them then: a meeting or matter that is found again is read again.
    pub async fn forget_given_up(&self, before: Timestamp) -> StoreResult<u64> {
        run(self.backend, Forget { before }).await
    }

    pub async fn queue_stats(&self) -> StoreResult<QueueStats> {
        let mut stats = QueueStats::default();
        self.queue_jobs(None, None).await?.iter().for_each(|job| stats.count(job));
        let completed = Question::new("SELECT count(*) FROM civic_meeting").that("processing = 'completed'");
        for row in self.rows(completed).await? {
            stats.completed += row.number(0)? as u64;
        }
        let newest = Question::of::<Meeting>().that("processing = 'completed'");
        let newest: Vec<Meeting> = self.list(newest.by("starts_at IS NULL, starts_at DESC, id", Some(SAMPLE))).await?;
        let seconds: Vec<f64> = newest.iter().filter_map(|meeting| meeting.processing_seconds).collect();
        if !seconds.is_empty() {
            stats.avg_processing_seconds = Some(seconds.iter().sum::<f64>() / seconds.len() as f64);
        }
        Ok(stats)
    }
}

struct Forget {
    before: Timestamp,
}

impl Forget {
    fn those(&self, question: Question) -> Question {
        question.whose("queue = ?", CIVIC_QUEUE).that("state = 5").whose("created_at < ?", self.before)
    }
}

impl Work for Forget {
    type Done = u64;

    fn cities(&self) -> Vec<String> {
        Vec::new()
    }

    fn questions(&self) -> Vec<Question> {
        vec![self.those(Question::new("SELECT count(*) FROM job"))]
    }

    fn writes(&self, seen: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, u64)> {
        let mut writes = Writes::default();
        writes.statements.push(self.those(Question::new("DELETE FROM job")));
        let count = seen.answer(0).first().map_or(Ok(0), |row| row.number(0))?;
        Ok((writes, u64::try_from(count).unwrap_or(0)))
    }
}
