//! What is said about a submission: what failed and why, what it waits for and why, and where its result is.

use crate::{config::App, items::Names, output};
use bindery_core::{
    Name, SubmissionId,
    artifact::Artifact,
    job::{ENGINE_QUEUE, JobState, WaitReason},
    outcome::OutcomeStatus,
    progress::Progress,
    review::ReviewStatus,
};
use bindery_store::{
    pages::OutcomePages,
    query::{JobFilter, ReviewFilter},
};
use serde::Serialize;
use serde_json::Value;
use std::{collections::BTreeMap, io, time::Duration};

/// How many failed parts are listed before the rest is only counted.
pub(crate) const MOST_LISTED: usize = 20;

/// How many are in a list for programs.
pub(crate) const MOST_IN_JSON: usize = 1_000;

/// Of how many jobs of a stage in one state the reasons are looked at. There may be a million, and they wait for the
/// same.
const LOOKED_AT: usize = 1_000;

/// A part that failed.
#[derive(Debug, Serialize)]
pub(crate) struct FailedPart {
    pub(crate) part: String,
    pub(crate) stage: Name,
    pub(crate) reason: String,
}

/// What failed: the first of it, and how much there is in all.
#[derive(Debug, Default)]
pub(crate) struct Failed {
    pub(crate) listed: Vec<FailedPart>,
    pub(crate) total: u64,
}

impl Failed {
    pub(crate) fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }
}

/// The first `most` parts that failed, stage by stage. What did not fail is not looked at.
pub(crate) async fn failed_parts(app: &App, progress: &Progress, most: usize) -> anyhow::Result<Failed> {
    let id = progress.submission;
    let mut names = Names::new(app);
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
                let part = names.of(id, outcome.item).await?;
                let reason = outcome.error.map_or_else(|| "no reason was given".to_owned(), |error| error.message);
                failed.listed.push(FailedPart { part, stage: outcome.stage, reason });
            }
        }
    }
    Ok(failed)
}

fn failed_lines(failed: &Failed) -> impl Iterator<Item = String> {
    let listed = failed.listed.iter().take(MOST_LISTED);
    let lines = listed.map(|part| format!("failed: {} at stage {}: {}", part.part, part.stage, part.reason));
    let more = failed.total.saturating_sub(MOST_LISTED as u64);
    lines.chain((more > 0).then(|| format!("… and {more} more; `bindery dead-letters` lists them all")))
}

/// As remarks beside a result.
pub(crate) fn note_failed(failed: &Failed) {
    failed_lines(failed).for_each(output::note);
}

/// As data.
pub(crate) fn print_failed(failed: &Failed) -> io::Result<()> {
    failed_lines(failed).try_for_each(output::line)
}

/// Jobs of one stage that wait for the same reason.
#[derive(Debug, Serialize)]
pub(crate) struct Waits {
    pub(crate) stage: Name,
    pub(crate) reason: String,
    pub(crate) jobs: u64,
}

/// Everything that waits, grouped. Jobs that run do not wait. Of very many in one state only some are asked why; the
/// others are counted with the reason that most of those have.
pub(crate) async fn waits(app: &App, progress: &Progress) -> anyhow::Result<Vec<Waits>> {
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
async fn review_reasons(
    app: &App,
    progress: &Progress,
    groups: &mut BTreeMap<(Name, String), u64>,
) -> anyhow::Result<()> {
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

async fn wait_reasons(
    app: &App,
    id: SubmissionId,
    stage: &Name,
    state: JobState,
    number: u64,
    groups: &mut BTreeMap<(Name, String), u64>,
) -> anyhow::Result<()> {
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
    let artifact = app.store().artifact(id, &format!("output/{id}.json")).await?;
    Ok(artifact.map(|artifact| stored(app, &artifact)))
}

fn stored(app: &App, artifact: &Artifact) -> Stored {
    Stored {
        key: artifact.key.clone(),
        sha256: artifact.hash.to_string(),
        size: artifact.size,
        path: app.blob_location(artifact.hash),
    }
}
