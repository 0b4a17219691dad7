//! The table of the ready jobs: the order in which they stand, and which of the jobs that seem ready are in hand.
//!
//! The row of an unmarked job does not say that it is claimed; claims do.

use super::{ends::UNMARKED, fail::TxResult, session::Tx};
use std::sync::LazyLock;

/// Whether the row of a job in `job` is unmarked and a claim has it. Most are in no claim, and that is seen at once.
static IS_IN_HAND: LazyLock<String> = LazyLock::new(|| {
    format!(
        "({UNMARKED} AND job.id IN (SELECT unnest(listed.jobs) FROM claim AS listed) \
         AND EXISTS (SELECT 1 FROM claim AS holding WHERE holding.token > job.fence AND job.id = ANY(holding.jobs)))"
    )
});

/// The state of a job, that of an unmarked one included.
pub(super) static STATE_NOW: LazyLock<String> =
    LazyLock::new(|| format!("CASE WHEN {} THEN 2::smallint ELSE job.state END", *IS_IN_HAND));

/// The newest claim that has an unmarked job, as `held`, for each row of `job`.
pub(super) static HELD_BY: LazyLock<String> = LazyLock::new(|| {
    format!(
        "LEFT JOIN LATERAL (SELECT c.token AS by_token, c.until AS by_until, c.worker AS by_worker, \
         c.claimed_at AS by_claimed_at, c.carried AS by_carried FROM claim AS c WHERE CASE WHEN {} \
         THEN c.token > job.fence AND job.id = ANY(c.jobs) ELSE false END ORDER BY c.token DESC LIMIT 1) \
         AS held ON true",
        *IS_IN_HAND
    )
});

/// An update by which claimed jobs become ready, with their new fence: returns their ids. A job that its claim has marked
/// gets among the ready ones by the change of its state; for any other that is done here.
pub(super) fn giving_back(update: &str) -> String {
    format!(
        "WITH back AS ({update} RETURNING job.id, queue, priority, submission_id, fence, {UNMARKED} AS is_unmarked), \
         ready_again AS (INSERT INTO ready (queue, priority, first_job, submission_id, fence, keyed, jobs) \
         SELECT queue, priority, min(id), submission_id, fence, false, array_agg(id ORDER BY id) FROM back \
         WHERE is_unmarked GROUP BY queue, priority, submission_id, fence, id >> 7) SELECT id FROM back"
    )
}

/// Puts some jobs of some submissions, whose priorities have changed, where they belong among the ready ones. Those that
/// are not there are in hand, and stay away. For this moment there are no other claims: one that is under way may put some back.
pub(super) async fn put_in_order(tx: &Tx, submissions: &[i64], jobs: &[i64]) -> TxResult<()> {
    const MOVE: &str = "WITH moved AS MATERIALIZED (SELECT unnest($2::bigint[]) AS id), \
         gone AS (DELETE FROM ready WHERE submission_id = ANY($1) AND NOT keyed AND EXISTS \
         (SELECT 1 FROM unnest(ready.jobs) AS listed(id) WHERE listed.id IN (SELECT id FROM moved)) RETURNING *), \
         each AS (SELECT gone.queue, gone.submission_id, gone.fence, listed.id, CASE WHEN listed.id IN \
         (SELECT id FROM moved) THEN (SELECT job.priority FROM job WHERE job.id = listed.id) ELSE gone.priority END \
         AS priority FROM gone, unnest(gone.jobs) AS listed(id)) \
         INSERT INTO ready (queue, priority, first_job, submission_id, fence, keyed, jobs) \
         SELECT queue, priority, min(id), submission_id, fence, false, array_agg(id ORDER BY id) FROM each \
         WHERE priority IS NOT NULL GROUP BY queue, priority, submission_id, fence, id >> 7";
    if !jobs.is_empty() {
        tx.execute("LOCK TABLE ready IN SHARE ROW EXCLUSIVE MODE", &[]).await?;
        tx.execute(MOVE, &[&submissions, &jobs]).await?;
    }
    Ok(())
}
