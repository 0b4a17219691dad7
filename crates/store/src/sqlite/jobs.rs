//! Storing, releasing and ending jobs.

use super::{
    rows::{id_list, item_number, payload_columns, to_json},
    writer::{Tx, WriteResult},
};
use crate::{
    commit::{Enqueued, JobEnd},
    lease::Lease,
};
use bindery_core::{
    JobId, Name, Timestamp,
    job::{JobState, NewJob, Token},
};
use rusqlite::{OptionalExtension, named_params};
use std::{
    collections::{BTreeMap, HashSet},
    time::Duration,
};

pub(super) fn enqueue(tx: &mut Tx<'_>, job: &NewJob) -> WriteResult<Enqueued> {
    if let Some(key) = &job.dedup_key
        && let Some(merged) = merge_into_live(tx, key, job)?
    {
        return Ok(merged);
    }
    let id = tx.fresh("job")?;
    let not_before = job.not_before.filter(|at| *at > tx.now);
    let state = match (job.await_report_ms, not_before) {
        (Some(_), _) => JobState::Awaiting,
        (None, Some(_)) => JobState::Scheduled,
        (None, None) => JobState::Ready,
    };
    let due_at = match job.await_report_ms {
        Some(wait) => Some(tx.now.as_millis().saturating_add(wait)),
        None => not_before.map(Timestamp::as_millis),
    };
    let (payload, payload_blob) = payload_columns(&job.payload);
    let mut insert = tx.db.prepare_cached(
        "INSERT INTO job (id, queue, submission_id, item_id, stage, processor, join_id, priority, state, due_at, \
         dedup_key, limit_key, limit_running, limit_per_minute, await_report_ms, payload, payload_blob, \
         resume, created_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
    )?;
    insert.execute(rusqlite::params![
        id,
        job.queue.as_str(),
        job.submission.raw(),
        item_number(job.item),
        job.stage.as_str(),
        job.processor.as_str(),
        job.join.map(bindery_core::JoinId::raw),
        job.priority,
        state as i64,
        due_at,
        job.dedup_key,
        job.limit.as_ref().map(|limit| limit.key.as_str()),
        job.limit.as_ref().and_then(|limit| limit.running),
        job.limit.as_ref().and_then(|limit| limit.per_minute),
        job.await_report_ms,
        payload,
        payload_blob,
        job.resume.as_ref().map(to_json),
        tx.now.as_millis(),
    ])?;
    Ok(Enqueued::New(JobId::from_raw(id)))
}

/// A live job with the same key takes the newer request in. One that is running has begun with the older request, so it is
/// marked to run once more.
fn merge_into_live(tx: &Tx<'_>, key: &str, job: &NewJob) -> WriteResult<Option<Enqueued>> {
    let mut find = tx.db.prepare_cached("SELECT id, state FROM job WHERE dedup_key = ?1 AND state < 5")?;
    let live: Option<(i64, i64)> = find.query_row([key], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((id, state)) = live else { return Ok(None) };
    let (payload, payload_blob) = payload_columns(&job.payload);
    let running = JobState::from_code(state) == Some(JobState::Running);
    if running {
        let mut mark = tx.db.prepare_cached(
            "UPDATE job SET dirty = 1, next_payload = :payload, next_payload_blob = :blob, \
             priority = max(priority, :priority) WHERE id = :id",
        )?;
        mark.execute(named_params! {":payload": payload, ":blob": payload_blob, ":priority": job.priority, ":id": id})?;
        return Ok(Some(Enqueued::MarkedDirty(JobId::from_raw(id))));
    }
    let run_at = job.not_before.unwrap_or(tx.now).as_millis();
    let mut merge = tx.db.prepare_cached(
        "UPDATE job SET payload = :payload, payload_blob = :blob, priority = max(priority, :priority), \
         due_at = CASE WHEN state = 1 AND min(due_at, :run_at) > :now THEN min(due_at, :run_at) \
                       WHEN state = 1 THEN NULL ELSE due_at END, \
         state = CASE WHEN state = 1 AND min(due_at, :run_at) <= :now THEN 0 ELSE state END \
         WHERE id = :id",
    )?;
    merge.execute(named_params! {
        ":payload": payload, ":blob": payload_blob, ":priority": job.priority,
        ":run_at": run_at, ":now": tx.now.as_millis(), ":id": id,
    })?;
    Ok(Some(Enqueued::Merged(JobId::from_raw(id))))
}

/// Ends claims that are done, all that share a token with one statement, where every one of them holds and none was
/// enqueued again. The others are left for [`end`] to look at one by one. Returns those that have ended.
pub(super) fn end_done(tx: &Tx<'_>, done: &[(JobId, Token)]) -> WriteResult<HashSet<(JobId, Token)>> {
    let mut by_token: BTreeMap<Token, Vec<JobId>> = BTreeMap::new();
    for (job, token) in done {
        by_token.entry(*token).or_default().push(*job);
    }
    let mut ended = HashSet::new();
    for (token, jobs) in by_token.into_iter().filter(|(_, jobs)| jobs.len() > 1) {
        run(tx, "SAVEPOINT done")?;
        let mut delete = tx.db.prepare_cached(
            "DELETE FROM job WHERE token = ?2 AND state = 2 AND dirty = 0 \
             AND id IN (SELECT value FROM json_each(?1))",
        )?;
        if delete.execute((id_list(jobs.iter().map(|job| job.raw())), token.0))? == jobs.len() {
            ended.extend(jobs.into_iter().map(|job| (job, token)));
        } else {
            run(tx, "ROLLBACK TO done")?;
        }
        run(tx, "RELEASE done")?;
    }
    Ok(ended)
}

fn run(tx: &Tx<'_>, sql: &str) -> WriteResult<()> {
    tx.db.prepare_cached(sql)?.execute([])?;
    Ok(())
}

/// How long a wait is, as it is stored beside the moment at which it ends: one that ends later than it can went by a wrong
/// clock.
fn millis(wait: Duration) -> i64 {
    i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)
}

