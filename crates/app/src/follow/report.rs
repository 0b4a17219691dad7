//! How a submission stands: what failed and why, what it waits for and why, and where its result is.

use crate::{app::App, error::AppResult, items::ItemNames};
use bindery_core::{
    Name, SubmissionId,
    artifact::Artifact,
    error::ErrorClass,
    job::{ENGINE_QUEUE, ErrorRecord, JobState, WaitReason},
    outcome::OutcomeStatus,
    progress::Progress,
    review::ReviewStatus,
};
use bindery_engine::SILENT_AFTER;
use bindery_store::{
    pages::OutcomePages,
    query::{JobFilter, ReviewFilter, WorkerView},
};
use serde::Serialize;
use std::{collections::BTreeMap, time::Duration};

/// Of how many jobs of a stage in one state the reasons are looked at. There may be a million, and they wait for the
/// same.
const LOOKED_AT: usize = 1_000;

/// A part that failed.
#[derive(Debug, Serialize)]
pub struct FailedPart {
    pub part: String,
    pub stage: Name,
    pub reason: String,
    /// The same would fail in the same way again: a damaged file, an unknown type.
    pub is_permanent: bool,
}

/// What failed: the first of it, and how much there is in all.
#[derive(Debug, Default)]
pub struct Failed {
    pub listed: Vec<FailedPart>,
    pub total: u64,
}

impl Failed {
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Whether trying again would help none of it.
    pub fn is_permanent(&self) -> bool {
        !self.is_empty() && self.total == self.listed.len() as u64 && self.listed.iter().all(|part| part.is_permanent)
    }
}

/// What lies in the part itself. What the machine lacks can be installed, and limits can be raised.
fn is_permanent(error: &ErrorRecord) -> bool {
    const OF_THE_MACHINE: [&str; 3] = ["NoOcr", "MemoryLimit", "NoStore"];
    error.class == ErrorClass::Reject && !OF_THE_MACHINE.contains(&error.kind.as_str())
}

/// Whether anybody works on this store: a worker that was seen lately, or whose claim still holds.
pub async fn has_worker(app: &App) -> AppResult<bool> {
    let now = app.store().clock().now();
    let seen = |view: &WorkerView| view.left_at.is_none() && now.since(view.seen_at) < SILENT_AFTER;
    if app.store().workers().await?.iter().any(seen) {
        return Ok(true);
    }
    // Whoever has just begun has claimed, and not been seen yet.
    let running = JobFilter { states: vec![JobState::Running], limit: Some(LOOKED_AT), ..JobFilter::default() };
    let held = app.store().jobs(running).await?;
    Ok(held.iter().any(|view| view.job.lease_until.is_some_and(|until| until > now)))
}

/// The first `most` parts that failed, stage by stage. What did not fail is not looked at.
pub async fn failed_parts(app: &App, progress: &Progress, most: usize) -> AppResult<Failed> {
    let id = progress.submission;
    let mut names = ItemNames::new(app);
    let mut failed =
        Failed { total: progress.stages.iter().map(|stage| stage.counts.failed).sum(), ..Failed::default() };
    for stage in progress.stages.iter().filter(|stage| stage.counts.failed > 0) {
        let mut pages = OutcomePages::new(app.store(), id, &stage.stage, Some(OutcomeStatus::Failed));
        while failed.listed.len() < most {
            let page = pages.next().await?;
            if page.is_empty() {
                break;
            }
            for outcome in page.into_iter().take(most - failed.listed.len()) {
                let part = names.label(id, outcome.item).await?;
                let is_permanent = outcome.error.as_ref().is_some_and(is_permanent);
                let reason = outcome.error.map_or_else(|| "no reason was given".to_owned(), |error| error.message);
                failed.listed.push(FailedPart { part, stage: outcome.stage, reason, is_permanent });
            }
        }
    }
    Ok(failed)
}

/// Jobs of one stage that wait for the same reason.
#[derive(Debug, Serialize)]
pub struct Waits {
    pub stage: Name,
    pub reason: String,
    pub jobs: u64,
}

/// Everything that waits, grouped. Jobs that run do not wait. Of very many in one state only some are asked why; the
/// others are counted with the reason that most of those have.
pub async fn waits(app: &App, progress: &Progress) -> AppResult<Vec<Waits>> {
    let id = progress.submission;
    let mut groups: BTreeMap<(Name, String), u64> = BTreeMap::new();
    for stage in &progress.stages {
        let counts = &stage.counts;
        for (state, number) in [
            (JobState::Ready, counts.waiting),
            (JobState::Scheduled, counts.scheduled),
            (JobState::Parked, counts.parked),
            (JobState::Awaiting, counts.awaiting),
            (JobState::Cancelled, counts.cancelled),
        ] {
            if number > 0 {
                wait_reasons(app, id, &stage.stage, state, number, &mut groups).await?;
            }
        }
    }
    for (stage, reason) in held_by_wrong_clocks(app, id).await? {
        *groups.entry((stage, reason)).or_default() += 1;
    }
    review_reasons(app, progress, &mut groups).await?;
    Ok(groups.into_iter().map(|((stage, reason), jobs)| Waits { stage, reason, jobs }).collect())
}

