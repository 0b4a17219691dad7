//! Holds, deletions, and giving space back.

use super::{
    backend::SqliteStore,
    blob_refs, dead_letters, events, reclaim,
    removal::{self, collect_hashes},
    rows::{self, status_number},
    writer::{Tx, WriteResult},
};
use crate::{
    error::{StoreError, StoreResult},
    retention::{
        Candidates, Deletion, EventAge, Expiry, Extent, Hold, Marked, PARTS, Reason, Reclaimed, Retained, Retention,
        RetentionFilter,
    },
    rows::blob_columns,
};
use async_trait::async_trait;
use bindery_core::{ContentHash, Name, SubmissionId, Timestamp, event::kind, submission::SubmissionStatus};
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};
use serde_json::json;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

/// A worker that was seen within this time may be alive.
const SEEN_LATELY: Duration = Duration::from_secs(60);

#[async_trait]
impl Retention for SqliteStore {
    async fn hold(&self, submissions: Vec<SubmissionId>, reason: &str) -> StoreResult<Vec<SubmissionId>> {
        let reason = reason.to_owned();
        self.writer().write(move |tx| hold(tx, &submissions, &reason)).await
    }

    async fn release_hold(&self, submissions: Vec<SubmissionId>) -> StoreResult<Vec<SubmissionId>> {
        self.writer().write(move |tx| release(tx, &submissions)).await
    }

    async fn holds(&self) -> StoreResult<Vec<Hold>> {
        let sql = "SELECT submission_id, hold_reason, held_at FROM retention WHERE hold_reason IS NOT NULL ORDER BY 1";
        self.readers().read(move |db| rows::collect(db, sql, [], read_hold)).await
    }

    async fn list_retained(&self, filter: RetentionFilter) -> StoreResult<Vec<Retained>> {
        self.readers().read(move |db| list_retained(db, &filter)).await
    }

    async fn extent(&self, submissions: Vec<SubmissionId>) -> StoreResult<Extent> {
        self.readers().read(move |db| extent(db, &submissions)).await
    }

    async fn delete_submissions(
        &self,
        submissions: Vec<SubmissionId>,
        because: Reason,
        max_rows: usize,
    ) -> StoreResult<Vec<Deletion>> {
        self.writer().write(move |tx| removal::delete_all(tx, &submissions, because, max_rows)).await
    }

    async fn expire(
        &self,
        submissions: Vec<SubmissionId>,
        expiry: Expiry,
        max_rows: usize,
    ) -> StoreResult<Vec<Deletion>> {
        self.writer().write(move |tx| removal::expire_all(tx, &submissions, &expiry, max_rows)).await
    }

    async fn delete_events(&self, age: EventAge, limit: usize) -> StoreResult<u64> {
        self.writer().write(move |tx| removal::delete_events(tx, &age, limit)).await
    }

    async fn delete_workers(&self, before: Timestamp) -> StoreResult<u64> {
        let sql = "DELETE FROM worker WHERE seen_at < ?1";
        self.writer().write(move |tx| Ok(tx.db.prepare_cached(sql)?.execute([before.as_millis()])? as u64)).await
    }

    async fn delete_dead_letters(&self, queue: &Name, before: Timestamp) -> StoreResult<u64> {
        let queue = queue.clone();
        self.writer().write(move |tx| dead_letters::delete_old(tx, &queue, before)).await
    }

    async fn claim_sweep(&self, name: &Name, every: Duration) -> StoreResult<bool> {
        let name = name.clone();
        self.writer()
            .write(move |tx| {
                let next = (tx.now + every).as_millis();
                let mut claim = tx.db.prepare_cached(
                    "INSERT INTO retention_sweep (name, due_at) VALUES (?1, ?2) \
                     ON CONFLICT (name) DO UPDATE SET due_at = ?2 WHERE due_at <= ?3",
                )?;
                Ok(claim.execute((name.as_str(), next, tx.now.as_millis()))? == 1)
            })
            .await
    }

