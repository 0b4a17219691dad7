//! Claiming: the greatest priority first, then the oldest, none from a paused queue, none beyond a limit.
//!
//! Ready jobs without a limit stand in blocks in a table of their own, out of which claims take them (`take_ready` in the
//! migration); what another claim has in hand is skipped. Only where jobs with a limit could begin too, the two are put in
//! order first. Suspects are not in that table; they are claimed [apart](super::suspects).
//!
//! The row of an ordinary job is not written: the row of the claim says who has it, and since when claims hold is said by
//! the job's *fence*. Jobs with a limit or a dedup key, and suspects, are *marked* in their rows.
//!
//! A claim does not wait for the disk: one that a crash of the server takes away was never made, and its jobs are ready. Its
//! token is known to the worker all the same and must not be drawn again, although the sequence may begin again before it.
//! So a token ends in the number of the connection that has drawn it, and a connection gets its number durably.

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
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::{Arc, LazyLock},
    time::Duration,
};
use tokio_postgres::Row;

/// Who comes before whom.
pub(super) type Rank = (Reverse<i32>, JobId);

/// A row that was taken out of the table of the ready jobs: what its jobs have in common.
#[derive(Clone)]
struct Block {
    queue: String,
    priority: i32,
    submission: i64,
    fence: i64,
    is_keyed: bool,
}

/// A job of such a row.
struct Picked {
    rank: Rank,
    block: Arc<Block>,
}

impl Picked {
    /// Of the rows that a job stands in, one has its fence.
    fn key(&self) -> (JobId, i64) {
        (self.rank.1, self.block.fence)
    }
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
    const LOOK_OF: &str = "SELECT NOT $3 OR EXISTS (SELECT 1 FROM ready WHERE submission_id = ANY($4::bigint[]) \
         AND ($2::text[] IS NULL OR queue = ANY($2))), \
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
        let mut picked = take_ready(tx, room, meant).await?;
        let is_last = picked.len() < room;
        put_back(tx, picked.split_off(room.min(picked.len()))).await?;
        claimed.extend(lease(tx, request, &picked, Vec::new()).await?);
        if is_last || claimed.len() == request.max {
            return Ok(claimed);
        }
    }
}

/// The most urgent ready jobs, in their order. They may be more than `max`, and each may come more than once.
async fn take_ready(tx: &Tx, max: usize, meant: Meant<'_>) -> TxResult<Vec<Picked>> {
    const TAKE: &str =
        "SELECT queue, priority, submission_id, fence, keyed, jobs FROM take_ready($1::text[], $2::bigint[], $3)";
    let mut picked = Vec::new();
    for row in tx.query(TAKE, &[&meant.queues, &meant.submissions, &(max as i64)]).await? {
        let block = Arc::new(Block {
            queue: get(&row, 0)?,
            priority: get(&row, 1)?,
            submission: get(&row, 2)?,
            fence: get(&row, 3)?,
            is_keyed: get(&row, 4)?,
        });
        let rank = |job| (Reverse(block.priority), JobId::from_raw(job));
        let jobs = get::<Vec<i64>>(&row, 5)?.into_iter();
        picked.extend(jobs.map(|job| Picked { rank: rank(job), block: Arc::clone(&block) }));
    }
    picked.sort_unstable_by_key(|picked| picked.rank);
    Ok(picked)
}

/// What was taken out and is not claimed goes back, in the blocks that it came in.
async fn put_back(tx: &Tx, picked: Vec<Picked>) -> TxResult<()> {
    let mut blocks: Vec<(Arc<Block>, Vec<i64>)> = Vec::new();
    for picked in picked {
        let job = picked.rank.1.raw();
        match blocks.iter_mut().find(|(block, _)| Arc::ptr_eq(block, &picked.block)) {
            Some((_, jobs)) => jobs.push(job),
            None => blocks.push((picked.block, vec![job])),
        }
    }
    for (block, jobs) in blocks {
        let put_back = "INSERT INTO ready (queue, priority, first_job, submission_id, fence, keyed, jobs) \
                        VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let Block { queue, priority, submission, fence, is_keyed } = &*block;
        tx.execute(put_back, &[queue, priority, &jobs[0], submission, fence, is_keyed, &jobs]).await?;
    }
    Ok(())
}

