//! Deleting the rows of submissions, whole or in part, and remembering the blobs that they named.

use super::{
    events,
    retention::status,
    row_store::Sqlite,
    rows::{self, status_number},
    writer::{Tx, WriteResult},
};
use crate::executions::DeletedExecutions;
use crate::retention::{
    Deleted, Deletion, EventAge, Expiry, Reason, Refusal, mentions,
    statements::{self, Taking},
};
use bindery_core::{
    ContentHash, EventSeq, SubmissionId,
    event::{NewEvent, kind},
    submission::SubmissionStatus,
};
use rusqlite::{
    Connection, OptionalExtension, Row,
    types::{Value as SqlValue, ValueRef},
};
use serde_json::json;
use std::collections::HashSet;

pub(super) fn delete_all(
    tx: &Tx<'_>,
    submissions: &[SubmissionId],
    because: Reason,
    max_rows: usize,
) -> WriteResult<Vec<Deletion>> {
    let mut removal = Removal::new(max_rows);
    let mut deletions = Vec::with_capacity(submissions.len());
    for id in submissions {
        deletions.push(Deletion { submission: *id, deleted: removal.delete(tx, *id, because)? });
    }
    removal.remember_candidates(tx, 0)?;
    Ok(deletions)
}

pub(super) fn expire_all(
    tx: &Tx<'_>,
    submissions: &[SubmissionId],
    expiry: &Expiry,
    max_rows: usize,
) -> WriteResult<Vec<Deletion>> {
    let mut removal = Removal::new(max_rows);
    let mut deletions = Vec::with_capacity(submissions.len());
    for id in submissions {
        deletions.push(Deletion { submission: *id, deleted: removal.expire(tx, *id, expiry)? });
        // What the submission still says of these blobs does not keep them.
        removal.remember_candidates(tx, id.raw())?;
    }
    Ok(deletions)
}

pub(super) fn delete_events(tx: &Tx<'_>, age: &EventAge, limit: usize) -> WriteResult<u64> {
    let (before, workflow, which) = match age {
        EventAge::UnderWay { workflow, before } => {
            let of = "submission_id IN (SELECT id FROM submission WHERE workflow = ?4 AND status < ?5)";
            (before, workflow.as_str(), of)
        }
        EventAge::Ownerless { before } => {
            let of = "(submission_id IS NULL OR submission_id NOT IN (SELECT id FROM submission)) \
                      AND ?4 IS NOT NULL AND ?5 IS NOT NULL";
            (before, "", of)
        }
    };
    let sql = format!(
        "DELETE FROM event WHERE seq IN \
         (SELECT seq FROM event WHERE seq <= ?1 AND at < ?2 AND {which} ORDER BY seq LIMIT ?3)"
    );
    let completed = status_number(SubmissionStatus::Completed);
    let parameters = (read_by_all(tx.db)?, before.as_millis(), limit as i64, workflow, completed);
    Ok(tx.db.prepare_cached(&sql)?.execute(parameters)? as u64)
}

/// Up to where every consumer has read, the newest event left out: the next position is counted from it.
fn read_by_all(db: &Connection) -> rusqlite::Result<i64> {
    db.query_row(
        "SELECT min((SELECT ifnull(max(seq), 0) - 1 FROM event), \
                    (SELECT ifnull(min(position), 9223372036854775807) FROM consumer))",
        [],
        |row| row.get(0),
    )
}

/// The blobs that a row names, whatever its columns are.
pub(super) fn collect_hashes(row: &Row<'_>, found: &mut HashSet<ContentHash>) -> rusqlite::Result<()> {
    for column in 0..row.as_ref().column_count() {
        match row.get_ref(column)? {
            ValueRef::Blob(bytes) => {
                if let Ok(bytes) = bytes.try_into() {
                    found.insert(ContentHash::from_bytes(bytes));
                }
            }
            ValueRef::Text(text) => mentions(text, |hash| {
                found.insert(hash);
            }),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => {}
        }
    }
    Ok(())
}

