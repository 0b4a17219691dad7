//! One commit: is its guard true, and if so everything that follows.

use super::{
    blob_rows, events, jobs,
    joins::Tally,
    repair, reviews,
    rows::{item_number, payload_columns, status_number, to_json},
    writer::{Tx, WriteResult},
};
use crate::commit::{Changes, Commit, CommitResult, Guard, JobEnd, Rejection, SubmissionChange};
use bindery_core::{
    ContentHash, ItemId, JobId, Name, SubmissionId, Timestamp,
    artifact::Artifact,
    item::Item,
    job::Token,
    outcome::{Outcome, OutcomeStatus},
    submission::{NewSubmission, SubmissionStatus},
};
use rusqlite::OptionalExtension;
use std::collections::HashSet;

/// Applies commits one after the other.
pub(super) fn apply(tx: &mut Tx<'_>, commits: &[Commit]) -> WriteResult<Vec<CommitResult>> {
    let mut ended = jobs::end_done(tx, &done_claims(commits))?;
    let mut tally = Tally::default();
    let mut results = Vec::with_capacity(commits.len());
    for commit in commits {
        results.push(match check(tx, commit, &mut ended)? {
            Some(rejection) => CommitResult::Rejected(rejection),
            None => match commit.changes.again {
                None => changes(tx, &commit.changes, &mut tally)?,
                Some(again) => {
                    // Which join it ends in is seen in the tables only.
                    std::mem::take(&mut tally).store(tx)?;
                    let join = repair::begin_again(tx, again)?;
                    changes(tx, &commit.changes.clone().ending_in(again.join, join), &mut tally)?
                }
            },
        });
    }
    tally.store(tx)?;
    Ok(results)
}

/// The claims that a batch ends well, and that nothing else in the batch ends too: the first end of a claim counts, so
/// their order counts.
fn done_claims(commits: &[Commit]) -> Vec<(JobId, Token)> {
    let mut seen = HashSet::new();
    let mut twice = HashSet::new();
    let mut done = Vec::new();
    for commit in commits {
        if let Guard::Claim { job, token, end } = &commit.guard {
            if !seen.insert(*job) {
                twice.insert(*job);
            }
            if *end == JobEnd::Done {
                done.push((*job, *token));
            }
        }
    }
    done.retain(|(job, _)| !twice.contains(job));
    done
}

/// The reason to reject, or none: then the guard has also made its own change, so that it cannot hold twice.
fn check(tx: &Tx<'_>, commit: &Commit, ended: &mut HashSet<(JobId, Token)>) -> WriteResult<Option<Rejection>> {
    let (holds, rejection) = match &commit.guard {
        Guard::Always => return Ok(None),
        Guard::Claim { job, token, .. } if ended.remove(&(*job, *token)) => return Ok(None),
        Guard::Claim { job, token, end } => (jobs::end(tx, *job, *token, end)?, Rejection::LeaseLost),
        Guard::Report { submission, item, stage, processor } => {
            (take_awaited(tx, *submission, *item, stage, processor)?, Rejection::NotAwaited)
        }
        Guard::LateReport { submission, item, stage, processor } => {
            (replace_failed(tx, *submission, *item, stage, processor)?, Rejection::NotFailed)
        }
        Guard::Review { review, by, decision } => {
            (reviews::complete(tx, *review, by.as_deref(), decision)?, Rejection::ReviewClosed)
        }
        Guard::Unchanged(outcome) => (is_unchanged(tx, outcome)?, Rejection::Changed),
        Guard::NewSubmission => {
            let known = commit.changes.submissions.first().and_then(|new| new.external_id.as_deref());
            let existing = known.map(|external_id| submission_by_external_id(tx, external_id)).transpose()?.flatten();
            return Ok(existing.map(Rejection::AlreadyExists));
        }
        Guard::NewItem => {
            let Some(item) = commit.changes.items.first() else { return Ok(None) };
            let mut find = tx.db.prepare_cached("SELECT id FROM item WHERE submission_id = ?1 AND key = ?2")?;
            let existing = find.query_row((item.submission.raw(), &item.key), |row| row.get(0)).optional()?;
            return Ok(existing.map(|id| Rejection::ItemExists(ItemId::from_raw(id))));
        }
    };
    Ok((!holds).then_some(rejection))
}

fn submission_by_external_id(tx: &Tx<'_>, external_id: &str) -> WriteResult<Option<SubmissionId>> {
    let mut find = tx.db.prepare_cached("SELECT id FROM submission WHERE external_id = ?1")?;
    Ok(find.query_row([external_id], |row| row.get(0).map(SubmissionId::from_raw)).optional()?)
}

/// Removes the job that waits for this report, whether it still waits or has just been found overdue.
fn take_awaited(
    tx: &Tx<'_>,
    submission: SubmissionId,
    item: Option<ItemId>,
    stage: &Name,
    processor: &Name,
) -> WriteResult<bool> {
    let mut take = tx.db.prepare_cached(
        "DELETE FROM job WHERE submission_id = ?1 AND item_id = ?2 AND stage = ?3 AND processor = ?4 \
         AND (state = 4 OR (await_report_ms IS NOT NULL AND state < 4))",
    )?;
    Ok(take.execute((submission.raw(), item_number(item), stage.as_str(), processor.as_str()))? > 0)
}

