//! Joins: counting what arrives, and closing once.

use super::{
    fail::TxResult,
    rows::{self, JOIN_COLUMNS, get, item_number, to_json},
    session::Tx,
};
use crate::{
    commit::JoinProgress,
    error::StoreError,
    join_counts::{Counted, touched},
};
use bindery_core::{
    JoinId,
    job::NewJob,
    join::{Join, JoinStep, NewJoin},
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The joins that a batch of commits steps. Hundreds of commits often arrive at the same join: it is locked and read
/// once, counted here, and written once, in the same transaction.
#[derive(Default)]
pub(super) struct Tally(BTreeMap<JoinId, LockedJoin>);

/// A join's numbers, and the job behind it.
struct LockedJoin {
    counted: Counted,
    on_close: NewJob,
}

impl Tally {
    /// Locks and reads the joins that are stepped, in the order of their ids, so that no two transactions wait for each
    /// other.
    pub(super) async fn lock(tx: &Tx, stepped: &BTreeSet<JoinId>) -> TxResult<Self> {
        let mut tally = Self::default();
        if stepped.is_empty() {
            return Ok(tally);
        }
        let ids: Vec<i64> = stepped.iter().map(|join| join.raw()).collect();
        let sql = format!("SELECT {JOIN_COLUMNS} FROM joins WHERE id = ANY($1) ORDER BY id FOR UPDATE");
        for join in tx.collect(&sql, &[&ids], rows::join).await? {
            let held = LockedJoin { counted: Counted::stored(&join), on_close: join.on_close };
            tally.0.insert(join.id, held);
        }
        Ok(tally)
    }

    /// Makes one commit's joins and steps. Whether a join is full is looked at when all its steps are made, so that
    /// their order in a commit makes no difference. The jobs of the joins that close go to `follow`.
    pub(super) fn apply(
        &mut self,
        new: &[NewJoin],
        steps: &[JoinStep],
        follow: &mut Vec<NewJob>,
    ) -> TxResult<Vec<JoinProgress>> {
        for join in new {
            let held = LockedJoin { counted: Counted::new(join), on_close: join.on_close.clone() };
            self.0.insert(join.id, held);
        }
        for step in steps {
            self.tally_of(step.join)?.counted.step(step.change);
        }
        touched(new, steps).into_iter().map(|join| self.close_if_full(join, follow)).collect()
    }

    fn tally_of(&mut self, id: JoinId) -> TxResult<&mut LockedJoin> {
        self.0.get_mut(&id).ok_or_else(|| StoreError::not_found(id).into())
    }

    /// Closes a full join, once, and says what follows.
    fn close_if_full(&mut self, id: JoinId, follow: &mut Vec<NewJob>) -> TxResult<JoinProgress> {
        let held = self.tally_of(id)?;
        let progress = held.counted.close_if_full(id);
        if progress.closed {
            follow.push(held.on_close.clone());
        }
        Ok(progress)
    }

    /// Writes what was counted.
    pub(super) async fn store(&self, tx: &Tx) -> TxResult<()> {
        let all = self.0.iter().map(|(id, held)| (id, &held.counted));
        let changed: Vec<(&JoinId, &Counted)> = all.filter(|(_, counted)| counted.changed).collect();
        if changed.is_empty() {
            return Ok(());
        }
        let update = "UPDATE joins SET arrived = c.arrived, failed = c.failed, expected = c.expected, \
             declared = c.declared, updated_at = $7, \
             closed_at = CASE WHEN c.closed THEN coalesce(joins.closed_at, $7) END \
             FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bool[], $6::bool[]) \
             AS c(id, arrived, failed, expected, declared, closed) WHERE joins.id = c.id";
        tx.execute(
            update,
            &[
                &changed.iter().map(|(id, _)| id.raw()).collect::<Vec<_>>(),
                &changed.iter().map(|(_, counted)| counted.arrived).collect::<Vec<_>>(),
                &changed.iter().map(|(_, counted)| counted.failed).collect::<Vec<_>>(),
                &changed.iter().map(|(_, counted)| counted.expected).collect::<Vec<_>>(),
                &changed.iter().map(|(_, counted)| counted.declared).collect::<Vec<_>>(),
                &changed.iter().map(|(_, counted)| counted.closed).collect::<Vec<_>>(),
                &tx.millis(),
            ],
        )
        .await?;
        Ok(())
    }
}

pub(super) async fn insert(tx: &Tx, joins: &[&NewJoin]) -> TxResult<()> {
    if joins.is_empty() {
        return Ok(());
    }
    let insert = "INSERT INTO joins (id, submission_id, stage, scope_id, expected, declared, updated_at, outer_id, \
         on_close) SELECT n.id, n.submission_id, n.stage, n.scope_id, n.expected, n.declared, $9, n.outer_id, n.on_close \
         FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bool[], $7::bigint[], \
         $8::text[]) AS n(id, submission_id, stage, scope_id, expected, declared, outer_id, on_close)";
    tx.execute(
        insert,
        &[
            &joins.iter().map(|join| join.id.raw()).collect::<Vec<_>>(),
            &joins.iter().map(|join| join.submission.raw()).collect::<Vec<_>>(),
            &joins.iter().map(|join| join.stage.as_str()).collect::<Vec<_>>(),
            &joins.iter().map(|join| item_number(join.scope)).collect::<Vec<_>>(),
            &joins.iter().map(|join| join.expected).collect::<Vec<_>>(),
            &joins.iter().map(|join| join.declared).collect::<Vec<_>>(),
            &joins.iter().map(|join| join.outer.map(JoinId::raw)).collect::<Vec<_>>(),
            &joins.iter().map(|join| to_json(&join.on_close)).collect::<Vec<_>>(),
            &tx.millis(),
        ],
    )
    .await?;
    Ok(())
}

/// Jobs that closed joins are followed by were planned when the joins were made; their submissions may have become more
/// urgent since.
pub(super) async fn make_urgent(tx: &Tx, jobs: &mut [NewJob]) -> TxResult<()> {
    if jobs.is_empty() {
        return Ok(());
    }
    let submissions: Vec<i64> = jobs.iter().map(|job| job.submission.raw()).collect();
    let sql = "SELECT id, priority FROM submission WHERE id = ANY($1) AND escalated";
    let urgent: HashMap<i64, i32> =
        tx.collect(sql, &[&submissions], |row| Ok((get(row, 0)?, get(row, 1)?))).await?.into_iter().collect();
    for job in jobs {
        job.priority = job.priority.max(urgent.get(&job.submission.raw()).copied().unwrap_or(i32::MIN));
    }
    Ok(())
}

/// One step by itself.
pub(super) async fn step(tx: &Tx, step: JoinStep) -> TxResult<()> {
    let mut tally = Tally::lock(tx, &BTreeSet::from([step.join])).await?;
    let mut follow = Vec::new();
    tally.apply(&[], &[step], &mut follow)?;
    tally.store(tx).await?;
    make_urgent(tx, &mut follow).await?;
    super::jobs::enqueue(tx, &follow.iter().collect::<Vec<_>>()).await.map(drop)
}

pub(super) async fn find(tx: &Tx, id: JoinId) -> TxResult<Join> {
    let sql = format!("SELECT {JOIN_COLUMNS} FROM joins WHERE id = $1 FOR UPDATE");
    let row = tx.first(&sql, &[&id.raw()]).await?.ok_or_else(|| StoreError::not_found(id))?;
    rows::join(&row)
}
