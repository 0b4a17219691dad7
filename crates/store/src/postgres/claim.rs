//! Claiming: the greatest priority first, then the oldest, none from a paused queue, none beyond a limit.
//!
//! Ready jobs without a limit stand in a table of their own, out of which claims take them; what another claim has in
//! hand is skipped. Only where jobs with a limit could begin too, the two are put in order first. Suspects are not in that
//! table; they are claimed [apart](super::suspects).

use super::{
    fail::{TxResult, join_results},
    limits,
    rows::{self, JOB_COLUMNS, get},
    session::{Db, Param, Tx},
};
use crate::{error::StoreResult, lease::Lease, query::ClaimRequest};
use bindery_core::{
    JobId, Name,
    job::{ClaimedJob, Job, Token},
};
use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashSet},
    sync::LazyLock,
    time::Duration,
};
use tokio_postgres::Row;

/// Who comes before whom.
pub(super) type Rank = (Reverse<i32>, JobId);

// What begins with `q.only.` is claimed by name alone (`ONLY_BY_NAME`).

/// Takes the most urgent ready jobs of each queue out of the table of the ready ones: `$1` the queues (NULL: all that
/// have ready jobs, found by jumping from one to the next in the index), `$2` how many. The jumps go backwards, because
/// what was claimed a moment ago stands in the way at the front of each queue, and passing it once is enough.
const TAKE_READY: &str = "WITH RECURSIVE busy AS ( \
        (SELECT queue FROM ready WHERE $1::text[] IS NULL ORDER BY queue DESC LIMIT 1) \
        UNION ALL \
        SELECT (SELECT ready.queue FROM ready WHERE ready.queue < busy.queue ORDER BY ready.queue DESC LIMIT 1) \
        FROM busy WHERE busy.queue IS NOT NULL), \
    open AS (SELECT name FROM (SELECT queue FROM busy UNION SELECT unnest($1::text[])) AS wanted(name) \
        WHERE name IS NOT NULL AND ($1::text[] IS NOT NULL OR NOT starts_with(name, 'q.only.')) AND name NOT IN (SELECT queue.name FROM queue)), \
    picked AS MATERIALIZED (SELECT top.place FROM open CROSS JOIN LATERAL ( \
        SELECT ready.priority, ready.id, ready.ctid AS place FROM ready WHERE ready.queue = open.name \
        ORDER BY ready.priority DESC, ready.id LIMIT $2 FOR UPDATE SKIP LOCKED) AS top \
        ORDER BY top.priority DESC, top.id LIMIT $2) \
    DELETE FROM ready USING picked WHERE ready.ctid = picked.place \
    RETURNING ready.id, ready.priority, ready.queue";

/// The same for some submissions: `$3`. Their jobs are found by their own index, and each has its row among the ready ones.
const TAKE_READY_OF: &str = "WITH picked AS MATERIALIZED (SELECT ready.ctid AS place FROM job \
        JOIN ready ON ready.queue = job.queue AND ready.priority = job.priority AND ready.id = job.id \
        WHERE job.submission_id = ANY($3::bigint[]) \
        AND CASE WHEN $1::text[] IS NULL THEN NOT starts_with(job.queue, 'q.only.') ELSE job.queue = ANY($1) END \
        AND job.queue NOT IN (SELECT queue.name FROM queue) \
        ORDER BY ready.priority DESC, ready.id LIMIT $2 FOR UPDATE OF ready SKIP LOCKED) \
    DELETE FROM ready USING picked WHERE ready.ctid = picked.place \
    RETURNING ready.id, ready.priority, ready.queue";

/// The columns of a job as it is after the claim.
pub(super) static CLAIMED: LazyLock<String> =
    LazyLock::new(|| JOB_COLUMNS.split(", ").map(|column| format!("job.{column}")).collect::<Vec<_>>().join(", "));

/// A row that was taken out of the table of the ready jobs.
struct Picked {
    rank: Rank,
    queue: String,
}

