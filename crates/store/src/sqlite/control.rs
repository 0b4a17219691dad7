//! What people do: pause, retry, cancel, assign, and clean up.

use super::{
    commit, events, joins, repair,
    rows::{self, JOB_COLUMNS, item_number, status_number, to_json},
    writer::{Tx, WriteResult},
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
use rusqlite::{OptionalExtension, types::Value};
use serde_json::json;

pub(super) fn pause(tx: &Tx<'_>, queue: &Name, because: Option<&str>) -> WriteResult<bool> {
    let mut pause = tx
        .db
        .prepare_cached("INSERT INTO queue (name, paused_because) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING")?;
    Ok(pause.execute((queue.as_str(), because.unwrap_or("")))? == 1)
}

pub(super) fn resume(tx: &Tx<'_>, queue: &Name) -> WriteResult<bool> {
    Ok(tx.db.prepare_cached("DELETE FROM queue WHERE name = ?1")?.execute([queue.as_str()])? == 1)
}

/// The condition of a filter, and its parameters.
pub(super) fn job_condition(filter: &JobFilter) -> (String, Vec<Value>) {
    let mut parts = vec!["1 = 1".to_owned()];
    let mut values = Vec::new();
    if let Some(submission) = filter.submission {
        parts.push("submission_id = ?".to_owned());
        values.push(Value::Integer(submission.raw()));
    }
    if let Some(item) = filter.item {
        parts.push("item_id = ?".to_owned());
        values.push(Value::Integer(item.raw()));
    }
    for (column, name) in [("queue", &filter.queue), ("stage", &filter.stage)] {
        if let Some(name) = name {
            parts.push(format!("{column} = ?"));
            values.push(Value::Text(name.to_string()));
        }
    }
    let list = |numbers: Vec<String>| numbers.join(", ");
    if !filter.ids.is_empty() {
        parts.push(format!("id IN ({})", list(filter.ids.iter().map(|id| id.raw().to_string()).collect())));
    }
    if !filter.states.is_empty() {
        parts.push(format!("state IN ({})", list(filter.states.iter().map(|s| (*s as i64).to_string()).collect())));
    }
    (parts.join(" AND "), values)
}

fn matching_jobs(tx: &Tx<'_>, filter: &JobFilter) -> WriteResult<Vec<Job>> {
    let (condition, values) = job_condition(filter);
    let limit = filter.limit.map_or(-1, |limit| limit as i64);
    let sql = format!("SELECT {JOB_COLUMNS} FROM job WHERE {condition} ORDER BY id LIMIT {limit}");
    let mut select = tx.db.prepare(&sql)?;
    let mut found = select.query(rusqlite::params_from_iter(values))?;
    let mut jobs = Vec::new();
    while let Some(row) = found.next()? {
        jobs.push(rows::job(row, |text| Name::from(text))?);
    }
    Ok(jobs)
}

pub(super) fn retry(tx: &mut Tx<'_>, filter: &JobFilter) -> WriteResult<Retried> {
    let mut retried = Retried::default();
    if let Some(submission) = filter.submission {
        retried.reopened += u64::from(resume_cancelled_submission(tx, submission)?);
    }
    for job in matching_jobs(tx, filter)? {
        // Repairing a part may have dropped the dead run of a stage behind it, which will run again by itself.
        if !tx.db.prepare_cached("SELECT 1 FROM job WHERE id = ?1")?.exists([job.id.raw()])? {
            continue;
        }
        let (join, reopened) = match job.state {
            JobState::Ready | JobState::Running | JobState::Awaiting => continue,
            JobState::Dead | JobState::Cancelled if key_is_taken(tx, &job)? => continue,
            JobState::Dead => take_back_failure(tx, &job)?,
            JobState::Scheduled | JobState::Parked | JobState::Cancelled => (job.join, false),
        };
        make_ready(tx, &job, join)?;
        retried.jobs += 1;
        retried.reopened += u64::from(reopened);
        let data = json!({"job": job.id, "stage": job.stage, "by": "hand", "was": job.state});
        events::append_about(tx, kind::JOB_RETRIED, job.submission, job.item, &data)?;
    }
    Ok(retried)
}

/// A dead job has failed and was counted so. Either that is uncounted, or, where its join has closed over it, the
/// stage behind the join will run again.
fn take_back_failure(tx: &mut Tx<'_>, job: &Job) -> WriteResult<(Option<JoinId>, bool)> {
    let mut forget = tx.db.prepare_cached(
        "DELETE FROM outcome WHERE submission_id = ?1 AND stage = ?2 AND item_id = ?3 AND processor = ?4 AND status = ?5",
    )?;
    let failed = OutcomeStatus::Failed as i64;
    forget.execute((
        job.submission.raw(),
        job.stage.as_str(),
        item_number(job.item),
        job.processor.as_str(),
        failed,
    ))?;
    drop(forget);
    match job.join {
        None => Ok((None, false)),
        Some(join) if repair::uncount_failed(tx, join)? => Ok((Some(join), false)),
        Some(join) => repair::renew(tx, join).map(|(renewed, reopened)| (Some(renewed), reopened)),
    }
}

/// Newer work holds the dedup key: it must not give way to the older, and the two must not run side by side.
fn key_is_taken(tx: &Tx<'_>, job: &Job) -> WriteResult<bool> {
    let Some(key) = &job.dedup_key else { return Ok(false) };
    let mut find = tx.db.prepare_cached("SELECT 1 FROM job WHERE dedup_key = ?1 AND state < 5 AND id <> ?2")?;
    Ok(find.exists((key, job.id.raw()))?)
}

/// Attempts and losses start anew, the resume point stays. A suspect stays one: it is run apart from other work.
fn make_ready(tx: &Tx<'_>, job: &Job, join: Option<JoinId>) -> WriteResult<()> {
    let (state, due_at) = match job.await_report_ms {
        Some(wait) => (JobState::Awaiting, Some(tx.now.as_millis().saturating_add(wait))),
        None => (JobState::Ready, None),
    };
    let mut ready = tx.db.prepare_cached(
        "UPDATE job SET state = ?2, attempt = 0, losses = 0, due_at = ?3, join_id = ?4, parked_until = NULL, \
         overdue = 0, announce_at = 0 WHERE id = ?1",
    )?;
    ready.execute((job.id.raw(), state as i64, due_at, join.map(JoinId::raw)))?;
    Ok(())
}

fn resume_cancelled_submission(tx: &mut Tx<'_>, id: SubmissionId) -> WriteResult<bool> {
    let mut resume = tx.db.prepare_cached(
        "UPDATE submission SET status = ?2, completed_at = NULL, error = NULL WHERE id = ?1 AND status = ?3",
    )?;
    let (processing, cancelled) = (SubmissionStatus::Processing, SubmissionStatus::Cancelled);
    let resumed = resume.execute((id.raw(), status_number(processing), status_number(cancelled)))? == 1;
    drop(resume);
    if resumed {
        tx.db
            .prepare_cached(
                "UPDATE review SET status = CASE WHEN assigned_to IS NULL THEN 0 ELSE 1 END, completed_at = NULL \
                 WHERE submission_id = ?1 AND status = 3 AND decision IS NULL",
            )?
            .execute([id.raw()])?;
        let data = json!({"because": "it was cancelled and is taken up again"});
        events::append_about(tx, kind::SUBMISSION_REOPENED, id, None, &data)?;
    }
    Ok(resumed)
}

pub(super) fn unpark(tx: &Tx<'_>, until: &str) -> WriteResult<u64> {
    let mut wake = tx.db.prepare_cached(
        "UPDATE job SET state = 0, parked_until = NULL, due_at = NULL WHERE state = 3 AND parked_until = ?1",
    )?;
    Ok(wake.execute([until])? as u64)
}

pub(super) fn cancel_submission(tx: &mut Tx<'_>, id: SubmissionId) -> WriteResult<Cancelled> {
    let mut cancel = tx.db.prepare_cached(
        "UPDATE submission SET status = ?2, completed_at = ?3, next_check = NULL, error = 'cancelled' \
         WHERE id = ?1 AND status < ?4",
    )?;
    let (cancelled, completed) = (SubmissionStatus::Cancelled, SubmissionStatus::Completed);
    let arguments = (id.raw(), status_number(cancelled), tx.now.as_millis(), status_number(completed));
    let changed = cancel.execute(arguments)? == 1;
    drop(cancel);
    if !changed {
        let mut known = tx.db.prepare_cached("SELECT 1 FROM submission WHERE id = ?1")?;
        let known = known.exists([id.raw()])?;
        return if known { Ok(Cancelled::default()) } else { Err(StoreError::not_found(id).into()) };
    }
    // Without its token, a worker that has such a job in hand cannot commit.
    let jobs = tx
        .db
        .prepare_cached(
            "UPDATE job SET state = 6, begun_with = 0, due_at = NULL, token = NULL, worker = NULL \
             WHERE submission_id = ?1 AND state < 5",
        )?
        .execute([id.raw()])?;
    let reviews = tx
        .db
        .prepare_cached("UPDATE review SET status = 3, completed_at = ?2 WHERE submission_id = ?1 AND status < 2")?
        .execute((id.raw(), tx.now.as_millis()))?;
    let data = json!({"jobs": jobs, "reviews": reviews});
    events::append_about(tx, kind::SUBMISSION_CANCELLED, id, None, &data)?;
    Ok(Cancelled { jobs: jobs as u64, reviews: reviews as u64, changed })
}

/// Those that nobody has claimed.
pub(super) fn raise_priorities(tx: &Tx<'_>, jobs: &[(JobId, i32)]) -> WriteResult<u64> {
    let mut raise = tx
        .db
        .prepare_cached("UPDATE job SET priority = ?2 WHERE id = ?1 AND state IN (0, 1, 3, 4) AND priority < ?2")?;
    let mut raised = 0;
    for (job, priority) in jobs {
        raised += raise.execute((job.raw(), priority))? as u64;
    }
    Ok(raised)
}

pub(super) fn cancel_job(tx: &mut Tx<'_>, id: JobId) -> WriteResult<bool> {
    let filter = JobFilter { ids: vec![id], ..JobFilter::default() };
    let Some(job) = matching_jobs(tx, &filter)?.into_iter().next().filter(|job| job.state.is_live()) else {
        return Ok(false);
    };
    let message = "cancelled by hand".to_owned();
    let error = ErrorRecord { class: ErrorClass::Reject, kind: "Cancelled".to_owned(), message, step: None };
    tx.db
        .prepare_cached(
            "UPDATE job SET state = 5, attempt = ?3, begun_with = 0, due_at = NULL, token = NULL, worker = NULL, \
             parked_until = NULL, error = ?2, ended_at = ?4 WHERE id = ?1",
        )?
        .execute((id.raw(), to_json(&error), job.attempt, tx.now.as_millis()))?;
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
    commit::upsert_outcome(tx, &outcome)?;
    events::append_about(tx, kind::JOB_DEAD_LETTERED, job.submission, job.item, &data)?;
    if let Some(join) = job.join {
        joins::step(tx, JoinStep { join, change: JoinChange::Arrive(Arrival::Failed) })?;
    }
    Ok(true)
}

pub(super) fn put_workflow(tx: &Tx<'_>, name: &Name, version: i64, text: &str) -> WriteResult<()> {
    let mut find = tx.db.prepare_cached("SELECT text FROM workflow WHERE name = ?1 AND version = ?2")?;
    let stored: Option<String> = find.query_row((name.as_str(), version), |row| row.get(0)).optional()?;
    match stored {
        Some(stored) if stored == text => return Ok(()),
        Some(_) => {
            let message = format!(
                "workflow {name}: version {version} is stored with another text, and submissions are pinned to it; \
                 raise its `version`"
            );
            return Err(StoreError::Invalid(message).into());
        }
        None => {}
    }
    let mut insert =
        tx.db.prepare_cached("INSERT INTO workflow (name, version, text, stored_at) VALUES (?1, ?2, ?3, ?4)")?;
    insert.execute((name.as_str(), version, text, tx.now.as_millis()))?;
    Ok(())
}
