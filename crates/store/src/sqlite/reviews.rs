//! Reviews: asked once, kept by one person at a time, decided once.

use super::{
    rows::{self, REVIEW_COLUMNS, item_number, payload_columns, to_json},
    writer::{Tx, WriteResult},
};
use crate::{lease, query::ReviewFilter};
use bindery_core::{
    ContentHash, ItemId, JoinId, ReviewId, SubmissionId, Timestamp,
    outcome::Outcome,
    review::{Decision, NewReview, Review, as_lines},
};
use rusqlite::{Connection, types::Value};
use std::sync::LazyLock;

pub(super) fn insert(tx: &Tx<'_>, new: &NewReview) -> WriteResult<()> {
    let (input, input_blob) = payload_columns(&new.input);
    let mut insert = tx.db.prepare_cached(
        "INSERT INTO review (submission_id, item_id, stage, processor, join_id, queue, status, priority, reason, \
         input, input_blob, created_at, goes_on, skills, claim_ms, decision, assigned_to, completed_at, \
         subject) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
    )?;
    let decided = new.decided.as_ref();
    insert.execute(rusqlite::params![
        new.submission.raw(),
        item_number(new.item),
        new.stage.as_str(),
        new.processor.as_str(),
        new.join.map(JoinId::raw),
        new.queue.as_str(),
        if decided.is_some() { 2 } else { 0 },
        new.priority,
        as_lines(&new.reasons),
        input,
        input_blob,
        tx.now.as_millis(),
        new.goes_on,
        to_json(&new.skills),
        new.claim_ms,
        decided.map(|(decision, _)| to_json(decision)),
        decided.and_then(|(_, by)| by.as_deref()),
        decided.map(|_| tx.now.as_millis()),
        new.subject.as_ref().map(ContentHash::as_bytes),
    ])?;
    Ok(())
}

/// Gives it to a person, unless somebody else has it and still has time.
pub(super) fn assign(tx: &Tx<'_>, id: ReviewId, to: &str) -> WriteResult<bool> {
    static ASSIGN: LazyLock<String> = LazyLock::new(|| {
        let expired = lease::expired("assigned_until", "?3");
        format!(
            "UPDATE review SET status = 1, assigned_to = ?2, assigned_until = ?3 + claim_ms \
             WHERE id = ?1 AND (status = 0 OR (status = 1 AND (assigned_to = ?2 OR {expired})))"
        )
    });
    Ok(tx.db.prepare_cached(&ASSIGN)?.execute((id.raw(), to, tx.now.as_millis()))? == 1)
}

/// Completes it, unless it is closed or somebody else has it and still has time.
pub(super) fn complete(tx: &Tx<'_>, id: ReviewId, by: Option<&str>, decision: &Decision) -> WriteResult<bool> {
    static COMPLETE: LazyLock<String> = LazyLock::new(|| {
        let expired = lease::expired("assigned_until", "?2");
        format!(
            "UPDATE review SET status = 2, completed_at = ?2, assigned_to = ?3, assigned_until = NULL, decision = ?4 \
             WHERE id = ?1 AND (status = 0 OR (status = 1 AND (assigned_to IS ?3 OR {expired})))"
        )
    });
    Ok(tx.db.prepare_cached(&COMPLETE)?.execute((id.raw(), tx.now.as_millis(), by, to_json(decision)))? == 1)
}

/// Open reviews about a result that was replaced, as far as no chain waits for them.
pub(super) fn supersede(tx: &Tx<'_>, outcome: &Outcome) -> WriteResult<()> {
    let mut close = tx.db.prepare_cached(
        "UPDATE review SET status = 3, completed_at = ?5, decision = ?6 WHERE submission_id = ?1 AND item_id = ?2 \
         AND stage = ?3 AND processor = ?4 AND status < 2 AND goes_on",
    )?;
    close.execute((
        outcome.submission.raw(),
        item_number(outcome.item),
        outcome.stage.as_str(),
        outcome.processor.as_str(),
        tx.now.as_millis(),
        to_json(&Decision::Superseded),
    ))?;
    Ok(())
}

