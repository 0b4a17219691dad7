//! The sweep: what is due because time has passed. What another sweep has in hand is skipped.

use super::{
    claim::{StoredClaim, wait_from_millis},
    ends,
    ends::UNMARKED,
    events,
    fail::TxResult,
    ready,
    rows::{get, to_json},
    session::{Db, Tx},
};
use crate::{
    error::StoreResult,
    lease::{self, Lease},
    query::Swept,
    suspects::LossRecord,
};
use bindery_core::{Name, SubmissionId, Timestamp, error::ErrorClass, event::kind, job::ErrorRecord};
use serde_json::json;
use std::{collections::HashMap, sync::LazyLock, time::Duration};
use tokio_postgres::Row;

/// How much more urgent a submission becomes when its deadline is near.
const ESCALATION: i32 = 100;

/// What a look has seen: most of the time there is nothing to sweep, and a look is cheaper than a transaction.
pub(super) struct Seen {
    pub(super) now: i64,
    /// When there is something to sweep next; zero: now.
    pub(super) due_in: Option<Duration>,
    /// Whether there are leases that [end too late](crate::lease).
    pub(super) has_leases_ahead: bool,
}

/// `$1` a time that is given; else it is the server's.
const NOW: &str =
    "(SELECT coalesce($1::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now OFFSET 0) AS t";

/// Claims whose lease ends later than it can.
static CLAIMS_AHEAD: LazyLock<String> =
    LazyLock::new(|| lease::ends_too_late("claim.until", "claim.lease_ms", "t.now"));

/// Retries and parked jobs that are due later than they can be.
static WAITS_AHEAD: LazyLock<String> =
    LazyLock::new(|| format!("shelf IN (1, 3) AND {}", lease::ends_too_late("due_at", "lease_ms", "t.now")));

pub(super) async fn look(db: &Db) -> StoreResult<Seen> {
    static LOOK: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT t.now, least((SELECT min(until) FROM claim), \
             (SELECT due_at FROM job WHERE shelf = 3 AND due_at IS NOT NULL ORDER BY due_at LIMIT 1), \
             (SELECT due_at FROM job WHERE shelf = 4 AND due_at IS NOT NULL ORDER BY due_at LIMIT 1), \
             (SELECT t.now FROM job WHERE {} LIMIT 1), \
             (SELECT next_check FROM submission WHERE next_check IS NOT NULL ORDER BY next_check LIMIT 1)) - t.now, \
             EXISTS (SELECT 1 FROM claim WHERE {}) FROM {NOW}",
            *WAITS_AHEAD, *CLAIMS_AHEAD
        )
    });
    let seen =
        |row: &Row| Ok((get::<i64>(row, 0)?, get::<Option<i64>>(row, 1)?.map(wait_from_millis), get::<bool>(row, 2)?));
    let found = db.ask(&LOOK, &[&db.given_time()], seen).await?;
    let (now, due_in, has_leases_ahead) = found.first().copied().unwrap_or((0, Some(Duration::ZERO), false));
    Ok(Seen { now, due_in, has_leases_ahead })
}

/// The leases that end too late, by the tokens of their claims.
pub(super) async fn leases_ahead(db: &Db) -> StoreResult<Vec<(i64, Lease)>> {
    static SQL: LazyLock<String> =
        LazyLock::new(|| format!("SELECT token, until, lease_ms FROM claim, {NOW} WHERE {}", *CLAIMS_AHEAD));
    let lease = |row: &Row| Ok((get(row, 0)?, Lease { until: get(row, 1)?, length: get(row, 2)? }));
    db.ask(&SQL, &[&db.given_time()], lease).await
}

/// `wrong`: the tokens of claims that have expired although they end in the future.
pub(super) async fn sweep(tx: &mut Tx, wrong: &[i64]) -> TxResult<Swept> {
    let shortened = shorten_waits_of_wrong_clocks(tx).await?;
    let claims = end_claims(tx, wrong).await?;
    let mut swept = Swept {
        leases_expired: expire_leases(tx, &claims).await?,
        parked_woken: wake_parked(tx).await?,
        reports_overdue: wake_overdue(tx).await?,
        ..Swept::default()
    };
    check_deadlines(tx, &mut swept).await?;
    // A sweep that found nothing is no news.
    tx.give_up = shortened == 0 && claims.is_empty() && swept == Swept::default();
    Ok(swept)
}

/// A retry or a parked job that is due later than it can be was stored while the clock was ahead; else nobody could take
/// it until that time has come. It waits for as long as it should, from now on.
async fn shorten_waits_of_wrong_clocks(tx: &Tx) -> TxResult<u64> {
    static SHORTEN: LazyLock<String> = LazyLock::new(|| {
        format!("UPDATE job SET due_at = t.now + lease_ms FROM (SELECT $1::bigint AS now) AS t WHERE {}", *WAITS_AHEAD)
    });
    tx.execute(&SHORTEN, &[&tx.millis()]).await
}