/// Ends a claim. False when the claim does not hold any more: then nothing was changed.
pub(super) fn end(tx: &Tx<'_>, job: JobId, token: Token, end: &JobEnd) -> WriteResult<bool> {
    let (id, token) = (job.raw(), token.0);
    let changed = match end {
        JobEnd::Done => return finish(tx, id, token),
        JobEnd::Retry { after, error, resume } => tx
            .db
            .prepare_cached(
                "UPDATE job SET state = 1, attempt = attempt + 1, due_at = ?3, lease_ms = ?6, token = NULL, \
                 worker = NULL, error = ?4, resume = ?5 WHERE id = ?1 AND token = ?2 AND state = 2",
            )?
            .execute((id, token, tx.millis_after(*after), to_json(error), resume.as_ref().map(to_json), millis(*after)))?,
        JobEnd::Hold { has_advanced: true } => tx
            .db
            .prepare_cached("UPDATE job SET attempt = 0, losses = 0 WHERE id = ?1 AND token = ?2 AND state = 2")?
            .execute((id, token))?,
        JobEnd::Hold { has_advanced: false } => {
            let mut held = tx.db.prepare_cached("SELECT 1 FROM job WHERE id = ?1 AND token = ?2 AND state = 2")?;
            return Ok(held.exists((id, token))?);
        }
        JobEnd::Park { until, after, error, resume } => tx
            .db
            .prepare_cached(
                "UPDATE job SET state = 3, parked_until = ?3, due_at = ?6, lease_ms = ?7, \
                 token = NULL, worker = NULL, error = ?4, resume = ?5 WHERE id = ?1 AND token = ?2 AND state = 2",
            )?
            .execute((
                id,
                token,
                until,
                to_json(error),
                resume.as_ref().map(to_json),
                after.map(|after| tx.millis_after(after)),
                after.map_or(0, millis),
            ))?,
        JobEnd::Dead { error, resume } => tx
            .db
            .prepare_cached(
                "UPDATE job SET state = 5, attempt = attempt + 1, due_at = NULL, token = NULL, worker = NULL, \
                 error = ?3, resume = ?4, ended_at = ?5 WHERE id = ?1 AND token = ?2 AND state = 2",
            )?
            .execute((id, token, to_json(error), resume.as_ref().map(to_json), tx.now.as_millis()))?,
        JobEnd::Continue { cursor } => tx
            .db
            .prepare_cached(
                "UPDATE job SET cursor = ?3, losses = 0 WHERE id = ?1 AND token = ?2 AND state = 2 AND cursor < ?3",
            )?
            .execute((id, token, cursor))?,
        JobEnd::Await { within, error } => tx
            .db
            .prepare_cached(
                "UPDATE job SET state = 4, attempt = attempt + 1, due_at = ?3, announce_at = 0, overdue = 0, token = NULL, \
                 worker = NULL, error = ?4 WHERE id = ?1 AND token = ?2 AND state = 2",
            )?
            .execute((id, token, tx.millis_after(*within), error.as_ref().map(to_json)))?,
    };
    if changed == 1 && !end.run_goes_on() {
        end_suspicion(tx, id)?;
        take_newer_payload(tx, id)?;
    }
    Ok(changed == 1)
}

