//! Progress counters: how many outcomes and items a submission has, kept in the transactions that change them.
//!
//! Rows that are added are counted in memory while a transaction runs, and stored before it ends: a batch of a thousand
//! outcomes of one stage is one more row. What is changed or removed is counted by triggers (see the migration), so that
//! whoever removes a row need not know of this.

use super::{
    rows::{self, RowResult},
    writer::{Tx, WriteResult},
};
use crate::gather::{self, Counted};
use crate::query::{ItemCounts, StageRow};
use bindery_core::{Name, SubmissionId, item::ItemKind, job::ENGINE_QUEUE, outcome::OutcomeStatus};
use rusqlite::{Connection, Row};
use std::collections::BTreeMap;

/// What a counter counts, as the column `kind`.
const OUTCOMES: i64 = 0;
const ITEMS: i64 = 1;

/// Rows that the transaction under way has added, not stored yet.
#[derive(Debug, Default)]
pub(super) struct Added {
    outcomes: BTreeMap<(SubmissionId, Name, OutcomeStatus), i64>,
    items: BTreeMap<(SubmissionId, ItemKind), i64>,
}

impl Added {
    pub(super) fn outcome(&mut self, submission: SubmissionId, stage: &Name, status: OutcomeStatus) {
        *self.outcomes.entry((submission, stage.clone(), status)).or_default() += 1;
    }

    pub(super) fn item(&mut self, submission: SubmissionId, kind: ItemKind) {
        *self.items.entry((submission, kind)).or_default() += 1;
    }

    /// The transaction failed, and with it what it had added.
    pub(super) fn clear(&mut self) {
        self.outcomes.clear();
        self.items.clear();
    }
}

/// Stores what the transaction has added.
pub(super) fn store(tx: &mut Tx<'_>) -> WriteResult<()> {
    let added = &mut tx.state.added;
    if added.outcomes.is_empty() && added.items.is_empty() {
        return Ok(());
    }
    let Added { outcomes, items } = std::mem::take(added);
    let mut count = tx.db.prepare_cached(
        "INSERT INTO progress (submission_id, kind, name, status, n) VALUES (?1, ?2, ?3, ?4, ?5) \
         ON CONFLICT (submission_id, kind, name, status) DO UPDATE SET n = n + ?5",
    )?;
    for ((submission, stage, status), number) in outcomes {
        count.execute((submission.raw(), OUTCOMES, stage.as_str(), status as i64, number))?;
    }
    for ((submission, kind), number) in items {
        count.execute((submission.raw(), ITEMS, kind.as_str(), 0, number))?;
    }
    Ok(())
}

/// Counts everything anew: rows have come in past the writer.
pub(super) fn recount(tx: &mut Tx<'_>) -> WriteResult<()> {
    tx.state.added.clear();
    tx.db.execute("DELETE FROM progress", [])?;
    tx.db.execute(
        "INSERT INTO progress (submission_id, kind, name, status, n) \
         SELECT submission_id, ?1, stage, status, count(*) FROM outcome GROUP BY submission_id, stage, status",
        [OUTCOMES],
    )?;
    tx.db.execute(
        "INSERT INTO progress (submission_id, kind, name, status, n) \
         SELECT submission_id, ?1, kind, 0, count(*) FROM item GROUP BY submission_id, kind",
        [ITEMS],
    )?;
    Ok(())
}

pub(super) fn item_counts(db: &Connection, submission: SubmissionId) -> RowResult<ItemCounts> {
    let sql = "SELECT name, n FROM progress WHERE submission_id = ?1 AND kind = ?2 AND n > 0";
    let kind = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64));
    Ok(gather::item_counts(rows::collect(db, sql, (submission.raw(), ITEMS), kind)?))
}

/// What has ended is kept; what is live is counted, for it is the smaller part of all that is long.
pub(super) fn stage_counts(db: &Connection, submission: SubmissionId) -> RowResult<Vec<StageRow>> {
    let ended = "SELECT name, status, n FROM progress WHERE submission_id = ?1 AND kind = ?2 AND n > 0";
    let live = "SELECT stage, state, count(*) FROM job WHERE submission_id = ?1 AND queue <> ?2 GROUP BY stage, state";
    let counted =
        |row: &Row<'_>| -> RowResult<Counted> { Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)? as u64)) };
    let outcomes = rows::collect(db, ended, (submission.raw(), OUTCOMES), counted)?;
    let jobs = rows::collect(db, live, (submission.raw(), ENGINE_QUEUE), counted)?;
    Ok(gather::stage_rows(outcomes, jobs))
}
