//! The time limits of work outside count from its delivery: what a broker says about a queue moves them.

use super::{fail::TxResult, rows::get, session::Tx};
use crate::query::{DELIVERED, Undelivered};
use bindery_core::{Name, Timestamp};

pub(super) async fn last_announced(tx: &Tx, queue: &Name) -> TxResult<Option<Timestamp>> {
    let sql = "SELECT max(announce_at) FROM job WHERE shelf = 4 AND queue = $1 AND announce_at < $2";
    let row = tx.first(sql, &[&queue.as_str(), &DELIVERED]).await?;
    let found: Option<i64> = row.map(|row| get(&row, 0)).transpose()?.flatten();
    Ok(found.map(Timestamp::from_millis))
}

/// Rows that somebody else has in hand are left to them: they are about to change anyway.
pub(super) async fn hold_reports(tx: &Tx, said: &Undelivered) -> TxResult<u64> {
    let delivered = "UPDATE job SET due_at = least(due_at, $2::bigint + await_report_ms), announce_at = $6::bigint WHERE id IN (\
         SELECT id FROM job WHERE shelf = 4 AND queue = $1 AND announce_at > $5::bigint AND announce_at <= $3::bigint \
         AND announce_at < $6::bigint AND id NOT IN (SELECT id FROM job WHERE shelf = 4 AND queue = $1 AND announce_at > $2::bigint \
         AND announce_at <= $3::bigint ORDER BY announce_at DESC, id DESC LIMIT $4::bigint) FOR UPDATE SKIP LOCKED)";
    let hold = "UPDATE job SET due_at = $2::bigint + await_report_ms + $5::bigint WHERE id IN (\
         SELECT id FROM job WHERE shelf = 4 AND queue = $1 AND announce_at < $6::bigint \
         AND due_at < $2::bigint + await_report_ms + $5::bigint / 2 \
         AND (announce_at <= $2::bigint OR announce_at > $3::bigint OR id IN (SELECT id FROM job WHERE shelf = 4 AND queue = $1 \
         AND announce_at > $2::bigint AND announce_at <= $3::bigint ORDER BY announce_at DESC, id DESC LIMIT $4::bigint)) \
         FOR UPDATE SKIP LOCKED)";
    let (queue, now, until) = (said.queue.as_str(), tx.millis(), said.until.as_millis());
    let ready = i64::try_from(said.ready).unwrap_or(i64::MAX);
    let published = now.saturating_add(said.publishing.as_millis() as i64);
    let count = tx.execute(delivered, &[&queue, &now, &until, &ready, &published, &DELIVERED]).await?;
    tx.execute(hold, &[&queue, &now, &until, &ready, &(said.hold.as_millis() as i64), &DELIVERED]).await?;
    Ok(count)
}
