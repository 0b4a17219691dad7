//! Results that come from outside: a processor that is not ours reports. What people say is in [`decision`](crate::decision).
//!
//! A report finds the job that waits for it and takes its place; the rest is the same as for a worker's result. A second
//! report finds nothing waiting and changes nothing.

use crate::{
    catalog::SubmissionInfo,
    chain::Next,
    engine::Engine,
    error::{EngineError, EngineResult},
    settle::{Found, Settlement, Settler, Work},
    workflow::Target,
};
use bindery_core::{
    ItemId, Name, SubmissionId, Timestamp,
    error::ErrorClass,
    event::kind,
    job::{ClaimedJob, ErrorRecord, Job},
    outcome::{Outcome, OutcomeStatus},
};
use bindery_store::{Changes, Commit, CommitResult, Guard, JobEnd, query::JobFilter};
use serde_json::{Value, json};

/// What an outside processor says.
#[derive(Debug, Clone, PartialEq)]
pub enum Reported {
    Completed { output: Value, confidence: Option<f64> },
    Failed { error: String },
}

/// Whose work a report is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    pub submission: SubmissionId,
    pub item: Option<ItemId>,
    pub stage: Name,
    pub processor: Name,
}

impl Engine {
    /// The job that waits for a report about an item: at this stage by this processor, where they are said.
    pub async fn find_awaited(
        &self,
        submission: SubmissionId,
        item: Option<ItemId>,
        stage: Option<&Name>,
        processor: Option<&Name>,
    ) -> EngineResult<Option<Job>> {
        let filter = JobFilter { submission: Some(submission), item, stage: stage.cloned(), ..JobFilter::default() };
        let jobs = self.store().jobs(filter).await?;
        let waits = |job: &Job| {
            job.await_report_ms.is_some()
                && job.state.is_live()
                && job.item == item
                && processor.is_none_or(|processor| job.processor == *processor)
        };
        Ok(jobs.into_iter().map(|view| view.job).find(waits))
    }

    /// The commits that a report comes to. Each has its own guard; on a duplicate none of them holds.
    pub async fn plan_report(
        &self,
        info: &SubmissionInfo,
        about: &About,
        reported: Reported,
        target: Target,
    ) -> EngineResult<Vec<Commit>> {
        self.plan(info, about, reported, target, None).await
    }

    /// The same for a report that is an event in the log already, with the time at which it happened.
    pub(crate) async fn plan_report_of_event(
        &self,
        info: &SubmissionInfo,
        about: &About,
        reported: Reported,
        at: Timestamp,
    ) -> EngineResult<Vec<Commit>> {
        self.plan(info, about, reported, Target::Next, Some(at)).await
    }

    async fn plan(
        &self,
        info: &SubmissionInfo,
        about: &About,
        reported: Reported,
        target: Target,
        logged_at: Option<Timestamp>,
    ) -> EngineResult<Vec<Commit>> {
        let About { submission, item, stage, processor } = about.clone();
        let index = info
            .workflow
            .index_of(&stage)
            .ok_or_else(|| EngineError::NotFound(format!("stage {stage} in workflow {}", info.workflow.name)))?;
        let settler = Settler { engine: self, info };
        let mut commits = Vec::new();
        if let Some(job) = self.find_awaited(submission, item, Some(&stage), Some(&processor)).await? {
            let mut work = Work::of_job(&job, index);
            work.attempt = work.attempt.max(1);
            work.reported_by_event = logged_at.is_some();
            let guard = Guard::Report { submission, item, stage: stage.clone(), processor: processor.clone() };
            let commit = match &reported {
                Reported::Completed { output, confidence } => {
                    let mut found = self.found_outside(output, *confidence, target).await?;
                    if let (None, Some(threshold)) = (confidence, info.workflow.stages[index].confidence_threshold) {
                        // What says nothing of its confidence has not reached the threshold.
                        found.target = Target::Backoffice;
                        found.reasons.push(format!("{processor} states no confidence, and {threshold} is asked for"));
                    }
                    match settler.settle_found(guard, work, found).await? {
                        Settlement::Commit(commit) => *commit,
                        Settlement::FanOut(_) => {
                            return Err(EngineError::Invalid("a report cannot take an item apart".to_owned()));
                        }
                    }
                }
                Reported::Failed { error } => {
                    let changes = settler.give_up(&work, &reported_error(error), None, None).await?;
                    Commit { guard, changes }
                }
            };
            commits.push(commit);
        }
        if let Reported::Completed { output, confidence } = &reported {
            let outcome = self.late_outcome(about, output, *confidence).await?;
            let guard = Guard::LateReport { submission, item, stage, processor };
            commits.push(Commit { guard, changes: Changes { outcomes: vec![outcome], ..Changes::default() } });
        }
        if let Some(at) = logged_at {
            // The state says when the work was done, not when we heard of it; no sender's clock makes that the future.
            let at = at.min(self.clock().now());
            commits.iter_mut().flat_map(|commit| &mut commit.changes.outcomes).for_each(|o| o.finished_at = at);
        }
        Ok(commits)
    }

