//! The sweep: what is due because time has passed.

use super::{
    events, jobs,
    rows::{self, to_json},
    writer::{Tx, WriteResult},
};
use crate::{
    lease::{self, Lease},
    query::Swept,
    suspects::LossRecord,
};
use bindery_core::{Name, SubmissionId, error::ErrorClass, event::kind, job::ErrorRecord};
use rusqlite::Row;
use serde_json::json;
use std::{collections::HashMap, sync::LazyLock};

/// How much more urgent a submission becomes when its deadline is near.
const ESCALATION: i64 = 100;

pub(super) fn sweep(tx: &mut Tx<'_>) -> WriteResult<Swept> {
    shorten_waits_of_wrong_clocks(tx)?;
    let mut swept = Swept {
        leases_expired: expire_leases(tx)?,
        parked_woken: wake_parked(tx)?,
        reports_overdue: wake_overdue(tx)?,
        ..Swept::default()
    };
    check_deadlines(tx, &mut swept)?;
    Ok(swept)
}

/// A job whose worker was lost.
struct Lost {
    id: i64,
    worker: Option<String>,
    held: LossRecord,
}

impl Lost {
    const COLUMNS: &str = "id, worker, suspect, begun_with, losses, carried";

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let held =
            LossRecord { suspect: row.get(2)?, begun_with: row.get(3)?, losses: row.get(4)?, carried: row.get(5)? };
        Ok(Self { id: row.get(0)?, worker: row.get(1)?, held })
    }
}

/// A worker that stopped answering loses its jobs.
fn expire_leases(tx: &mut Tx<'_>) -> WriteResult<u64> {
    let sql = format!("SELECT {} FROM job WHERE state = 2 AND {}", Lost::COLUMNS, lease::expired("due_at", "?1"));
    let mut expired = rows::collect(tx.db, &sql, [tx.now.as_millis()], Lost::read)?;
    expired.extend(leases_of_wrong_clocks(tx)?);
    give_back(tx, &expired)
}

/// Those whose [lease ends too late](crate::lease), and was not extended for as long as it holds.
fn leases_of_wrong_clocks(tx: &mut Tx<'_>) -> WriteResult<Vec<Lost>> {
    let sql = format!(
        "SELECT {}, due_at, lease_ms FROM job WHERE state = 2 AND {}",
        Lost::COLUMNS,
        lease::ends_too_late("due_at", "lease_ms", "?1")
    );
    let now = tx.now.as_millis();
    let ahead = rows::collect(tx.db, &sql, [now], |row| {
        Ok((Lost::read(row)?, Lease { until: row.get("due_at")?, length: row.get("lease_ms")? }))
    })?;
    let expired = tx.state.leases_ahead.expire(now, ahead.iter().map(|(lost, lease)| (lost.id, *lease)));
    Ok(ahead.into_iter().map(|(lost, _)| lost).filter(|lost| expired.contains(&lost.id)).collect())
}

/// A retry or a parked job that is due later than it can be was stored by a process whose clock was
/// ahead; else nobody could take it until that time has come. It waits for as long as it should, from now on.
fn shorten_waits_of_wrong_clocks(tx: &Tx<'_>) -> WriteResult<()> {
    static SHORTEN: LazyLock<String> = LazyLock::new(|| {
        let too_late = lease::ends_too_late("due_at", "lease_ms", "?1");
        format!("UPDATE job SET due_at = ?1 + lease_ms WHERE state IN (1, 3) AND {too_late}")
    });
    tx.db.prepare_cached(&SHORTEN)?.execute([tx.now.as_millis()])?;
    Ok(())
}

/// The same for workers that are known to have died, before their leases have run out.
pub(super) fn release_dead_workers(tx: &Tx<'_>, workers: &[Name]) -> WriteResult<u64> {
    let sql =
        format!("SELECT {} FROM job WHERE state = 2 AND worker IN (SELECT value FROM json_each(?1))", Lost::COLUMNS);
    let held = rows::collect(tx.db, &sql, [to_json(&workers)], Lost::read)?;
    give_back(tx, &held)
}

/// No attempt is used up, but whatever a lost worker held is [suspect](crate::suspects).
fn give_back(tx: &Tx<'_>, lost: &[Lost]) -> WriteResult<u64> {
    let mut together: HashMap<Option<&str>, i64> = HashMap::new();
    for job in lost.iter().filter(|job| !job.held.carried) {
        *together.entry(job.worker.as_deref()).or_default() += 1;
    }
    let mut give_back = tx.db.prepare_cached(
        "UPDATE job SET state = 0, due_at = NULL, token = NULL, worker = NULL, error = ?2, suspect = ?3, \
         begun_with = 0, losses = ?4 WHERE id = ?1",
    )?;
    for Lost { id, worker, held } in lost {
        let message = format!("worker {} stopped answering", worker.as_deref().unwrap_or("(unknown)"));
        let error = ErrorRecord { class: ErrorClass::Retry, kind: "WorkerLost".to_owned(), message, step: None };
        let after = held.after_loss(together.get(&worker.as_deref()).copied().unwrap_or(1));
        give_back.execute((id, to_json(&error), after.suspect, after.losses))?;
        jobs::take_newer_payload(tx, *id)?;
    }
    Ok(lost.len() as u64)
}

