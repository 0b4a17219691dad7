//! Limits: how many jobs of a key may run at once, and how many may begin in a minute.
//!
//! Jobs with a limit stand in an index per limit key, so a key that is exhausted costs one look, however many jobs wait
//! behind it. Claims of one key take turns: an advisory lock is held from counting until the claim is committed.

use super::{
    claim::{Meant, Rank},
    fail::TxResult,
    rows::get,
    session::Tx,
};
use bindery_core::{JobId, job::ClaimedJob};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
};
use tokio_postgres::Row;

/// How many limit keys one claim looks at; the next claim goes on behind them.
const KEYS_PER_CLAIM: i64 = 1_000;

/// Sets our locks of limit keys apart from other advisory locks of the database. The number is arbitrary.
const LOCK_CLASS: i32 = 0x4249_4E44;

/// A job that its limit lets through now.
pub(super) struct Candidate {
    pub(super) rank: Rank,
    key: String,
    /// For a key with a rate: its bucket by now, before this claim.
    bucket: Option<f64>,
}

/// What is known of a key.
struct Known {
    running: i64,
    bucket: Option<(f64, i64)>,
}

/// The jobs that limits let through, at most `max` for each key, and where the next claim starts among the keys.
pub(super) async fn candidates(
    tx: &Tx,
    meant: Meant<'_>,
    max: usize,
    from: &str,
) -> TxResult<(Vec<Candidate>, String)> {
    let mut keys = keys_after(tx, from).await?;
    let cursor =
        if keys.len() as i64 == KEYS_PER_CLAIM { keys.last().cloned().unwrap_or_default() } else { String::new() };
    if cursor.is_empty() && !from.is_empty() {
        // The rest was short: go on at the beginning, so that a few keys never wait for a whole round.
        keys.extend(keys_after(tx, "").await?.into_iter().take_while(|key| key.as_str() <= from));
    }
    if keys.is_empty() {
        return Ok((Vec::new(), cursor));
    }
    lock(tx, &keys).await?;
    let known = read_usage(tx, &keys).await?;
    let top = "SELECT top.id, top.priority, top.limit_key, top.limit_running, top.limit_per_minute \
               FROM unnest($1::text[]) AS k(key) CROSS JOIN LATERAL ( \
               SELECT * FROM job WHERE limit_state = 0 AND suspect = 0 AND limit_key IS NOT NULL AND limit_key = k.key \
               AND CASE WHEN $2::text[] IS NULL THEN NOT starts_with(job.queue, 'q.only.') \
               ELSE job.queue = ANY($2) END AND job.queue NOT IN (SELECT queue.name FROM queue) \
               AND ($4::bigint[] IS NULL OR job.submission_id = ANY($4)) \
               ORDER BY job.priority DESC, job.id LIMIT $3) AS top ORDER BY top.limit_key, top.priority DESC, top.id";
    let rows = tx.query(top, &[&keys, &meant.queues, &(max as i64), &meant.submissions]).await?;
    Ok((let_through(tx, &rows, &known)?, cursor))
}

/// Those of some suspects that limits let through. The rows are as in [`candidates`], all with a limit.
pub(super) async fn open_for(tx: &Tx, rows: &[Row]) -> TxResult<Vec<Candidate>> {
    let mut keys: Vec<String> = rows.iter().map(|row| get(row, 2)).collect::<TxResult<_>>()?;
    keys.sort_unstable();
    keys.dedup();
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    lock(tx, &keys).await?;
    let known = read_usage(tx, &keys).await?;
    let_through(tx, rows, &known)
}

fn let_through(tx: &Tx, rows: &[Row], known: &HashMap<String, Known>) -> TxResult<Vec<Candidate>> {
    let mut let_through: HashMap<String, (i64, bool)> = HashMap::new();
    let mut candidates = Vec::new();
    for row in rows {
        let key: String = get(row, 2)?;
        let (most, per_minute): (Option<i64>, Option<i64>) = (get(row, 3)?, get(row, 4)?);
        let state = known.get(&key);
        let bucket = per_minute.map(|rate| tokens_now(tx.millis(), state.and_then(|known| known.bucket), rate));
        let (taken, stopped) = let_through.entry(key.clone()).or_default();
        let full = most.is_some_and(|most| state.map_or(0, |known| known.running) + *taken >= most);
        let empty = bucket.is_some_and(|tokens| tokens - (*taken as f64) < 1.0);
        // The order of a key's jobs is kept: none overtakes one that has to wait.
        *stopped |= full || empty;
        if !*stopped {
            *taken += 1;
            candidates.push(Candidate { rank: (Reverse(get(row, 1)?), JobId::from_raw(get(row, 0)?)), key, bucket });
        }
    }
    Ok(candidates)
}

