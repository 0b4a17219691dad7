//! How claims end: done, given back, extended, or otherwise.

use super::{
    claim::StoredClaim,
    fail::TxResult,
    ready,
    rows::{get, to_json},
    session::Tx,
};
use crate::{commit::JobEnd, lease::Lease};
use bindery_core::{JobId, Name, job::Token};
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::LazyLock,
    time::Duration,
};
use tokio_postgres::Row;

/// A job whose row is not marked by its claim and that is ready, if no claim has it.
pub(super) const UNMARKED: &str =
    "job.state = 0 AND job.suspect = 0 AND job.limit_key IS NULL AND job.dedup_key IS NULL";

/// The claims of a statement that still hold: `$1` jobs in ascending order, `$2` their tokens. The jobs are looked up in
/// the order of the index and locked in it, by everybody. A job's token stands at its own place among the jobs.
///
/// A claim of an unmarked job holds where its lease is stored and the job has not become ready since.
pub(super) static HELD: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{} AND {TOKEN_OF_JOB} = ANY(ARRAY(SELECT stored.token FROM claim AS stored WHERE stored.token = ANY($2::bigint[])))",
        *HELD_ONCE_STORED
    )
});

const TOKEN_OF_JOB: &str = "($2::bigint[])[width_bucket(id, $1::bigint[])]";

/// The same where it is known that the leases were stored until just now.
static HELD_ONCE_STORED: LazyLock<String> = LazyLock::new(|| {
    format!(
        "id = ANY($1::bigint[]) AND ((state = 2 AND token = {TOKEN_OF_JOB}) OR ({UNMARKED} AND fence < {TOKEN_OF_JOB}))"
    )
});

/// The same for a single token, `$2`.
static IS_HELD: LazyLock<String> = LazyLock::new(|| {
    format!(
        "((state = 2 AND token = $2) OR ({UNMARKED} AND fence < $2)) \
         AND EXISTS (SELECT 1 FROM claim AS stored WHERE stored.token = $2)"
    )
});

/// Of one job: `$1`, with its token `$2`.
static HELD_ALONE: LazyLock<String> = LazyLock::new(|| format!("id = $1 AND {}", *IS_HELD));

/// A suspect whose run has ended is none any more. One that was given up before it began stays one: whoever runs it again
/// runs it apart from other work.
const END_SUSPICION: &str = "suspect = CASE WHEN begun_with > 0 THEN 0 ELSE suspect END, \
    losses = CASE WHEN begun_with > 0 THEN 0 ELSE losses END, begun_with = 0";

/// Claims in the order of their jobs, as the two arrays of a statement.
pub(super) fn arrays<'a>(leases: impl IntoIterator<Item = &'a (JobId, Token)>) -> (Vec<i64>, Vec<i64>) {
    let sorted: BTreeSet<(i64, i64)> = leases.into_iter().map(|(job, token)| (job.raw(), token.0)).collect();
    sorted.into_iter().unzip()
}

/// Ends claims that are done: the rows go, unless their key was enqueued again while they ran; then they start afresh
/// with the newer payload. Each job may be named once. Returns those whose claim held.
pub(super) async fn finish(tx: &Tx, done: &[(JobId, Token)]) -> TxResult<HashSet<JobId>> {
    static DELETE: LazyLock<String> =
        LazyLock::new(|| format!("DELETE FROM job WHERE {} AND NOT dirty RETURNING id", *HELD));
    // Most of the time all are from one claim, whose token need not be looked up for each.
    static DELETE_OF_ONE: LazyLock<String> =
        LazyLock::new(|| format!("DELETE FROM job WHERE id = ANY($1) AND {} AND NOT dirty RETURNING id", *IS_HELD));
    static RENEW: LazyLock<String> = LazyLock::new(|| {
        format!(
            "UPDATE job SET state = 0, attempt = 0, dirty = false, payload = next_payload, \
             payload_blob = next_payload_blob, next_payload = NULL, next_payload_blob = NULL, resume = NULL, \
             suspect = 0, begun_with = 0, losses = 0, error = NULL, cursor = 0, overdue = false, due_at = NULL, token = NULL, worker = NULL, created_at = $3 \
             WHERE {} AND dirty RETURNING id",
            *HELD
        )
    });
    if done.is_empty() {
        return Ok(HashSet::new());
    }
    let (jobs, tokens) = arrays(done);
    let mut ended = match same_token(&tokens) {
        Some(token) => ids(&tx.query(&DELETE_OF_ONE, &[&jobs, &token]).await?)?,
        None => ids(&tx.query(&DELETE, &[&jobs, &tokens]).await?)?,
    };
    if ended.len() < done.len() {
        ended.extend(ids(&tx.query(&RENEW, &[&jobs, &tokens, &tx.millis()]).await?)?);
    }
    Ok(ended)
}

