//! How much waits, and how long a meeting takes.

use super::{
    CivicRecords,
    jobs::{CIVIC_QUEUE, NOTICES_QUEUE, QueueJob, QueueStatus},
    meetings::{Meeting, Processing},
    tables::MEETING,
};
use bindery_core::Timestamp;
use bindery_store::{
    StoreResult,
    rows::{Query, column},
};
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
        let jobs = self.store.delete_dead_letters(&CIVIC_QUEUE.into(), before).await?;
        Ok(jobs + self.store.delete_dead_letters(&NOTICES_QUEUE.into(), before).await?)
    }

    pub async fn queue_stats(&self) -> StoreResult<QueueStats> {
        let mut stats = QueueStats::default();
        self.queue_jobs(None, None).await?.iter().for_each(|job| stats.count(job));
        let is_completed = || column("processing").equals(Processing::Completed.as_str());
        let completed = Query::count(&MEETING).filter(is_completed());
        for row in self.rows(completed).await? {
            stats.completed += row.count(0)?;
        }
        let newest = Query::records::<Meeting>().filter(is_completed());
        let newest = newest.order(column("starts_at").descending().nulls_last()).ascending(&["id"]);
        let newest: Vec<Meeting> = self.list(newest.limit(Some(SAMPLE))).await?;
        let seconds: Vec<f64> = newest.iter().filter_map(|meeting| meeting.processing_seconds).collect();
        if !seconds.is_empty() {
            stats.avg_processing_seconds = Some(seconds.iter().sum::<f64>() / seconds.len() as f64);
        }
        Ok(stats)
    }
}
