//! Claiming [suspects](crate::suspects) apart from other work, and the mark that a run of them begins.

use super::{
    claim,
    ends::{HELD, arrays},
    fail::TxResult,
    limits,
    rows::get,
    session::{Db, Tx},
};
use crate::{error::StoreResult, query::ClaimRequest};
use bindery_core::{
    JobId,
    job::{ClaimedJob, Token},
};
use std::{collections::HashSet, sync::LazyLock, time::Duration};

/// How many suspects one claim looks at.
const LOOKED_AT: i64 = 500;

/// How long until one can be claimed; none where there are none. Most of the time there are none, and a look is cheaper
/// than a transaction.
pub(super) async fn next_in(db: &Db) -> StoreResult<Option<Duration>> {
    const LOOK: &str = "SELECT min(CASE state WHEN 0 THEN 0 ELSE due_at - t.now END) FROM job, \
         (SELECT coalesce($1::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now) AS t \
         WHERE suspect > 0 AND state IN (0, 1)";
    let found = db.ask(LOOK, &[&db.given_time()], |row| get::<Option<i64>>(row, 0)).await?;
    Ok(found.first().copied().flatten().map(claim::wait_from_millis))
}

/// The next group: those with the fewest losses first, large groups before small ones. What another claim has in hand is
/// skipped.
pub(super) async fn claim_suspects(tx: &Tx, request: &ClaimRequest) -> TxResult<Vec<ClaimedJob>> {
    const NEXT: &str = "SELECT id, priority, limit_key, limit_running, limit_per_minute, losses, suspect FROM job \
         WHERE suspect > 0 AND state = 0 \
         AND CASE WHEN $1::text[] IS NULL THEN NOT starts_with(queue, 'q.only.') ELSE queue = ANY($1) END \
         AND queue NOT IN (SELECT queue.name FROM queue) AND ($2::bigint[] IS NULL OR submission_id = ANY($2)) \
         ORDER BY losses, suspect DESC, id LIMIT $3 FOR UPDATE SKIP LOCKED";
    claim::promote_scheduled(tx).await?;
    let (queues, submissions) = (claim::queues_of(request), claim::submissions_of(request));
    let found = tx.query(NEXT, &[&queues, &submissions, &LOOKED_AT]).await?;
    let mut limited = Vec::new();
    let mut all = Vec::with_capacity(found.len());
    for row in found {
        let (has_limit, group) =
            (get::<Option<&str>>(&row, 2)?.is_some(), (get::<i32>(&row, 5)?, get::<i32>(&row, 6)?));
        all.push((JobId::from_raw(get(&row, 0)?), has_limit, group));
        if has_limit {
            limited.push(row);
        }
    }
    let open = limits::open_for(tx, &limited).await?;
    let let_through: HashSet<JobId> = open.iter().map(|candidate| candidate.rank.1).collect();
    all.retain(|(job, has_limit, _)| !has_limit || let_through.contains(job));
    let Some((_, _, first)) = all.first().copied() else { return Ok(Vec::new()) };
    let size = usize::try_from(first.1).unwrap_or(1).min(request.max);
    let group = all.into_iter().filter(|(_, _, group)| *group == first).take(size).map(|(job, ..)| job);
    let claimed = claim::lease_suspects(tx, request, group).await?;
    limits::spend(tx, &open, &claimed).await?;
    Ok(claimed)
}

/// Marks that a run of these suspects begins, and of nothing else. Returns those that are still held.
pub(super) async fn begin_suspects(tx: &Tx, leases: &[(JobId, Token)]) -> TxResult<Vec<JobId>> {
    static MARK: LazyLock<String> =
        LazyLock::new(|| format!("UPDATE job SET begun_with = $3::int WHERE {} AND suspect > 0 RETURNING id", *HELD));
    let (jobs, tokens) = arrays(leases);
    let together = i32::try_from(leases.len()).unwrap_or(i32::MAX);
    tx.collect(&MARK, &[&jobs, &tokens, &together], |row| get(row, 0).map(JobId::from_raw)).await
}
