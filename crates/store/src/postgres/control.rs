//! What people do: pause, retry, cancel, assign, and clean up.

use super::{
    changes, events,
    fail::TxResult,
    joins, ready,
    ready::{HELD_BY, STATE_NOW},
    repair,
    rows::{self, get, item_number, status_number, to_json},
    session::{Param, Tx},
};
use crate::{
    error::StoreError,
    query::{Cancelled, JobFilter, Retried},
};
use bindery_core::{
    JobId, JoinId, Name, Payload, SubmissionId,
    error::ErrorClass,
    event::kind,
    job::{ErrorRecord, Job, JobState},
    join::{Arrival, JoinChange, JoinStep},
    outcome::{Outcome, OutcomeStatus},
    submission::SubmissionStatus,
};
use serde_json::json;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};
use tokio_postgres::Row;

pub(super) async fn pause(tx: &Tx, queue: &Name, because: Option<&str>) -> TxResult<bool> {
    let pause = "INSERT INTO queue (name, paused_because) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
    Ok(tx.execute(pause, &[&queue.as_str(), &because.unwrap_or("")]).await? == 1)
}

pub(super) async fn resume(tx: &Tx, queue: &Name) -> TxResult<bool> {
    Ok(tx.execute("DELETE FROM queue WHERE name = $1", &[&queue.as_str()]).await? == 1)
}

/// The jobs of a filter, in an order, locked if `lock` says so.
pub(super) async fn matching_jobs(tx: &Tx, filter: &JobFilter, order: &str, lock: &str) -> TxResult<Vec<Job>> {
    let (submission, item) = (filter.submission.map(SubmissionId::raw), filter.item.map(bindery_core::ItemId::raw));
    let ids: Vec<i64> = filter.ids.iter().map(|id| id.raw()).collect();
    let states: Vec<i16> = filter.states.iter().map(|state| *state as i16).collect();
    let shelves: Vec<i16> = filter.states.iter().map(|state| rows::shelf(*state)).collect();
    let (queue, stage) = (filter.queue.as_deref(), filter.stage.as_deref());
    let limit = filter.limit.map(|limit| limit as i64);
    let mut params: Vec<Param<'_>> = vec![&limit];
    let mut conditions = vec!["true".to_owned()];
    if let Some(submission) = &submission {
        params.push(submission);
        conditions.push(format!("submission_id = ${}", params.len()));
    }
    if let Some(item) = &item {
        params.push(item);
        conditions.push(format!("item_id = ${}", params.len()));
    }
    if let Some(queue) = &queue {
        params.push(queue);
        conditions.push(format!("queue = ${}", params.len()));
    }
    if let Some(stage) = &stage {
        params.push(stage);
        conditions.push(format!("stage = ${}", params.len()));
    }
    if !ids.is_empty() {
        params.push(&ids);
        conditions.push(format!("id = ANY(${})", params.len()));
    }
    if !states.is_empty() {
        params.push(&states);
        params.push(&shelves);
        let (state, shelf) = (params.len() - 1, params.len());
        conditions.push(format!(
            "CASE WHEN held.by_token IS NULL THEN state ELSE 2::smallint END = ANY(${state}) AND shelf = ANY(${shelf})"
        ));
    }
    let condition = conditions.join(" AND ");
    let (columns, held_by) = (&*rows::JOB_WITH_LEASE, &*HELD_BY);
    let sql = format!("SELECT {columns} FROM job {held_by} WHERE {condition} ORDER BY {order} LIMIT $1 {lock}");
    tx.collect(&sql, &params, rows::job).await
}

pub(super) async fn retry(tx: &mut Tx, filter: &JobFilter) -> TxResult<Retried> {
    let mut retried = Retried::default();
    if let Some(submission) = filter.submission {
        retried.reopened += u64::from(resume_cancelled_submission(tx, submission).await?);
    }
    for job in matching_jobs(tx, filter, "id", "FOR UPDATE OF job").await? {
        // Repairing a part may have dropped the dead run of a stage behind it, which will run again by itself.
        if tx.first("SELECT 1 FROM job WHERE id = $1", &[&job.id.raw()]).await?.is_none() {
            continue;
        }
        let (join, reopened) = match job.state {
            JobState::Ready | JobState::Running | JobState::Awaiting => continue,
            JobState::Dead | JobState::Cancelled if key_is_taken(tx, &job).await? => continue,
            JobState::Dead => take_back_failure(tx, &job).await?,
            JobState::Scheduled | JobState::Parked | JobState::Cancelled => (job.join, false),
        };
        make_ready(tx, &job, join).await?;
        retried.jobs += 1;
        retried.reopened += u64::from(reopened);
        let data = json!({"job": job.id, "stage": job.stage, "by": "hand", "was": job.state});
        events::append_about(tx, kind::JOB_RETRIED, job.submission, job.item, &data).await?;
    }
    Ok(retried)
}

