//! Doing again what a join has counted, before and after it has closed: a failed part is repaired, or a person has
//! decided about one that had gone on.

use super::{
    events,
    fail::TxResult,
    guards::take_turns,
    joins::find,
    reviews,
    rows::{self, JOIN_COLUMNS, get, item_number, status_number, to_json},
    session::{Param, Tx},
};
use crate::{
    commit::{Again, Changes},
    join_counts::newest_last,
};
use bindery_core::{
    ItemId, JoinId, Name, SubmissionId,
    event::kind,
    join::{Join, JoinChange, JoinStep},
    submission::SubmissionStatus,
};
use serde_json::json;

/// A block of ids that nobody else gets; the end of it.
pub(super) const RESERVE: &str = "INSERT INTO id_block (kind, next) VALUES ($1, 1 + $2::bigint) \
    ON CONFLICT (kind) DO UPDATE SET next = id_block.next + $2::bigint RETURNING next";

/// Takes one failed arrival back. False when the join has closed over it.
pub(super) async fn uncount_failed(tx: &Tx, id: JoinId) -> TxResult<bool> {
    let uncount = "UPDATE joins SET arrived = arrived - 1, failed = failed - 1, updated_at = $2 \
                   WHERE id = $1 AND closed_at IS NULL";
    Ok(tx.execute(uncount, &[&id.raw(), &tx.millis()]).await? == 1)
}

/// Who repairs the same submission at this moment does so after us.
async fn repairs_in_turn(tx: &Tx, submission: SubmissionId) -> TxResult<()> {
    take_turns(tx, &format!("bindery repair {submission}")).await
}

/// The chain of an item begins again. What is left of it is taken back: jobs on their way to the join (a worker that has
/// one in hand cannot commit), questions that it waits for, and what was given up. Returns the join to end in.
pub(super) async fn begin_again(tx: &Tx, again: Again) -> TxResult<JoinId> {
    repairs_in_turn(tx, again.submission).await?;
    let generations = generations(tx, &find(tx, again.join).await?).await?;
    let item = item_number(again.item);
    let mut on_its_way = None;
    for join in &generations {
        let jobs = Jobs { submission: again.submission, item, join: Some(join.id), stage: None };
        jobs.delete(tx, "state = 5").await?;
        let asked = reviews::take_back(tx, again.submission, item, join.id).await?;
        if jobs.take_back(tx).await? || asked > 0 {
            on_its_way = Some(join.id);
        }
    }
    let newest = generations.last().map_or(again.join, |join| join.id);
    match on_its_way {
        Some(join) => Ok(join),
        None if expect_one_more(tx, newest).await? => Ok(newest),
        None => renew(tx, newest).await.map(|(renewed, _)| renewed),
    }
}

/// Takes back what changes do again. Returns them with the joins as they have to be.
pub(super) async fn adjusted(tx: &Tx, changes: &Changes) -> TxResult<Changes> {
    let mut changes = changes.clone();
    for (submission, item) in changes.removed_items.iter().chain(&changes.restarted_items) {
        changes.join_steps.extend(take_back_item(tx, *submission, *item).await?);
    }
    match changes.again {
        None => Ok(changes),
        Some(again) => {
            let join = begin_again(tx, again).await?;
            Ok(changes.ending_in(again.join, join))
        }
    }
}

/// An item is done again from the start, or is no more: what is under way on it, what was given up and what was asked
/// goes. Returns what that means for the joins in which it would have ended.
async fn take_back_item(tx: &Tx, submission: SubmissionId, item: ItemId) -> TxResult<Vec<JoinStep>> {
    let delete = "DELETE FROM job WHERE submission_id = $1 AND item_id = $2 \
                  RETURNING CASE WHEN state < 5 THEN join_id END";
    let jobs = tx.collect(delete, &[&submission.raw(), &item.raw()], |row| get::<Option<i64>>(row, 0)).await?;
    let asked = reviews::take_back_all(tx, submission, item).await?;
    let step = |join| JoinStep { join: JoinId::from_raw(join), change: JoinChange::Expect(-1) };
    Ok(jobs.into_iter().chain(asked).flatten().map(step).collect())
}

