//! The engine's own small jobs: going on after a join.

use crate::{
    catalog::SubmissionInfo,
    chain::{At, END, Next, fully_processed, internal_processor, is_document_stage},
    engine::Engine,
    error::{EngineError, EngineResult},
    fan_out::scope_of_kind,
    workflow::{CompleteWhen, OnFailed, Over, Stage},
};
use bindery_core::{
    ItemId, Payload, SubmissionId,
    event::kind,
    job::{ClaimedJob, Job},
    join::Arrival,
    outcome::{Outcome, OutcomeStatus},
    submission::SubmissionStatus,
};
use bindery_store::{Commit, Guard, JobEnd, SubmissionChange, pages::OutcomePages, query::ItemFilter};
use serde_json::json;
use std::collections::HashSet;

/// What follows from one of the engine's own jobs.
pub async fn run(engine: &Engine, info: &SubmissionInfo, claimed: &ClaimedJob) -> EngineResult<Commit> {
    let job = &claimed.job;
    let changes = match job.processor.as_str() {
        internal_processor::ADVANCE => advance(engine, info, job).await?,
        internal_processor::ENTER => enter(engine, info, job).await?,
        internal_processor::FINISH => finish(engine, info).await?,
        other => return Err(EngineError::Invalid(format!("the engine has no job {other:?} of its own"))),
    };
    let guard = Guard::Claim { job: job.id, token: claimed.token, end: JobEnd::Done };
    Ok(Commit { guard, changes: changes.into_changes() })
}

fn stage_index(info: &SubmissionInfo, job: &Job) -> EngineResult<usize> {
    let unknown = || EngineError::NotFound(format!("stage {} in workflow {}", job.stage, info.workflow.name));
    info.workflow.index_of(&job.stage).ok_or_else(unknown)
}

/// All processors of a stage have reported on an item.
async fn advance<'a>(engine: &'a Engine, info: &'a SubmissionInfo, job: &Job) -> EngineResult<Next<'a>> {
    let index = stage_index(info, job)?;
    let stage = &info.workflow.stages[index];
    let outcomes = engine.store().item_outcomes(job.submission, job.item, &job.stage).await?;
    let mut next = Next::new(engine, info);
    if is_document_stage(&info.workflow, index)
        && let Some(item) = job.item
    {
        let document = engine.store().item(job.submission, item).await?;
        let document_id = document.map_or_else(|| item.to_string(), |item| item.public_id());
        let processors: Vec<String> = outcomes.iter().map(|outcome| outcome.processor.to_string()).collect();
        let data = fully_processed(&document_id, &processors);
        next.milestone(kind::DOCUMENT_FULLY_PROCESSED, job.item, "document-fully-processed", &data);
    }
    let at = At { stage: index, item: job.item, join: job.join, priority: job.priority };
    if is_completed(stage, &outcomes) {
        let statuses: serde_json::Map<_, _> =
            outcomes.iter().map(|outcome| (outcome.processor.to_string(), json!(outcome.status))).collect();
        next.go_on(at, Payload::Inline(json!({"processors": statuses}).to_string())).await?;
    } else {
        next.arrive(job.join, Arrival::Failed);
    }
    Ok(next)
}

/// Whether an item with several processors counts as completed.
pub fn is_completed(stage: &Stage, outcomes: &[Outcome]) -> bool {
    // What a person is asked about has come here because it goes on without the answer.
    let done = |outcome: &Outcome| outcome.status != OutcomeStatus::Failed;
    match stage.complete_when {
        CompleteWhen::Any => outcomes.iter().any(done),
        CompleteWhen::All => outcomes.len() == stage.processors.len() && outcomes.iter().all(done),
    }
}

/// An aggregation whose stage takes more than one job begins.
async fn enter<'a>(engine: &'a Engine, info: &'a SubmissionInfo, job: &Job) -> EngineResult<Next<'a>> {
    let at = At { stage: stage_index(info, job)?, item: job.item, join: job.join, priority: job.priority };
    let mut next = Next::new(engine, info);
    next.enter(at, Payload::null()).await?;
    Ok(next)
}

/// Every chain has ended: the submission is final. It has failed if parts failed and nothing came through to the end.
async fn finish<'a>(engine: &'a Engine, info: &'a SubmissionInfo) -> EngineResult<Next<'a>> {
    let counts = engine.store().stage_counts(info.id).await?;
    let failed: u64 = counts.iter().map(|row| row.counts.failed).sum();
    let last = info.workflow.stages.last().map(|stage| &stage.name);
    let came_through = counts
        .iter()
        .filter(|row| Some(&row.stage) == last)
        .any(|row| row.counts.completed + row.counts.skipped + row.counts.review > 0);
    let mut next = Next::new(engine, info);
    let error = (failed > 0).then(|| format!("{failed} {} failed", if failed == 1 { "part" } else { "parts" }));
    let (status, event) = if failed > 0 && !came_through {
        (SubmissionStatus::Failed, kind::SUBMISSION_FAILED)
    } else {
        (SubmissionStatus::Completed, kind::SUBMISSION_COMPLETED)
    };
    next.event(event, None, &json!({"status": status, "failedParts": failed, "end": END}));
    next.changes.submission_changes.push(SubmissionChange { id: info.id, status, error });
    Ok(next)
}

/// How many parts failed on their way to an aggregation that does not tolerate it; none for one that does. A part with
/// several processors has failed only where its stage says so.
pub async fn intolerable_failures(
    engine: &Engine,
    info: &SubmissionInfo,
    stage: usize,
    item: Option<ItemId>,
) -> EngineResult<u64> {
    let Some(aggregation) = info.workflow.stages[stage].aggregation.filter(|a| a.on_failed == OnFailed::Fail) else {
        return Ok(0);
    };
    let begin = (0..stage).rev().find(|index| info.workflow.stages[*index].aggregation.is_some()).unwrap_or(0);
    let in_scope = items_in_scope(engine, info.id, item, aggregation.counts).await?;
    let mut failed = 0;
    for before in info.workflow.stages[begin..stage].iter().filter(|before| before.over != Over::Submission) {
        let mut pages = OutcomePages::new(&**engine.store(), info.id, &before.name, None);
        let mut own: Vec<Outcome> = Vec::new();
        loop {
            let page = pages.next().await?;
            let ended = page.is_empty();
            for outcome in page {
                if own.first().is_some_and(|first| first.item != outcome.item) {
                    failed += u64::from(!is_completed(before, &own));
                    own.clear();
                }
                if in_scope.as_ref().is_none_or(|items| outcome.item.is_some_and(|item| items.contains(&item))) {
                    own.push(outcome);
                }
            }
            if ended {
                failed += u64::from(!own.is_empty() && !is_completed(before, &own));
                break;
            }
        }
    }
    Ok(failed)
}

/// The item with its parts, and theirs, down to those that are counted; none for the whole submission.
async fn items_in_scope(
    engine: &Engine,
    submission: SubmissionId,
    item: Option<ItemId>,
    counted: Over,
) -> EngineResult<Option<HashSet<ItemId>>> {
    let Some(item) = item else { return Ok(None) };
    let mut found = HashSet::from([item]);
    let mut parents = vec![item];
    while let Some(parent) = parents.pop() {
        let filter = ItemFilter { parent: Some(parent), ..ItemFilter::default() };
        for part in engine.store().items(submission, filter).await? {
            found.insert(part.id);
            if scope_of_kind(part.kind) < counted {
                parents.push(part.id);
            }
        }
    }
    Ok(Some(found))
}
