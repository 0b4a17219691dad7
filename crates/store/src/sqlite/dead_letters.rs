//! What units of work ask of the queue: standing submissions and their dead letters.

use super::{
    rows::{id_list, to_json},
    writer::{Tx, WriteResult},
};
use crate::query::{DeadLetter, QueueQuery, QueueRows};
use bindery_core::{JobId, Name, SubmissionId, Timestamp};
use rusqlite::Connection;

pub(super) fn find(db: &Connection, query: &QueueQuery) -> rusqlite::Result<QueueRows> {
    let mut found = QueueRows::default();
    if query.submissions.is_empty() {
        return Ok(found);
    }
    let submissions = to_json(&query.submissions);
    let mut statement = db.prepare_cached(
        "SELECT external_id, id FROM submission WHERE external_id IN (SELECT value FROM json_each(?1))",
    )?;
    let rows = statement.query_map([&submissions], |row| Ok((row.get(0)?, SubmissionId::from_raw(row.get(1)?))))?;
    found.submissions = rows.collect::<rusqlite::Result<_>>()?;
    if query.dedup_keys.is_empty() {
        return Ok(found);
    }
    let mut statement = db.prepare_cached(
        "SELECT j.id, j.dedup_key, j.payload FROM submission s JOIN job j ON j.submission_id = s.id \
         WHERE s.external_id IN (SELECT value FROM json_each(?1)) AND j.dedup_key IN (SELECT value FROM json_each(?2)) \
         AND j.state = 5 ORDER BY j.id",
    )?;
    let rows = statement.query_map((&submissions, to_json(&query.dedup_keys)), |row| {
        Ok(DeadLetter { job: JobId::from_raw(row.get(0)?), dedup_key: row.get(1)?, payload: row.get(2)? })
    })?;
    found.dead_letters = rows.collect::<rusqlite::Result<_>>()?;
    Ok(found)
}

pub(super) fn delete(tx: &Tx<'_>, jobs: &[JobId]) -> WriteResult<()> {
    if jobs.is_empty() {
        return Ok(());
    }
    let sql = "DELETE FROM job WHERE id IN (SELECT value FROM json_each(?1)) AND state = 5";
    tx.db.prepare_cached(sql)?.execute([id_list(jobs.iter().map(|job| job.raw()))])?;
    Ok(())
}

/// Those of a queue that were made before a time. Returns how many went.
pub(super) fn delete_old(tx: &Tx<'_>, queue: &Name, before: Timestamp) -> WriteResult<u64> {
    let sql = "DELETE FROM job WHERE queue = ?1 AND state = 5 AND created_at < ?2";
    Ok(tx.db.prepare_cached(sql)?.execute((queue.as_str(), before.as_millis()))? as u64)
}