/// A closed join stays closed. What was repaired afterwards runs its stage again through a join of the next
/// generation, which waits for the repairs alone and leads to the same outer joins, renewed in the same way where they
/// have closed too. Returns the join to arrive at, and whether the submission had to be reopened.
pub(super) async fn renew(tx: &Tx, closed: JoinId) -> TxResult<(JoinId, bool)> {
    repairs_in_turn(tx, find(tx, closed).await?.submission).await?;
    let mut to_make = Vec::new();
    let mut next = Some(closed);
    let mut reopened = false;
    // From the inside out: until a join that is open, or the submission itself.
    let mut outer = loop {
        let Some(closed) = next else { break None };
        let old = find(tx, closed).await?;
        // An earlier repair may have run the stage again, or be about to: what is behind the newest join counts.
        let old = generations(tx, &old).await?.pop().unwrap_or(old);
        if expect_one_more(tx, old.id).await? {
            break Some(old.id);
        }
        Jobs::after_join(&old).delete(tx, "state = 5").await?;
        // A chain that was taken back is still on its way to the outer join, and now waits for the repair.
        let pulled_back = pull_back(tx, &old).await?;
        let outer = old.outer;
        if outer.is_none() && !pulled_back {
            reopened = reopen_submission(tx, &old).await?;
        }
        to_make.push(old);
        match outer {
            Some(open) if pulled_back || expect_one_more(tx, open).await? => break Some(open),
            Some(closed) => next = Some(closed),
            None => break None,
        }
    };
    // From the outside in: each leads to the one around it.
    for old in to_make.into_iter().rev() {
        outer = Some(make_next(tx, old, outer).await?);
    }
    Ok((outer.unwrap_or(closed), reopened))
}

async fn make_next(tx: &Tx, old: Join, outer: Option<JoinId>) -> TxResult<JoinId> {
    let end: Option<i64> = tx.first(RESERVE, &[&"join", &1_i64]).await?.map(|row| get(&row, 0)).transpose()?;
    let id = JoinId::from_raw(end.unwrap_or_default() - 1);
    let generation = newest_generation(tx, old.submission, &old.stage, old.scope).await? + 1;
    let mut on_close = old.on_close;
    on_close.join = outer;
    let insert = "INSERT INTO joins (id, submission_id, stage, scope_id, expected, declared, updated_at, outer_id, \
                  on_close, generation) VALUES ($1, $2, $3, $4, 1, true, $5, $6, $7, $8)";
    let (submission, stage, scope) = (old.submission.raw(), old.stage.as_str(), item_number(old.scope));
    let (outer, on_close) = (outer.map(JoinId::raw), to_json(&on_close));
    tx.execute(insert, &[&id.raw(), &submission, &stage, &scope, &tx.millis(), &outer, &on_close, &generation]).await?;
    Ok(id)
}

/// The joins of the same stage and scope with the same job behind them, the newest at the end.
async fn generations(tx: &Tx, one: &Join) -> TxResult<Vec<Join>> {
    let sql = format!("SELECT {JOIN_COLUMNS} FROM joins WHERE submission_id = $1 AND stage = $2 AND scope_id = $3");
    let (stage, scope) = (one.stage.as_str(), item_number(one.scope));
    let mut all = tx.collect(&sql, &[&one.submission.raw(), &stage, &scope], rows::join).await?;
    // A stage with several processors has a join of theirs besides.
    all.retain(|join| join.on_close.processor == one.on_close.processor);
    all.sort_by_key(newest_last);
    Ok(all)
}

