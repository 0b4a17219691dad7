//! Jobs that a broker carries: adopting those that a relay has claimed for it, and telling outside programs about those
//! that wait for their report.

use super::{
    claim::{self, paused_queues},
    rows::{self, JOB_COLUMNS, id_list},
    writer::{Tx, WriteResult},
};
use crate::{lease::Lease, query::AnnounceRequest};
use bindery_core::{
    JobId, Name,
    job::{ClaimedJob, Job, JobState, Token},
};
use rusqlite::OptionalExtension;
use std::{sync::LazyLock, time::Duration};

/// Each message that was sent twice, or that comes after its lease has ended, finds another token and adopts nothing.
pub(super) fn adopt(
    tx: &mut Tx<'_>,
    worker: &Name,
    leases: &[(JobId, Token)],
    lease: Duration,
) -> WriteResult<Vec<ClaimedJob>> {
    static FIND: LazyLock<String> = LazyLock::new(|| {
        format!("SELECT {JOB_COLUMNS} FROM job WHERE id = ?1 AND token = ?2 AND state = 2 AND carried = 1")
    });
    let token = tx.fresh("token")?;
    let lease = Lease::starting(tx.now, lease);
    let mut find = tx.db.prepare_cached(&FIND)?;
    let mut take = tx.db.prepare_cached(
        "UPDATE job SET carried = 0, due_at = ?2, lease_ms = ?5, token = ?3, worker = ?4, claimed_at = ?6 WHERE id = ?1",
    )?;
    let mut adopted = Vec::with_capacity(leases.len());
    for (job, old) in leases {
        let found = find.query_row((job.raw(), old.0), |row| claim::candidate(row, tx.state)).optional()?;
        let Some(claim::Candidate { mut job, report_overdue }) = found else { continue };
        take.execute((job.id.raw(), lease.until, token, worker.as_str(), lease.length, tx.now.as_millis()))?;
        job.state = JobState::Running;
        job.attempt += 1;
        job.lease_until = Some(lease.ends_at());
        job.worker = Some(worker.clone());
        job.claimed_at = Some(tx.now);
        adopted.push(ClaimedJob { job, token: Token(token), report_overdue });
    }
    Ok(adopted)
}

pub(super) fn announce(tx: &mut Tx<'_>, request: &AnnounceRequest) -> WriteResult<Vec<Job>> {
    static DUE: LazyLock<String> = LazyLock::new(|| {
        format!("SELECT {JOB_COLUMNS} FROM job WHERE state = 4 AND announce_at <= ?1 ORDER BY announce_at, id")
    });
    let paused = paused_queues(tx)?;
    let wanted = |queue: &Name| {
        !paused.contains(queue.as_str()) && request.queues.as_ref().is_none_or(|queues| queues.contains(queue))
    };
    let mut jobs = Vec::new();
    let mut due = tx.db.prepare_cached(&DUE)?;
    let mut rows = due.query([tx.now.as_millis()])?;
    while jobs.len() < request.max {
        let Some(row) = rows.next()? else { break };
        let job = rows::job(row, |text| tx.state.name(text))?;
        if wanted(&job.queue) {
            jobs.push(job);
        }
    }
    drop(rows);
    drop(due);
    let ids: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
    announced(tx, &ids, request.again_after)?;
    jobs.sort_unstable_by_key(|job| job.id);
    Ok(jobs)
}

pub(super) fn announced(tx: &Tx<'_>, jobs: &[JobId], again_after: Duration) -> WriteResult<()> {
    let mut told = tx.db.prepare_cached(
        "UPDATE job SET announce_at = ?2 WHERE id IN (SELECT value FROM json_each(?1)) AND state = 4",
    )?;
    told.execute((id_list(jobs.iter().map(|job| job.raw())), (tx.now + again_after).as_millis()))?;
    Ok(())
}