/// As many as there are up to `max`, each once, without those that are out of date.
async fn take_up_to_date(tx: &Tx, max: usize, meant: Meant<'_>) -> TxResult<Vec<Picked>> {
    let mut all: Vec<Picked> = Vec::new();
    loop {
        let room = max - all.len();
        let picked = take_ready(tx, room, meant).await?;
        let is_last = picked.len() < room;
        let (ids, fences) = ids_and_fences(&picked);
        let ready = format!("SELECT id, fence FROM job WHERE {UP_TO_DATE} ORDER BY id FOR UPDATE");
        let found = |row: &Row| Ok((JobId::from_raw(get(row, 0)?), get(row, 1)?));
        let mut ready: HashSet<(JobId, i64)> = tx.collect(&ready, &[&ids, &fences], found).await?.into_iter().collect();
        for had in &all {
            ready.remove(&had.key());
        }
        all.extend(picked.into_iter().filter(|picked| ready.remove(&picked.key())));
        if is_last || all.len() >= max {
            put_back(tx, all.split_off(max.min(all.len()))).await?;
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
    let (ordinary, back): (Vec<_>, Vec<_>) = picked.into_iter().partition(|picked| chosen.contains(&picked.rank));
    put_back(tx, back).await?;
    let with_limit = limited.iter().filter(|candidate| chosen.contains(&candidate.rank));
    let taken = lease(tx, request, &ordinary, with_limit.map(|candidate| candidate.rank.1).collect()).await?;
    limits::spend(tx, &limited, &taken).await?;
    Ok(taken)
}

/// Jobs that are ready as a row of the ready ones says: `$1` which, in ascending order, `$2` their fences.
const UP_TO_DATE: &str = "id = ANY($1::bigint[]) AND state = 0 AND suspect = 0 \
    AND fence = ($2::bigint[])[width_bucket(id, $1::bigint[])]";

/// In the order of the jobs. Of a job that stands in two rows, the one that is up to date has the greater fence.
fn ids_and_fences<'p>(picked: impl IntoIterator<Item = &'p Picked>) -> (Vec<i64>, Vec<i64>) {
    let mut newest: BTreeMap<i64, i64> = BTreeMap::new();
    for picked in picked {
        let fence = newest.entry(picked.rank.1.raw()).or_insert(i64::MIN);
        *fence = (*fence).max(picked.block.fence);
    }
    newest.into_iter().unzip()
}

/// A fresh token: greater than those of all claims before it, in the order in which they are drawn, and different from
/// all that were ever drawn.
pub(super) const FRESH_TOKEN: &str = "(nextval('claim_token') << 24) | (currval('connection_number') & 16777215)";

/// Run once by each connection: gives it its number, for good. One that may only read claims nothing and needs none.
pub(super) const NUMBER_CONNECTION: &str = "BEGIN; SET LOCAL synchronous_commit = on; \
    SELECT nextval('connection_number'), pg_current_xact_id() \
    WHERE has_sequence_privilege('connection_number', 'USAGE') \
    AND current_setting('transaction_read_only') = 'off'; COMMIT";

/// A job's columns as they are after a claim: `$2` the token, `$3` whether to run it, `$4` for whom, `$5` when.
pub(super) static AS_CLAIMED: LazyLock<String> = LazyLock::new(|| {
    let column = |column: &str| match column {
        "state" => "2::smallint AS state".to_owned(),
        "token" => "$2::bigint AS token".to_owned(),
        "worker" => "$4::text AS worker".to_owned(),
        "carried" => "NOT $3::bool AS carried".to_owned(),
        "claimed_at" => "$5::bigint AS claimed_at".to_owned(),
        other => format!("job.{other}"),
    };
    JOB_COLUMNS.split(", ").map(column).collect::<Vec<_>>().join(", ")
});

/// Takes what `taking` has found and stores the lease of it: `$6` until when, `$7` how long.
fn with_claim(taking: &str) -> String {
    format!(
        "WITH taken AS ({taking}), stored AS (INSERT INTO claim (token, until, jobs, lease_ms, worker, claimed_at, \
         carried) SELECT $2, $6::bigint, array_agg(id), $7::bigint, $4, $5, NOT $3 FROM taken HAVING count(*) > 0) \
         SELECT * FROM taken"
    )
}

/// Marks jobs that are ready: `$1` which, the rest as in [`AS_CLAIMED`] and [`with_claim`].
fn marking(which: &str) -> String {
    with_claim(&format!(
        "UPDATE job SET state = 2, carried = NOT $3::bool, worker = $4, token = $2, claimed_at = $5 \
         WHERE id = ANY($1::bigint[]) AND state = 0 AND {which} RETURNING {JOB_COLUMNS}"
    ))
}

/// Leases those of the jobs that are ready: ordinary ones, and some that have a limit. One token for all: what it proves
/// is that *this* claim of a job is the last one.
async fn lease(
    tx: &Tx,
    request: &ClaimRequest,
    picked: &[Picked],
    with_limit: Vec<JobId>,
) -> TxResult<Vec<ClaimedJob>> {
    static TAKE: LazyLock<String> = LazyLock::new(|| {
        let up_to_date = UP_TO_DATE.replace("$2", "$8");
        with_claim(&format!("SELECT {} FROM job WHERE {up_to_date} AND dedup_key IS NULL", *AS_CLAIMED))
    });
    let (keyed, ordinary): (Vec<&Picked>, Vec<&Picked>) = picked.iter().partition(|picked| picked.block.is_keyed);
    let marked = keyed.into_iter().map(|picked| picked.rank.1).chain(with_limit);
    let (ids, fences) = ids_and_fences(ordinary);
    let marked: BTreeSet<i64> = marked.map(JobId::raw).collect();
    if ids.is_empty() && marked.is_empty() {
        return Ok(Vec::new());
    }
    let grant = Grant::draw(tx, request).await?;
    let taken = async {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let params = grant.params(&ids);
        let params: Vec<Param<'_>> = params.into_iter().chain([&fences as Param<'_>]).collect();
        tx.collect(&TAKE, &params, |row| claimed(row, grant.lease)).await
    };
    let (mut taken, marked) = join_results_of(taken, grant.mark(tx, "suspect = 0", marked)).await?;
    taken.extend(marked);
    Ok(taken)
}