/// What people are asked, grouped in the same way.
async fn review_reasons(app: &App, progress: &Progress, groups: &mut BTreeMap<(Name, String), u64>) -> AppResult<()> {
    let (submission, statuses) = (Some(progress.submission), ReviewStatus::OPEN.to_vec());
    let open = ReviewFilter { submission, statuses, limit: Some(LOOKED_AT), ..ReviewFilter::default() };
    let mut reasons: BTreeMap<(Name, String), u64> = BTreeMap::new();
    for review in app.store().reviews(open).await? {
        let reason = format!("review by a person: {}", review.reason());
        *reasons.entry((review.stage, reason)).or_default() += 1;
    }
    add_those_not_looked_at(reasons.values_mut(), progress.open_reviews());
    groups.extend(reasons);
    Ok(())
}

/// Where only some were asked why they wait, the others are counted with the reason that most of those have.
fn add_those_not_looked_at<'a>(reasons: impl Iterator<Item = &'a mut u64>, number: u64) {
    let reasons: Vec<&mut u64> = reasons.collect();
    let looked_at: u64 = reasons.iter().map(|jobs| **jobs).sum();
    if looked_at >= LOOKED_AT as u64
        && let Some(most) = reasons.into_iter().max()
    {
        *most += number.saturating_sub(looked_at);
    }
}

/// A lease can be as long as a day.
const LONGEST_LEASE: Duration = Duration::from_hours(24);

/// Jobs that look as if they ran, but are only held: by a lease of a worker whose clock is, or was, ahead.
async fn held_by_wrong_clocks(app: &App, id: SubmissionId) -> AppResult<Vec<(Name, String)>> {
    let running = JobFilter { submission: Some(id), states: vec![JobState::Running], ..JobFilter::default() };
    let latest = app.store().clock().now() + LONGEST_LEASE;
    let mut held = Vec::new();
    for view in app.store().jobs(running).await? {
        if view.job.lease_until.is_some_and(|until| until > latest) {
            let worker = view.job.worker.unwrap_or_else(|| Name::from("(unknown)"));
            let reason =
                format!("held by worker {worker}, whose clock is ahead; others take it when it stops answering");
            held.push((view.job.stage, reason));
        }
    }
    Ok(held)
}

async fn wait_reasons(
    app: &App,
    id: SubmissionId,
    stage: &Name,
    state: JobState,
    number: u64,
    groups: &mut BTreeMap<(Name, String), u64>,
) -> AppResult<()> {
    let (submission, stage_name, limit) = (Some(id), Some(stage.clone()), Some(LOOKED_AT));
    let filter = JobFilter { submission, stage: stage_name, states: vec![state], limit, ..JobFilter::default() };
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for view in app.store().jobs(filter).await?.into_iter().filter(|view| view.job.queue != ENGINE_QUEUE) {
        *reasons.entry(grouped(&view.reason)).or_default() += 1;
    }
    add_those_not_looked_at(reasons.values_mut(), number);
    for (reason, jobs) in reasons {
        *groups.entry((stage.clone(), reason)).or_default() += jobs;
    }
    Ok(())
}

/// The reason without what differs from job to job, so that a thousand jobs are one line.
fn grouped(reason: &WaitReason) -> String {
    match reason {
        WaitReason::NoWorkerYet { .. } => "waits for a free worker".to_owned(),
        WaitReason::Later { because: Some(because), .. } => format!("to be tried again after: {because}"),
        WaitReason::Later { because: None, .. } => "not before a later time".to_owned(),
        WaitReason::Report { .. } => "waits for an outside processor to report".to_owned(),
        WaitReason::Suspect { .. } => "its worker died; waits for a worker that does nothing else meanwhile".to_owned(),
        WaitReason::LimitReached { key, .. } => format!("limit {key} is reached"),
        other => other.to_string(),
    }
}

/// Where the result is.
#[derive(Debug, Serialize)]
pub struct ResultLocation {
    pub key: String,
    pub sha256: String,
    pub size: u64,
    pub path: String,
}

pub async fn stored_result(app: &App, id: SubmissionId) -> AppResult<Option<ResultLocation>> {
    let artifact = app.store().artifact(id, &format!("output/{id}.json")).await?;
    Ok(artifact.map(|artifact| stored(app, &artifact)))
}

fn stored(app: &App, artifact: &Artifact) -> ResultLocation {
    ResultLocation {
        key: artifact.key.clone(),
        sha256: artifact.hash.to_string(),
        size: artifact.size,
        path: app.blob_location(artifact.hash),
    }
}