/// What a look at the queues has seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    ready: bool,
    scheduled: bool,
    limited: bool,
    /// When the next scheduled job is due.
    next: Option<Duration>,
}

impl Seen {
    pub(super) const fn nothing(self) -> bool {
        !(self.ready || self.scheduled || self.limited)
    }

    pub(super) const fn next(self) -> Option<Duration> {
        self.next
    }
}

/// Looks, in one round trip, which parts of a claim there is any need for. Most queues are empty most of the time, and
/// few jobs are scheduled or limited. Where there was work a moment ago, there is more (`thoroughly` is false).
pub(super) async fn look(db: &Db, request: &ClaimRequest, thoroughly: bool) -> StoreResult<Seen> {
    const LOOK: &str = "SELECT NOT $3 OR CASE WHEN $2::text[] IS NULL \
         THEN EXISTS (SELECT 1 FROM ready WHERE NOT starts_with(queue, 'q.only.') ORDER BY queue DESC OFFSET 0) \
         ELSE EXISTS (SELECT 1 FROM unnest($2::text[]) AS wanted(name) WHERE EXISTS \
              (SELECT 1 FROM ready WHERE queue = wanted.name OFFSET 0)) END, \
         (SELECT due_at - t.now FROM job WHERE shelf = 1 AND due_at IS NOT NULL ORDER BY due_at LIMIT 1), \
         EXISTS (SELECT 1 FROM job WHERE limit_state = 0 AND suspect = 0 AND limit_key IS NOT NULL) \
         FROM (SELECT coalesce($1::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now \
         OFFSET 0) AS t";
    // Of some submissions, which are seldom asked for; the other statement stays as short as it is.
    const LOOK_OF: &str = "SELECT NOT $3 OR EXISTS (SELECT 1 FROM job WHERE submission_id = ANY($4::bigint[]) \
         AND state = 0 AND limit_key IS NULL AND suspect = 0 AND ($2::text[] IS NULL OR queue = ANY($2))), \
         (SELECT due_at - t.now FROM job WHERE shelf = 1 AND due_at IS NOT NULL ORDER BY due_at LIMIT 1), \
         EXISTS (SELECT 1 FROM job WHERE limit_state = 0 AND suspect = 0 AND limit_key IS NOT NULL) \
         FROM (SELECT coalesce($1::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now \
         OFFSET 0) AS t";
    let (queues, submissions) = (queues_of(request), submissions_of(request));
    let seen = |row: &Row| {
        let next = get::<Option<i64>>(row, 1)?;
        let (scheduled, next) = (next.is_some_and(|next| next <= 0), next.map(wait_from_millis));
        Ok(Seen { ready: get(row, 0)?, scheduled, limited: get(row, 2)?, next })
    };
    let rows = match &submissions {
        None => db.ask(LOOK, &[&db.given_time(), &queues, &thoroughly], seen).await?,
        Some(of) => db.ask(LOOK_OF, &[&db.given_time(), &queues, &thoroughly, of], seen).await?,
    };
    Ok(rows.first().copied().unwrap_or(Seen { ready: true, scheduled: true, limited: true, next: None }))
}

/// What the server counts in milliseconds.
pub(super) fn wait_from_millis(millis: i64) -> Duration {
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

pub(super) fn queues_of(request: &ClaimRequest) -> Option<Vec<&str>> {
    request.queues.as_ref().map(|queues| queues.iter().map(Name::as_str).collect())
}

pub(super) fn submissions_of(request: &ClaimRequest) -> Option<Vec<i64>> {
    request.submissions.as_ref().map(|submissions| submissions.iter().map(|submission| submission.raw()).collect())
}

/// Which ready jobs are meant.
#[derive(Clone, Copy)]
pub(super) struct Meant<'r> {
    pub(super) queues: Option<&'r [&'r str]>,
    pub(super) submissions: Option<&'r [i64]>,
}

