//! The sweep: what is due because time has passed. What another sweep has in hand is skipped.

use super::{
    claim::until,
    ends, events,
    fail::TxResult,
    rows::{get, to_json},
    session::{Db, Tx},
};
use crate::{error::StoreResult, query::Swept};
use bindery_core::{Name, SubmissionId, Timestamp, error::ErrorClass, event::kind, job::ErrorRecord};
use serde_json::json;
use std::time::Duration;

/// How much more urgent a submission becomes when its deadline is near.
const ESCALATION: i32 = 100;

/// When there is something to sweep next; zero: now. Most of the time there is nothing, and a look is cheaper than a
/// transaction.
pub(super) async fn due_in(db: &Db) -> StoreResult<Option<Duration>> {
    const LOOK: &str = "SELECT least((SELECT min(until) FROM claim), \
         (SELECT due_at FROM job WHERE shelf = 3 AND due_at IS NOT NULL ORDER BY due_at LIMIT 1), \
         (SELECT due_at FROM job WHERE shelf = 4 AND due_at IS NOT NULL ORDER BY due_at LIMIT 1), \
         (SELECT next_check FROM submission WHERE next_check IS NOT NULL ORDER BY next_check LIMIT 1)) - t.now \
         FROM (SELECT coalesce($1::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now \
         OFFSET 0) AS t";
    let due = db.ask(LOOK, &[&db.given_time()], |row| get::<Option<i64>>(row, 0)).await?;
    Ok(due.first().copied().flatten().map(until))
}

pub(super) async fn sweep(tx: &mut Tx) -> TxResult<Swept> {
    let claims = end_claims(tx).await?;
    let mut swept = Swept {
        leases_expired: expire_leases(tx, &claims).await?,
        parked_woken: wake_parked(tx).await?,
        reports_overdue: wake_overdue(tx).await?,
        ..Swept::default()
    };
    check_deadlines(tx, &mut swept).await?;
    // A sweep that found nothing is no news.
    tx.give_up = claims.is_empty() && swept == Swept::default();
    Ok(swept)
}

/// Removes the claims whose lease has ended, and returns them with their jobs.
async fn end_claims(tx: &Tx) -> TxResult<Vec<(i64, Vec<i64>)>> {
    let end = "DELETE FROM claim WHERE ctid = ANY(ARRAY(SELECT ctid FROM claim WHERE until < $1 FOR UPDATE SKIP LOCKED)) \
               RETURNING token, jobs";
    tx.collect(end, &[&tx.millis()], |row| Ok((get(row, 0)?, get(row, 1)?))).await
}

/// A worker that stopped answering loses its jobs. The attempt counts: a job that kills its workers must end.
async fn expire_leases(tx: &Tx, claims: &[(i64, Vec<i64>)]) -> TxResult<u64> {
    if claims.is_empty() {
        return Ok(0);
    }
    let tokens: Vec<i64> = claims.iter().map(|(token, _)| *token).collect();
    let jobs: Vec<i64> = claims.iter().flat_map(|(_, jobs)| jobs).copied().collect();
    // Most have ended long ago. Whoever commits one at this moment is waited for: it will not be asked about again.
    let find = "SELECT id, worker FROM job WHERE id = ANY($1) AND token = ANY($2) AND state = 2 ORDER BY id FOR UPDATE";
    let expired =
        tx.collect(find, &[&jobs, &tokens], |row| Ok((get::<i64>(row, 0)?, get::<Option<String>>(row, 1)?))).await?;
    give_back(tx, expired).await
}

/// The same for workers that are known to have died, before their leases have run out.
pub(super) async fn bury(tx: &Tx, workers: &[Name]) -> TxResult<u64> {
    let names: Vec<&str> = workers.iter().map(Name::as_str).collect();
    // Claims are few and tell which jobs run; no index of jobs knows their workers.
    let find = "SELECT id, worker FROM job WHERE id = ANY(ARRAY(SELECT unnest(jobs) FROM claim)) AND state = 2 \
                AND worker = ANY($1) ORDER BY id FOR UPDATE";
    let held = tx.collect(find, &[&names], |row| Ok((get::<i64>(row, 0)?, get::<Option<String>>(row, 1)?))).await?;
    give_back(tx, held).await
}

