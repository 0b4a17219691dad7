//! Jobs that a broker carries: adopting those that a relay has claimed for it, and telling outside programs about those
//! that wait for their report.

use super::{
    claim::{AS_CLAIMED, StoredClaim, claimed, draw_token},
    ends::{HELD, arrays},
    fail::TxResult,
    rows::{self, JOB_COLUMNS},
    session::Tx,
};
use crate::{lease::Lease, query::AnnounceRequest};
use bindery_core::{
    JobId, Name,
    job::{ClaimedJob, Job, Token},
};
use std::{sync::LazyLock, time::Duration};

/// Each message that was sent twice, or that comes after its lease has ended, finds another token or a fence that its own
/// is not greater than, and adopts nothing.
pub(super) async fn adopt(
    tx: &Tx,
    worker: &Name,
    leases: &[(JobId, Token)],
    lease: Duration,
) -> TxResult<Vec<ClaimedJob>> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        let held = HELD.replace("$2", "$6");
        let of_job = "($6::bigint[])[width_bucket(id, $1::bigint[])]";
        format!(
            "UPDATE job SET carried = false, worker = CASE WHEN state = 2 THEN $4 ELSE worker END, \
             claimed_at = CASE WHEN state = 2 THEN $5 ELSE claimed_at END, \
             token = CASE WHEN state = 2 THEN $2 ELSE token END, fence = greatest(fence, {of_job}) WHERE {held} \
             AND (carried OR (state = 0 AND {of_job} = ANY(ARRAY(SELECT relayed.token FROM claim AS relayed \
             WHERE relayed.token = ANY($6::bigint[]) AND relayed.carried)))) RETURNING {}",
            *AS_CLAIMED
        )
    });
    let (jobs, tokens) = arrays(leases);
    let lease = Lease::starting(tx.now, lease);
    let (name, now, token, runs) = (worker.as_str(), tx.millis(), draw_token(tx).await?, true);
    let adopted = tx.collect(&SQL, &[&jobs, &token, &runs, &name, &now, &tokens], |row| claimed(row, lease)).await?;
    if !adopted.is_empty() {
        let jobs = adopted.iter().map(|claim| claim.job.id.raw()).collect();
        let claim = StoredClaim { token, lease, jobs, worker: name.to_owned(), claimed_at: now, is_carried: false };
        claim.store(tx).await?;
    }
    Ok(adopted)
}

pub(super) async fn announce(tx: &Tx, request: &AnnounceRequest) -> TxResult<Vec<Job>> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!(
            "UPDATE job SET announce_at = $4 WHERE id IN (SELECT id FROM job WHERE shelf = 4 AND announce_at <= $1 \
             AND ($2::text[] IS NULL OR queue = ANY($2)) AND queue NOT IN (SELECT name FROM queue) \
             ORDER BY announce_at, id LIMIT $3 FOR UPDATE SKIP LOCKED) RETURNING {JOB_COLUMNS}"
        )
    });
    let queues: Option<Vec<&str>> = request.queues.as_ref().map(|queues| queues.iter().map(Name::as_str).collect());
    let again = (tx.now + request.again_after).as_millis();
    let mut jobs = tx.collect(&SQL, &[&tx.millis(), &queues, &(request.max as i64), &again], rows::job).await?;
    jobs.sort_unstable_by_key(|job| job.id);
    Ok(jobs)
}

pub(super) async fn announced(tx: &Tx, jobs: &[JobId], again_after: Duration) -> TxResult<()> {
    let ids: Vec<i64> = jobs.iter().map(|job| job.raw()).collect();
    let sql = "UPDATE job SET announce_at = $2 FROM (SELECT id FROM job WHERE id = ANY($1) AND state = 4 ORDER BY id \
               FOR UPDATE) AS told WHERE job.id = told.id";
    tx.execute(sql, &[&ids, &(tx.now + again_after).as_millis()]).await?;
    Ok(())
}
