//! What follows from commits, table by table: one statement for all the rows of a table.

use super::{
    copy::{Target, WORTH_A_COPY, copy},
    fail::TxResult,
    reviews,
    rows::{item_number, payload_columns, status_number, to_json},
    session::{Param, Tx},
};
use crate::commit::{Changes, SubmissionChange};
use bindery_core::{
    ContentHash, ItemId, SubmissionId, Timestamp,
    artifact::Artifact,
    item::Item,
    outcome::Outcome,
    submission::{NewSubmission, SubmissionStatus},
};
use std::{collections::HashSet, hash::Hash, sync::LazyLock};
use tokio_postgres::types::Type;

/// Submissions, items, artifacts, outcomes and reviews, in this order.
pub(super) async fn write_nouns(tx: &Tx, accepted: &[&Changes]) -> TxResult<()> {
    for submission in accepted.iter().flat_map(|changes| &changes.submissions) {
        insert_submission(tx, submission).await?;
    }
    let items: Vec<&Item> = accepted.iter().flat_map(|changes| &changes.items).collect();
    for wave in waves(&items, |item| (item.submission, item.id)) {
        upsert_items(tx, wave).await?;
    }
    for (submission, item) in accepted.iter().flat_map(|changes| &changes.removed_items) {
        remove_item(tx, *submission, *item).await?;
    }
    let artifacts: Vec<&Artifact> = accepted.iter().flat_map(|changes| &changes.artifacts).collect();
    for wave in waves(&artifacts, |artifact| (artifact.submission, artifact.key.clone())) {
        upsert_artifacts(tx, wave).await?;
    }
    let outcomes: Vec<&Outcome> = accepted.iter().flat_map(|changes| &changes.outcomes).collect();
    let key = |outcome: &&Outcome| (outcome.submission, outcome.stage.clone(), outcome.item, outcome.processor.clone());
    for wave in waves(&outcomes, key) {
        upsert_outcomes(tx, wave).await?;
    }
    let renewed = accepted.iter().filter(|changes| changes.supersedes_reviews);
    for outcome in renewed.flat_map(|changes| &changes.outcomes) {
        reviews::supersede(tx, outcome).await?;
    }
    for review in accepted.iter().flat_map(|changes| &changes.reviews) {
        reviews::insert(tx, review).await?;
    }
    Ok(())
}

/// Parts in which no key comes twice: a statement can write a row only once, and the later one counts.
fn waves<T, K: Hash + Eq>(all: &[T], key: impl Fn(&T) -> K) -> Vec<&[T]> {
    let mut seen = HashSet::new();
    let mut parts = Vec::new();
    let mut start = 0;
    for (place, one) in all.iter().enumerate() {
        if !seen.insert(key(one)) {
            parts.push(&all[start..place]);
            start = place;
            seen.clear();
            seen.insert(key(one));
        }
    }
    if start < all.len() {
        parts.push(&all[start..]);
    }
    parts
}

async fn insert_submission(tx: &Tx, new: &NewSubmission) -> TxResult<()> {
    let deadline = &new.deadline;
    let next_check = [deadline.warn_at, deadline.escalate_at, deadline.at].into_iter().flatten().min();
    let insert = "INSERT INTO submission (id, external_id, owner, channel, workflow, workflow_version, status, \
         priority, received_at, deadline_at, warn_at, escalate_at, next_check, metadata) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
    tx.execute(
        insert,
        &[
            &new.id.raw(),
            &new.external_id,
            &new.owner,
            &new.channel,
            &new.workflow.as_str(),
            &new.workflow_version,
            &status_number(SubmissionStatus::Received),
            &new.priority,
            &new.received_at.as_millis(),
            &deadline.at.map(Timestamp::as_millis),
            &deadline.warn_at.map(Timestamp::as_millis),
            &deadline.escalate_at.map(Timestamp::as_millis),
            &next_check.map(Timestamp::as_millis),
            &new.metadata,
        ],
    )
    .await?;
    Ok(())
}