/// A dead job has failed and was counted so. Either that is uncounted, or, where its join has closed over it, the
/// stage behind the join will run again.
async fn take_back_failure(tx: &Tx, job: &Job) -> TxResult<(Option<JoinId>, bool)> {
    let forget = "DELETE FROM outcome WHERE submission_id = $1 AND stage = $2 AND item_id = $3 AND processor = $4 \
                  AND status = $5";
    let (stage, item, processor) = (job.stage.as_str(), item_number(job.item), job.processor.as_str());
    let failed = OutcomeStatus::Failed as i16;
    tx.execute(forget, &[&job.submission.raw(), &stage, &item, &processor, &failed]).await?;
    match job.join {
        None => Ok((None, false)),
        Some(join) if repair::uncount_failed(tx, join).await? => Ok((Some(join), false)),
        Some(join) => repair::renew(tx, join).await.map(|(renewed, reopened)| (Some(renewed), reopened)),
    }
}

/// Newer work holds the dedup key: it must not give way to the older, and the two must not run side by side.
async fn key_is_taken(tx: &Tx, job: &Job) -> TxResult<bool> {
    let Some(key) = &job.dedup_key else { return Ok(false) };
    let find = "SELECT 1 FROM job WHERE dedup_key = $1 AND shelf < 5 AND id <> $2";
    Ok(tx.first(find, &[key, &job.id.raw()]).await?.is_some())
}

/// Attempts and losses start anew, the resume point stays. A suspect stays one: it is run apart from other work.
async fn make_ready(tx: &Tx, job: &Job, join: Option<JoinId>) -> TxResult<()> {
    let (state, due_at) = match job.await_report_ms {
        Some(wait) => (JobState::Awaiting, Some(tx.millis().saturating_add(wait))),
        None => (JobState::Ready, None),
    };
    let ready = "UPDATE job SET state = $2, attempt = 0, losses = 0, due_at = $3, join_id = $4, parked_until = NULL, \
                 overdue = false, announce_at = 0 WHERE id = $1";
    tx.execute(ready, &[&job.id.raw(), &(state as i16), &due_at, &join.map(JoinId::raw)]).await?;
    Ok(())
}

async fn resume_cancelled_submission(tx: &mut Tx, id: SubmissionId) -> TxResult<bool> {
    let resume = "UPDATE submission SET status = $2, completed_at = NULL, error = NULL WHERE id = $1 AND status = $3";
    let (processing, cancelled) = (SubmissionStatus::Processing, SubmissionStatus::Cancelled);
    let resumed = tx.execute(resume, &[&id.raw(), &status_number(processing), &status_number(cancelled)]).await? == 1;
    if resumed {
        let reviews = "UPDATE review SET status = CASE WHEN assigned_to IS NULL THEN 0 ELSE 1 END, \
                       completed_at = NULL WHERE submission_id = $1 AND status = 3 AND decision IS NULL";
        tx.execute(reviews, &[&id.raw()]).await?;
        let data = json!({"because": "it was cancelled and is taken up again"});
        events::append_about(tx, kind::SUBMISSION_REOPENED, id, None, &data).await?;
    }
    Ok(resumed)
}

pub(super) async fn unpark(tx: &Tx, until: &str) -> TxResult<u64> {
    let wake = "UPDATE job SET state = 0, parked_until = NULL, due_at = NULL WHERE shelf = 3 AND parked_until = $1";
    tx.execute(wake, &[&until]).await
}

pub(super) async fn cancel_submission(tx: &mut Tx, id: SubmissionId) -> TxResult<Cancelled> {
    let cancel = "UPDATE submission SET status = $2, completed_at = $3, next_check = NULL, error = 'cancelled' \
                  WHERE id = $1 AND status < $4";
    let (cancelled, completed) = (SubmissionStatus::Cancelled, SubmissionStatus::Completed);
    let (cancelled, completed) = (status_number(cancelled), status_number(completed));
    if tx.execute(cancel, &[&id.raw(), &cancelled, &tx.millis(), &completed]).await? == 0 {
        let known = tx.first("SELECT 1 FROM submission WHERE id = $1", &[&id.raw()]).await?;
        return if known.is_some() { Ok(Cancelled::default()) } else { Err(StoreError::not_found(id).into()) };
    }
    // Without its token, a worker that has such a job in hand cannot commit.
    let stop = "UPDATE job SET state = 6, begun_with = 0, due_at = NULL, token = NULL, worker = NULL \
                WHERE submission_id = $1 AND state < 5";
    let jobs = tx.execute(stop, &[&id.raw()]).await?;
    let close = "UPDATE review SET status = 3, completed_at = $2 WHERE submission_id = $1 AND status < 2";
    let reviews = tx.execute(close, &[&id.raw(), &tx.millis()]).await?;
    let data = json!({"jobs": jobs, "reviews": reviews});
    events::append_about(tx, kind::SUBMISSION_CANCELLED, id, None, &data).await?;
    Ok(Cancelled { jobs, reviews, changed: true })
}

