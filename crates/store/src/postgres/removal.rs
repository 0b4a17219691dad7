//! Deleting the rows of submissions, whole or in part, and remembering the blobs that they named.

use super::{
    events,
    fail::TxResult,
    row_store::Postgres,
    rows::{get, status_number},
    session::Tx,
};
use crate::{
    error::StoreError,
    executions::DeletedExecutions,
    retention::{
        Deleted, Deletion, EventAge, Expiry, Reason, Refusal, mentions,
        statements::{self, Taking},
    },
};
use bindery_core::{
    ContentHash, EventSeq, SubmissionId,
    event::{NewEvent, kind},
    submission::SubmissionStatus,
};
use serde_json::json;
use std::collections::HashSet;
use tokio_postgres::{
    Row,
    types::{ToSql, Type},
};

pub(super) async fn delete_all(
    tx: &Tx,
    submissions: &[SubmissionId],
    because: Reason,
    max_rows: usize,
) -> TxResult<Vec<Deletion>> {
    let mut removal = Removal::new(max_rows);
    let mut deletions = Vec::with_capacity(submissions.len());
    for id in submissions {
        deletions.push(Deletion { submission: *id, deleted: removal.delete(tx, *id, because).await? });
    }
    removal.remember_candidates(tx, 0).await?;
    Ok(deletions)
}

pub(super) async fn expire_all(
    tx: &Tx,
    submissions: &[SubmissionId],
    expiry: &Expiry,
    max_rows: usize,
) -> TxResult<Vec<Deletion>> {
    let mut removal = Removal::new(max_rows);
    let mut deletions = Vec::with_capacity(submissions.len());
    for id in submissions {
        deletions.push(Deletion { submission: *id, deleted: removal.expire(tx, *id, expiry).await? });
        // What the submission still says of these blobs does not keep them.
        removal.remember_candidates(tx, id.raw()).await?;
    }
    Ok(deletions)
}

pub(super) async fn delete_events(tx: &Tx, age: &EventAge, limit: usize) -> TxResult<u64> {
    let completed = i64::from(status_number(SubmissionStatus::Completed));
    let (before, workflow, which) = match age {
        EventAge::UnderWay { workflow, before } => {
            let of = "submission_id IN (SELECT id FROM submission WHERE workflow = $4 AND status < $5::bigint)";
            (before, workflow.as_str(), of)
        }
        EventAge::Ownerless { before } => {
            let of = "NOT EXISTS (SELECT 1 FROM submission s WHERE s.id = event.submission_id) \
                      AND $4::text IS NOT NULL AND $5::bigint IS NOT NULL";
            (before, "", of)
        }
    };
    let sql = format!(
        "DELETE FROM event WHERE seq IN \
         (SELECT seq FROM event WHERE seq <= $1 AND at < $2 AND {which} ORDER BY seq LIMIT $3)"
    );
    let (read, limit) = (read_by_all(tx).await?, i64::try_from(limit).unwrap_or(i64::MAX));
    tx.execute(&sql, &[&read, &before.as_millis(), &limit, &workflow, &completed]).await
}

/// Up to where every consumer has read, the newest event left out: after a move to another server, the next position is
/// counted from it.
async fn read_by_all(tx: &Tx) -> TxResult<i64> {
    let sql = "SELECT least((SELECT coalesce(max(seq), 0) - 1 FROM event), \
               (SELECT coalesce(min(position), 9223372036854775807) FROM consumer))";
    tx.first(sql, &[]).await?.map_or(Ok(0), |row| get(&row, 0))
}

/// The blobs that a row names, whatever its columns are.
pub(super) fn collect_hashes(row: &Row, found: &mut HashSet<ContentHash>) -> TxResult<()> {
    for (place, column) in row.columns().iter().enumerate() {
        if *column.type_() == Type::BYTEA {
            if let Some(Ok(bytes)) = get::<Option<&[u8]>>(row, place)?.map(TryInto::try_into) {
                found.insert(ContentHash::from_bytes(bytes));
            }
        } else if *column.type_() == Type::TEXT
            && let Some(text) = get::<Option<&str>>(row, place)?
        {
            mentions(text.as_bytes(), |hash| {
                found.insert(hash);
            });
        }
    }
    Ok(())
}

