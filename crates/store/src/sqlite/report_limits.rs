//! The time limits of work outside count from its delivery: what a broker says about a queue moves them.

use super::writer::{Tx, WriteResult};
use crate::query::{DELIVERED, Undelivered};
use bindery_core::{Name, Timestamp};
use rusqlite::Connection;

/// The announcements of a queue that may still lie in it, the newest first.
const NEWEST: &str = "SELECT id FROM job WHERE state = 4 AND queue = ?1 AND announce_at > ?2 AND announce_at <= ?3 \
                      ORDER BY announce_at DESC, id DESC LIMIT ?4";

pub(super) fn last_announced(db: &Connection, queue: &Name) -> rusqlite::Result<Option<Timestamp>> {
    let mut find =
        db.prepare_cached("SELECT MAX(announce_at) FROM job WHERE state = 4 AND queue = ?1 AND announce_at < ?2")?;
    let found: Option<i64> = find.query_row((queue.as_str(), DELIVERED), |row| row.get(0))?;
    Ok(found.map(Timestamp::from_millis))
}

pub(super) fn hold_reports(tx: &Tx<'_>, said: &Undelivered) -> WriteResult<u64> {
    let (queue, now) = (said.queue.as_str(), tx.now.as_millis());
    let (until, ready) = (said.until.as_millis(), i64::try_from(said.ready).unwrap_or(i64::MAX));
    let mut delivered = tx.db.prepare_cached(&format!(
        "UPDATE job SET due_at = MIN(due_at, ?2 + await_report_ms), announce_at = ?6 \
         WHERE state = 4 AND queue = ?1 AND announce_at > ?5 AND announce_at <= ?3 AND announce_at < ?6 \
         AND id NOT IN ({NEWEST})"
    ))?;
    let published = now.saturating_add(said.publishing.as_millis() as i64);
    let count = delivered.execute((queue, now, until, ready, published, DELIVERED))?;
    let mut hold = tx.db.prepare_cached(&format!(
        "UPDATE job SET due_at = ?2 + await_report_ms + ?5 WHERE state = 4 AND queue = ?1 AND announce_at < ?6 \
         AND due_at < ?2 + await_report_ms + ?5 / 2 \
         AND (announce_at <= ?2 OR announce_at > ?3 OR id IN ({NEWEST}))"
    ))?;
    hold.execute((queue, now, until, ready, said.hold.as_millis() as i64, DELIVERED))?;
    Ok(count as u64)
}