fn same_token(tokens: &[i64]) -> Option<i64> {
    let first = *tokens.first()?;
    tokens.iter().all(|token| *token == first).then_some(first)
}

fn ids(rows: &[tokio_postgres::Row]) -> TxResult<HashSet<JobId>> {
    rows.iter().map(|row| get(row, 0).map(JobId::from_raw)).collect()
}

/// How long a wait is, as it is stored beside the moment at which it ends: one that ends later than it can went by a wrong
/// clock.
fn length(wait: Duration) -> i64 {
    i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)
}

/// Ends a claim. False when the claim does not hold any more: then nothing was changed.
pub(super) async fn end(tx: &Tx, job: JobId, token: Token, end: &JobEnd) -> TxResult<bool> {
    let (id, token_number) = (job.raw(), token.0);
    let changed = match end {
        JobEnd::Done => return Ok(finish(tx, &[(job, token)]).await?.contains(&job)),
        JobEnd::Retry { after, error, resume } => {
            static SQL: LazyLock<String> = LazyLock::new(|| {
                format!(
                    "UPDATE job SET state = 1, attempt = attempt + 1, due_at = $3, lease_ms = $6, token = NULL, worker = NULL, \
                     error = $4, resume = $5, {END_SUSPICION} WHERE {}",
                    *HELD_ALONE
                )
            });
            let (error, resume) = (to_json(error), resume.as_ref().map(to_json));
            tx.execute(&SQL, &[&id, &token_number, &tx.millis_after(*after), &error, &resume, &length(*after)]).await?
        }
        JobEnd::Hold { has_advanced: true } => {
            static SQL: LazyLock<String> =
                LazyLock::new(|| format!("UPDATE job SET attempt = 0, losses = 0 WHERE {}", *HELD_ALONE));
            tx.execute(&SQL, &[&id, &token_number]).await?
        }
        JobEnd::Hold { has_advanced: false } => {
            // Locked, so that nobody gives the job away before what it has caused is stored.
            static SQL: LazyLock<String> =
                LazyLock::new(|| format!("SELECT 1 FROM job WHERE {} FOR UPDATE", *HELD_ALONE));
            u64::from(tx.first(&SQL, &[&id, &token_number]).await?.is_some())
        }
        JobEnd::Park { until, after, error, resume } => {
            static SQL: LazyLock<String> = LazyLock::new(|| {
                format!(
                    "UPDATE job SET state = 3, parked_until = $3, due_at = $6, lease_ms = $7, token = NULL, \
                     worker = NULL, error = $4, resume = $5, {END_SUSPICION} WHERE {}",
                    *HELD_ALONE
                )
            });
            let (error, resume) = (to_json(error), resume.as_ref().map(to_json));
            let at = after.map(|after| tx.millis_after(after));
            let length = after.map_or(0, length);
            tx.execute(&SQL, &[&id, &token_number, &until, &error, &resume, &at, &length]).await?
        }
        JobEnd::Dead { error, resume } => {
            static SQL: LazyLock<String> = LazyLock::new(|| {
                format!(
                    "UPDATE job SET state = 5, attempt = attempt + 1, due_at = NULL, token = NULL, worker = NULL, \
                     error = $3, resume = $4, ended_at = $5, {END_SUSPICION} WHERE {}",
                    *HELD_ALONE
                )
            });
            let (error, resume) = (to_json(error), resume.as_ref().map(to_json));
            tx.execute(&SQL, &[&id, &token_number, &error, &resume, &tx.millis()]).await?
        }
        JobEnd::Continue { cursor } => {
            static SQL: LazyLock<String> = LazyLock::new(|| {
                format!("UPDATE job SET cursor = $3, losses = 0 WHERE {} AND cursor < $3", *HELD_ALONE)
            });
            tx.execute(&SQL, &[&id, &token_number, cursor]).await?
        }
        JobEnd::Await { within, error } => {
            static SQL: LazyLock<String> = LazyLock::new(|| {
                format!(
                    "UPDATE job SET state = 4, attempt = attempt + 1, due_at = $3, announce_at = 0, overdue = false, \
                     token = NULL, worker = NULL, error = $4, {END_SUSPICION} \
                     WHERE {}",
                    *HELD_ALONE
                )
            });
            tx.execute(&SQL, &[&id, &token_number, &tx.millis_after(*within), &error.as_ref().map(to_json)]).await?
        }
    };
    if changed == 1 && !end.run_goes_on() {
        take_newer_payload(tx, &[id]).await?;
    }
    Ok(changed == 1)
}

