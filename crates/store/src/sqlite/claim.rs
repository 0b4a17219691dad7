//! Claiming: the greatest priority first, then the oldest, none from a paused queue, none beyond a limit.
//!
//! Jobs without a limit stand in one index per queue. Jobs with a limit stand in an index per limit key, so a key that
//! is exhausted costs one look, however many jobs wait behind it. A claim for some submissions looks at their jobs alone.
//! Suspects are in neither index; they are claimed [apart](super::suspects).

use super::{
    rows::{self, JOB_COLUMNS, id_list},
    writer::{Tx, WriteResult, WriterState},
};
use crate::{lease::Lease, query::ClaimRequest};
use bindery_core::{
    JobId, SubmissionId, Timestamp,
    job::{ClaimedJob, Job, JobState, ONLY_BY_NAME, Token},
};
use rusqlite::{Connection, OptionalExtension, Row};
use std::{cmp::Reverse, collections::HashSet, sync::LazyLock};

/// How many limit keys one claim looks at; the next claim goes on behind them.
const KEYS_PER_CLAIM: usize = 1_000;

/// A job that may be claimed.
pub(super) struct Candidate {
    pub(super) job: Job,
    pub(super) report_overdue: bool,
}

impl Candidate {
    /// The greatest priority first, then the oldest.
    fn rank(&self) -> (Reverse<i32>, JobId) {
        (Reverse(self.job.priority), self.job.id)
    }
}

pub(super) fn claim(tx: &mut Tx<'_>, request: &ClaimRequest) -> WriteResult<Vec<ClaimedJob>> {
    promote_scheduled(tx)?;
    let paused = paused_queues(tx)?;
    let mut candidates = match &request.submissions {
        None => unlimited_candidates(tx, request, &paused)?,
        Some(submissions) => candidates_of(tx, request, submissions, &paused)?,
    };
    limited_candidates(tx, request, &paused, &mut candidates)?;
    candidates.sort_unstable_by_key(Candidate::rank);
    candidates.truncate(request.max);
    lease(tx, request, candidates)
}

/// Jobs whose time has come move to the ready index.
pub(super) fn promote_scheduled(tx: &Tx<'_>) -> WriteResult<()> {
    let mut promote =
        tx.db.prepare_cached("UPDATE job SET state = 0, due_at = NULL WHERE state = 1 AND due_at <= ?1")?;
    promote.execute([tx.now.as_millis()])?;
    Ok(())
}

/// Takes all of them with one statement: SQLite spends more on a statement than on a row.
pub(super) fn lease(
    tx: &mut Tx<'_>,
    request: &ClaimRequest,
    candidates: Vec<Candidate>,
) -> WriteResult<Vec<ClaimedJob>> {
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    // One token for all: what it proves is that *this* claim of a job is the last one.
    let token = tx.fresh("token")?;
    let lease = Lease::starting(tx.now, request.lease);
    let ids = id_list(candidates.iter().map(|candidate| candidate.job.id.raw()));
    let mut take = tx.db.prepare_cached(
        "UPDATE job SET state = 2, carried = 1 - ?5, due_at = ?2, lease_ms = ?6, token = ?3, worker = ?4, claimed_at = ?7 \
         WHERE id IN (SELECT value FROM json_each(?1))",
    )?;
    let now = tx.now.as_millis();
    take.execute((ids, lease.until, token, request.worker.as_str(), request.counts, lease.length, now))?;
    drop(take);
    let mut claimed = Vec::with_capacity(candidates.len());
    for Candidate { mut job, report_overdue } in candidates {
        if let Some(limit) = &job.limit
            && let Some(per_minute) = limit.per_minute
        {
            spend_token(tx, &limit.key, per_minute)?;
        }
        job.state = JobState::Running;
        job.attempt += u32::from(request.counts);
        job.lease_until = Some(lease.ends_at());
        job.worker = Some(request.worker.clone());
        job.claimed_at = Some(tx.now);
        claimed.push(ClaimedJob { job, token: Token(token), report_overdue });
    }
    Ok(claimed)
}

