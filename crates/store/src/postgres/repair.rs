//! Repairing what a join has counted as failed, before and after it has closed.

use super::{
    events,
    fail::TxResult,
    joins::find,
    rows::{self, JOIN_COLUMNS, get, item_number, status_number, to_json},
    session::Tx,
};
use bindery_core::{ItemId, JoinId, Name, SubmissionId, event::kind, join::Join, submission::SubmissionStatus};
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

/// A closed join stays closed. What was repaired afterwards runs its stage again through a join of the next
/// generation, which waits for the repairs alone and leads to the same outer joins, renewed in the same way where they
/// have closed too. Returns the join to arrive at, and whether the submission had to be reopened.
pub(super) async fn renew(tx: &mut Tx, closed: JoinId) -> TxResult<(JoinId, bool)> {
    let mut to_make = Vec::new();
    let mut next = Some(closed);
    let mut reopened = false;
    // From the inside out: until a join that is open, or the submission itself.
    let mut outer = loop {
        let Some(closed) = next else { break None };
        let old = find(tx, closed).await?;
        if let Some(open) = open_generation(tx, &old).await?
            && expect_one_more(tx, open).await?
        {
            break Some(open);
        }
        delete_behind(tx, &old, "state = 5").await?;
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

/// The join of the same stage and scope that an earlier repair has opened and that still waits.
async fn open_generation(tx: &Tx, old: &Join) -> TxResult<Option<JoinId>> {
    let sql = format!(
        "SELECT {JOIN_COLUMNS} FROM joins WHERE submission_id = $1 AND stage = $2 AND scope_id = $3 \
         AND generation > $4 AND closed_at IS NULL ORDER BY id"
    );
    let (stage, scope) = (old.stage.as_str(), item_number(old.scope));
    let open = tx.collect(&sql, &[&old.submission.raw(), &stage, &scope, &old.generation], rows::join).await?;
    Ok(open.into_iter().find(|join| join.on_close.processor == old.on_close.processor).map(|join| join.id))
}

async fn newest_generation(tx: &Tx, submission: SubmissionId, stage: &Name, scope: Option<ItemId>) -> TxResult<i64> {
    let newest =
        "SELECT coalesce(max(generation), 0) FROM joins WHERE submission_id = $1 AND stage = $2 AND scope_id = $3";
    let row = tx.first(newest, &[&submission.raw(), &stage.as_str(), &item_number(scope)]).await?;
    Ok(row.map(|row| get(&row, 0)).transpose()?.unwrap_or(0))
}

/// The stage behind the join has been enqueued but has not finished: it is taken back (a worker that has it in hand
/// cannot commit), because it would finish without the part that is being repaired.
async fn pull_back(tx: &Tx, old: &Join) -> TxResult<bool> {
    Ok(delete_behind(tx, old, "state < 5").await? > 0)
}

/// Deletes the jobs behind a join: the one that it has enqueued, or the stage's own job that came of it. Both are of the
/// same stage and item and end in the same outer join, which the jobs of no other stage do.
async fn delete_behind(tx: &Tx, old: &Join, state: &str) -> TxResult<u64> {
    let behind = &old.on_close;
    let delete = format!(
        "DELETE FROM job WHERE submission_id = $1 AND item_id = $2 AND stage = $3 \
         AND join_id IS NOT DISTINCT FROM $4 AND {state}"
    );
    let (item, stage, outer) = (item_number(behind.item), behind.stage.as_str(), behind.join.map(JoinId::raw));
    tx.execute(&delete, &[&behind.submission.raw(), &item, &stage, &outer]).await
}

async fn expect_one_more(tx: &Tx, id: JoinId) -> TxResult<bool> {
    let expect = "UPDATE joins SET expected = expected + 1, updated_at = $2 WHERE id = $1 AND closed_at IS NULL";
    Ok(tx.execute(expect, &[&id.raw(), &tx.millis()]).await? == 1)
}

async fn reopen_submission(tx: &mut Tx, root: &Join) -> TxResult<bool> {
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