pub(super) async fn claim(
    tx: &Tx,
    request: &ClaimRequest,
    seen: Seen,
    from: &str,
) -> TxResult<(Vec<ClaimedJob>, String)> {
    let (queues, submissions) = (queues_of(request), submissions_of(request));
    let meant = Meant { queues: queues.as_deref(), submissions: submissions.as_deref() };
    if seen.scheduled {
        promote_scheduled(tx).await?;
    }
    // Those that were scheduled may have a limit too.
    let (limited, cursor) = if seen.limited || seen.scheduled {
        limits::candidates(tx, meant, request.max, from).await?
    } else {
        (Vec::new(), from.to_owned())
    };
    let mut claimed = if limited.is_empty() {
        claim_ready(tx, request, meant).await?
    } else {
        claim_both(tx, request, meant, limited).await?
    };
    claimed.sort_unstable_by_key(|claim| (Reverse(claim.job.priority), claim.job.id));
    Ok((claimed, cursor))
}

/// Jobs whose time has come are ready.
pub(super) async fn promote_scheduled(tx: &Tx) -> TxResult<()> {
    let promote = "UPDATE job SET state = 0, due_at = NULL WHERE id IN \
                   (SELECT id FROM job WHERE shelf = 1 AND due_at <= $1 FOR UPDATE SKIP LOCKED)";
    tx.execute(promote, &[&tx.millis()]).await?;
    Ok(())
}

/// The usual case. Rows that turn out to be out of date are gone then, and the next ones are looked at.
async fn claim_ready(tx: &Tx, request: &ClaimRequest, meant: Meant<'_>) -> TxResult<Vec<ClaimedJob>> {
    let mut claimed = Vec::new();
    loop {
        let room = request.max - claimed.len();
        let picked = take_ready(tx, room, meant).await?;
        claimed.extend(lease(tx, request, &LEASE, picked.iter().map(|picked| picked.rank.1)).await?);
        if picked.len() < room || claimed.len() == request.max {
            return Ok(claimed);
        }
    }
}

async fn take_ready(tx: &Tx, max: usize, meant: Meant<'_>) -> TxResult<Vec<Picked>> {
    let picked = |row: &Row| {
        Ok(Picked { rank: (Reverse(get::<i32>(row, 1)?), JobId::from_raw(get(row, 0)?)), queue: get(row, 2)? })
    };
    let max = max as i64;
    match &meant.submissions {
        None => tx.collect(TAKE_READY, &[&meant.queues, &max], picked).await,
        Some(of) => tx.collect(TAKE_READY_OF, &[&meant.queues, &max, of], picked).await,
    }
}

/// As many as there are up to `max`, each once, without those that are out of date. A job that became ready a second
/// time before anybody met its first row has two.
async fn take_up_to_date(tx: &Tx, max: usize, meant: Meant<'_>) -> TxResult<Vec<Picked>> {
    let mut all: Vec<Picked> = Vec::new();
    loop {
        let room = max - all.len();
        let picked = take_ready(tx, room, meant).await?;
        let exhausted = picked.len() < room;
        let ids: Vec<i64> = picked.iter().map(|picked| picked.rank.1.raw()).collect();
        let ready =
            "SELECT id, priority FROM job WHERE id = ANY($1) AND state = 0 AND suspect = 0 ORDER BY id FOR UPDATE";
        let rank = |row: &Row| Ok((Reverse(get(row, 1)?), JobId::from_raw(get(row, 0)?)));
        let mut ready: HashSet<Rank> = tx.collect(ready, &[&ids], rank).await?.into_iter().collect();
        for had in &all {
            ready.remove(&had.rank);
        }
        all.extend(picked.into_iter().filter(|picked| ready.remove(&picked.rank)));
        if exhausted || all.len() == max {
            return Ok(all);
        }
    }
}

