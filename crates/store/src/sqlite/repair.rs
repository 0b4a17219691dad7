//! Doing again what a join has counted, before and after it has closed: a failed part is repaired, or a person has
//! decided about one that had gone on.

use super::{
    events,
    joins::find,
    reviews,
    rows::{self, JOIN_COLUMNS, item_number, to_json},
    writer::{Tx, WriteResult},
};
use crate::{commit::Again, join_counts::newest_last};
use bindery_core::{
    ItemId, JoinId, Name, SubmissionId,
    event::kind,
    join::{Join, JoinChange, JoinStep},
    submission::SubmissionStatus,
};
use serde_json::json;

/// Takes one failed arrival back. False when the join has closed over it.
pub(super) fn uncount_failed(tx: &Tx<'_>, id: JoinId) -> WriteResult<bool> {
    let mut uncount = tx.db.prepare_cached(
        "UPDATE joins SET arrived = arrived - 1, failed = failed - 1, updated_at = ?2 \
         WHERE id = ?1 AND closed_at IS NULL",
    )?;
    Ok(uncount.execute((id.raw(), tx.now.as_millis()))? == 1)
}

/// The chain of an item begins again. What is left of it is taken back: jobs on their way to the join (a worker that has
/// one in hand cannot commit), questions that it waits for, and what was given up. Returns the join to end in.
pub(super) fn begin_again(tx: &mut Tx<'_>, again: Again) -> WriteResult<JoinId> {
    let generations = generations(tx, &find(tx, again.join)?)?;
    let item = item_number(again.item);
    let mut on_its_way = None;
    for join in &generations {
        let mut delete = tx.db.prepare_cached(
            "DELETE FROM job WHERE submission_id = ?1 AND item_id = ?2 AND join_id = ?3 RETURNING state",
        )?;
        let states: Vec<i64> = delete
            .query_map((again.submission.raw(), item, join.id.raw()), |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let asked = reviews::take_back(tx, again.submission, item, join.id)?;
        // One that was given up has been counted.
        if asked > 0 || states.iter().any(|state| *state < 5) {
            on_its_way = Some(join.id);
        }
    }
    let newest = generations.last().map_or(again.join, |join| join.id);
    match on_its_way {
        Some(join) => Ok(join),
        None if expect_one_more(tx, newest)? => Ok(newest),
        None => renew(tx, newest).map(|(renewed, _)| renewed),
    }
}

/// An item is done again from the start, or is no more: what is under way on it, what was given up and what was asked
/// goes. Returns what that means for the joins in which it would have ended.
pub(super) fn take_back_item(tx: &Tx<'_>, submission: SubmissionId, item: ItemId) -> WriteResult<Vec<JoinStep>> {
    let ids = (submission.raw(), item.raw());
    let mut delete = tx.db.prepare_cached(
        "DELETE FROM job WHERE submission_id = ?1 AND item_id = ?2 RETURNING CASE WHEN state < 5 THEN join_id END",
    )?;
    let mut joins: Vec<Option<i64>> = delete.query_map(ids, |row| row.get(0))?.collect::<Result<_, _>>()?;
    joins.extend(reviews::take_back_all(tx, submission, item)?);
    let step = |join| JoinStep { join: JoinId::from_raw(join), change: JoinChange::Expect(-1) };
    Ok(joins.into_iter().flatten().map(step).collect())
}

/// A closed join stays closed. What was repaired afterwards runs its stage again through a join of the next
/// generation, which waits for the repairs alone and leads to the same outer joins, renewed in the same way where they
/// have closed too. Returns the join to arrive at, and whether the submission had to be reopened.
pub(super) fn renew(tx: &mut Tx<'_>, closed: JoinId) -> WriteResult<(JoinId, bool)> {
    let old = find(tx, closed)?;
    // An earlier repair may have run the stage again, or be about to: what is behind the newest join counts.
    let old = generations(tx, &old)?.pop().unwrap_or(old);
    if expect_one_more(tx, old.id)? {
        return Ok((old.id, false));
    }
    forget_dead_run(tx, &old)?;
    let (outer, reopened) = if pull_back(tx, &old)? {
        // Its chain is still on its way to the outer join, and now waits for the repair.
        (old.outer, false)
    } else {
        match old.outer {
            None => (None, reopen_submission(tx, &old)?),
            Some(outer) if expect_one_more(tx, outer)? => (Some(outer), false),
            Some(outer) => renew(tx, outer).map(|(renewed, reopened)| (Some(renewed), reopened))?,
        }
    };
    let id = JoinId::from_raw(tx.reserve("join", 1)?.start);
    let mut on_close = old.on_close;
    on_close.join = outer;
    let mut insert = tx.db.prepare_cached(
        "INSERT INTO joins (id, submission_id, stage, scope_id, expected, declared, updated_at, outer_id, on_close, \
         generation) VALUES (?1, ?2, ?3, ?4, 1, 1, ?5, ?6, ?7, ?8)",
    )?;
    insert.execute((
        id.raw(),
        old.submission.raw(),
        old.stage.as_str(),
        item_number(old.scope),
        tx.now.as_millis(),
        outer.map(JoinId::raw),
        to_json(&on_close),
        newest_generation(tx, old.submission, &old.stage, old.scope)? + 1,
    ))?;
    Ok((id, reopened))
}

/// The joins of the same stage and scope with the same job behind them, the newest at the end.
fn generations(tx: &Tx<'_>, one: &Join) -> WriteResult<Vec<Join>> {
    let sql = format!("SELECT {JOIN_COLUMNS} FROM joins WHERE submission_id = ?1 AND stage = ?2 AND scope_id = ?3");
    let parameters = (one.submission.raw(), one.stage.as_str(), item_number(one.scope));
    let mut all = rows::collect(tx.db, &sql, parameters, rows::join)?;
    // A stage with several processors has a join of theirs besides.
    all.retain(|join| join.on_close.processor == one.on_close.processor);
    all.sort_by_key(newest_last);
    Ok(all)
}

fn newest_generation(tx: &Tx<'_>, submission: SubmissionId, stage: &Name, scope: Option<ItemId>) -> WriteResult<i64> {
    let mut newest = tx.db.prepare_cached(
        "SELECT ifnull(max(generation), 0) FROM joins WHERE submission_id = ?1 AND stage = ?2 AND scope_id = ?3",
    )?;
    Ok(newest.query_row((submission.raw(), stage.as_str(), item_number(scope)), |row| row.get(0))?)
}

/// What is behind the join has been enqueued but has not finished: it is taken back (a worker that has it in hand cannot
/// commit, and nobody has to answer what it asks), because it would finish without the part that is being repaired.
fn pull_back(tx: &Tx<'_>, old: &Join) -> WriteResult<bool> {
    let behind = &old.on_close;
    let asked = match behind.join {
        Some(outer) => reviews::take_back(tx, behind.submission, item_number(behind.item), outer)?,
        None => 0,
    };
    Ok(delete_behind(tx, old, "state < 5")? + asked > 0)
}

/// What is behind the join will run again. If its last run was given up, that dead letter must not be run beside it.
fn forget_dead_run(tx: &Tx<'_>, old: &Join) -> WriteResult<()> {
    delete_behind(tx, old, "state = 5").map(drop)
}

/// Deletes the jobs behind a join: the one that it has enqueued, or those of the stages that came of it. They are of the
/// same item and end in the same outer join, as nothing else of that item does any more. Behind the last join there is
/// one job only.
fn delete_behind(tx: &Tx<'_>, old: &Join, state: &str) -> WriteResult<usize> {
    let behind = &old.on_close;
    let mut delete = tx.db.prepare_cached(&format!(
        "DELETE FROM job WHERE submission_id = ?1 AND item_id = ?2 AND join_id IS ?3 AND (?3 IS NOT NULL OR stage = ?4) \
         AND {state}"
    ))?;
    let outer = behind.join.map(JoinId::raw);
    Ok(delete.execute((behind.submission.raw(), item_number(behind.item), outer, behind.stage.as_str()))?)
}

fn expect_one_more(tx: &Tx<'_>, id: JoinId) -> WriteResult<bool> {
    let mut expect = tx.db.prepare_cached(
        "UPDATE joins SET expected = expected + 1, updated_at = ?2 WHERE id = ?1 AND closed_at IS NULL",
    )?;
    Ok(expect.execute((id.raw(), tx.now.as_millis()))? == 1)
}

fn reopen_submission(tx: &mut Tx<'_>, root: &Join) -> WriteResult<bool> {
    let processing = rows::status_number(SubmissionStatus::Processing);
    let completed = rows::status_number(SubmissionStatus::Completed);
    let mut reopen = tx.db.prepare_cached(
        "UPDATE submission SET status = ?2, completed_at = NULL, error = NULL WHERE id = ?1 AND status >= ?3",
    )?;
    let reopened = reopen.execute((root.submission.raw(), processing, completed))? == 1;
    drop(reopen);
    if reopened {
        let data = json!({"because": "a part of it is done again"});
        events::append_about(tx, kind::SUBMISSION_REOPENED, root.submission, None, &data)?;
    }
    Ok(reopened)
}