pub(super) fn candidate(row: &Row<'_>, state: &mut WriterState) -> rusqlite::Result<Candidate> {
    Ok(Candidate { job: rows::job(row, |text| state.name(text))?, report_overdue: row.get::<_, i64>(24)? == 1 })
}

pub(super) fn paused_queues(tx: &Tx<'_>) -> WriteResult<HashSet<String>> {
    Ok(rows::collect(tx.db, "SELECT name FROM queue", [], |row| row.get(0))?.into_iter().collect())
}

fn unlimited_candidates(
    tx: &mut Tx<'_>,
    request: &ClaimRequest,
    paused: &HashSet<String>,
) -> WriteResult<Vec<Candidate>> {
    static TOP: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT {JOB_COLUMNS} FROM job WHERE state = 0 AND limit_key IS NULL AND suspect = 0 AND queue = ?1 \
             ORDER BY priority DESC, id LIMIT ?2"
        )
    });
    let queues: Vec<String> = match &request.queues {
        Some(queues) => queues.iter().map(ToString::to_string).collect(),
        None => ready_queues(tx)?,
    };
    let mut top = tx.db.prepare_cached(&TOP)?;
    let mut candidates = Vec::new();
    for queue in queues.iter().filter(|queue| !paused.contains(*queue)) {
        let mut found = top.query((queue, request.max as i64))?;
        while let Some(row) = found.next()? {
            candidates.push(candidate(row, tx.state)?);
        }
    }
    Ok(candidates)
}

/// Whether a job is one of those that are asked for.
pub(super) fn is_wanted(request: &ClaimRequest, paused: &HashSet<String>, job: &Job) -> bool {
    !paused.contains(job.queue.as_str())
        && match &request.queues {
            Some(queues) => queues.contains(&job.queue),
            None => !job.queue.starts_with(ONLY_BY_NAME),
        }
        && request.submissions.as_ref().is_none_or(|submissions| submissions.contains(&job.submission))
}

/// The same of some submissions, which are found by their own index.
fn candidates_of(
    tx: &mut Tx<'_>,
    request: &ClaimRequest,
    submissions: &[SubmissionId],
    paused: &HashSet<String>,
) -> WriteResult<Vec<Candidate>> {
    static TOP: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT {JOB_COLUMNS} FROM job INDEXED BY job_submission \
             WHERE submission_id IN (SELECT value FROM json_each(?1)) AND state = 0 AND limit_key IS NULL \
             AND suspect = 0 ORDER BY priority DESC, id"
        )
    });
    let mut top = tx.db.prepare_cached(&TOP)?;
    let mut found = top.query([id_list(submissions.iter().map(|submission| submission.raw()))])?;
    let mut candidates = Vec::new();
    while candidates.len() < request.max
        && let Some(row) = found.next()?
    {
        let candidate = candidate(row, tx.state)?;
        if is_wanted(request, paused, &candidate.job) {
            candidates.push(candidate);
        }
    }
    Ok(candidates)
}

/// The queues that have ready jobs and are for everybody, by jumping from one to the next in the index.
fn ready_queues(tx: &Tx<'_>) -> WriteResult<Vec<String>> {
    let mut next = tx.db.prepare_cached(
        "SELECT queue FROM job WHERE state = 0 AND limit_key IS NULL AND suspect = 0 AND queue > ?1 \
         ORDER BY queue LIMIT 1",
    )?;
    let mut queues: Vec<String> = Vec::new();
    loop {
        let last = queues.last().map_or("", String::as_str);
        let Some(queue) = next.query_row([last], |row| row.get(0)).optional()? else { break };
        queues.push(queue);
    }
    queues.retain(|queue| !queue.starts_with(ONLY_BY_NAME));
    Ok(queues)
}