async fn upsert_items(tx: &Tx, items: &[&Item]) -> TxResult<()> {
    let upsert = "INSERT INTO item (submission_id, id, parent_id, kind, ordinal, key, label, content, data) \
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::text[], \
         $7::text[], $8::bytea[], $9::text[]) ON CONFLICT (submission_id, id) DO UPDATE SET key = excluded.key, \
         label = excluded.label, content = excluded.content, data = excluded.data";
    let content = |item: &&Item| item.content.map(|hash| hash.as_bytes().to_vec());
    tx.execute(
        upsert,
        &[
            &items.iter().map(|item| item.submission.raw()).collect::<Vec<_>>(),
            &items.iter().map(|item| item.id.raw()).collect::<Vec<_>>(),
            &items.iter().map(|item| item.parent.map(ItemId::raw)).collect::<Vec<_>>(),
            &items.iter().map(|item| item.kind.as_str()).collect::<Vec<_>>(),
            &items.iter().map(|item| item.ordinal).collect::<Vec<_>>(),
            &items.iter().map(|item| item.key.as_deref()).collect::<Vec<_>>(),
            &items.iter().map(|item| item.label.as_deref()).collect::<Vec<_>>(),
            &items.iter().map(content).collect::<Vec<_>>(),
            &items.iter().map(|item| item.data.as_str()).collect::<Vec<_>>(),
        ],
    )
    .await?;
    Ok(())
}

async fn remove_item(tx: &Tx, submission: SubmissionId, item: ItemId) -> TxResult<()> {
    let (submission, item) = (submission.raw(), item.raw());
    for table in ["job", "outcome", "review", "artifact"] {
        let sql = format!("DELETE FROM {table} WHERE submission_id = $1 AND item_id = $2");
        tx.execute(&sql, &[&submission, &item]).await?;
    }
    tx.execute("DELETE FROM item WHERE submission_id = $1 AND id = $2", &[&submission, &item]).await?;
    Ok(())
}

async fn upsert_artifacts(tx: &Tx, artifacts: &[&Artifact]) -> TxResult<()> {
    let upsert = "INSERT INTO artifact (submission_id, key, item_id, hash, size, media_type) \
         SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bytea[], $5::bigint[], $6::text[]) \
         ON CONFLICT (submission_id, key) DO UPDATE SET item_id = excluded.item_id, hash = excluded.hash, \
         size = excluded.size, media_type = excluded.media_type";
    tx.execute(
        upsert,
        &[
            &artifacts.iter().map(|artifact| artifact.submission.raw()).collect::<Vec<_>>(),
            &artifacts.iter().map(|artifact| artifact.key.as_str()).collect::<Vec<_>>(),
            &artifacts.iter().map(|artifact| artifact.item.map(ItemId::raw)).collect::<Vec<_>>(),
            &artifacts.iter().map(|artifact| artifact.hash.as_bytes().as_slice()).collect::<Vec<_>>(),
            &artifacts.iter().map(|artifact| artifact.size as i64).collect::<Vec<_>>(),
            &artifacts.iter().map(|artifact| artifact.media_type.as_str()).collect::<Vec<_>>(),
        ],
    )
    .await?;
    Ok(())
}