/// A suspect whose run has ended is none any more. One that was given up before it began stays one: whoever runs it again
/// runs it apart from other work.
fn end_suspicion(tx: &Tx<'_>, id: i64) -> WriteResult<()> {
    let mut clear = tx
        .db
        .prepare_cached("UPDATE job SET suspect = 0, begun_with = 0, losses = 0 WHERE id = ?1 AND begun_with > 0")?;
    clear.execute([id])?;
    Ok(())
}

/// What was enqueued under the job's key while it ran must run, however that run ended: the job goes on with the newer
/// payload, and one that had been given up starts anew.
pub(super) fn take_newer_payload(tx: &Tx<'_>, id: i64) -> WriteResult<()> {
    let mut renew = tx.db.prepare_cached(
        "UPDATE job SET dirty = 0, payload = next_payload, payload_blob = next_payload_blob, next_payload = NULL, \
         next_payload_blob = NULL, resume = NULL, cursor = 0, \
         attempt = CASE WHEN state = 5 THEN 0 ELSE attempt END, error = CASE WHEN state = 5 THEN NULL ELSE error END, \
         suspect = CASE WHEN state = 5 THEN 0 ELSE suspect END, losses = CASE WHEN state = 5 THEN 0 ELSE losses END, \
         state = CASE WHEN state = 5 THEN 0 ELSE state END WHERE id = ?1 AND dirty = 1",
    )?;
    renew.execute([id])?;
    Ok(())
}

/// The row goes, unless its key was enqueued again while it ran: then it starts afresh with the newer payload.
fn finish(tx: &Tx<'_>, id: i64, token: i64) -> WriteResult<bool> {
    let mut delete =
        tx.db.prepare_cached("DELETE FROM job WHERE id = ?1 AND token = ?2 AND state = 2 AND dirty = 0")?;
    if delete.execute((id, token))? == 1 {
        return Ok(true);
    }
    let mut renew = tx.db.prepare_cached(
        "UPDATE job SET state = 0, attempt = 0, dirty = 0, payload = next_payload, payload_blob = next_payload_blob, \
         next_payload = NULL, next_payload_blob = NULL, resume = NULL, error = NULL, cursor = 0, overdue = 0, \
         suspect = 0, begun_with = 0, losses = 0, due_at = NULL, token = NULL, worker = NULL, created_at = ?3 \
         WHERE id = ?1 AND token = ?2 AND state = 2 AND dirty = 1",
    )?;
    Ok(renew.execute((id, token, tx.now.as_millis()))? == 1)
}

pub(super) fn release(tx: &Tx<'_>, leases: &[(JobId, Token)]) -> WriteResult<()> {
    let mut back = tx.db.prepare_cached(
        "UPDATE job SET state = 0, begun_with = 0, due_at = NULL, token = NULL, worker = NULL \
         WHERE id = ?1 AND token = ?2 AND state = 2",
    )?;
    for (job, token) in leases {
        if back.execute((job.raw(), token.0))? == 1 {
            take_newer_payload(tx, job.raw())?;
        }
    }
    Ok(())
}

/// Extends leases; returns the jobs that are not held any more.
pub(super) fn heartbeat(
    tx: &Tx<'_>,
    worker: &Name,
    leases: &[(JobId, Token)],
    lease: Duration,
    finished: u64,
) -> WriteResult<Vec<JobId>> {
    let mut extend =
        tx.db.prepare_cached("UPDATE job SET due_at = ?3, lease_ms = ?4 WHERE id = ?1 AND token = ?2 AND state = 2")?;
    let lease = Lease::starting(tx.now, lease);
    let mut lost = Vec::new();
    for (job, token) in leases {
        if extend.execute((job.raw(), token.0, lease.until, lease.length))? == 0 {
            lost.push(*job);
        }
    }
    let mut alive = tx.db.prepare_cached(
        "INSERT INTO worker (name, started_at, seen_at, running, finished) VALUES (?1, ?2, ?2, ?3, ?4) \
         ON CONFLICT (name) DO UPDATE SET seen_at = ?2, running = ?3, finished = ?4",
    )?;
    alive.execute((worker.as_str(), tx.now.as_millis(), leases.len() as i64, finished as i64))?;
    Ok(lost)
}