    pub(crate) async fn found_outside(
        &self,
        output: &Value,
        confidence: Option<f64>,
        target: Target,
    ) -> EngineResult<Found> {
        Ok(Found {
            output: self.store_payload(output).await?,
            confidence,
            children: None,
            reasons: Vec::new(),
            target,
            artifacts: Vec::new(),
            label: None,
            skipped: None,
            events: Vec::new(),
            cost_micros: 0,
            processor_version: 0,
            known_by: None,
            taken_over_from: None,
            is_decided: false,
            rejected: None,
        })
    }

    async fn late_outcome(&self, about: &About, output: &Value, confidence: Option<f64>) -> EngineResult<Outcome> {
        Ok(Outcome {
            submission: about.submission,
            item: about.item,
            stage: about.stage.clone(),
            processor: about.processor.clone(),
            status: OutcomeStatus::Completed,
            output: self.store_payload(output).await?,
            confidence,
            error: None,
            resume: None,
            input_hash: None,
            processor_version: 0,
            attempts: 1,
            cost_micros: 0,
            finished_at: self.clock().now(),
            reuse: None,
        })
    }

    /// Reports on one piece of work, now. False if nobody waited for it: a duplicate, or a stranger.
    pub async fn report(&self, about: &About, reported: Reported) -> EngineResult<bool> {
        let info = self.catalog().submission(about.submission).await?;
        let commits = self.plan_report(&info, about, reported, Target::Next).await?;
        let results = self.store().commit(commits).await?;
        Ok(results.iter().any(CommitResult::is_applied))
    }
}

fn reported_error(message: &str) -> ErrorRecord {
    let message = if message.is_empty() { "failed, without a message".to_owned() } else { message.to_owned() };
    ErrorRecord { class: ErrorClass::Reject, kind: "Reported".to_owned(), message, step: None }
}

/// An outside processor has not reported in time: wait once more, or give up.
pub(crate) async fn overdue(
    engine: &Engine,
    info: &SubmissionInfo,
    claimed: &ClaimedJob,
    stage: usize,
) -> EngineResult<Commit> {
    let job = &claimed.job;
    let definition = &info.workflow.stages[stage];
    let max_attempts =
        definition.processor(&job.processor).map_or(definition.max_attempts, |p| definition.max_attempts_of(p));
    let wait = job.await_report_ms.unwrap_or_default();
    let message = format!("{} did not report within {} s", job.processor, wait as f64 / 1000.0);
    let error = ErrorRecord { class: ErrorClass::Retry, kind: "Timeout".to_owned(), message, step: None };
    let guard = |end| Guard::Claim { job: job.id, token: claimed.token, end };
    if job.attempt < max_attempts {
        let within = std::time::Duration::from_millis(u64::try_from(wait).unwrap_or(0));
        let until = engine.clock().now() + within;
        let mut next = Next::new(engine, info);
        let data = json!({
            "job": job.id, "stage": job.stage, "processor": job.processor, "attempt": job.attempt,
            "maxAttempts": max_attempts, "error": error.message, "until": until,
        });
        next.event(kind::JOB_RETRIED, job.item, &data);
        let end = JobEnd::Await { within, error: Some(error) };
        return Ok(Commit { guard: guard(end), changes: next.into_changes() });
    }
    let settler = Settler { engine, info };
    let changes = settler.give_up(&Work::of_job(job, stage), &error, None, Some(job)).await?;
    Ok(Commit { guard: guard(JobEnd::Dead { error, resume: None }), changes })
}