/// No two of them may be the same work.
///
/// Most are the first of their work, and storing them costs half as much as being ready to replace what is there. Where
/// something is there, all is run again, carefully.
pub(super) async fn upsert_outcomes(tx: &Tx, outcomes: &[&Outcome]) -> TxResult<()> {
    const COLUMNS: &str = "submission_id, stage, item_id, processor, status, output, output_blob, confidence, error, \
         resume, input_hash, processor_version, attempts, cost_micros, finished_at, reuse_key, recipe, subject, made";
    static INSERT: LazyLock<String> = LazyLock::new(|| {
        format!(
            "INSERT INTO outcome ({COLUMNS}) SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], \
             $5::smallint[], $6::text[], $7::bytea[], $8::float8[], $9::text[], $10::text[], $11::bytea[], \
             $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], $16::bytea[], $17::bytea[], $18::bytea[], \
             $19::text[]) AS n({COLUMNS}) "
        )
    });
    static UPSERT: LazyLock<String> = LazyLock::new(|| {
        let replace = "status = excluded.status, output = excluded.output, output_blob = excluded.output_blob, \
             confidence = excluded.confidence, error = excluded.error, resume = excluded.resume, \
             input_hash = excluded.input_hash, processor_version = excluded.processor_version, \
             attempts = excluded.attempts, cost_micros = excluded.cost_micros, finished_at = excluded.finished_at, \
             reuse_key = excluded.reuse_key, recipe = excluded.recipe, subject = excluded.subject, \
             made = excluded.made";
        format!("{} ON CONFLICT (submission_id, stage, item_id, processor) DO UPDATE SET {replace}", *INSERT)
    });
    if outcomes.len() >= WORTH_A_COPY && !tx.again {
        return copy_outcomes(tx, outcomes).await;
    }
    let (outputs, blobs): (Vec<_>, Vec<_>) = outcomes.iter().map(|outcome| payload_columns(&outcome.output)).unzip();
    let input_hash =
        |outcome: &&Outcome| outcome.input_hash.as_ref().map(ContentHash::as_bytes).map(|hash| hash.to_vec());
    let columns = (
        outcomes.iter().map(|outcome| outcome.submission.raw()).collect::<Vec<_>>(),
        outcomes.iter().map(|outcome| outcome.stage.as_str()).collect::<Vec<_>>(),
        outcomes.iter().map(|outcome| item_number(outcome.item)).collect::<Vec<_>>(),
        outcomes.iter().map(|outcome| outcome.processor.as_str()).collect::<Vec<_>>(),
        outcomes.iter().map(|outcome| outcome.status as i16).collect::<Vec<_>>(),
        outcomes.iter().map(|outcome| outcome.confidence).collect::<Vec<_>>(),
        outcomes.iter().map(|outcome| outcome.error.as_ref().map(to_json)).collect::<Vec<_>>(),
        outcomes.iter().map(|outcome| outcome.resume.as_ref().map(to_json)).collect::<Vec<_>>(),
    );
    let input_hashes: Vec<_> = outcomes.iter().map(input_hash).collect();
    let numbers = (
        outcomes.iter().map(|outcome| i64::from(outcome.processor_version)).collect::<Vec<_>>(),
        outcomes.iter().map(|outcome| i64::from(outcome.attempts)).collect::<Vec<_>>(),
        outcomes.iter().map(|outcome| outcome.cost_micros).collect::<Vec<_>>(),
        outcomes.iter().map(|outcome| outcome.finished_at.as_millis()).collect::<Vec<_>>(),
    );
    let hash = |hash: &ContentHash| hash.as_bytes().to_vec();
    let reuse = || outcomes.iter().map(|outcome| outcome.reuse.as_deref());
    let reuse = (
        reuse().map(|reuse| reuse.map(|reuse| hash(&reuse.key))).collect::<Vec<_>>(),
        reuse().map(|reuse| reuse.map(|reuse| hash(&reuse.recipe))).collect::<Vec<_>>(),
        reuse().map(|reuse| reuse.and_then(|reuse| reuse.subject.as_ref().map(hash))).collect::<Vec<_>>(),
        reuse().map(|reuse| reuse.and_then(|reuse| reuse.made.as_deref())).collect::<Vec<_>>(),
    );
    let params: [Param<'_>; 19] = [
        &columns.0,
        &columns.1,
        &columns.2,
        &columns.3,
        &columns.4,
        &outputs,
        &blobs,
        &columns.5,
        &columns.6,
        &columns.7,
        &input_hashes,
        &numbers.0,
        &numbers.1,
        &numbers.2,
        &numbers.3,
        &reuse.0,
        &reuse.1,
        &reuse.2,
        &reuse.3,
    ];
    tx.execute(if tx.again { &UPSERT } else { &INSERT }, &params).await?;
    Ok(())
}

