//! Repairing what a join has counted as failed, before and after it has closed.

use super::{
    events,
    joins::find,
    rows::{self, JOIN_COLUMNS, item_number, to_json},
    writer::{Tx, WishResult},
};
use bindery_core::{ItemId, JoinId, Name, SubmissionId, event::kind, join::Join, submission::SubmissionStatus};
use serde_json::json;

/// Takes one failed arrival back. False when the join has closed over it.
pub(super) fn uncount_failed(tx: &Tx<'_>, id: JoinId) -> WishResult<bool> {
    let mut uncount = tx.db.prepare_cached(
        "UPDATE joins SET arrived = arrived - 1, failed = failed - 1, updated_at = ?2 \
         WHERE id = ?1 AND closed_at IS NULL",
    )?;
    Ok(uncount.execute((id.raw(), tx.now.as_millis()))? == 1)
}

/// A closed join stays closed. What was repaired afterwards runs its stage again through a join of the next
/// generation, which waits for the repairs alone and leads to the same outer joins, renewed in the same way where they
/// have closed too. Returns the join to arrive at, and whether the submission had to be reopened.
pub(super) fn renew(tx: &mut Tx<'_>, closed: JoinId) -> WishResult<(JoinId, bool)> {
    let old = find(tx, closed)?;
    if let Some(open) = open_generation(tx, &old)?
        && expect_one_more(tx, open)?
    {
        return Ok((open, false));
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

/// The join of the same stage and scope that an earlier repair has opened and that still waits.
fn open_generation(tx: &Tx<'_>, old: &Join) -> WishResult<Option<JoinId>> {
    let sql = format!(
        "SELECT {JOIN_COLUMNS} FROM joins WHERE submission_id = ?1 AND stage = ?2 AND scope_id = ?3 \
         AND generation > ?4 AND closed_at IS NULL"
    );
    let parameters = (old.submission.raw(), old.stage.as_str(), item_number(old.scope), old.generation);
    let open = rows::collect(tx.db, &sql, parameters, rows::join)?;
    Ok(open.into_iter().find(|join| join.on_close.processor == old.on_close.processor).map(|join| join.id))
}

fn newest_generation(tx: &Tx<'_>, submission: SubmissionId, stage: &Name, scope: Option<ItemId>) -> WishResult<i64> {
    let mut newest = tx.db.prepare_cached(
        "SELECT ifnull(max(generation), 0) FROM joins WHERE submission_id = ?1 AND stage = ?2 AND scope_id = ?3",
    )?;
    Ok(newest.query_row((submission.raw(), stage.as_str(), item_number(scope)), |row| row.get(0))?)
}

/// The stage behind the join has been enqueued but has not finished: it is taken back (a worker that has it in hand
/// cannot commit), because it would finish without the part that is being repaired.
fn pull_back(tx: &Tx<'_>, old: &Join) -> WishResult<bool> {
    Ok(delete_behind(tx, old, "state < 5")? > 0)
}

/// The stage behind the join will run again. If its last run was given up, that dead letter must not be run beside it.
fn forget_dead_run(tx: &Tx<'_>, old: &Join) -> WishResult<()> {
    delete_behind(tx, old, "state = 5").map(drop)
}

/// Deletes the jobs behind a join: the one that it has enqueued, or the stage's own job that came of it. Both are of the
/// same stage and item and end in the same outer join, which the jobs of no other stage do.
fn delete_behind(tx: &Tx<'_>, old: &Join, state: &str) -> WishResult<usize> {
    let behind = &old.on_close;
    let mut delete = tx.db.prepare_cached(&format!(
        "DELETE FROM job WHERE submission_id = ?1 AND item_id = ?2 AND stage = ?3 AND join_id IS ?4 AND {state}"
    ))?;
    let outer = behind.join.map(JoinId::raw);
    Ok(delete.execute((behind.submission.raw(), item_number(behind.item), behind.stage.as_str(), outer))?)
}

fn expect_one_more(tx: &Tx<'_>, id: JoinId) -> WishResult<bool> {
    let mut expect = tx.db.prepare_cached(
        "UPDATE joins SET expected = expected + 1, updated_at = ?2 WHERE id = ?1 AND closed_at IS NULL",
    )?;
    Ok(expect.execute((id.raw(), tx.now.as_millis()))? == 1)
}

fn reopen_submission(tx: &mut Tx<'_>, root: &Join) -> WishResult<bool> {
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