/// Takes back the chains of an item that wait for a person before a join. Returns how many there were.
pub(super) fn take_back(tx: &Tx<'_>, submission: SubmissionId, item: i64, join: JoinId) -> WriteResult<usize> {
    let mut close = tx.db.prepare_cached(
        "UPDATE review SET status = 3, completed_at = ?4, decision = ?5 WHERE submission_id = ?1 AND item_id = ?2 \
         AND join_id = ?3 AND status < 2 AND goes_on IS NOT 1",
    )?;
    let superseded = to_json(&Decision::Superseded);
    Ok(close.execute((submission.raw(), item, join.raw(), tx.now.as_millis(), superseded))?)
}

/// Takes back everything that is asked about an item. Returns the joins of the chains that waited for it.
pub(super) fn take_back_all(tx: &Tx<'_>, submission: SubmissionId, item: ItemId) -> WriteResult<Vec<Option<i64>>> {
    let mut close = tx.db.prepare_cached(
        "UPDATE review SET status = 3, completed_at = ?3, decision = ?4 WHERE submission_id = ?1 AND item_id = ?2 \
         AND status < 2 RETURNING CASE WHEN goes_on IS NOT 1 THEN join_id END",
    )?;
    let superseded = to_json(&Decision::Superseded);
    let waited = close.query_map((submission.raw(), item.raw(), tx.now.as_millis(), superseded), |row| row.get(0))?;
    Ok(waited.collect::<Result<_, _>>()?)
}

pub(super) fn list(db: &Connection, filter: &ReviewFilter, now: Timestamp) -> rusqlite::Result<Vec<Review>> {
    let mut conditions = vec!["1 = 1".to_owned()];
    let mut values = vec![Value::Integer(now.as_millis())];
    if let Some(submission) = filter.submission {
        conditions.push(format!("submission_id = {}", submission.raw()));
    }
    if let Some(item) = filter.item {
        conditions.push(format!("item_id = {}", item.raw()));
    }
    if let Some(after) = filter.after {
        conditions.push(format!("id > {}", after.raw()));
    }
    if !filter.statuses.is_empty() {
        let statuses: Vec<String> = filter.statuses.iter().map(|status| (*status as i64).to_string()).collect();
        conditions.push(format!("{} IN ({})", *STATUS_NOW, statuses.join(", ")));
    }
    if let Some(queue) = &filter.queue {
        values.push(Value::Text(queue.to_string()));
        conditions.push(format!("queue = ?{}", values.len()));
    }
    if let Some(subject) = filter.subject {
        values.push(Value::Blob(subject.as_bytes().to_vec()));
        conditions.push(format!("subject = ?{}", values.len()));
    }
    for skill in &filter.skills {
        values.push(Value::Text(to_json(skill)));
        conditions.push(format!("instr(skills, ?{}) > 0", values.len()));
    }
    let order = if filter.after.is_some() { "id" } else { "priority DESC, id" };
    let (condition, limit) = (conditions.join(" AND "), filter.limit.map_or(-1, |limit| limit as i64));
    let sql = format!(
        "SELECT {REVIEW_COLUMNS} FROM review WHERE {condition} AND ?1 IS NOT NULL \
         ORDER BY {order} LIMIT {limit}"
    );
    let found = rows::collect(db, &sql, rusqlite::params_from_iter(values), rows::review)?;
    Ok(found.into_iter().map(|review| review.at(now)).collect())
}

/// The status at the time `?1`: whoever kept it for too long does not have it any more.
static STATUS_NOW: LazyLock<String> = LazyLock::new(|| {
    format!("(CASE WHEN status = 1 AND {} THEN 0 ELSE status END)", lease::expired("assigned_until", "?1"))
});
