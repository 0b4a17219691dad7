//! Jobs about meetings and matters: described, run again, given up.

use super::CouncilRefused;
use crate::{app::App, error::AppResult};
use bindery_civic::records::{CIVIC_QUEUE, CivicTask, MatterFilter, MeetingFilter, QueueJob, QueueStatus};
use bindery_core::{JobId, Name, Timestamp};
use bindery_store::query::JobFilter;
use serde::Serialize;
use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

/// A job with the title and the day of what it is about.
#[derive(Debug, Serialize)]
pub struct QueuePreview {
    pub queue_id: String,
    pub job_type: String,
    pub meeting_id: String,
    #[serde(rename = "city_banana")]
    pub city_key: String,
    pub title: Option<String>,
    pub date: Option<Timestamp>,
    pub priority: i32,
    pub status: QueueStatus,
    pub retry_count: u32,
    pub error_message: Option<String>,
}

impl App {
    /// Jobs with the titles and days of what they are about.
    pub async fn describe_council_jobs(&self, jobs: Vec<QueueJob>) -> AppResult<Vec<QueuePreview>> {
        let meetings = jobs.iter().map(|job| job.meeting_id.clone()).collect();
        let of_matter = |job: &QueueJob| match &job.payload {
            CivicTask::Matter { matter_id, .. } => Some(matter_id.clone()),
            CivicTask::Meeting { .. } => None,
        };
        let matters: Vec<String> = jobs.iter().filter_map(of_matter).collect();
        let civic = self.civic();
        let filter = MeetingFilter { ids: meetings, with_removed: true, ..MeetingFilter::default() };
        let meetings = if jobs.is_empty() { Vec::new() } else { civic.meetings(filter).await? };
        let meetings: HashMap<_, _> =
            meetings.into_iter().map(|meeting| (meeting.id, (meeting.title, meeting.starts_at))).collect();
        let filter = MatterFilter { ids: matters.clone(), ..MatterFilter::default() };
        let matters = if matters.is_empty() { Vec::new() } else { civic.matters(filter).await? };
        let matters: HashMap<_, _> = matters.into_iter().map(|matter| (matter.id, matter.title)).collect();
        let describe = |job: QueueJob| {
            let meeting = meetings.get(&job.meeting_id);
            let title = match of_matter(&job) {
                Some(matter) => matters.get(&matter).cloned(),
                None => meeting.map(|(title, _)| title.clone()),
            };
            QueuePreview {
                queue_id: job.id.to_string(),
                job_type: job.job_type,
                date: meeting.and_then(|(_, start)| *start),
                meeting_id: job.meeting_id,
                city_key: job.city_key,
                title,
                priority: job.priority,
                status: job.status,
                retry_count: job.retry_count,
                error_message: job.error_message,
            }
        };
        Ok(jobs.into_iter().map(describe).collect())
    }

    /// The first jobs of a status and a city, and how many there are in all.
    pub async fn council_jobs(
        &self,
        status: Option<QueueStatus>,
        city: Option<&str>,
        limit: usize,
    ) -> AppResult<(Vec<QueuePreview>, usize)> {
        let mut jobs = match status {
            Some(QueueStatus::Completed) => self.civic().completed_jobs(city).await?,
            _ => self.civic().queue_jobs(city, None).await?,
        };
        jobs.retain(|job| status.is_none_or(|status| status == job.status));
        let total = jobs.len();
        jobs.truncate(limit);
        Ok((self.describe_council_jobs(jobs).await?, total))
    }

    /// Runs these again, or all that were given up, of one city or of all. Returns how many.
    pub async fn retry_council_jobs(&self, named: Vec<JobId>, city: Option<&str>) -> AppResult<u64> {
        let jobs = self.civic().queue_jobs(city, None).await?;
        let is_given_up = |job: &&QueueJob| matches!(job.status, QueueStatus::Failed | QueueStatus::DeadLetter);
        let ids: Vec<JobId> = if named.is_empty() {
            jobs.iter().filter(is_given_up).map(|job| job.id).collect()
        } else {
            check_ours(&jobs, &named)?;
            named
        };
        // No id at all would mean every job.
        if ids.is_empty() {
            return Ok(0);
        }
        let queue = Some(Name::from(CIVIC_QUEUE));
        Ok(self.store().retry(JobFilter { ids, queue, ..JobFilter::default() }).await?.jobs)
    }

    /// Gives jobs up: each with whether it was waiting or running.
    pub async fn drop_council_jobs(&self, named: Vec<JobId>) -> AppResult<Vec<(JobId, bool)>> {
        check_ours(&self.civic().queue_jobs(None, None).await?, &named)?;
        let mut dropped = Vec::new();
        for id in named {
            dropped.push((id, self.store().cancel_job(id).await?));
        }
        Ok(dropped)
    }

    /// Forgets what was given up and made longer ago. Returns how much that was.
    pub async fn forget_council_jobs(&self, age: Duration) -> AppResult<u64> {
        Ok(self.civic().forget_given_up(self.store().clock().now() - age).await?)
    }
}

/// Nothing is changed if one of them is not of this queue.
fn check_ours(jobs: &[QueueJob], named: &[JobId]) -> Result<(), CouncilRefused> {
    let ours: HashSet<JobId> = jobs.iter().map(|job| job.id).collect();
    match named.iter().find(|id| !ours.contains(id)) {
        None => Ok(()),
        Some(id) => Err(CouncilRefused::UnknownJob { id: *id }),
    }
}
