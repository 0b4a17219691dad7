//! What units of work ask of the queue: standing submissions and their dead letters.

use super::{fail::TxResult, rows::get, session::Tx};
use crate::query::{DeadLetter, QueueQuery, QueueRows};
use bindery_core::{JobId, Name, SubmissionId, Timestamp};

pub(super) async fn find(tx: &Tx, query: &QueueQuery) -> TxResult<QueueRows> {
    let mut found = QueueRows::default();
    if query.submissions.is_empty() {
        return Ok(found);
    }
    let sql = "SELECT external_id, id FROM submission WHERE external_id = ANY($1)";
    for row in tx.query(sql, &[&query.submissions]).await? {
        found.submissions.insert(get(&row, 0)?, SubmissionId::from_raw(get(&row, 1)?));
    }
    if query.dedup_keys.is_empty() {
        return Ok(found);
    }
    let sql = "SELECT j.id, j.dedup_key, j.payload FROM submission s JOIN job j ON j.submission_id = s.id \
               WHERE s.external_id = ANY($1) AND j.dedup_key = ANY($2) AND j.state = 5 ORDER BY j.id";
    let letter = |row: &tokio_postgres::Row| {
        Ok(DeadLetter { job: JobId::from_raw(get(row, 0)?), dedup_key: get(row, 1)?, payload: get(row, 2)? })
    };
    found.dead_letters = tx.collect(sql, &[&query.submissions, &query.dedup_keys], letter).await?;
    Ok(found)
}

pub(super) async fn delete(tx: &Tx, jobs: &[JobId]) -> TxResult<()> {
    if jobs.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = jobs.iter().map(|job| job.raw()).collect();
    tx.execute("DELETE FROM job WHERE id = ANY($1) AND state = 5", &[&ids]).await.map(drop)
}

/// Those of a queue that were made before a time. Returns how many went.
pub(super) async fn delete_old(tx: &Tx, queue: &Name, before: Timestamp) -> TxResult<u64> {
    let sql = "DELETE FROM job WHERE queue = $1 AND shelf = 5 AND state = 5 AND created_at < $2";
    tx.execute(sql, &[&queue.as_str(), &before.as_millis()]).await
}