/// Jobs with and without a limit, in one order. What was taken out and is not claimed goes back.
async fn claim_both(
    tx: &Tx,
    request: &ClaimRequest,
    meant: Meant<'_>,
    limited: Vec<limits::Candidate>,
) -> TxResult<Vec<ClaimedJob>> {
    let picked = take_up_to_date(tx, request.max, meant).await?;
    let ranks = picked.iter().map(|picked| picked.rank).chain(limited.iter().map(|candidate| candidate.rank));
    let chosen: BTreeSet<Rank> = ranks.collect::<BTreeSet<_>>().into_iter().take(request.max).collect();
    let back = || picked.iter().filter(|picked| !chosen.contains(&picked.rank));
    if back().next().is_some() {
        let put_back =
            "INSERT INTO ready (queue, priority, id) SELECT * FROM unnest($1::text[], $2::int[], $3::bigint[])";
        let queues: Vec<&str> = back().map(|picked| picked.queue.as_str()).collect();
        let priorities: Vec<i32> = back().map(|picked| picked.rank.0.0).collect();
        let ids: Vec<i64> = back().map(|picked| picked.rank.1.raw()).collect();
        tx.execute(put_back, &[&queues, &priorities, &ids]).await?;
    }
    let taken = lease(tx, request, &LEASE, chosen.iter().map(|(_, job)| *job)).await?;
    limits::spend(tx, &limited, &taken).await?;
    Ok(taken)
}

/// Takes ordinary jobs. Rows of the table of the ready ones may be out of date.
static LEASE: LazyLock<String> = LazyLock::new(|| lease_statement("suspect = 0"));

/// The statement that takes the ready ones of some jobs: `$1` which, `$2` the token, `$3` whether to run them, `$4` for whom,
/// `$5` when.
pub(super) fn lease_statement(which: &str) -> String {
    format!(
        "UPDATE job SET state = 2, carried = NOT $3::bool, worker = $4, token = $2, claimed_at = $5 \
         WHERE id = ANY($1::bigint[]) AND state = 0 AND {which} RETURNING {}",
        *CLAIMED
    )
}

/// Leases those of the jobs that are ready. One token for all: what it proves is that *this* claim of a job is the last
/// one.
pub(super) async fn lease(
    tx: &Tx,
    request: &ClaimRequest,
    leasing: &str,
    jobs: impl Iterator<Item = JobId>,
) -> TxResult<Vec<ClaimedJob>> {
    let ids: Vec<i64> = jobs.map(JobId::raw).collect::<BTreeSet<_>>().into_iter().collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let drawn = tx.first("SELECT nextval('claim_token')", &[]).await?;
    let token: i64 = drawn.map_or(Ok(0), |row| get(&row, 0))?;
    let lease = Lease::starting(tx.now, request.lease);
    let (worker, counts) = (request.worker.as_str(), request.counts);
    let now = tx.millis();
    let params: [Param<'_>; 5] = [&ids, &token, &counts, &worker, &now];
    let leased = tx.collect(leasing, &params, |row| claimed(row, lease));
    let (leased, stored) = tokio::join!(leased, store_claim(tx, token, lease, &ids));
    join_results(leased, stored).map(|(leased, ())| leased)
}

/// Stores the lease of the jobs of a token.
pub(super) async fn store_claim(tx: &Tx, token: i64, lease: Lease, jobs: &[i64]) -> TxResult<()> {
    let store = "INSERT INTO claim (token, until, jobs, lease_ms) VALUES ($1, $2, $3, $4)";
    tx.execute(store, &[&token, &lease.until, &jobs, &lease.length]).await?;
    Ok(())
}

pub(super) fn claimed(row: &Row, lease: Lease) -> TxResult<ClaimedJob> {
    let job = Job { lease_until: Some(lease.ends_at()), ..rows::job(row)? };
    Ok(ClaimedJob { job, token: Token(get(row, 11)?), report_overdue: get(row, 24)? })
}