/// The failed result may be replaced; what was kept to try it again is not needed any more.
fn replace_failed(
    tx: &Tx<'_>,
    submission: SubmissionId,
    item: Option<ItemId>,
    stage: &Name,
    processor: &Name,
) -> WriteResult<bool> {
    let mut find = tx.db.prepare_cached(
        "SELECT 1 FROM outcome WHERE submission_id = ?1 AND stage = ?2 AND item_id = ?3 AND processor = ?4 \
         AND status = ?5",
    )?;
    let failed = OutcomeStatus::Failed as i64;
    if !find.exists((submission.raw(), stage.as_str(), item_number(item), processor.as_str(), failed))? {
        return Ok(false);
    }
    let mut forget = tx.db.prepare_cached(
        "DELETE FROM job WHERE submission_id = ?1 AND item_id = ?2 AND stage = ?3 AND processor = ?4 AND state = 5",
    )?;
    forget.execute((submission.raw(), item_number(item), stage.as_str(), processor.as_str()))?;
    Ok(true)
}

/// Whether the current result of some work is still this one.
fn is_unchanged(tx: &Tx<'_>, outcome: &Outcome) -> WriteResult<bool> {
    let (output, output_blob) = payload_columns(&outcome.output);
    let mut find = tx.db.prepare_cached(
        "SELECT 1 FROM outcome WHERE submission_id = ?1 AND stage = ?2 AND item_id = ?3 AND processor = ?4 \
         AND status = ?5 AND finished_at = ?6 AND output IS ?7 AND output_blob IS ?8",
    )?;
    Ok(find.exists((
        outcome.submission.raw(),
        outcome.stage.as_str(),
        item_number(outcome.item),
        outcome.processor.as_str(),
        outcome.status as i64,
        outcome.finished_at.as_millis(),
        output,
        output_blob,
    ))?)
}

fn changes(tx: &mut Tx<'_>, changes: &Changes, tally: &mut Tally) -> WriteResult<CommitResult> {
    blob_rows::insert(tx, &changes.blobs)?;
    for submission in &changes.submissions {
        insert_submission(tx, submission)?;
    }
    for item in &changes.items {
        upsert_item(tx, item)?;
    }
    let mut steps = Vec::new();
    for (submission, item) in changes.removed_items.iter().chain(&changes.restarted_items) {
        steps.extend(repair::take_back_item(tx, *submission, *item)?);
    }
    for (submission, item) in &changes.removed_items {
        remove_item(tx, *submission, *item)?;
    }
    for artifact in &changes.artifacts {
        upsert_artifact(tx, artifact)?;
    }
    for outcome in &changes.outcomes {
        upsert_outcome(tx, outcome)?;
    }
    if changes.supersedes_reviews {
        for outcome in &changes.outcomes {
            reviews::supersede(tx, outcome)?;
        }
    }
    for review in &changes.reviews {
        reviews::insert(tx, review)?;
    }
    for job in &changes.jobs {
        jobs::enqueue(tx, job)?;
    }
    for change in &changes.submission_changes {
        advance_submission(tx, change)?;
    }
    for event in &changes.events {
        events::append(tx, event)?;
    }
    steps.extend_from_slice(&changes.join_steps);
    Ok(CommitResult::Applied { joins: tally.apply(tx, &changes.joins, &steps)? })
}