    async fn blob_candidates(&self, before: Option<Timestamp>, limit: usize) -> StoreResult<Candidates> {
        self.readers().read(move |db| blob_refs::candidates(db, before, limit)).await
    }

    async fn add_candidates(&self, candidates: Candidates) -> StoreResult<()> {
        self.writer().write(move |tx| blob_refs::add_candidates(tx, &candidates)).await
    }

    async fn settle_candidates(&self, hashes: Vec<ContentHash>) -> StoreResult<()> {
        let sql = "DELETE FROM blob_candidate WHERE hash = ?1";
        self.writer()
            .write(move |tx| {
                let mut settle = tx.db.prepare_cached(sql)?;
                hashes.iter().try_for_each(|hash| settle.execute([hash.as_bytes()]).map(drop)).map_err(Into::into)
            })
            .await
    }

    async fn mark_blobs(&self, candidates: Arc<Candidates>) -> StoreResult<Marked> {
        let named_in = blob_columns(self.options().domains);
        self.readers().read(move |db| blob_refs::mark(db, &named_in, &candidates)).await
    }

    async fn cache_mentions(
        &self,
        read: HashMap<ContentHash, Vec<ContentHash>>,
        gone: Vec<ContentHash>,
    ) -> StoreResult<()> {
        self.writer().write(move |tx| blob_refs::cache(tx, &read, &gone)).await
    }

    async fn is_used_alone(&self) -> StoreResult<bool> {
        if !self.in_use().is_alone() {
            return Ok(false);
        }
        let seen = self.options().clock.now() - SEEN_LATELY;
        let sql = "SELECT EXISTS (SELECT 1 FROM job WHERE state = 2) \
                   OR EXISTS (SELECT 1 FROM worker WHERE seen_at >= ?1 AND ifnull(left_at, 0) < seen_at)";
        let busy: bool = self.readers().read(move |db| db.query_row(sql, [seen.as_millis()], |row| row.get(0))).await?;
        Ok(!busy)
    }

    async fn reclaim(&self, whole: bool) -> StoreResult<Reclaimed> {
        let options = self.options().clone();
        let reclaimed = tokio::task::spawn_blocking(move || reclaim::reclaim(&options, whole)).await;
        reclaimed.map_err(|_| StoreError::Closed)?
    }
}

fn read_hold(row: &Row<'_>) -> rusqlite::Result<Hold> {
    Ok(Hold {
        submission: SubmissionId::from_raw(row.get(0)?),
        reason: row.get(1)?,
        held_at: Timestamp::from_millis(row.get::<_, Option<i64>>(2)?.unwrap_or(0)),
    })
}