pub(super) fn status(row: &Row, column: usize) -> TxResult<SubmissionStatus> {
    let number: i16 = get(row, column)?;
    let known = usize::try_from(number).ok().and_then(|index| SubmissionStatus::ALL.get(index)).copied();
    known.ok_or_else(|| StoreError::Database(format!("{number} is no status of a submission")).into())
}

/// Why a submission must stay as it is; none if it may go: its row is locked then. One whose deletion has begun goes, whatever
/// was said since.
async fn refusal(tx: &Tx, id: SubmissionId) -> TxResult<Option<Refusal>> {
    let Some(found) = tx.first("SELECT status FROM submission WHERE id = $1 FOR UPDATE", &[&id.raw()]).await? else {
        return Ok(Some(Refusal::NotFound));
    };
    let status = status(&found, 0)?;
    let find = "SELECT hold_reason, deleting_at FROM retention WHERE submission_id = $1";
    if let Some(row) = tx.first(find, &[&id.raw()]).await? {
        if get::<Option<i64>>(&row, 1)?.is_some() {
            return Ok(None);
        }
        if let Some(reason) = get(&row, 0)? {
            return Ok(Some(Refusal::OnHold { reason }));
        }
    }
    Ok((!status.is_final()).then_some(Refusal::UnderWay { status }))
}

/// Rows that go in one transaction, and the blobs that they named.
struct Removal {
    room: i64,
    candidates: HashSet<ContentHash>,
}

impl Removal {
    fn new(max_rows: usize) -> Self {
        Self { room: i64::try_from(max_rows).unwrap_or(i64::MAX).max(1), candidates: HashSet::new() }
    }

    async fn take(&mut self, tx: &Tx, taking: &Taking, id: SubmissionId) -> TxResult<u64> {
        if self.room <= 0 {
            return Ok(0);
        }
        if let Some(names) = &taking.names {
            for row in tx.query(names, &[&id.raw(), &self.room]).await? {
                collect_hashes(&row, &mut self.candidates)?;
            }
        }
        let rows = tx.execute(&taking.change, &[&id.raw(), &self.room]).await?;
        self.room -= rows as i64;
        Ok(rows)
    }

    async fn delete(&mut self, tx: &Tx, id: SubmissionId, because: Reason) -> TxResult<Deleted> {
        if self.room <= 0 {
            return Ok(Deleted::Partly { rows: 0 });
        }
        if let Some(refusal) = refusal(tx, id).await? {
            return Ok(Deleted::Refused(refusal));
        }
        let mut rows = 0;
        for taking in statements::whole::<Postgres>() {
            rows += self.take(tx, &taking, id).await?;
        }
        // Whatever consumers have read: they are told that it is gone. The newest event stays for the moment.
        let newest = tx.first("SELECT coalesce(max(seq), 0) FROM event", &[]).await?;
        let newest: i64 = newest.map_or(Ok(0), |row| get(&row, 0))?;
        rows += self.take(tx, &statements::events::<Postgres>(newest - 1), id).await?;
        if self.room <= 0 {
            let mark = "INSERT INTO retention (submission_id, deleting_at) VALUES ($1, $2) ON CONFLICT (submission_id) \
                        DO UPDATE SET deleting_at = coalesce(retention.deleting_at, excluded.deleting_at)";
            tx.execute(mark, &[&id.raw(), &tx.millis()]).await?;
            return Ok(Deleted::Partly { rows });
        }
        // Nothing of what it was: not even the id that its sender knows it by.
        let data = json!({"because": because.as_str()}).to_string();
        let reported = events::append(tx, &[&NewEvent::new(kind::SUBMISSION_DELETED, Some(id), data)]).await?;
        let reported = reported.first().copied().flatten().map_or(0, EventSeq::raw);
        let left = "DELETE FROM event WHERE submission_id = $1 AND seq <> $2";
        rows += tx.execute(left, &[&id.raw(), &reported]).await?;
        for sql in ["DELETE FROM retention WHERE submission_id = $1", "DELETE FROM submission WHERE id = $1"] {
            rows += tx.execute(sql, &[&id.raw()]).await?;
        }
        Ok(Deleted::Whole { rows })
    }

