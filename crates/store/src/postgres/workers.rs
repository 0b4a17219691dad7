//! Workers come, give signs of life, and go.

use super::{
    fail::TxResult,
    rows::{get, name},
    session::Tx,
};
use crate::query::WorkerView;
use bindery_core::{Name, Timestamp};
use tokio_postgres::Row;

/// Those seen last come first.
pub(super) const LIST: &str = "\
    SELECT name, started_at, seen_at, CASE WHEN left_at >= seen_at THEN left_at END, running, finished \
    FROM worker ORDER BY seen_at DESC, name";

pub(super) async fn arrive(tx: &Tx, worker: &Name) -> TxResult<()> {
    let sql = "INSERT INTO worker (name, started_at, seen_at, running, finished) VALUES ($1, $2, $2, 0, 0) \
               ON CONFLICT (name) DO UPDATE SET started_at = $2, seen_at = $2, left_at = NULL, running = 0, finished = 0";
    tx.execute(sql, &[&worker.as_str(), &tx.millis()]).await.map(drop)
}

pub(super) async fn leave(tx: &Tx, worker: &Name, finished: u64) -> TxResult<()> {
    let sql = "INSERT INTO worker (name, started_at, seen_at, left_at, running, finished) \
               VALUES ($1, $2, $2, $2, 0, $3) \
               ON CONFLICT (name) DO UPDATE SET seen_at = $2, left_at = $2, running = 0, finished = $3";
    tx.execute(sql, &[&worker.as_str(), &tx.millis(), &(finished as i64)]).await.map(drop)
}

pub(super) fn view(row: &Row) -> TxResult<WorkerView> {
    Ok(WorkerView {
        worker: name(row, 0)?,
        started_at: Timestamp::from_millis(get(row, 1)?),
        seen_at: Timestamp::from_millis(get(row, 2)?),
        left_at: get::<Option<i64>>(row, 3)?.map(Timestamp::from_millis),
        running: get::<i64>(row, 4)? as u64,
        finished: get::<i64>(row, 5)? as u64,
    })
}
