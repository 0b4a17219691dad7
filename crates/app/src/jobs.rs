//! Jobs and submissions as people name them: listed, run again, given up.

use crate::{app::App, error::AppResult};
use bindery_core::{JobId, Name, SubmissionId, job::JobState, submission::Submission};
use bindery_engine::runs::CHANNEL;
pub use bindery_store::query::{JobFilter, JobView, QueueView, Retried};

/// What cannot be done with what is named; nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum JobRefused {
    #[error("there is no {id}; a job that is finished is gone")]
    Unknown { id: JobId },
    #[error("{id} was cancelled together with {submission}")]
    Cancelled { id: JobId, submission: SubmissionId },
    /// Runs of processors are submissions as well, but have no jobs and no result of a workflow.
    #[error("{id} is the run {run} of a processor")]
    IsRun { id: SubmissionId, run: String },
}

/// A job or a submission, as a person names it.
#[derive(Debug)]
pub enum Target {
    Submission(SubmissionId),
    Job(JobId, JobState, SubmissionId),
}

impl Target {
    pub async fn find(app: &App, named: &str) -> AppResult<Self> {
        if let Ok(id) = named.parse::<JobId>() {
            let view = app.store().job(id).await?.ok_or(JobRefused::Unknown { id })?;
            return Ok(Self::Job(id, view.job.state, view.job.submission));
        }
        Ok(Self::Submission(app.engine.find_submission(named).await?.id))
    }
}

/// What is run again.
#[derive(Debug, Default)]
pub struct Retry {
    /// Jobs and submissions; none: every dead letter.
    pub ids: Vec<String>,
    /// Of all dead letters, only those of this stage.
    pub stage: Option<String>,
    /// Of all dead letters, only those of this queue.
    pub queue: Option<String>,
}

impl App {
    /// At most so many jobs, and whether there are more.
    pub async fn jobs(&self, filter: JobFilter, most: usize) -> AppResult<(Vec<JobView>, bool)> {
        let mut jobs = self.store().jobs(JobFilter { limit: Some(most.saturating_add(1)), ..filter }).await?;
        let are_more = jobs.len() > most;
        jobs.truncate(most);
        Ok((jobs, are_more))
    }

    /// Runs again what is meant. Everything is looked up before anything is changed.
    pub async fn retry(&self, what: Retry) -> AppResult<Retried> {
        let mut retried = Retried::default();
        for filter in self.retry_filters(what).await? {
            let more = self.store().retry(filter).await?;
            retried.jobs += more.jobs;
            retried.reopened += more.reopened;
        }
        Ok(retried)
    }

    async fn retry_filters(&self, what: Retry) -> AppResult<Vec<JobFilter>> {
        if what.ids.is_empty() {
            let queue = match &what.queue {
                Some(named) => Some(self.queue_named(named).await?),
                None => None,
            };
            let states = vec![JobState::Dead];
            return Ok(vec![JobFilter { stage: what.stage.map(Name::from), queue, states, ..JobFilter::default() }]);
        }
        let mut filters = Vec::new();
        for id in &what.ids {
            filters.push(match Target::find(self, id).await? {
                Target::Submission(id) => {
                    self.refuse_run(id).await?;
                    JobFilter { submission: Some(id), ..JobFilter::default() }
                }
                Target::Job(id, JobState::Cancelled, submission) => {
                    return Err(JobRefused::Cancelled { id, submission }.into());
                }
                Target::Job(id, ..) => JobFilter { ids: vec![id], ..JobFilter::default() },
            });
        }
        Ok(filters)
    }

    /// Runs of processors are submissions as well, but have no jobs and no result of a workflow.
    pub async fn refuse_run(&self, id: SubmissionId) -> AppResult<()> {
        match self.store().submission(id).await? {
            Some(Submission { channel, external_id: Some(run), .. }) if channel == CHANNEL => {
                Err(JobRefused::IsRun { id, run }.into())
            }
            _ => Ok(()),
        }
    }
}