async fn copy_outcomes(tx: &Tx, outcomes: &[&Outcome]) -> TxResult<()> {
    const OUTCOMES: Target = Target {
        table: "outcome",
        columns: &[
            ("submission_id", Type::INT8),
            ("stage", Type::TEXT),
            ("item_id", Type::INT8),
            ("processor", Type::TEXT),
            ("status", Type::INT2),
            ("output", Type::TEXT),
            ("output_blob", Type::BYTEA),
            ("confidence", Type::FLOAT8),
            ("error", Type::TEXT),
            ("resume", Type::TEXT),
            ("input_hash", Type::BYTEA),
            ("processor_version", Type::INT8),
            ("attempts", Type::INT8),
            ("cost_micros", Type::INT8),
            ("finished_at", Type::INT8),
            ("reuse_key", Type::BYTEA),
            ("recipe", Type::BYTEA),
            ("subject", Type::BYTEA),
            ("made", Type::TEXT),
        ],
    };
    copy(tx, &OUTCOMES, async |rows| {
        for outcome in outcomes {
            let (output, output_blob) = payload_columns(&outcome.output);
            let reuse = outcome.reuse.as_deref();
            let hash = |hash: Option<&'_ ContentHash>| hash.map(|hash| hash.as_bytes().to_vec());
            rows.as_mut()
                .write(&[
                    &outcome.submission.raw(),
                    &outcome.stage.as_str(),
                    &item_number(outcome.item),
                    &outcome.processor.as_str(),
                    &(outcome.status as i16),
                    &output,
                    &output_blob,
                    &outcome.confidence,
                    &outcome.error.as_ref().map(to_json),
                    &outcome.resume.as_ref().map(to_json),
                    &hash(outcome.input_hash.as_ref()),
                    &i64::from(outcome.processor_version),
                    &i64::from(outcome.attempts),
                    &outcome.cost_micros,
                    &outcome.finished_at.as_millis(),
                    &hash(reuse.map(|reuse| &reuse.key)),
                    &hash(reuse.map(|reuse| &reuse.recipe)),
                    &hash(reuse.and_then(|reuse| reuse.subject.as_ref())),
                    &reuse.and_then(|reuse| reuse.made.as_deref()),
                ])
                .await?;
        }
        Ok(())
    })
    .await
}

pub(super) async fn advance_submissions(tx: &Tx, accepted: &[&Changes]) -> TxResult<()> {
    for change in accepted.iter().flat_map(|changes| &changes.submission_changes) {
        advance_submission(tx, change).await?;
    }
    Ok(())
}

/// Only forward, and never away from a final status.
async fn advance_submission(tx: &Tx, change: &SubmissionChange) -> TxResult<()> {
    let completed_at = change.status.is_final().then(|| tx.millis());
    let advance = "UPDATE submission SET status = $2, error = coalesce($3, error), completed_at = $4, \
                   next_check = CASE WHEN $4::bigint IS NULL THEN next_check END \
                   WHERE id = $1 AND status < $2 AND status < $5";
    let (status, completed) = (status_number(change.status), status_number(SubmissionStatus::Completed));
    tx.execute(advance, &[&change.id.raw(), &status, &change.error, &completed_at, &completed]).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::waves;

    #[test]
    fn a_key_that_comes_again_begins_another_part() {
        let parts = waves(&[1, 2, 3, 2, 4, 2], |n| *n);
        assert_eq!(parts, [&[1, 2, 3][..], &[2, 4], &[2]]);
        assert!(waves::<u8, u8>(&[], |n| *n).is_empty());
    }
}