/// The keys that have ready jobs, by jumping from one to the next in the index.
async fn keys_after(tx: &Tx, from: &str) -> TxResult<Vec<String>> {
    let keys = "WITH RECURSIVE keys AS ( \
         (SELECT limit_key FROM job WHERE limit_state = 0 AND limit_key IS NOT NULL AND limit_key > $1 \
          ORDER BY limit_key LIMIT 1) \
         UNION ALL \
         SELECT (SELECT job.limit_key FROM job WHERE limit_state = 0 AND job.limit_key IS NOT NULL \
                 AND job.limit_key > keys.limit_key ORDER BY job.limit_key LIMIT 1) \
         FROM keys WHERE keys.limit_key IS NOT NULL) \
         SELECT limit_key FROM keys WHERE limit_key IS NOT NULL LIMIT $2";
    tx.collect(keys, &[&from, &KEYS_PER_CLAIM], |row| get(row, 0)).await
}

/// Waits its turn for each key, in one order for everybody.
async fn lock(tx: &Tx, keys: &[String]) -> TxResult<()> {
    let lock = "SELECT pg_advisory_xact_lock($2, number) FROM \
                (SELECT DISTINCT hashtext(key) AS number FROM unnest($1::text[]) AS k(key) ORDER BY 1) AS numbers";
    tx.query(lock, &[&keys, &LOCK_CLASS]).await?;
    Ok(())
}

async fn read_usage(tx: &Tx, keys: &[String]) -> TxResult<HashMap<String, Known>> {
    let sql = "SELECT k.key, (SELECT count(*) FROM job WHERE limit_state = 2 AND limit_key IS NOT NULL AND limit_key = k.key), \
               rate.tokens, rate.refilled_at FROM unnest($1::text[]) AS k(key) LEFT JOIN rate ON rate.limit_key = k.key";
    let found = tx
        .collect(sql, &[&keys], |row| {
            let (tokens, refilled_at): (Option<f64>, Option<i64>) = (get(row, 2)?, get(row, 3)?);
            Ok((get(row, 0)?, Known { running: get(row, 1)?, bucket: tokens.zip(refilled_at) }))
        })
        .await?;
    Ok(found.into_iter().collect())
}

/// What is in a token bucket by now; a new bucket is full.
fn tokens_now(now: i64, bucket: Option<(f64, i64)>, per_minute: i64) -> f64 {
    let capacity = per_minute as f64;
    bucket.map_or(capacity, |(tokens, refilled_at)| {
        let minutes = (now - refilled_at).max(0) as f64 / 60_000.0;
        (tokens + minutes * capacity).min(capacity)
    })
}

/// Takes a token for each claimed job out of the buckets of the keys that have a rate.
pub(super) async fn spend(tx: &Tx, candidates: &[Candidate], taken: &[ClaimedJob]) -> TxResult<()> {
    let by_id: HashMap<JobId, &Candidate> = candidates.iter().map(|candidate| (candidate.rank.1, candidate)).collect();
    let mut left: BTreeMap<&str, f64> = BTreeMap::new();
    for candidate in taken.iter().filter_map(|claim| by_id.get(&claim.job.id)) {
        if let Some(bucket) = candidate.bucket {
            *left.entry(&candidate.key).or_insert(bucket) -= 1.0;
        }
    }
    if left.is_empty() {
        return Ok(());
    }
    let (keys, tokens): (Vec<&str>, Vec<f64>) = left.into_iter().unzip();
    let store = "INSERT INTO rate (limit_key, tokens, refilled_at) \
                 SELECT key, tokens, $3 FROM unnest($1::text[], $2::float8[]) AS spent(key, tokens) \
                 ON CONFLICT (limit_key) DO UPDATE SET tokens = excluded.tokens, \
                 refilled_at = greatest(rate.refilled_at, excluded.refilled_at)";
    tx.execute(store, &[&keys, &tokens, &tx.millis()]).await?;
    Ok(())
}