    async fn expire(&mut self, tx: &Tx, id: SubmissionId, expiry: &Expiry) -> TxResult<Deleted> {
        if self.room <= 0 {
            return Ok(Deleted::Partly { rows: 0 });
        }
        if let Some(refusal) = refusal(tx, id).await? {
            return Ok(Deleted::Refused(refusal));
        }
        let mut rows = 0;
        for taking in statements::expired::<Postgres>(expiry, read_by_all(tx).await?) {
            rows += self.take(tx, &taking, id).await?;
        }
        if self.room <= 0 {
            return Ok(Deleted::Partly { rows });
        }
        let mark = "INSERT INTO retention (submission_id, expired) VALUES ($1, $2) ON CONFLICT (submission_id) \
                    DO UPDATE SET expired = retention.expired | excluded.expired";
        tx.execute(mark, &[&id.raw(), &expiry.bits()]).await?;
        let data = json!({"parts": expiry.names()});
        events::append_about(tx, kind::SUBMISSION_EXPIRED, id, None, &data).await?;
        Ok(Deleted::Whole { rows })
    }

    /// What the rows named may be unused now. With a submission, that one's own word does not count.
    async fn remember_candidates(&mut self, tx: &Tx, submission: i64) -> TxResult<()> {
        remember_candidates(tx, self.candidates.drain().collect(), submission).await
    }
}

async fn remember_candidates(tx: &Tx, hashes: Vec<ContentHash>, submission: i64) -> TxResult<()> {
    if hashes.is_empty() {
        return Ok(());
    }
    let hashes: Vec<&[u8]> = hashes.iter().map(|hash| hash.as_bytes().as_slice()).collect();
    let remember = "INSERT INTO blob_candidate (hash, submission_id, since) \
                    SELECT hash, $2, $3 FROM unnest($1::bytea[]) AS hash ORDER BY hash ON CONFLICT DO NOTHING";
    tx.execute(remember, &[&hashes, &submission, &tx.millis()]).await.map(drop)
}

/// The condition that executions are found by, with the value of its parameter.
pub(super) fn of_executions(which: &DeletedExecutions) -> (String, Box<dyn ToSql + Sync + Send>) {
    match which {
        DeletedExecutions::EndedBefore(before) => {
            (format!("ended_at < $1 AND {}", statements::NOT_ON_HOLD), Box::new(before.as_millis()))
        }
        DeletedExecutions::OwnedBy(owner) => ("owner = $1".to_owned(), Box::new(owner.clone())),
    }
}

pub(super) async fn delete_executions(
    tx: &Tx,
    which: &DeletedExecutions,
    because: Reason,
    limit: usize,
) -> TxResult<u64> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let (condition, value) = of_executions(which);
    let sql = format!("SELECT id FROM execution WHERE {condition} ORDER BY id LIMIT $2 FOR UPDATE");
    let ids = tx.collect(&sql, &[&*value, &limit], |row| get::<i64>(row, 0)).await?;
    if ids.is_empty() {
        return Ok(0);
    }
    let mut candidates = HashSet::new();
    for names in statements::EXECUTION_NAMES {
        for row in tx.query(&names.replace("IN {ids}", "= ANY($1)"), &[&ids]).await? {
            collect_hashes(&row, &mut candidates)?;
        }
    }
    let mut deleted = 0;
    for delete in statements::EXECUTION_ROWS {
        deleted = tx.execute(&delete.replace("IN {ids}", "= ANY($1)"), &[&ids]).await?;
    }
    remember_candidates(tx, candidates.into_iter().collect(), 0).await?;
    let data = json!({"executions": deleted, "because": because.as_str()}).to_string();
    events::append(tx, &[&NewEvent::new(kind::EXECUTIONS_DELETED, None, data)]).await?;
    Ok(deleted)
}