/// What a parked job waits for may be there by now: it tries by itself, whoever parked it.
fn wake_parked(tx: &Tx<'_>) -> WriteResult<u64> {
    let mut wake = tx.db.prepare_cached(
        "UPDATE job SET state = 0, parked_until = NULL, due_at = NULL WHERE state = 3 AND due_at <= ?1",
    )?;
    Ok(wake.execute([tx.now.as_millis()])? as u64)
}

/// A report that did not come is somebody's decision: the waiting job becomes ready, marked as overdue.
fn wake_overdue(tx: &Tx<'_>) -> WriteResult<u64> {
    let mut wake =
        tx.db.prepare_cached("UPDATE job SET state = 0, overdue = 1, due_at = NULL WHERE state = 4 AND due_at < ?1")?;
    Ok(wake.execute([tx.now.as_millis()])? as u64)
}

struct Due {
    id: SubmissionId,
    deadline_at: Option<i64>,
    warn_at: Option<i64>,
    escalate_at: Option<i64>,
    warned: bool,
    escalated: bool,
}

fn check_deadlines(tx: &mut Tx<'_>, swept: &mut Swept) -> WriteResult<()> {
    let due = rows::collect(
        tx.db,
        "SELECT id, deadline_at, warn_at, escalate_at, warned, escalated FROM submission \
         WHERE next_check <= ?1 ORDER BY next_check LIMIT 500",
        [tx.now.as_millis()],
        |row| {
            Ok(Due {
                id: SubmissionId::from_raw(row.get(0)?),
                deadline_at: row.get(1)?,
                warn_at: row.get(2)?,
                escalate_at: row.get(3)?,
                warned: row.get(4)?,
                escalated: row.get(5)?,
            })
        },
    )?;
    for submission in due {
        check_deadline(tx, &submission, swept)?;
    }
    Ok(())
}

fn check_deadline(tx: &mut Tx<'_>, due: &Due, swept: &mut Swept) -> WriteResult<()> {
    let now = tx.now.as_millis();
    let passed = |at: Option<i64>| at.is_some_and(|at| at <= now);
    let (breached, escalate) = (passed(due.deadline_at), passed(due.escalate_at) && !due.escalated);
    let warn = passed(due.warn_at) && !due.warned;
    if warn {
        announce(tx, due, kind::DEADLINE_WARNING)?;
        swept.deadlines_warned += 1;
    }
    if escalate {
        raise_priority(tx, due.id)?;
        announce(tx, due, kind::DEADLINE_ESCALATED)?;
        swept.deadlines_escalated += 1;
    }
    if breached {
        announce(tx, due, kind::DEADLINE_BREACHED)?;
        swept.deadlines_breached += 1;
    }
    let still_to_come = |at: Option<i64>| at.filter(|at| *at > now);
    let next = [due.warn_at, due.escalate_at, due.deadline_at].into_iter().filter_map(still_to_come).min();
    let mut store = tx.db.prepare_cached(
        "UPDATE submission SET warned = warned OR ?2, escalated = escalated OR ?3, \
         breached_at = CASE WHEN ?4 THEN ?5 ELSE breached_at END, next_check = ?6 WHERE id = ?1",
    )?;
    store.execute((due.id.raw(), warn, escalate, breached, now, next.filter(|_| !breached)))?;
    Ok(())
}

fn announce(tx: &Tx<'_>, due: &Due, event_kind: &str) -> WriteResult<()> {
    let deadline = due.deadline_at.map(bindery_core::Timestamp::from_millis);
    events::append_about(tx, event_kind, due.id, None, &json!({"deadline": deadline}))
}

fn raise_priority(tx: &Tx<'_>, id: SubmissionId) -> WriteResult<()> {
    let raise = (id.raw(), ESCALATION);
    tx.db.prepare_cached("UPDATE submission SET priority = priority + ?2 WHERE id = ?1")?.execute(raise)?;
    tx.db
        .prepare_cached("UPDATE job SET priority = priority + ?2 WHERE submission_id = ?1 AND state < 5")?
        .execute(raise)?;
    Ok(())
}
