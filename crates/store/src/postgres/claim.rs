//! Claiming: the greatest priority first, then the oldest, none from a paused queue, none beyond a limit.
//!
//! Jobs without a limit stand in one index per queue and are taken with one statement; what another claim has in hand
//! is skipped. Only where jobs with a limit could begin too, the two are put in order first.

use super::{
    fail::TxResult,
    limits,
    rows::{self, JOB_COLUMNS, get},
    session::{Db, Tx},
};
use crate::{error::StoreResult, query::ClaimRequest};
use bindery_core::{
    JobId, Name,
    job::{ClaimedJob, Token},
};
use std::{cmp::Reverse, sync::LazyLock};
use tokio_postgres::Row;

/// Who comes before whom.
pub(super) type Rank = (Reverse<i32>, JobId);

/// The most urgent ready jobs of each queue, locked: `$1` the queues (NULL: all that have ready jobs, found by jumping
/// from one to the next in the index), `$2` how many. The jumps go backwards, because what was claimed a moment ago
/// stands in the way at the front of each queue, and passing it once is enough.
const READY: &str = "WITH RECURSIVE busy AS ( \
        (SELECT queue FROM job WHERE state = 0 AND limit_key IS NULL AND $1::text[] IS NULL \
         ORDER BY queue DESC LIMIT 1) \
        UNION ALL \
        SELECT (SELECT job.queue FROM job WHERE state = 0 AND limit_key IS NULL AND job.queue < busy.queue \
                ORDER BY job.queue DESC LIMIT 1) FROM busy WHERE busy.queue IS NOT NULL), \
    open AS (SELECT name FROM (SELECT queue FROM busy UNION SELECT unnest($1::text[])) AS wanted(name) \
        WHERE name IS NOT NULL AND name NOT IN (SELECT queue.name FROM queue)), \
    picked AS MATERIALIZED (SELECT top.id, top.priority, top.place FROM open CROSS JOIN LATERAL ( \
        SELECT job.id, job.priority, job.ctid AS place FROM job WHERE state = 0 AND limit_key IS NULL AND job.queue = open.name \
        ORDER BY job.priority DESC, job.id LIMIT $2 FOR UPDATE SKIP LOCKED) AS top \
        ORDER BY top.priority DESC, top.id LIMIT $2)";

/// The columns of a job as it is after the claim.
pub(super) static CLAIMED: LazyLock<String> =
    LazyLock::new(|| JOB_COLUMNS.split(", ").map(|column| format!("job.{column}")).collect::<Vec<_>>().join(", "));

/// One token for all: what it proves is that *this* claim of a job is the last one.
fn lease(until: &str, worker: &str, counts: &str) -> String {
    format!(
        "UPDATE job SET state = 2, attempt = attempt + CASE WHEN {counts} THEN 1 ELSE 0 END, carried = NOT {counts}, \
         due_at = {until}, worker = {worker}, token = (SELECT nextval('claim_token'))"
    )
}

/// What a look at the queues has seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    ready: bool,
    scheduled: bool,
    limited: bool,
}

impl Seen {
    pub(super) const fn nothing(self) -> bool {
        !(self.ready || self.scheduled || self.limited)
    }
}

/// Looks, in one round trip, which parts of a claim there is any need for. Most queues are empty most of the time, and
/// few jobs are scheduled or limited. Where there was work a moment ago, there is more (`thoroughly` is false).
pub(super) async fn look(db: &Db, request: &ClaimRequest, thoroughly: bool) -> StoreResult<Seen> {
    const LOOK: &str = "SELECT NOT $3 OR CASE WHEN $2::text[] IS NULL \
         THEN EXISTS (SELECT 1 FROM job WHERE state = 0 AND limit_key IS NULL ORDER BY queue DESC OFFSET 0) \
         ELSE EXISTS (SELECT 1 FROM unnest($2::text[]) AS wanted(name) WHERE EXISTS \
              (SELECT 1 FROM job WHERE state = 0 AND limit_key IS NULL AND queue = wanted.name OFFSET 0)) END, \
         EXISTS (SELECT 1 FROM job WHERE state = 1 AND due_at <= t.now), \
         EXISTS (SELECT 1 FROM job WHERE state = 0 AND limit_key IS NOT NULL) \
         FROM (SELECT coalesce($1::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now \
         OFFSET 0) AS t";
    let queues = queues_of(request);
    let seen = |row: &Row| Ok(Seen { ready: get(row, 0)?, scheduled: get(row, 1)?, limited: get(row, 2)? });
    let rows = db.ask(LOOK, &[&db.given_time(), &queues, &thoroughly], seen).await?;
    Ok(rows.first().copied().unwrap_or(Seen { ready: true, scheduled: true, limited: true }))
}