async fn newest_generation(tx: &Tx, submission: SubmissionId, stage: &Name, scope: Option<ItemId>) -> TxResult<i64> {
    let newest =
        "SELECT coalesce(max(generation), 0) FROM joins WHERE submission_id = $1 AND stage = $2 AND scope_id = $3";
    let row = tx.first(newest, &[&submission.raw(), &stage.as_str(), &item_number(scope)]).await?;
    Ok(row.map(|row| get(&row, 0)).transpose()?.unwrap_or(0))
}

/// What is behind the join has been enqueued but has not finished: it is taken back (a worker that has it in hand cannot
/// commit, and nobody has to answer what it asks), because it would finish without the part that is being repaired.
async fn pull_back(tx: &Tx, old: &Join) -> TxResult<bool> {
    let jobs = Jobs::after_join(old);
    let asked = match jobs.join {
        Some(outer) => reviews::take_back(tx, jobs.submission, jobs.item, outer).await?,
        None => 0,
    };
    Ok(jobs.take_back(tx).await? || asked > 0)
}

/// The jobs of one item that end in one join, of one stage or of any.
struct Jobs {
    submission: SubmissionId,
    item: i64,
    join: Option<JoinId>,
    stage: Option<Name>,
}

impl Jobs {
    /// Those behind a join: the one that it has enqueued, or those of the stages that came of it. They are of the same
    /// item and end in the same outer join, as nothing else of that item does any more. Behind the last join there is
    /// one job only.
    fn after_join(old: &Join) -> Self {
        let behind = &old.on_close;
        let stage = behind.join.is_none().then(|| behind.stage.clone());
        Self { submission: behind.submission, item: item_number(behind.item), join: behind.join, stage }
    }

    async fn delete(&self, tx: &Tx, state: &str) -> TxResult<u64> {
        let (submission, join, stage) = (self.submission.raw(), self.join.map(JoinId::raw), self.stage.as_deref());
        let params: [Param<'_>; 4] = [&submission, &self.item, &join, &stage];
        tx.execute(&format!("DELETE FROM job WHERE {THESE} AND {state}"), &params).await
    }

    /// Deletes those that are live. One that finishes at this moment is waited for; what came of it is deleted instead.
    async fn take_back(&self, tx: &Tx) -> TxResult<bool> {
        let (submission, join, stage) = (self.submission.raw(), self.join.map(JoinId::raw), self.stage.as_deref());
        let params: [Param<'_>; 4] = [&submission, &self.item, &join, &stage];
        loop {
            if self.delete(tx, "state < 5").await? > 0 {
                return Ok(true);
            }
            if tx.first(&format!("SELECT 1 FROM job WHERE {THESE} AND state < 5"), &params).await?.is_none() {
                return Ok(false);
            }
        }
    }
}

/// The condition that [`Jobs`] stand for.
const THESE: &str = "submission_id = $1 AND item_id = $2 AND join_id IS NOT DISTINCT FROM $3 \
                     AND ($4::text IS NULL OR stage = $4)";

async fn expect_one_more(tx: &Tx, id: JoinId) -> TxResult<bool> {
    let expect = "UPDATE joins SET expected = expected + 1, updated_at = $2 WHERE id = $1 AND closed_at IS NULL";
    Ok(tx.execute(expect, &[&id.raw(), &tx.millis()]).await? == 1)
}

async fn reopen_submission(tx: &Tx, root: &Join) -> TxResult<bool> {
    let processing = status_number(SubmissionStatus::Processing);
    let completed = status_number(SubmissionStatus::Completed);
    let reopen = "UPDATE submission SET status = $2, completed_at = NULL, error = NULL WHERE id = $1 AND status >= $3";
    let reopened = tx.execute(reopen, &[&root.submission.raw(), &processing, &completed]).await? == 1;
    if reopened {
        let data = json!({"because": "a part of it is done again"});
        events::append_about(tx, kind::SUBMISSION_REOPENED, root.submission, None, &data).await?;
    }
    Ok(reopened)
}
