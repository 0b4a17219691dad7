//! Reviews: asked once, kept by one person at a time, decided once.

use super::{
    fail::TxResult,
    rows::{self, REVIEW_COLUMNS, get, item_number, payload_columns, to_json},
    session::{Db, Tx},
};
use crate::{error::StoreResult, lease, query::ReviewFilter};
use bindery_core::{
    ItemId, JoinId, ReviewId, SubmissionId, Timestamp,
    outcome::Outcome,
    review::{Decision, NewReview, Review, as_lines},
};
use std::sync::LazyLock;

pub(super) async fn insert(tx: &Tx, new: &NewReview) -> TxResult<()> {
    let (input, blob) = payload_columns(&new.input);
    let insert = "INSERT INTO review (submission_id, item_id, stage, processor, join_id, queue, status, priority, \
         reason, input, input_blob, created_at, goes_on, skills, claim_ms, decision, assigned_to, completed_at, subject) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)";
    let decided = new.decided.as_ref();
    tx.execute(
        insert,
        &[
            &new.submission.raw(),
            &item_number(new.item),
            &new.stage.as_str(),
            &new.processor.as_str(),
            &new.join.map(JoinId::raw),
            &new.queue.as_str(),
            &(if decided.is_some() { 2_i16 } else { 0 }),
            &new.priority,
            &as_lines(&new.reasons),
            &input,
            &blob,
            &tx.millis(),
            &new.goes_on,
            &to_json(&new.skills),
            &new.claim_ms,
            &decided.map(|(decision, _)| to_json(decision)),
            &decided.and_then(|(_, by)| by.as_deref()),
            &decided.map(|_| tx.millis()),
            &new.subject.as_ref().map(|hash| &hash.as_bytes()[..]),
        ],
    )
    .await?;
    Ok(())
}

/// Gives it to a person, unless somebody else has it and still has time.
pub(super) async fn assign(tx: &Tx, id: ReviewId, to: &str) -> TxResult<bool> {
    static ASSIGN: LazyLock<String> = LazyLock::new(|| {
        let expired = lease::expired("assigned_until", "$3");
        format!(
            "UPDATE review SET status = 1, assigned_to = $2, assigned_until = $3 + claim_ms \
             WHERE id = $1 AND (status = 0 OR (status = 1 AND (assigned_to = $2 OR {expired})))"
        )
    });
    Ok(tx.execute(&ASSIGN, &[&id.raw(), &to, &tx.millis()]).await? == 1)
}

/// Completes it, unless it is closed or somebody else has it and still has time.
pub(super) async fn complete(tx: &Tx, id: ReviewId, by: Option<&str>, decision: &Decision) -> TxResult<bool> {
    static COMPLETE: LazyLock<String> = LazyLock::new(|| {
        let expired = lease::expired("assigned_until", "$2");
        format!(
            "UPDATE review SET status = 2, completed_at = $2, assigned_to = $3, assigned_until = NULL, decision = $4 \
             WHERE id = $1 AND (status = 0 OR (status = 1 AND (assigned_to IS NOT DISTINCT FROM $3::text OR {expired})))"
        )
    });
    Ok(tx.execute(&COMPLETE, &[&id.raw(), &tx.millis(), &by, &to_json(decision)]).await? == 1)
}

/// Open reviews about a result that was replaced, as far as no chain waits for them.
pub(super) async fn supersede(tx: &Tx, outcome: &Outcome) -> TxResult<()> {
    let close = "UPDATE review SET status = 3, completed_at = $5, decision = $6 WHERE submission_id = $1 \
                 AND item_id = $2 AND stage = $3 AND processor = $4 AND status < 2 AND goes_on";
    let (submission, item) = (outcome.submission.raw(), item_number(outcome.item));
    let (stage, processor) = (outcome.stage.as_str(), outcome.processor.as_str());
    let superseded = to_json(&Decision::Superseded);
    tx.execute(close, &[&submission, &item, &stage, &processor, &tx.millis(), &superseded]).await?;
    Ok(())
}

/// Takes back the chains of an item that wait for a person before a join. Returns how many there were.
pub(super) async fn take_back(tx: &Tx, submission: SubmissionId, item: i64, join: JoinId) -> TxResult<u64> {
    let close = "UPDATE review SET status = 3, completed_at = $4, decision = $5 WHERE submission_id = $1 \
                 AND item_id = $2 AND join_id = $3 AND status < 2 AND goes_on IS NOT TRUE";
    let superseded = to_json(&Decision::Superseded);
    tx.execute(close, &[&submission.raw(), &item, &join.raw(), &tx.millis(), &superseded]).await
}

/// Takes back everything that is asked about an item. Returns the joins of the chains that waited for it.
pub(super) async fn take_back_all(tx: &Tx, submission: SubmissionId, item: ItemId) -> TxResult<Vec<Option<i64>>> {
    let close = "UPDATE review SET status = 3, completed_at = $3, decision = $4 WHERE submission_id = $1 \
                 AND item_id = $2 AND status < 2 RETURNING CASE WHEN goes_on IS NOT TRUE THEN join_id END";
    let superseded = to_json(&Decision::Superseded);
    tx.collect(close, &[&submission.raw(), &item.raw(), &tx.millis(), &superseded], |row| get(row, 0)).await
}

pub(super) async fn list(db: &Db, filter: &ReviewFilter, now: Timestamp) -> StoreResult<Vec<Review>> {
    let statuses: Vec<i16> = filter.statuses.iter().map(|status| *status as i16).collect();
    let (submission, limit) = (filter.submission.map(SubmissionId::raw), filter.limit.map(|limit| limit as i64));
    let (item, after) = (filter.item.map(ItemId::raw), filter.after.map(ReviewId::raw));
    let order = if filter.after.is_some() { "id" } else { "priority DESC, id" };
    let (queue, skills) = (filter.queue.as_deref(), filter.skills.iter().map(to_json).collect::<Vec<_>>());
    // Whoever kept it for too long does not have it any more.
    let expired = lease::expired("assigned_until", "$6");
    // Written only where it is meant, so that its index is used.
    let of_subject = if filter.subject.is_some() { "subject = $9" } else { "$9::bytea IS NULL" };
    let subject = filter.subject.as_ref().map(|hash| hash.as_bytes().to_vec());
    let sql = format!(
        "SELECT {REVIEW_COLUMNS} FROM review WHERE {of_subject} AND ($1::bigint IS NULL OR submission_id = $1) \
         AND (cardinality($2::smallint[]) = 0 \
              OR CASE WHEN status = 1 AND {expired} THEN 0 ELSE status END = ANY($2)) \
         AND ($4::text IS NULL OR queue = $4) \
         AND (SELECT coalesce(bool_and(strpos(coalesce(skills, ''), wanted) > 0), true) FROM unnest($5::text[]) AS wanted) \
         AND ($7::bigint IS NULL OR item_id = $7) AND ($8::bigint IS NULL OR id > $8) ORDER BY {order} LIMIT $3"
    );
    let now_ms = now.as_millis();
    let found = db
        .ask(&sql, &[&submission, &statuses, &limit, &queue, &skills, &now_ms, &item, &after, &subject], rows::review)
        .await?;
    Ok(found.into_iter().map(|review| review.at(now)).collect())
}