/// What was enqueued under a job's key while it ran must run, however that run ended: the job goes on with the newer
/// payload, and one that had been given up starts anew.
pub(super) async fn take_newer_payload(tx: &Tx, jobs: &[i64]) -> TxResult<()> {
    let renew = "UPDATE job SET dirty = false, payload = next_payload, payload_blob = next_payload_blob, \
         next_payload = NULL, next_payload_blob = NULL, resume = NULL, cursor = 0, \
         attempt = CASE WHEN state = 5 THEN 0 ELSE attempt END, error = CASE WHEN state = 5 THEN NULL ELSE error END, \
         suspect = CASE WHEN state = 5 THEN 0 ELSE suspect END, losses = CASE WHEN state = 5 THEN 0 ELSE losses END, \
         state = CASE WHEN state = 5 THEN 0 ELSE state END WHERE id = ANY($1) AND dirty";
    tx.execute(renew, &[&jobs]).await?;
    Ok(())
}

/// A job that the claim has marked becomes ready by the change of its state; any other goes back here.
pub(super) async fn release(tx: &Tx, leases: &[(JobId, Token)]) -> TxResult<()> {
    static BACK: LazyLock<String> = LazyLock::new(|| {
        ready::giving_back(&format!(
            "UPDATE job SET state = 0, begun_with = 0, due_at = NULL, token = NULL, worker = NULL, \
             fence = (SELECT nextval('claim_token') << 24) WHERE {}",
            *HELD
        ))
    });
    let (jobs, tokens) = arrays(leases);
    let released: Vec<i64> = tx.collect(&BACK, &[&jobs, &tokens], |row| get(row, 0)).await?;
    take_newer_payload(tx, &released).await
}

/// Extends leases; returns the jobs that are not held any more.
pub(super) async fn heartbeat(
    tx: &Tx,
    worker: &Name,
    leases: &[(JobId, Token)],
    lease: Duration,
    finished: u64,
) -> TxResult<Vec<JobId>> {
    let held = extend(tx, leases, lease).await?;
    let alive = "INSERT INTO worker (name, started_at, seen_at, running, finished) VALUES ($1, $2, $2, $3, $4) \
                 ON CONFLICT (name) DO UPDATE SET seen_at = $2, running = $3, finished = $4";
    let (running, finished) = (leases.len() as i64, finished as i64);
    tx.execute(alive, &[&worker.as_str(), &tx.millis(), &running, &finished]).await?;
    Ok(leases.iter().filter(|lease| !held.contains(lease)).map(|(job, _)| *job).collect())
}

/// Leases those of the jobs that are still held anew; returns them. What else was claimed with them and
/// is not named keeps the lease that it had: a worker that forgot a job must lose it, however long its others run. What has
/// been adopted from the one who carries it is not its any more, although it came with the same claim.
async fn extend(tx: &Tx, leases: &[(JobId, Token)], lease: Duration) -> TxResult<HashSet<(JobId, Token)>> {
    static TAKE: LazyLock<String> =
        LazyLock::new(|| format!("DELETE FROM claim WHERE token = ANY($1) RETURNING {}", StoredClaim::COLUMNS));
    static STILL: LazyLock<String> =
        LazyLock::new(|| format!("SELECT id, {TOKEN_OF_JOB} FROM job WHERE {}", *HELD_ONCE_STORED));
    if leases.is_empty() {
        return Ok(HashSet::new());
    }
    let named: HashSet<(JobId, Token)> = leases.iter().copied().collect();
    let tokens: BTreeSet<i64> = leases.iter().map(|(_, token)| token.0).collect();
    let stored = tx.collect(&TAKE, &[&tokens.into_iter().collect::<Vec<_>>()], StoredClaim::read).await?;
    let extended = Lease::starting(tx.now, lease);
    // Where each is stored: by whom and when it was claimed is said there.
    let mut all: BTreeMap<(JobId, Token), (usize, Lease)> = BTreeMap::new();
    for (place, claim) in stored.iter().enumerate() {
        for job in &claim.jobs {
            let held = (JobId::from_raw(*job), Token(claim.token));
            all.insert(held, (place, if named.contains(&held) { extended } else { claim.lease }));
        }
    }
    let (jobs, tokens) = arrays(all.keys());
    let running = |row: &Row| Ok((JobId::from_raw(get(row, 0)?), Token(get(row, 1)?)));
    let running: HashSet<(JobId, Token)> = tx.collect(&STILL, &[&jobs, &tokens], running).await?.into_iter().collect();
    let mut held = HashSet::new();
    let mut claims: BTreeMap<(usize, Lease), Vec<i64>> = BTreeMap::new();
    for (is_held, (place, lease)) in all.into_iter().filter(|(is_held, _)| running.contains(is_held)) {
        held.insert(is_held);
        claims.entry((place, lease)).or_default().push(is_held.0.raw());
    }
    for ((place, lease), jobs) in claims {
        let StoredClaim { token, worker, claimed_at, is_carried, .. } = &stored[place];
        let claim = StoredClaim {
            token: *token,
            lease,
            jobs,
            worker: worker.clone(),
            claimed_at: *claimed_at,
            is_carried: *is_carried,
        };
        claim.store(tx).await?;
    }
    Ok(held)
}