/// Removes the claims whose lease has ended, and returns them with their jobs.
async fn end_claims(tx: &Tx, wrong: &[i64]) -> TxResult<Vec<StoredClaim>> {
    static END: LazyLock<String> = LazyLock::new(|| {
        format!(
            "DELETE FROM claim WHERE ctid = ANY(ARRAY(SELECT claim.ctid FROM claim, (SELECT $1::bigint AS now) AS t \
             WHERE {} OR (token = ANY($2::bigint[]) AND {}) FOR UPDATE OF claim SKIP LOCKED)) RETURNING {}",
            lease::expired("until", "t.now"),
            *CLAIMS_AHEAD,
            StoredClaim::COLUMNS
        )
    });
    tx.collect(&END, &[&tx.millis(), &wrong], StoredClaim::read).await
}

/// A job whose worker was lost.
struct Lost {
    id: i64,
    worker: String,
    held: LossRecord,
}

/// A worker that stopped answering loses its jobs.
async fn expire_leases(tx: &Tx, claims: &[StoredClaim]) -> TxResult<u64> {
    // Most have ended long ago. A commit of one that is under way is waited for: the job will not be looked at again. Each
    // job with its own token: a job may stand in one claim that ended long ago and in another that is held.
    static FIND: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT job.id, held.worker, suspect, begun_with, losses, held.carried \
             FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bool[]) AS held(job_id, by_token, worker, carried) \
             JOIN job ON job.id = held.job_id AND ((state = 2 AND token = held.by_token) \
             OR ({UNMARKED} AND fence < held.by_token)) ORDER BY job.id FOR UPDATE OF job"
        )
    });
    if claims.is_empty() {
        return Ok(0);
    }
    let (mut jobs, mut tokens, mut workers, mut carried) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for claim in claims {
        jobs.extend_from_slice(&claim.jobs);
        tokens.resize(jobs.len(), claim.token);
        workers.resize(jobs.len(), claim.worker.as_str());
        carried.resize(jobs.len(), claim.is_carried);
    }
    let lost = |row: &Row| {
        let number = |column| get::<i32>(row, column).map(i64::from);
        let held =
            LossRecord { suspect: number(2)?, begun_with: number(3)?, losses: number(4)?, carried: get(row, 5)? };
        Ok(Lost { id: get(row, 0)?, worker: get(row, 1)?, held })
    };
    let expired = tx.collect(&FIND, &[&jobs, &tokens, &workers, &carried], lost).await?;
    give_back(tx, expired).await
}

/// The same for workers that are known to have died, before their leases have run out.
pub(super) async fn release_dead_workers(tx: &Tx, workers: &[Name]) -> TxResult<u64> {
    let names: Vec<&str> = workers.iter().map(Name::as_str).collect();
    // Claims are few: no index of them knows their workers.
    let end = format!("DELETE FROM claim WHERE worker = ANY($1) RETURNING {}", StoredClaim::COLUMNS);
    let claims = tx.collect(&end, &[&names], StoredClaim::read).await?;
    expire_leases(tx, &claims).await
}

/// No attempt is used up, but whatever a lost worker held is [suspect](crate::suspects).
async fn give_back(tx: &Tx, lost: Vec<Lost>) -> TxResult<u64> {
    static GIVE_BACK: LazyLock<String> = LazyLock::new(|| {
        ready::giving_back(
            "UPDATE job SET state = 0, due_at = NULL, token = NULL, worker = NULL, error = lost.error, \
             suspect = lost.suspect::int, begun_with = 0, losses = lost.losses::int, \
             fence = (SELECT nextval('claim_token') << 24) \
             FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[]) \
             AS lost(id, error, suspect, losses) WHERE job.id = lost.id",
        )
    });
    if lost.is_empty() {
        return Ok(0);
    }
    let mut together: HashMap<String, i64> = HashMap::new();
    for job in lost.iter().filter(|job| !job.held.carried) {
        *together.entry(job.worker.clone()).or_default() += 1;
    }
    let reason = |worker: String| {
        let message = format!("worker {worker} stopped answering");
        to_json(&ErrorRecord { class: ErrorClass::Retry, kind: "WorkerLost".to_owned(), message, step: None })
    };
    let after = lost.iter().map(|job| job.held.after_loss(together.get(&job.worker).copied().unwrap_or(1)));
    let (suspects, losses): (Vec<i64>, Vec<i64>) = after.map(|after| (after.suspect, after.losses)).unzip();
    let (ids, errors): (Vec<i64>, Vec<String>) = lost.into_iter().map(|job| (job.id, reason(job.worker))).unzip();
    let given_back = tx.query(&GIVE_BACK, &[&ids, &errors, &suspects, &losses]).await?.len() as u64;
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
    let jobs = "UPDATE job SET priority = priority + $2 WHERE submission_id = $1 AND state < 5 RETURNING id";
    let raised: Vec<i64> = tx.collect(jobs, &[&id.raw(), &ESCALATION], |row| get(row, 0)).await?;
    ready::put_in_order(tx, &[id.raw()], &raised).await
}