fn hold(tx: &Tx<'_>, submissions: &[SubmissionId], reason: &str) -> WriteResult<Vec<SubmissionId>> {
    let mut new = Vec::new();
    for id in submissions {
        let known = tx.db.prepare_cached("SELECT 1 FROM submission WHERE id = ?1")?.exists([id.raw()])?;
        if !known {
            return Err(StoreError::not_found(id).into());
        }
        let mut find =
            tx.db.prepare_cached("SELECT hold_reason, deleting_at FROM retention WHERE submission_id = ?1")?;
        let before: Option<(Option<String>, Option<i64>)> =
            find.query_row([id.raw()], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        if matches!(before, Some((_, Some(_)))) {
            let message = format!("{id} is being deleted and cannot be placed on hold any more");
            return Err(StoreError::Invalid(message).into());
        }
        let mut place = tx.db.prepare_cached(
            "INSERT INTO retention (submission_id, hold_reason, held_at) VALUES (?1, ?2, ?3) \
             ON CONFLICT (submission_id) DO UPDATE SET hold_reason = ?2, \
             held_at = CASE WHEN hold_reason IS NULL THEN ?3 ELSE held_at END",
        )?;
        place.execute((id.raw(), reason, tx.now.as_millis()))?;
        if !matches!(before, Some((Some(_), _))) {
            events::append_about(tx, kind::SUBMISSION_HELD, *id, None, &json!({"reason": reason}))?;
            new.push(*id);
        }
    }
    Ok(new)
}

fn release(tx: &Tx<'_>, submissions: &[SubmissionId]) -> WriteResult<Vec<SubmissionId>> {
    let mut released = Vec::new();
    for id in submissions {
        let mut release = tx.db.prepare_cached(
            "UPDATE retention SET hold_reason = NULL, held_at = NULL \
             WHERE submission_id = ?1 AND hold_reason IS NOT NULL",
        )?;
        if release.execute([id.raw()])? == 1 {
            events::append_about(tx, kind::SUBMISSION_RELEASED, *id, None, &json!({}))?;
            released.push(*id);
        }
    }
    Ok(released)
}

fn list_retained(db: &Connection, filter: &RetentionFilter) -> rusqlite::Result<Vec<Retained>> {
    let mut conditions = vec!["s.id > ?1".to_owned()];
    let mut values: Vec<rusqlite::types::Value> = vec![filter.after.map_or(0, SubmissionId::raw).into()];
    let mut that = |condition: &str, value: rusqlite::types::Value| {
        values.push(value);
        conditions.push(condition.replace('?', &format!("?{}", values.len())));
    };
    if let Some(owner) = &filter.owner {
        that("s.owner = ?", owner.clone().into());
    }
    if let Some(workflow) = &filter.workflow {
        that("s.workflow = ?", workflow.to_string().into());
    }
    if let Some(before) = filter.ended_before {
        that("s.completed_at < ?", before.as_millis().into());
        conditions.push(format!("s.status >= {}", status_number(SubmissionStatus::Completed)));
    }
    if let Some(parts) = &filter.has {
        let bits = parts.bits();
        conditions.push(format!("ifnull(r.expired, 0) & {bits} <> {bits}"));
    }
    if filter.deleting {
        conditions.push("r.deleting_at IS NOT NULL".to_owned());
    }
    let sql = format!(
        "SELECT s.id, s.workflow, s.status, r.hold_reason FROM submission s \
         LEFT JOIN retention r ON r.submission_id = s.id WHERE {} ORDER BY s.id LIMIT {}",
        conditions.join(" AND "),
        filter.limit
    );
    let mut statement = db.prepare_cached(&sql)?;
    let found = statement.query_map(params_from_iter(values), |row| {
        Ok(Retained {
            id: SubmissionId::from_raw(row.get(0)?),
            workflow: row.get::<_, String>(1)?.into(),
            status: status(row, 2)?,
            hold: row.get(3)?,
        })
    })?;
    found.collect()
}

pub(super) fn status(row: &Row<'_>, column: usize) -> rusqlite::Result<SubmissionStatus> {
    let number: i64 = row.get(column)?;
    let known = usize::try_from(number).ok().and_then(|index| SubmissionStatus::ALL.get(index)).copied();
    known.ok_or_else(|| rows::unexpected_value(column, rusqlite::types::Type::Integer, "a submission status"))
}

fn extent(db: &Connection, submissions: &[SubmissionId]) -> rusqlite::Result<Extent> {
    let mut extent = Extent::default();
    let mut blobs = HashSet::new();
    for id in submissions {
        for (table, _, columns) in PARTS {
            let sql = format!("SELECT {columns} FROM {table} WHERE submission_id = ?1");
            let mut statement = db.prepare_cached(&sql)?;
            let mut found = statement.query([id.raw()])?;
            while let Some(row) = found.next()? {
                extent.rows += 1;
                collect_hashes(row, &mut blobs)?;
            }
        }
        for sql in [
            "SELECT count(*) FROM submission WHERE id = ?1",
            "SELECT count(*) FROM event WHERE submission_id = ?1",
            "SELECT ifnull(sum(1 + chunks), 0) FROM indexed_document WHERE submission_id = ?1",
        ] {
            extent.rows += db.prepare_cached(sql)?.query_row([id.raw()], |row| row.get::<_, i64>(0))? as u64;
        }
    }
    extent.blobs = blobs.into_iter().collect();
    Ok(extent)
}