fn insert_submission(tx: &Tx<'_>, new: &NewSubmission) -> WriteResult<()> {
    let deadline = &new.deadline;
    let next_check = [deadline.warn_at, deadline.escalate_at, deadline.at].into_iter().flatten().min();
    let mut insert = tx.db.prepare_cached(
        "INSERT INTO submission (id, external_id, owner, channel, workflow, workflow_version, status, priority, \
         received_at, deadline_at, warn_at, escalate_at, next_check, metadata) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?;
    insert.execute(rusqlite::params![
        new.id.raw(),
        new.external_id,
        new.owner,
        new.channel,
        new.workflow.as_str(),
        new.workflow_version,
        status_number(SubmissionStatus::Received),
        new.priority,
        new.received_at.as_millis(),
        deadline.at.map(Timestamp::as_millis),
        deadline.warn_at.map(Timestamp::as_millis),
        deadline.escalate_at.map(Timestamp::as_millis),
        next_check.map(Timestamp::as_millis),
        new.metadata,
    ])?;
    Ok(())
}

/// Most items are new; one that is there already is updated by a second statement, so that it is not counted again.
fn upsert_item(tx: &mut Tx<'_>, item: &Item) -> WriteResult<()> {
    let mut insert = tx.db.prepare_cached(
        "INSERT INTO item (submission_id, id, parent_id, kind, ordinal, key, label, content, data) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (submission_id, id) DO NOTHING",
    )?;
    let content = item.content.as_ref().map(ContentHash::as_bytes);
    let added = insert.execute((
        item.submission.raw(),
        item.id.raw(),
        item.parent.map(ItemId::raw),
        item.kind.as_str(),
        item.ordinal,
        &item.key,
        &item.label,
        content,
        &item.data,
    ))?;
    if added == 1 {
        tx.state.added.item(item.submission, item.kind);
        return Ok(());
    }
    let mut update = tx.db.prepare_cached(
        "UPDATE item SET key = ?3, label = ?4, content = ?5, data = ?6 WHERE submission_id = ?1 AND id = ?2",
    )?;
    update.execute((item.submission.raw(), item.id.raw(), &item.key, &item.label, content, &item.data))?;
    Ok(())
}

fn remove_item(tx: &Tx<'_>, submission: SubmissionId, item: ItemId) -> WriteResult<()> {
    let ids = (submission.raw(), item.raw());
    for table in ["job", "outcome", "review", "artifact"] {
        let sql = format!("DELETE FROM {table} WHERE submission_id = ?1 AND item_id = ?2");
        tx.db.prepare_cached(&sql)?.execute(ids)?;
    }
    tx.db.prepare_cached("DELETE FROM item WHERE submission_id = ?1 AND id = ?2")?.execute(ids)?;
    Ok(())
}

fn upsert_artifact(tx: &Tx<'_>, artifact: &Artifact) -> WriteResult<()> {
    let mut upsert = tx.db.prepare_cached(
        "INSERT INTO artifact (submission_id, key, item_id, hash, size, media_type) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
         ON CONFLICT (submission_id, key) DO UPDATE SET item_id = ?3, hash = ?4, size = ?5, media_type = ?6",
    )?;
    upsert.execute((
        artifact.submission.raw(),
        &artifact.key,
        artifact.item.map(ItemId::raw),
        artifact.hash.as_bytes(),
        artifact.size as i64,
        &artifact.media_type,
    ))?;
    Ok(())
}

/// Most outcomes are the first of their work; one that replaces another is stored by a second statement, so that it is
/// counted as a change.
pub(super) fn upsert_outcome(tx: &mut Tx<'_>, outcome: &Outcome) -> WriteResult<()> {
    let (output, output_blob) = payload_columns(&outcome.output);
    let reuse = outcome.reuse.as_deref();
    let values = rusqlite::params![
        outcome.submission.raw(),
        outcome.stage.as_str(),
        item_number(outcome.item),
        outcome.processor.as_str(),
        outcome.status as i64,
        output,
        output_blob,
        outcome.confidence,
        outcome.error.as_ref().map(to_json),
        outcome.resume.as_ref().map(to_json),
        outcome.input_hash.as_ref().map(ContentHash::as_bytes),
        outcome.processor_version,
        outcome.attempts,
        outcome.cost_micros,
        outcome.finished_at.as_millis(),
        reuse.map(|reuse| reuse.key.as_bytes()),
        reuse.map(|reuse| reuse.recipe.as_bytes()),
        reuse.and_then(|reuse| reuse.subject.as_ref()).map(ContentHash::as_bytes),
        reuse.and_then(|reuse| reuse.made.as_deref()),
    ];
    let mut insert = tx.db.prepare_cached(
        "INSERT INTO outcome (submission_id, stage, item_id, processor, status, output, output_blob, confidence, \
         error, resume, input_hash, processor_version, attempts, cost_micros, finished_at, reuse_key, recipe, subject, \
         made) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19) \
         ON CONFLICT (submission_id, stage, item_id, processor) DO NOTHING",
    )?;
    if insert.execute(values)? == 1 {
        tx.state.added.outcome(outcome.submission, &outcome.stage, outcome.status);
        return Ok(());
    }
    let mut replace = tx.db.prepare_cached(
        "UPDATE outcome SET status = ?5, output = ?6, output_blob = ?7, confidence = ?8, error = ?9, resume = ?10, \
         input_hash = ?11, processor_version = ?12, attempts = ?13, cost_micros = ?14, finished_at = ?15, \
         reuse_key = ?16, recipe = ?17, subject = ?18, made = ?19 \
         WHERE submission_id = ?1 AND stage = ?2 AND item_id = ?3 AND processor = ?4",
    )?;
    replace.execute(values)?;
    Ok(())
}

/// Only forward, and never away from a final status.
fn advance_submission(tx: &Tx<'_>, change: &SubmissionChange) -> WriteResult<()> {
    let is_final = change.status.is_final();
    let mut advance = tx.db.prepare_cached(
        "UPDATE submission SET status = ?2, error = ifnull(?3, error), completed_at = ?4, \
         next_check = CASE WHEN ?4 IS NULL THEN next_check END \
         WHERE id = ?1 AND status < ?2 AND status < ?5",
    )?;
    advance.execute((
        change.id.raw(),
        status_number(change.status),
        &change.error,
        is_final.then(|| tx.now.as_millis()),
        status_number(SubmissionStatus::Completed),
    ))?;
    Ok(())
}
