//! Joins: counting, closing once, and renewing after a repair.

use super::{
    jobs,
    rows::{self, JOIN_COLUMNS, item_number, to_json},
    writer::{Tx, WishResult},
};
use crate::{commit::JoinProgress, error::StoreError};
use bindery_core::{
    JoinId,
    event::{NewEvent, kind},
    job::JobState,
    join::{Arrival, Join, JoinChange, JoinStep, NewJoin},
    submission::SubmissionStatus,
};

pub(super) fn create(tx: &mut Tx<'_>, join: &NewJoin) -> WishResult<JoinProgress> {
    let mut insert = tx.db.prepare_cached(
        "INSERT INTO joins (id, submission_id, stage, scope_id, expected, declared, updated_at, outer_id, on_close) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
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
    // Nothing to wait for: zero children close their join at once.
    close_if_full(tx, Counted { id: join.id, arrived: 0, expected: join.expected, closable: join.declared })
}

#[derive(Clone, Copy)]
struct Counted {
    id: JoinId,
    arrived: i64,
    expected: i64,
    /// Declared, and not closed yet.
    closable: bool,
}

pub(super) fn step(tx: &mut Tx<'_>, step: &JoinStep) -> WishResult<JoinProgress> {
    let (sql, amount, failed) = match step.change {
        JoinChange::Arrive(arrival) => (
            "UPDATE joins SET arrived = arrived + ?2, failed = failed + ?3, updated_at = ?4 WHERE id = ?1 \
             RETURNING arrived, expected, declared AND closed_at IS NULL",
            1,
            i64::from(arrival == Arrival::Failed),
        ),
        JoinChange::Expect(more) => (
            "UPDATE joins SET expected = expected + ?2 + ?3, updated_at = ?4 WHERE id = ?1 \
             RETURNING arrived, expected, declared AND closed_at IS NULL",
            more,
            0,
        ),
        JoinChange::Declare(total) => (
            "UPDATE joins SET expected = CASE WHEN declared THEN expected ELSE ?2 + ?3 END, declared = 1, \
             updated_at = ?4 WHERE id = ?1 RETURNING arrived, expected, declared AND closed_at IS NULL",
            total,
            0,
        ),
    };
    let mut update = tx.db.prepare_cached(sql)?;
    let mut rows = update.query((step.join.raw(), amount, failed, tx.now.as_millis()))?;
    let Some(row) = rows.next()? else { return Err(StoreError::not_found(step.join).into()) };
    let counted = Counted { id: step.join, arrived: row.get(0)?, expected: row.get(1)?, closable: row.get(2)? };
    drop(rows);
    drop(update);
    close_if_full(tx, counted)
}

/// Closes a full join, once, and enqueues what follows.
fn close_if_full(tx: &mut Tx<'_>, counted: Counted) -> WishResult<JoinProgress> {
    let Counted { id, arrived, expected, closable } = counted;
    let closed = closable && arrived >= expected;
    if closed {
        tx.db
            .prepare_cached("UPDATE joins SET closed_at = ?2 WHERE id = ?1 AND closed_at IS NULL")?
            .execute((id.raw(), tx.now.as_millis()))?;
        let join = find(tx, id)?;
        jobs::enqueue(tx, &join.on_close)?;
    }
    Ok(JoinProgress { join: id, received: arrived, expected, closed })
}

fn find(tx: &Tx<'_>, id: JoinId) -> WishResult<Join> {
    let sql = format!("SELECT {JOIN_COLUMNS} FROM joins WHERE id = ?1");
    Ok(rows::first(tx.db, &sql, [id.raw()], rows::join)?.ok_or_else(|| StoreError::not_found(id))?)
}

/// Takes one failed arrival back. False when the join has closed over it.
pub(super) fn uncount_failed(tx: &Tx<'_>, id: JoinId) -> WishResult<bool> {
    let mut uncount = tx.db.prepare_cached(
        "UPDATE joins SET arrived = arrived - 1, failed = failed - 1, updated_at = ?2 \
         WHERE id = ?1 AND closed_at IS NULL",
    )?;
    Ok(uncount.execute((id.raw(), tx.now.as_millis()))? == 1)
}

/// A closed join stays closed. What was repaired afterwards runs its stage again through a join of the next
/// generation, which waits for the repair alone and leads to the same outer joins, renewed in the same way where they
/// have closed too. Returns the new join, and whether the submission had to be reopened.
pub(super) fn renew(tx: &mut Tx<'_>, closed: JoinId) -> WishResult<(JoinId, bool)> {
    let old = find(tx, closed)?;
    forget_dead_run(tx, &old)?;
    let (outer, reopened) = match old.outer {
        None => (None, reopen_submission(tx, &old)?),
        Some(outer) if expect_one_more(tx, outer)? => (Some(outer), false),
        Some(outer) => renew(tx, outer).map(|(renewed, reopened)| (Some(renewed), reopened))?,
    };
    let id = JoinId::from_raw(tx.reserve("join", 1)?.start);
    let mut on_close = old.on_close;
    on_close.join = outer;
    // One run at a time: a second repair that comes while the stage runs again makes it run once more, not twice.
    on_close.dedup_key = Some(format!(
        "again:{}:{}:{}:{}",
        on_close.submission,
        on_close.stage,
        on_close.processor,
        item_number(on_close.item)
    ));
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
        old.generation + 1,
    ))?;
    Ok((id, reopened))
}

/// The stage behind the join will run again. If its last run was given up, that dead letter must not be run beside it.
fn forget_dead_run(tx: &Tx<'_>, closed: &Join) -> WishResult<()> {
    let behind = &closed.on_close;
    let of = (
        behind.submission.raw(),
        behind.stage.as_str(),
        item_number(behind.item),
        behind.processor.as_str(),
        JobState::Dead as i64,
    );
    tx.db
        .prepare_cached(
            "DELETE FROM job WHERE submission_id = ?1 AND stage = ?2 AND item_id = ?3 AND processor = ?4 \
             AND state = ?5",
        )?
        .execute(of)?;
    Ok(())
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
        let data = format!("{{\"because\":\"a part of {} was repaired\"}}", root.stage);
        super::events::append(tx, &NewEvent::new(kind::SUBMISSION_REOPENED, Some(root.submission), data))?;
    }
    Ok(reopened)
}