/// Why a submission must stay as it is; none if it may go. One whose deletion has begun goes, whatever was said since.
fn refusal(tx: &Tx<'_>, id: SubmissionId) -> WriteResult<Option<Refusal>> {
    let mut find = tx.db.prepare_cached(
        "SELECT s.status, r.hold_reason, r.deleting_at FROM submission s \
         LEFT JOIN retention r ON r.submission_id = s.id WHERE s.id = ?1",
    )?;
    let found = find.query_row([id.raw()], |row| {
        Ok((status(row, 0)?, row.get::<_, Option<String>>(1)?, row.get::<_, Option<i64>>(2)?))
    });
    Ok(match found.optional()? {
        None => Some(Refusal::NotFound),
        Some((_, _, Some(_))) => None,
        Some((_, Some(reason), None)) => Some(Refusal::OnHold { reason }),
        Some((status, None, None)) => (!status.is_final()).then_some(Refusal::UnderWay { status }),
    })
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

    fn take(&mut self, tx: &Tx<'_>, taking: &Taking, id: SubmissionId) -> WriteResult<u64> {
        if self.room <= 0 {
            return Ok(0);
        }
        let parameters = (id.raw(), self.room);
        if let Some(names) = &taking.names {
            let mut statement = tx.db.prepare_cached(names)?;
            let mut rows = statement.query(parameters)?;
            while let Some(row) = rows.next()? {
                collect_hashes(row, &mut self.candidates)?;
            }
        }
        let rows = tx.db.prepare_cached(&taking.change)?.execute(parameters)?;
        self.room -= rows as i64;
        Ok(rows as u64)
    }

    fn delete(&mut self, tx: &Tx<'_>, id: SubmissionId, because: Reason) -> WriteResult<Deleted> {
        if self.room <= 0 {
            return Ok(Deleted::Partly { rows: 0 });
        }
        if let Some(refusal) = refusal(tx, id)? {
            return Ok(Deleted::Refused(refusal));
        }
        let mut rows = 0;
        for taking in statements::whole::<Sqlite>() {
            rows += self.take(tx, &taking, id)?;
        }
        // Whatever consumers have read: they are told that it is gone. The newest event stays for the moment.
        let newest: i64 = tx.db.query_row("SELECT ifnull(max(seq), 0) FROM event", [], |row| row.get(0))?;
        rows += self.take(tx, &statements::events::<Sqlite>(newest - 1), id)?;
        if self.room <= 0 {
            let mut mark = tx.db.prepare_cached(
                "INSERT INTO retention (submission_id, deleting_at) VALUES (?1, ?2) \
                 ON CONFLICT (submission_id) DO UPDATE SET deleting_at = ifnull(deleting_at, ?2)",
            )?;
            mark.execute((id.raw(), tx.now.as_millis()))?;
            return Ok(Deleted::Partly { rows });
        }
        // Nothing of what it was: not even the id that its sender knows it by.
        let data = json!({"because": because.as_str()}).to_string();
        let reported = events::append(tx, &NewEvent::new(kind::SUBMISSION_DELETED, Some(id), data))?;
        let mut left = tx.db.prepare_cached("DELETE FROM event WHERE submission_id = ?1 AND seq <> ?2")?;
        rows += left.execute((id.raw(), reported.map_or(0, EventSeq::raw)))? as u64;
        for sql in ["DELETE FROM retention WHERE submission_id = ?1", "DELETE FROM submission WHERE id = ?1"] {
            rows += tx.db.prepare_cached(sql)?.execute([id.raw()])? as u64;
        }
        Ok(Deleted::Whole { rows })
    }

    fn expire(&mut self, tx: &Tx<'_>, id: SubmissionId, expiry: &Expiry) -> WriteResult<Deleted> {
        if self.room <= 0 {
            return Ok(Deleted::Partly { rows: 0 });
        }
        if let Some(refusal) = refusal(tx, id)? {
            return Ok(Deleted::Refused(refusal));
        }
        let mut rows = 0;
        for taking in statements::expired::<Sqlite>(expiry, read_by_all(tx.db)?) {
            rows += self.take(tx, &taking, id)?;
        }
        if self.room <= 0 {
            return Ok(Deleted::Partly { rows });
        }
        let mut mark = tx.db.prepare_cached(
            "INSERT INTO retention (submission_id, expired) VALUES (?1, ?2) \
             ON CONFLICT (submission_id) DO UPDATE SET expired = expired | ?2",
        )?;
        mark.execute((id.raw(), expiry.bits()))?;
        let data = json!({"parts": expiry.names()});
        events::append_about(tx, kind::SUBMISSION_EXPIRED, id, None, &data)?;
        Ok(Deleted::Whole { rows })
    }

    /// What the rows named may be unused now. With a submission, that one's own word does not count.
    fn remember_candidates(&mut self, tx: &Tx<'_>, submission: i64) -> WriteResult<()> {
        remember_candidates(tx, self.candidates.drain(), submission)
    }
}

fn remember_candidates(tx: &Tx<'_>, candidates: impl Iterator<Item = ContentHash>, submission: i64) -> WriteResult<()> {
    let mut remember = tx.db.prepare_cached(
        "INSERT INTO blob_candidate (hash, submission_id, since) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
    )?;
    for hash in candidates {
        remember.execute((hash.as_bytes(), submission, tx.now.as_millis()))?;
    }
    Ok(())
}

/// The condition that executions are found by, with the value of its parameter.
pub(super) fn of_executions(which: &DeletedExecutions) -> (String, SqlValue) {
    match which {
        DeletedExecutions::EndedBefore(before) => {
            (format!("ended_at < ?1 AND {}", statements::NOT_ON_HOLD), before.as_millis().into())
        }
        DeletedExecutions::OwnedBy(owner) => ("owner = ?1".to_owned(), owner.clone().into()),
    }
}

pub(super) fn delete_executions(
    tx: &Tx<'_>,
    which: &DeletedExecutions,
    because: Reason,
    limit: usize,
) -> WriteResult<u64> {
    let (condition, value) = of_executions(which);
    let sql = format!("SELECT id FROM execution WHERE {condition} ORDER BY id LIMIT ?2");
    let ids: Vec<i64> = rows::collect(tx.db, &sql, (value, limit as i64), |row| row.get(0))?;
    if ids.is_empty() {
        return Ok(0);
    }
    let ids = rows::id_list(ids.into_iter());
    let mut candidates = HashSet::new();
    for names in statements::EXECUTION_NAMES {
        let sql = names.replace("{ids}", "(SELECT value FROM json_each(?1))");
        let mut statement = tx.db.prepare_cached(&sql)?;
        let mut rows = statement.query([&ids])?;
        while let Some(row) = rows.next()? {
            collect_hashes(row, &mut candidates)?;
        }
    }
    let mut deleted = 0;
    for delete in statements::EXECUTION_ROWS {
        let sql = delete.replace("{ids}", "(SELECT value FROM json_each(?1))");
        deleted = tx.db.prepare_cached(&sql)?.execute([&ids])? as u64;
    }
    remember_candidates(tx, candidates.into_iter(), 0)?;
    let data = json!({"executions": deleted, "because": because.as_str()}).to_string();
    events::append(tx, &NewEvent::new(kind::EXECUTIONS_DELETED, None, data))?;
    Ok(deleted)
}
