//! Joins: counting what arrives, and closing once.

use super::{
    jobs,
    rows::{self, JOIN_COLUMNS, item_number, to_json},
    writer::{Tx, WriteResult},
};
use crate::{
    commit::JoinProgress,
    error::StoreError,
    join_counts::{Counted, touched},
};
use bindery_core::{
    JoinId,
    join::{Join, JoinStep, NewJoin},
};
use rusqlite::OptionalExtension;
use std::collections::{BTreeMap, btree_map::Entry};

/// The joins that a batch of commits steps. Hundreds of commits often arrive at the same join: it is read once, counted
/// here, and written once, in the same transaction.
#[derive(Default)]
pub(super) struct Tally(BTreeMap<JoinId, Counted>);

impl Tally {
    /// Makes one commit's joins and steps. Whether a join is full is looked at when all its steps are made, so that
    /// their order in a commit makes no difference.
    pub(super) fn apply(
        &mut self,
        tx: &mut Tx<'_>,
        new: &[NewJoin],
        steps: &[JoinStep],
    ) -> WriteResult<Vec<JoinProgress>> {
        for join in new {
            self.create(tx, join)?;
        }
        for step in steps {
            self.count_mut(tx, step.join)?.step(step.change);
        }
        touched(new, steps).into_iter().map(|join| self.close_if_full(tx, join)).collect()
    }

    /// Writes what was counted, in the order of the ids.
    pub(super) fn store(self, tx: &Tx<'_>) -> WriteResult<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut update = tx.db.prepare_cached(
            "UPDATE joins SET arrived = ?2, failed = ?3, expected = ?4, declared = ?5, updated_at = ?6, \
             closed_at = CASE WHEN ?7 THEN ifnull(closed_at, ?6) END WHERE id = ?1",
        )?;
        let now = tx.now.as_millis();
        for (id, counted) in self.0.iter().filter(|(_, counted)| counted.changed) {
            let Counted { arrived, failed, expected, declared, closed, .. } = *counted;
            update.execute((id.raw(), arrived, failed, expected, declared, now, closed))?;
        }
        Ok(())
    }

    fn create(&mut self, tx: &Tx<'_>, join: &NewJoin) -> WriteResult<()> {
        let mut insert = tx.db.prepare_cached(
            "INSERT INTO joins (id, submission_id, stage, scope_id, expected, declared, updated_at, outer_id, \
             on_close) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?;
        insert.execute((
            join.id.raw(),
            join.submission.raw(),
            join.stage.as_str(),
            item_number(join.scope),
            join.expected,
            join.declared,
            tx.now.as_millis(),
            join.outer.map(JoinId::raw),
            to_json(&join.on_close),
        ))?;
        self.0.insert(join.id, Counted::new(join));
        Ok(())
    }

    fn count_mut(&mut self, tx: &Tx<'_>, id: JoinId) -> WriteResult<&mut Counted> {
        let entry = match self.0.entry(id) {
            Entry::Occupied(known) => return Ok(known.into_mut()),
            Entry::Vacant(entry) => entry,
        };
        let mut read = tx.db.prepare_cached(
            "SELECT arrived, failed, expected, declared, closed_at IS NOT NULL FROM joins WHERE id = ?1",
        )?;
        let found = read.query_row([id.raw()], |row| {
            Ok(Counted {
                arrived: row.get(0)?,
                failed: row.get(1)?,
                expected: row.get(2)?,
                declared: row.get(3)?,
                closed: row.get(4)?,
                changed: false,
            })
        });
        Ok(entry.insert(found.optional()?.ok_or_else(|| StoreError::not_found(id))?))
    }

    /// Closes a full join, once, and enqueues what follows.
    fn close_if_full(&mut self, tx: &mut Tx<'_>, id: JoinId) -> WriteResult<JoinProgress> {
        let progress = self.count_mut(tx, id)?.close_if_full(id);
        if progress.closed {
            enqueue_what_follows(tx, id)?;
        }
        Ok(progress)
    }
}

fn enqueue_what_follows(tx: &mut Tx<'_>, closed: JoinId) -> WriteResult<()> {
    let mut job = find(tx, closed)?.on_close;
    // It was planned when the join was made; the submission may have become more urgent since.
    let mut escalated = tx.db.prepare_cached("SELECT priority FROM submission WHERE id = ?1 AND escalated = 1")?;
    let urgent = escalated.query_row([job.submission.raw()], |row| row.get(0)).optional()?;
    drop(escalated);
    job.priority = job.priority.max(urgent.unwrap_or(i32::MIN));
    jobs::enqueue(tx, &job).map(drop)
}

/// One step by itself.
pub(super) fn step(tx: &mut Tx<'_>, step: JoinStep) -> WriteResult<()> {
    let mut tally = Tally::default();
    tally.apply(tx, &[], &[step])?;
    tally.store(tx)
}

pub(super) fn find(tx: &Tx<'_>, id: JoinId) -> WriteResult<Join> {
    let sql = format!("SELECT {JOIN_COLUMNS} FROM joins WHERE id = ?1");
    Ok(rows::first(tx.db, &sql, [id.raw()], rows::join)?.ok_or_else(|| StoreError::not_found(id))?)
}
