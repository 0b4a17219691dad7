//! How much waits, and how long a meeting takes.

use super::{
    CivicRecords,
    jobs::{CIVIC_QUEUE, CivicTask, NOTICES_QUEUE, QueueJob, QueueStatus},
    lists::MeetingFilter,
    meetings::{Meeting, Processing},
    tables::MEETING,
};
use crate::decide;
use bindery_core::Timestamp;
use bindery_store::{
    StoreResult,
    rows::{Query, column},
};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

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

    /// The jobs by which meetings were read to their ends, the last ones first.
    pub async fn completed_jobs(&self, city_key: Option<&str>) -> StoreResult<Vec<QueueJob>> {
        let query = Query::records::<Meeting>()
            .filter(column("processing").equals(Processing::Completed.as_str()))
            .filter_some(city_key.map(|it| column("city_key").equals(it)));
        let meetings: Vec<Meeting> = self.list(query.ascending(&["id"])).await?;
        let mut jobs: Vec<QueueJob> = meetings.into_iter().filter_map(|meeting| meeting.processed_by).collect();
        jobs.sort_by_key(|job| std::cmp::Reverse((job.completed_at, job.id)));
        Ok(jobs)
    }

    /// What waits becomes more urgent by one each day, so that it is not starved. Returns how many jobs rose.
    pub async fn age_waiting_jobs(&self) -> StoreResult<u64> {
        let now = self.store.clock().now();
        let mut waiting = self.queue_jobs(None, None).await?;
        waiting.retain(|job| job.status == QueueStatus::Pending);
        let ids: BTreeSet<String> = waiting.iter().map(|job| job.meeting_id.clone()).collect();
        let filter = MeetingFilter { ids: ids.into_iter().collect(), with_removed: true, ..MeetingFilter::default() };
        let starts: HashMap<String, Option<Timestamp>> = if waiting.is_empty() {
            HashMap::new()
        } else {
            self.meetings(filter).await?.into_iter().map(|meeting| (meeting.id, meeting.starts_at)).collect()
        };
        let aged = waiting.iter().map(|job| {
            let days_ahead = starts.get(&job.meeting_id).copied().flatten().map(|start| decide::days_until(start, now));
            let priority = match job.payload {
                CivicTask::Meeting { .. } => decide::meeting_priority(days_ahead),
                CivicTask::Matter { .. } => decide::matter_priority(days_ahead),
            };
            let aged = decide::aged_priority(priority, decide::days_until(now, job.created_at));
            (job.id, i32::try_from(aged).unwrap_or(i32::MAX))
        });
        self.store.raise_priorities(aged.collect()).await
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