/// Those that nobody has claimed, always in the same order.
pub(super) async fn raise_priorities(tx: &Tx, jobs: &[(JobId, i32)]) -> TxResult<u64> {
    static RAISE: LazyLock<String> = LazyLock::new(|| {
        format!(
            "UPDATE job SET priority = raised.priority FROM \
             (SELECT job.id, wanted.priority FROM unnest($1::bigint[], $2::int[]) AS wanted(id, priority) \
              JOIN job ON job.id = wanted.id WHERE {} IN (0, 1, 3, 4) AND job.priority < wanted.priority \
              ORDER BY job.id FOR UPDATE OF job) AS raised WHERE job.id = raised.id RETURNING job.id, job.submission_id",
            *STATE_NOW
        )
    });
    let sorted: BTreeMap<i64, i32> = jobs.iter().map(|(job, priority)| (job.raw(), *priority)).collect();
    let (ids, priorities): (Vec<i64>, Vec<i32>) = sorted.into_iter().unzip();
    let raised = |row: &Row| Ok((get::<i64>(row, 0)?, get::<i64>(row, 1)?));
    let raised = tx.collect(&RAISE, &[&ids, &priorities], raised).await?;
    let (jobs, submissions): (Vec<i64>, BTreeSet<i64>) = raised.into_iter().unzip();
    ready::put_in_order(tx, &submissions.into_iter().collect::<Vec<_>>(), &jobs).await?;
    Ok(jobs.len() as u64)
}

pub(super) async fn cancel_job(tx: &mut Tx, id: JobId) -> TxResult<bool> {
    let filter = JobFilter { ids: vec![id], ..JobFilter::default() };
    let found = matching_jobs(tx, &filter, "id", "FOR UPDATE OF job").await?;
    let Some(job) = found.into_iter().next().filter(|job| job.state.is_live()) else { return Ok(false) };
    let message = "cancelled by hand".to_owned();
    let error = ErrorRecord { class: ErrorClass::Reject, kind: "Cancelled".to_owned(), message, step: None };
    let give_up = "UPDATE job SET state = 5, attempt = $3, begun_with = 0, due_at = NULL, token = NULL, worker = NULL, \
                   parked_until = NULL, error = $2, ended_at = $4 WHERE id = $1";
    tx.execute(give_up, &[&id.raw(), &to_json(&error), &(job.attempt as i32), &tx.millis()]).await?;
    let data = json!({"job": id, "stage": job.stage, "processor": job.processor, "error": error.message});
    let outcome = Outcome {
        submission: job.submission,
        item: job.item,
        stage: job.stage,
        processor: job.processor,
        status: OutcomeStatus::Failed,
        output: Payload::null(),
        confidence: None,
        error: Some(error),
        resume: job.resume,
        input_hash: None,
        processor_version: 0,
        attempts: job.attempt,
        cost_micros: 0,
        finished_at: tx.now,
        reuse: None,
    };
    changes::upsert_outcomes(tx, &[&outcome]).await?;
    events::append_about(tx, kind::JOB_DEAD_LETTERED, job.submission, job.item, &data).await?;
    if let Some(join) = job.join {
        joins::step(tx, JoinStep { join, change: JoinChange::Arrive(Arrival::Failed) }).await?;
    }
    Ok(true)
}

pub(super) async fn put_workflow(tx: &Tx, name: &Name, version: i64, text: &str) -> TxResult<()> {
    let insert = "INSERT INTO workflow (name, version, text, stored_at) VALUES ($1, $2, $3, $4) \
                  ON CONFLICT (name, version) DO NOTHING";
    if tx.execute(insert, &[&name.as_str(), &version, &text, &tx.millis()]).await? == 1 {
        return Ok(());
    }
    let find = "SELECT text FROM workflow WHERE name = $1 AND version = $2";
    let stored = tx.first(find, &[&name.as_str(), &version]).await?.map(|row| get::<String>(&row, 0)).transpose()?;
    if stored.as_deref() == Some(text) {
        return Ok(());
    }
    let message = format!(
        "workflow {name}: version {version} is stored with another text, and submissions are pinned to it; \
         raise its `version`"
    );
    Err(StoreError::Invalid(message).into())
}
