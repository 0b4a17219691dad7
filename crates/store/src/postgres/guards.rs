//! Guards: does a commit hold? Where it does, the guard has also made its own change, so that it cannot hold twice.

use super::{
    ends,
    fail::TxResult,
    reviews,
    rows::{get, item_number, payload_columns},
    session::{Param, Tx},
};
use crate::commit::{Commit, Guard, JobEnd, Rejection};
use bindery_core::{
    ItemId, JobId, Name, SubmissionId,
    job::Token,
    outcome::{Outcome, OutcomeStatus},
};

/// The reason to reject each commit, or none. Those that end a claim as done are checked with one statement; no job may
/// be named by two of them.
pub(super) async fn check(tx: &Tx, commits: &[&Commit]) -> TxResult<Vec<Option<Rejection>>> {
    let done: Vec<(JobId, Token)> = commits.iter().filter_map(|commit| done_claim(commit)).collect();
    let ended = ends::finish(tx, &done).await?;
    let mut rejections = Vec::with_capacity(commits.len());
    for commit in commits {
        rejections.push(match done_claim(commit) {
            Some((job, _)) => (!ended.contains(&job)).then_some(Rejection::LeaseLost),
            None => check_one(tx, commit).await?,
        });
    }
    Ok(rejections)
}

fn done_claim(commit: &Commit) -> Option<(JobId, Token)> {
    match &commit.guard {
        Guard::Claim { job, token, end: JobEnd::Done } => Some((*job, *token)),
        _ => None,
    }
}

async fn check_one(tx: &Tx, commit: &Commit) -> TxResult<Option<Rejection>> {
    let (holds, rejection) = match &commit.guard {
        Guard::Always => return Ok(None),
        Guard::Claim { job, token, end } => (ends::end(tx, *job, *token, end).await?, Rejection::LeaseLost),
        Guard::Report { submission, item, stage, processor } => {
            (take_awaited(tx, *submission, *item, stage, processor).await?, Rejection::NotAwaited)
        }
        Guard::LateReport { submission, item, stage, processor } => {
            (replace_failed(tx, *submission, *item, stage, processor).await?, Rejection::NotFailed)
        }
        Guard::Review { review, by, decision } => {
            (reviews::complete(tx, *review, by.as_deref(), decision).await?, Rejection::ReviewClosed)
        }
        Guard::Unchanged(outcome) => (is_unchanged(tx, outcome).await?, Rejection::Changed),
        Guard::NewSubmission => return existing_submission(tx, commit).await,
        Guard::NewItem => return existing_item(tx, commit).await,
    };
    Ok((!holds).then_some(rejection))
}

/// Whether the current result of some work is still this one. Nobody changes it until we are done.
async fn is_unchanged(tx: &Tx, outcome: &Outcome) -> TxResult<bool> {
    let find = "SELECT 1 FROM outcome WHERE submission_id = $1 AND stage = $2 AND item_id = $3 AND processor = $4 \
                AND status = $5 AND finished_at = $6 AND output IS NOT DISTINCT FROM $7::text \
                AND output_blob IS NOT DISTINCT FROM $8::bytea FOR UPDATE";
    let (output, blob) = payload_columns(&outcome.output);
    let (submission, item) = (outcome.submission.raw(), item_number(outcome.item));
    let (stage, processor) = (outcome.stage.as_str(), outcome.processor.as_str());
    let (status, finished_at) = (outcome.status as i16, outcome.finished_at.as_millis());
    let params: [Param<'_>; 8] = [&submission, &stage, &item, &processor, &status, &finished_at, &output, &blob];
    Ok(tx.first(find, &params).await?.is_some())
}

/// Others who do the same at this moment wait until we are done, and then find what we have done.
pub(super) async fn take_turns(tx: &Tx, what: &str) -> TxResult<()> {
    tx.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", &[&what]).await?;
    Ok(())
}

async fn existing_submission(tx: &Tx, commit: &Commit) -> TxResult<Option<Rejection>> {
    let new = commit.changes.submissions.first().and_then(|new| new.external_id.as_deref());
    let Some(external_id) = new else { return Ok(None) };
    take_turns(tx, &format!("bindery submission {external_id}")).await?;
    let existing = tx.first("SELECT id FROM submission WHERE external_id = $1", &[&external_id]).await?;
    existing.map(|row| get(&row, 0).map(|id| Rejection::AlreadyExists(SubmissionId::from_raw(id)))).transpose()
}

async fn existing_item(tx: &Tx, commit: &Commit) -> TxResult<Option<Rejection>> {
    let Some((item, key)) = commit.changes.items.first().and_then(|item| item.key.as_ref().map(|key| (item, key)))
    else {
        return Ok(None);
    };
    take_turns(tx, &format!("bindery item {} {key}", item.submission)).await?;
    let find = "SELECT id FROM item WHERE submission_id = $1 AND key = $2";
    let existing = tx.first(find, &[&item.submission.raw(), key]).await?;
    existing.map(|row| get(&row, 0).map(|id| Rejection::ItemExists(ItemId::from_raw(id)))).transpose()
}

/// Removes the job that waits for this report, whether it still waits or has just been found overdue.
async fn take_awaited(
    tx: &Tx,
    submission: SubmissionId,
    item: Option<ItemId>,
    stage: &Name,
    processor: &Name,
) -> TxResult<bool> {
    let take = "DELETE FROM job WHERE submission_id = $1 AND item_id = $2 AND stage = $3 AND processor = $4 \
                AND (state = 4 OR (await_report_ms IS NOT NULL AND state < 4))";
    let (submission, item) = (submission.raw(), item_number(item));
    Ok(tx.execute(take, &[&submission, &item, &stage.as_str(), &processor.as_str()]).await? > 0)
}

/// The failed result may be replaced; what was kept to try it again is not needed any more.
async fn replace_failed(
    tx: &Tx,
    submission: SubmissionId,
    item: Option<ItemId>,
    stage: &Name,
    processor: &Name,
) -> TxResult<bool> {
    let (submission, item, stage, processor) =
        (submission.raw(), item_number(item), stage.as_str(), processor.as_str());
    let find = "SELECT 1 FROM outcome WHERE submission_id = $1 AND stage = $2 AND item_id = $3 AND processor = $4 \
                AND status = $5 FOR UPDATE";
    let failed = OutcomeStatus::Failed as i16;
    if tx.first(find, &[&submission, &stage, &item, &processor, &failed]).await?.is_none() {
        return Ok(false);
    }
    let forget = "DELETE FROM job WHERE submission_id = $1 AND item_id = $2 AND stage = $3 AND processor = $4 \
                  AND state = 5";
    tx.execute(forget, &[&submission, &item, &stage, &processor]).await?;
    Ok(true)
}
