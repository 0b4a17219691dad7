//! What is said about a submission: what failed and why, what it waits for and why, and where its result is.

use crate::{config::App, items::Names, output};
use bindery_core::{
    Name, SubmissionId,
    artifact::Artifact,
    job::{JobState, WaitReason},
    outcome::OutcomeStatus,
};
use bindery_store::query::{JobFilter, ReviewFilter};
use serde::Serialize;
use serde_json::Value;
use std::{collections::BTreeMap, io, time::Duration};

/// How many failed parts are listed before the rest is only counted.
const MOST_LISTED: usize = 20;

/// A part that failed.
#[derive(Debug, Serialize)]
pub(crate) struct FailedPart {
    pub(crate) part: String,
    pub(crate) stage: Name,
    pub(crate) reason: String,
}

pub(crate) async fn failed_parts(app: &App, id: SubmissionId) -> anyhow::Result<Vec<FailedPart>> {
    let mut names = Names::new(app);
    let mut failed = Vec::new();
    for outcome in app.store().outcomes(id, None).await? {
        if outcome.status == OutcomeStatus::Failed {
            let part = names.of(id, outcome.item).await?;
            let reason = outcome.error.map_or_else(|| "no reason was given".to_owned(), |error| error.message);
            failed.push(FailedPart { part, stage: outcome.stage, reason });
        }
    }
    Ok(failed)
}

fn failed_lines(failed: &[FailedPart]) -> impl Iterator<Item = String> {
    let listed = failed.iter().take(MOST_LISTED);
    let lines = listed.map(|part| format!("failed: {} at stage {}: {}", part.part, part.stage, part.reason));
    let more = failed.len().saturating_sub(MOST_LISTED);
    lines.chain((more > 0).then(|| format!("… and {more} more; `bindery dead-letters` lists them all")))
}

/// As remarks beside a result.
pub(crate) fn note_failed(failed: &[FailedPart]) {
    failed_lines(failed).for_each(output::note);
}

/// As data.
pub(crate) fn print_failed(failed: &[FailedPart]) -> io::Result<()> {
    failed_lines(failed).try_for_each(output::line)
}

/// Jobs of one stage that wait for the same reason.
#[derive(Debug, Serialize)]
pub(crate) struct Waits {
    pub(crate) stage: Name,
    pub(crate) reason: String,
    pub(crate) jobs: u64,
}

/// Everything that waits, grouped. Jobs that run do not wait.
pub(crate) async fn waits(app: &App, id: SubmissionId) -> anyhow::Result<Vec<Waits>> {
    let states = vec![JobState::Ready, JobState::Scheduled, JobState::Parked, JobState::Awaiting, JobState::Cancelled];
    let jobs = app.store().jobs(JobFilter { submission: Some(id), states, ..JobFilter::default() }).await?;
    let mut groups: BTreeMap<(Name, String), u64> = BTreeMap::new();
    for view in jobs {
        *groups.entry((view.job.stage, grouped(&view.reason))).or_default() += 1;
    }
    for (stage, reason) in held_by_wrong_clocks(app, id).await? {
        *groups.entry((stage, reason)).or_default() += 1;
    }
    let reviews = ReviewFilter { submission: Some(id), ..ReviewFilter::default() };
    for review in app.store().reviews(reviews).await? {
        if review.is_open() {
            let reason = format!("review by a person: {}", review.reason());
            *groups.entry((review.stage, reason)).or_default() += 1;
        }
    }
    Ok(groups.into_iter().map(|((stage, reason), jobs)| Waits { stage, reason, jobs }).collect())
}

/// A lease can be as long as a day.
const LONGEST_LEASE: Duration = Duration::from_hours(24);

/// Jobs that look as if they ran, but are only held: by a lease of a worker whose clock is, or was, ahead.
async fn held_by_wrong_clocks(app: &App, id: SubmissionId) -> anyhow::Result<Vec<(Name, String)>> {
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

impl Waits {
    fn line(&self) -> String {
        format!("waiting: {} at stage {}: {}", output::count(self.jobs, "job"), self.stage, self.reason)
    }
}

pub(crate) fn note_waits(waits: &[Waits]) {
    waits.iter().map(Waits::line).for_each(output::note);
}

pub(crate) fn print_waits(waits: &[Waits]) -> io::Result<()> {
    waits.iter().map(Waits::line).try_for_each(output::line)
}

/// What to type next.
pub(crate) fn note_next(id: SubmissionId, result: &Value) {
    let Some(documents) = result["documents"].as_array().filter(|documents| !documents.is_empty()) else { return };
    let doubtful = documents.iter().find(|document| document["status"] == "review");
    let one = doubtful.or(documents.first()).and_then(|document| document["document_id"].as_str()).unwrap_or_default();
    let mut next = vec![
        (format!("bindery result {id} --document {one}"), "one document: its fields, and where each stands"),
        (format!("bindery result {id} --csv table.csv"), "all documents as a table"),
    ];
    if doubtful.is_some() {
        next.insert(1, ("bindery review list".to_owned(), "what a person should decide, and how"));
    }
    let widest = next.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    output::note("next:");
    for (command, what) in next {
        output::note(format!("  {command:widest$}  {what}"));
    }
}

/// Where the result is.
#[derive(Debug, Serialize)]
pub(crate) struct Stored {
    pub(crate) key: String,
    pub(crate) sha256: String,
    pub(crate) size: u64,
    pub(crate) path: String,
}

pub(crate) async fn stored_result(app: &App, id: SubmissionId) -> anyhow::Result<Option<Stored>> {
    let artifacts = app.store().artifacts(id).await?;
    Ok(artifacts
        .into_iter()
        .find(|artifact| artifact.key == format!("output/{id}.json"))
        .map(|artifact| stored(app, &artifact)))
}

fn stored(app: &App, artifact: &Artifact) -> Stored {
    Stored {
        key: artifact.key.clone(),
        sha256: artifact.hash.to_string(),
        size: artifact.size,
        path: app.blob_location(artifact.hash),
    }
}
