//! Workers come, give signs of life, and go.

use super::{
    rows::{self, RowResult},
    writer::{Tx, WriteResult},
};
use crate::query::WorkerView;
use bindery_core::{Name, Timestamp};
use rusqlite::Connection;

pub(super) fn arrive(tx: &Tx<'_>, worker: &Name) -> WriteResult<()> {
    let mut arrive = tx.db.prepare_cached(
        "INSERT INTO worker (name, started_at, seen_at, running, finished) VALUES (?1, ?2, ?2, 0, 0) \
         ON CONFLICT (name) DO UPDATE SET started_at = ?2, seen_at = ?2, left_at = NULL, running = 0, finished = 0",
    )?;
    arrive.execute((worker.as_str(), tx.now.as_millis()))?;
    Ok(())
}

pub(super) fn leave(tx: &Tx<'_>, worker: &Name, finished: u64) -> WriteResult<()> {
    let mut leave = tx.db.prepare_cached(
        "INSERT INTO worker (name, started_at, seen_at, left_at, running, finished) VALUES (?1, ?2, ?2, ?2, 0, ?3) \
         ON CONFLICT (name) DO UPDATE SET seen_at = ?2, left_at = ?2, running = 0, finished = ?3",
    )?;
    leave.execute((worker.as_str(), tx.now.as_millis(), finished as i64))?;
    Ok(())
}

/// Those seen last come first.
pub(super) fn list(db: &Connection) -> RowResult<Vec<WorkerView>> {
    let sql = "SELECT name, started_at, seen_at, CASE WHEN left_at >= seen_at THEN left_at END, running, finished \
               FROM worker ORDER BY seen_at DESC, name";
    rows::collect(db, sql, [], |row| {
        Ok(WorkerView {
            worker: row.get::<_, String>(0)?.into(),
            started_at: Timestamp::from_millis(row.get(1)?),
            seen_at: Timestamp::from_millis(row.get(2)?),
            left_at: row.get::<_, Option<i64>>(3)?.map(Timestamp::from_millis),
            running: row.get::<_, i64>(4)? as u64,
            finished: row.get::<_, i64>(5)? as u64,
        })
    })
}