fn limited_candidates(
    tx: &mut Tx<'_>,
    request: &ClaimRequest,
    paused: &HashSet<String>,
    candidates: &mut Vec<Candidate>,
) -> WriteResult<()> {
    let wanted = |job: &Job| is_wanted(request, paused, job);
    let mut key = std::mem::take(&mut tx.state.limit_cursor);
    let mut wrapped = key.is_empty();
    let mut first_seen: Option<String> = None;
    for _ in 0..KEYS_PER_CLAIM {
        let Some(next) = next_limit_key(tx, &key)? else {
            if wrapped {
                key.clear();
                break;
            }
            wrapped = true;
            key.clear();
            continue;
        };
        if first_seen.as_ref() == Some(&next) {
            break;
        }
        first_seen.get_or_insert_with(|| next.clone());
        limited_by(tx, &next, request.max, &wanted, candidates)?;
        key = next;
    }
    tx.state.limit_cursor = key;
    Ok(())
}

fn next_limit_key(tx: &Tx<'_>, after: &str) -> WriteResult<Option<String>> {
    let mut next = tx.db.prepare_cached(
        "SELECT limit_key FROM job WHERE state = 0 AND limit_key IS NOT NULL AND limit_key > ?1 \
         ORDER BY limit_key LIMIT 1",
    )?;
    Ok(next.query_row([after], |row| row.get(0)).optional()?)
}

/// The jobs of one key that its limit lets through now.
fn limited_by(
    tx: &mut Tx<'_>,
    key: &str,
    max: usize,
    wanted: &dyn Fn(&Job) -> bool,
    candidates: &mut Vec<Candidate>,
) -> WriteResult<()> {
    static TOP: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT {JOB_COLUMNS} FROM job WHERE state = 0 AND suspect = 0 AND limit_key IS NOT NULL AND limit_key = ?1 \
             ORDER BY priority DESC, id"
        )
    });
    let mut count = tx
        .db
        .prepare_cached("SELECT count(*) FROM job WHERE state = 2 AND limit_key IS NOT NULL AND limit_key = ?1")?;
    let mut running: i64 = count.query_row([key], |row| row.get(0))?;
    let mut tokens: Option<f64> = None;
    let mut top = tx.db.prepare_cached(&TOP)?;
    let mut rows = top.query([key])?;
    let mut taken = 0;
    while taken < max {
        let Some(row) = rows.next()? else { break };
        let candidate = candidate(row, tx.state)?;
        if !wanted(&candidate.job) {
            continue;
        }
        let limit = candidate.job.limit.as_ref();
        if limit.and_then(|limit| limit.running).is_some_and(|most| running >= i64::from(most)) {
            break;
        }
        if let Some(per_minute) = limit.and_then(|limit| limit.per_minute) {
            let left = match tokens {
                Some(left) => left,
                None => tokens_now(tx.db, tx.now, key, per_minute)?,
            };
            if left < 1.0 {
                break;
            }
            tokens = Some(left - 1.0);
        }
        candidates.push(candidate);
        running += 1;
        taken += 1;
    }
    Ok(())
}

/// What is in a token bucket by now; a new bucket is full.
pub(super) fn tokens_now(db: &Connection, now: Timestamp, key: &str, per_minute: u32) -> WriteResult<f64> {
    let capacity = f64::from(per_minute);
    let mut find = db.prepare_cached("SELECT tokens, refilled_at FROM rate WHERE limit_key = ?1")?;
    let found: Option<(f64, i64)> = find.query_row([key], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    Ok(found.map_or(capacity, |(tokens, refilled_at)| {
        let minutes = (now.as_millis() - refilled_at).max(0) as f64 / 60_000.0;
        (tokens + minutes * capacity).min(capacity)
    }))
}

fn spend_token(tx: &Tx<'_>, key: &str, per_minute: u32) -> WriteResult<()> {
    let left = tokens_now(tx.db, tx.now, key, per_minute)? - 1.0;
    let mut store = tx.db.prepare_cached(
        "INSERT INTO rate (limit_key, tokens, refilled_at) VALUES (?1, ?2, ?3) \
         ON CONFLICT (limit_key) DO UPDATE SET tokens = ?2, refilled_at = max(refilled_at, ?3)",
    )?;
    store.execute((key, left, tx.now.as_millis()))?;
    Ok(())
}
