//! Progress counters: how many outcomes and items a submission has, kept in the transactions that change them.
//!
//! Triggers append what a statement means for the counts (see the migration), so that workers never wait for each
//! other's counters. What has gathered is folded into one row for each count, beside the sweep.

use super::{
    fail::TxResult,
    ready::STATE_NOW,
    rows::get,
    session::{Db, Tx, transaction},
};
use crate::{
    error::StoreResult,
    gather::{self, Counted},
    query::{ItemCounts, StageRow},
};
use bindery_core::{SubmissionId, job::ENGINE_QUEUE};
use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio_postgres::Row;

/// What a counter counts, as the column `kind`.
const OUTCOMES: i16 = 0;
const ITEMS: i16 = 1;

/// How often one process folds, and how many rows at a time.
const FOLD_EVERY: Duration = Duration::from_secs(2);
const FOLDED_AT_ONCE: i64 = 20_000;

/// When this process has last folded.
#[derive(Debug, Default)]
pub(super) struct Folding(Mutex<Option<Instant>>);

impl Folding {
    /// Folds if it is time to. Rows that another process folds at this moment are skipped.
    pub(super) async fn fold_if_due(&self, db: &Db) -> StoreResult<()> {
        if !self.is_due() {
            return Ok(());
        }
        transaction!(db, Quiet, tx => fold(&mut tx).await)
    }

    fn is_due(&self) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last.is_none_or(|last| last.elapsed() >= FOLD_EVERY);
        if due {
            *last = Some(Instant::now());
        }
        due
    }
}

/// One statement: readers see the counts before it or after it. Counters are locked in the order of their keys. One that
/// has come to nothing, as those of a submission that was deleted, goes.
async fn fold(tx: &mut Tx) -> TxResult<()> {
    let fold = "WITH gone AS (DELETE FROM progress_delta WHERE ctid = ANY(ARRAY( \
                SELECT ctid FROM progress_delta LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING *) \
                INSERT INTO progress AS p (submission_id, kind, name, status, n) \
                SELECT submission_id, kind, name, status, sum(n) AS n FROM gone \
                GROUP BY submission_id, kind, name, status ORDER BY submission_id, kind, name, status \
                ON CONFLICT (submission_id, kind, name, status) DO UPDATE SET n = p.n + excluded.n \
                RETURNING p.submission_id, p.n";
    let folded = tx.collect(fold, &[&FOLDED_AT_ONCE], |row| Ok((get::<i64>(row, 0)?, get::<i64>(row, 1)?))).await?;
    tx.give_up = folded.is_empty();
    let empty: Vec<i64> = folded.into_iter().filter(|(_, number)| *number == 0).map(|(id, _)| id).collect();
    if !empty.is_empty() {
        tx.execute("DELETE FROM progress WHERE submission_id = ANY($1) AND n = 0", &[&empty]).await?;
    }
    Ok(())
}

/// Both parts of the counts of one kind, in one snapshot.
const KEPT: &str = "SELECT name, status, sum(n)::bigint FROM ( \
    SELECT name, status, n FROM progress WHERE submission_id = $1 AND kind = $2 UNION ALL \
    SELECT name, status, n FROM progress_delta WHERE submission_id = $1 AND kind = $2) AS both_parts \
    GROUP BY name, status HAVING sum(n) > 0";

fn read_counted(row: &Row) -> TxResult<Counted> {
    Ok((get(row, 0)?, get::<i16>(row, 1)?.into(), get::<i64>(row, 2)? as u64))
}

pub(super) async fn item_counts(tx: &Tx, submission: SubmissionId) -> TxResult<ItemCounts> {
    let kinds = tx.collect(KEPT, &[&submission.raw(), &ITEMS], read_counted).await?;
    Ok(gather::item_counts(kinds.into_iter().map(|(kind, _, count)| (kind, count)).collect()))
}

/// What has ended is kept; what is live is counted, for it is the smaller part of all that is long.
pub(super) async fn stage_counts(tx: &Tx, submission: SubmissionId) -> TxResult<Vec<StageRow>> {
    let state = &*STATE_NOW;
    let live =
        format!("SELECT stage, {state}, count(*) FROM job WHERE submission_id = $1 AND queue <> $2 GROUP BY 1, 2");
    let outcomes = tx.collect(KEPT, &[&submission.raw(), &OUTCOMES], read_counted).await?;
    let jobs = tx.collect(&live, &[&submission.raw(), &ENGINE_QUEUE], read_counted).await?;
    Ok(gather::stage_rows(outcomes, jobs))
}