fn queues_of(request: &ClaimRequest) -> Option<Vec<&str>> {
    request.queues.as_ref().map(|queues| queues.iter().map(Name::as_str).collect())
}

pub(super) async fn claim(
    tx: &Tx,
    request: &ClaimRequest,
    seen: Seen,
    from: &str,
) -> TxResult<(Vec<ClaimedJob>, String)> {
    let queues = queues_of(request);
    if seen.scheduled {
        promote_scheduled(tx).await?;
    }
    // Those that were scheduled may have a limit too.
    let (limited, cursor) = if seen.limited || seen.scheduled {
        limits::candidates(tx, queues.as_deref(), request.max, from).await?
    } else {
        (Vec::new(), from.to_owned())
    };
    let mut claimed = if limited.is_empty() {
        claim_ready(tx, request, queues.as_deref()).await?
    } else {
        claim_both(tx, request, queues.as_deref(), limited).await?
    };
    claimed.sort_unstable_by_key(|claim| (Reverse(claim.job.priority), claim.job.id));
    Ok((claimed, cursor))
}

/// Jobs whose time has come move to the ready index.
async fn promote_scheduled(tx: &Tx) -> TxResult<()> {
    let promote = "UPDATE job SET state = 0, due_at = NULL WHERE id IN \
                   (SELECT id FROM job WHERE state = 1 AND due_at <= $1 FOR UPDATE SKIP LOCKED)";
    tx.execute(promote, &[&tx.millis()]).await?;
    Ok(())
}

/// The usual case: one statement.
async fn claim_ready(tx: &Tx, request: &ClaimRequest, queues: Option<&[&str]>) -> TxResult<Vec<ClaimedJob>> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        let lease = lease("$3", "$4", "$5::bool");
        format!("{READY} {lease} FROM picked WHERE job.ctid = picked.place RETURNING {}", *CLAIMED)
    });
    let (max, until) = (request.max as i64, (tx.now + request.lease).as_millis());
    tx.collect(&SQL, &[&queues, &max, &until, &request.worker.as_str(), &request.counts], claimed).await
}

/// Jobs with and without a limit, in one order.
async fn claim_both(
    tx: &Tx,
    request: &ClaimRequest,
    queues: Option<&[&str]>,
    limited: Vec<limits::Candidate>,
) -> TxResult<Vec<ClaimedJob>> {
    static SELECT: LazyLock<String> = LazyLock::new(|| format!("{READY} SELECT id, priority FROM picked"));
    static TAKE: LazyLock<String> = LazyLock::new(|| {
        format!("{} WHERE id = ANY($1) AND state = 0 RETURNING {}", lease("$2", "$3", "$4::bool"), *CLAIMED)
    });
    let (max, until) = (request.max as i64, (tx.now + request.lease).as_millis());
    let rank = |row: &Row| Ok((Reverse(get::<i32>(row, 1)?), JobId::from_raw(get(row, 0)?)));
    let mut ranks: Vec<Rank> = tx.collect(&SELECT, &[&queues, &max], rank).await?;
    ranks.extend(limited.iter().map(|candidate| candidate.rank));
    ranks.sort_unstable();
    ranks.truncate(request.max);
    let ids: Vec<i64> = ranks.iter().map(|(_, job)| job.raw()).collect();
    let taken = tx.collect(&TAKE, &[&ids, &until, &request.worker.as_str(), &request.counts], claimed).await?;
    limits::spend(tx, &limited, &taken).await?;
    Ok(taken)
}

pub(super) fn claimed(row: &Row) -> TxResult<ClaimedJob> {
    Ok(ClaimedJob { job: rows::job(row)?, token: Token(get(row, 11)?), report_overdue: get(row, 24)? })
}