/// The same for suspects.
pub(super) async fn lease_suspects(
    tx: &Tx,
    request: &ClaimRequest,
    jobs: impl Iterator<Item = JobId>,
) -> TxResult<Vec<ClaimedJob>> {
    let jobs: BTreeSet<i64> = jobs.map(JobId::raw).collect();
    Grant::draw(tx, request).await?.mark(tx, "suspect > 0", jobs).await
}

async fn join_results_of<A, B>(
    one: impl Future<Output = TxResult<A>>,
    other: impl Future<Output = TxResult<B>>,
) -> TxResult<(A, B)> {
    let (one, other) = tokio::join!(one, other);
    join_results(one, other)
}

/// What a claim hands out.
struct Grant<'r> {
    token: i64,
    lease: Lease,
    counts: bool,
    worker: &'r str,
    now: i64,
}

impl<'r> Grant<'r> {
    async fn draw(tx: &Tx, request: &'r ClaimRequest) -> TxResult<Self> {
        let token = draw_token(tx).await?;
        let lease = Lease::starting(tx.now, request.lease);
        Ok(Self { token, lease, counts: request.counts, worker: request.worker.as_str(), now: tx.millis() })
    }

    fn params<'p>(&'p self, jobs: &'p Vec<i64>) -> [Param<'p>; 7] {
        [jobs, &self.token, &self.counts, &self.worker, &self.now, &self.lease.until, &self.lease.length]
    }

    /// Marks those of the jobs that are ready.
    async fn mark(&self, tx: &Tx, which: &str, jobs: BTreeSet<i64>) -> TxResult<Vec<ClaimedJob>> {
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        let jobs = jobs.into_iter().collect();
        tx.collect(&marking(which), &self.params(&jobs), |row| claimed(row, self.lease)).await
    }
}

pub(super) async fn draw_token(tx: &Tx) -> TxResult<i64> {
    static SQL: LazyLock<String> = LazyLock::new(|| format!("SELECT {FRESH_TOKEN}"));
    tx.first(&SQL, &[]).await?.map_or(Ok(0), |row| get(&row, 0))
}

/// A lease of some jobs, as it is stored.
pub(super) struct StoredClaim {
    pub(super) token: i64,
    pub(super) lease: Lease,
    pub(super) jobs: Vec<i64>,
    pub(super) worker: String,
    pub(super) claimed_at: i64,
    pub(super) is_carried: bool,
}

impl StoredClaim {
    /// In the order of [`read`](Self::read).
    pub(super) const COLUMNS: &str = "token, until, lease_ms, jobs, worker, claimed_at, carried";

    pub(super) fn read(row: &Row) -> TxResult<Self> {
        Ok(Self {
            token: get(row, 0)?,
            lease: Lease { until: get(row, 1)?, length: get(row, 2)? },
            jobs: get(row, 3)?,
            worker: get(row, 4)?,
            claimed_at: get(row, 5)?,
            is_carried: get(row, 6)?,
        })
    }

    pub(super) async fn store(&self, tx: &Tx) -> TxResult<()> {
        let store = "INSERT INTO claim (token, until, lease_ms, jobs, worker, claimed_at, carried) \
                     VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let Self { token, lease, jobs, worker, claimed_at, is_carried } = self;
        tx.execute(store, &[token, &lease.until, &lease.length, jobs, worker, claimed_at, is_carried]).await?;
        Ok(())
    }
}

pub(super) fn claimed(row: &Row, lease: Lease) -> TxResult<ClaimedJob> {
    let job = Job { lease_until: Some(lease.ends_at()), ..rows::job(row)? };
    Ok(ClaimedJob { job, token: Token(get(row, 11)?), report_overdue: get(row, 24)? })
}