async fn give_back(tx: &Tx, lost: Vec<(i64, Option<String>)>) -> TxResult<u64> {
    if lost.is_empty() {
        return Ok(0);
    }
    let reason = |worker: Option<String>| {
        let message = format!("worker {} stopped answering", worker.as_deref().unwrap_or("(unknown)"));
        to_json(&ErrorRecord { class: ErrorClass::Retry, kind: "WorkerLost".to_owned(), message, step: None })
    };
    let (ids, errors): (Vec<i64>, Vec<String>) = lost.into_iter().map(|(id, worker)| (id, reason(worker))).unzip();
    let give_back = "UPDATE job SET state = 0, due_at = NULL, token = NULL, worker = NULL, error = lost.error \
                     FROM unnest($1::bigint[], $2::text[]) AS lost(id, error) WHERE job.id = lost.id";
    let given_back = tx.execute(give_back, &[&ids, &errors]).await?;
    ends::take_newer_payload(tx, &ids).await?;
    Ok(given_back)
}

/// What a parked job waits for may be there by now: it tries by itself, whoever parked it.
async fn wake_parked(tx: &Tx) -> TxResult<u64> {
    let wake = "UPDATE job SET state = 0, parked_until = NULL, due_at = NULL WHERE id IN \
                (SELECT id FROM job WHERE shelf = 3 AND due_at <= $1 FOR UPDATE SKIP LOCKED)";
    tx.execute(wake, &[&tx.millis()]).await
}

/// A report that did not come is somebody's decision: the waiting job becomes ready, marked as overdue.
async fn wake_overdue(tx: &Tx) -> TxResult<u64> {
    let wake = "UPDATE job SET state = 0, overdue = true, due_at = NULL WHERE id IN \
                (SELECT id FROM job WHERE shelf = 4 AND due_at < $1 FOR UPDATE SKIP LOCKED)";
    tx.execute(wake, &[&tx.millis()]).await
}

struct Due {
    id: SubmissionId,
    deadline_at: Option<i64>,
    warn_at: Option<i64>,
    escalate_at: Option<i64>,
    warned: bool,
    escalated: bool,
}

async fn check_deadlines(tx: &mut Tx, swept: &mut Swept) -> TxResult<()> {
    let find = "SELECT id, deadline_at, warn_at, escalate_at, warned, escalated FROM submission \
                WHERE next_check <= $1 ORDER BY next_check LIMIT 500 FOR UPDATE SKIP LOCKED";
    let due = tx
        .collect(find, &[&tx.millis()], |row| {
            Ok(Due {
                id: SubmissionId::from_raw(get(row, 0)?),
                deadline_at: get(row, 1)?,
                warn_at: get(row, 2)?,
                escalate_at: get(row, 3)?,
                warned: get(row, 4)?,
                escalated: get(row, 5)?,
            })
        })
        .await?;
    for submission in due {
        check_deadline(tx, &submission, swept).await?;
    }
    Ok(())
}

async fn check_deadline(tx: &mut Tx, due: &Due, swept: &mut Swept) -> TxResult<()> {
    let now = tx.millis();
    let passed = |at: Option<i64>| at.is_some_and(|at| at <= now);
    let (breached, escalate) = (passed(due.deadline_at), passed(due.escalate_at) && !due.escalated);
    let warn = passed(due.warn_at) && !due.warned;
    if warn {
        announce(tx, due, kind::DEADLINE_WARNING).await?;
        swept.deadlines_warned += 1;
    }
    if escalate {
        raise_priority(tx, due.id).await?;
        announce(tx, due, kind::DEADLINE_ESCALATED).await?;
        swept.deadlines_escalated += 1;
    }
    if breached {
        announce(tx, due, kind::DEADLINE_BREACHED).await?;
        swept.deadlines_breached += 1;
    }
    let still_to_come = |at: Option<i64>| at.filter(|at| *at > now);
    let next = [due.warn_at, due.escalate_at, due.deadline_at].into_iter().filter_map(still_to_come).min();
    let store = "UPDATE submission SET warned = warned OR $2, escalated = escalated OR $3, \
                 breached_at = CASE WHEN $4 THEN $5 ELSE breached_at END, next_check = $6 WHERE id = $1";
    let next = next.filter(|_| !breached);
    tx.execute(store, &[&due.id.raw(), &warn, &escalate, &breached, &now, &next]).await?;
    Ok(())
}

async fn announce(tx: &mut Tx, due: &Due, event_kind: &str) -> TxResult<()> {
    let deadline = due.deadline_at.map(Timestamp::from_millis);
    events::append_about(tx, event_kind, due.id, None, &json!({"deadline": deadline})).await
}

async fn raise_priority(tx: &Tx, id: SubmissionId) -> TxResult<()> {
    let submission = "UPDATE submission SET priority = priority + $2 WHERE id = $1";
    tx.execute(submission, &[&id.raw(), &ESCALATION]).await?;
    let jobs = "UPDATE job SET priority = priority + $2 WHERE submission_id = $1 AND state < 5";
    tx.execute(jobs, &[&id.raw(), &ESCALATION]).await?;
    Ok(())
}
