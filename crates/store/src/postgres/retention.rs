//! Holds, deletions, and giving space back.

use super::{
    backend::PostgresStore,
    blob_refs, dead_letters, events,
    fail::TxResult,
    removal::{self, collect_hashes},
    rows::{get, name, status_number},
    session::{Param, Tx, transaction},
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
use serde_json::json;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};
use tokio_postgres::Row;

/// A worker that was seen within this time may be alive.
const SEEN_LATELY: Duration = Duration::from_secs(60);

/// The tables of the store itself that deletions take rows from.
const PRUNED: &[&str] = &[
    "submission",
    "item",
    "artifact",
    "outcome",
    "joins",
    "review",
    "job",
    "ready",
    "event",
    "retention",
    "blob_candidate",
    "blob_mention",
    "indexed_document",
    "indexed_chunk",
    "worker",
    "execution",
    "execution_history",
    "execution_letter",
    "execution_token",
];

#[async_trait]
impl Retention for PostgresStore {
    async fn hold(&self, submissions: Vec<SubmissionId>, reason: &str) -> StoreResult<Vec<SubmissionId>> {
        transaction!(self.db, Write, tx => hold(&tx, &submissions, reason).await)
    }

    async fn release_hold(&self, submissions: Vec<SubmissionId>) -> StoreResult<Vec<SubmissionId>> {
        transaction!(self.db, Write, tx => release(&tx, &submissions).await)
    }

    async fn holds(&self) -> StoreResult<Vec<Hold>> {
        let sql = "SELECT submission_id, hold_reason, held_at FROM retention WHERE hold_reason IS NOT NULL ORDER BY 1";
        self.db.ask(sql, &[], read_hold).await
    }

    async fn list_retained(&self, filter: RetentionFilter) -> StoreResult<Vec<Retained>> {
        transaction!(self.db, Read, tx => list_retained(&tx, &filter).await)
    }

    async fn extent(&self, submissions: Vec<SubmissionId>) -> StoreResult<Extent> {
        transaction!(self.db, Read, tx => extent(&tx, &submissions).await)
    }

    async fn delete_submissions(
        &self,
        submissions: Vec<SubmissionId>,
        because: Reason,
        max_rows: usize,
    ) -> StoreResult<Vec<Deletion>> {
        transaction!(self.db, Write, tx => removal::delete_all(&tx, &submissions, because, max_rows).await)
    }

    async fn expire(
        &self,
        submissions: Vec<SubmissionId>,
        expiry: Expiry,
        max_rows: usize,
    ) -> StoreResult<Vec<Deletion>> {
        transaction!(self.db, Write, tx => removal::expire_all(&tx, &submissions, &expiry, max_rows).await)
    }

    async fn delete_events(&self, age: EventAge, limit: usize) -> StoreResult<u64> {
        transaction!(self.db, Write, tx => removal::delete_events(&tx, &age, limit).await)
    }

    async fn delete_workers(&self, before: Timestamp) -> StoreResult<u64> {
        let sql = "DELETE FROM worker WHERE seen_at < $1";
        transaction!(self.db, Write, tx => tx.execute(sql, &[&before.as_millis()]).await)
    }

    async fn delete_dead_letters(&self, queue: &Name, before: Timestamp) -> StoreResult<u64> {
        transaction!(self.db, Write, tx => dead_letters::delete_old(&tx, queue, before).await)
    }

    async fn claim_sweep(&self, name: &Name, every: Duration) -> StoreResult<bool> {
        let sql = "INSERT INTO retention_sweep (name, due_at) VALUES ($1, $2) ON CONFLICT (name) \
                   DO UPDATE SET due_at = excluded.due_at WHERE retention_sweep.due_at <= $3";
        transaction!(self.db, Quiet, tx => {
            let next = (tx.now + every).as_millis();
            tx.execute(sql, &[&name.as_str(), &next, &tx.millis()]).await.map(|claimed| claimed == 1)
        })
    }

    async fn blob_candidates(&self, before: Option<Timestamp>, limit: usize) -> StoreResult<Candidates> {
        transaction!(self.db, Read, tx => blob_refs::candidates(&tx, before, limit).await)
    }

    async fn add_candidates(&self, candidates: Candidates) -> StoreResult<()> {
        transaction!(self.db, Quiet, tx => blob_refs::add_candidates(&tx, &candidates).await)
    }

    async fn settle_candidates(&self, hashes: Vec<ContentHash>) -> StoreResult<()> {
        let hashes: Vec<&[u8]> = hashes.iter().map(|hash| hash.as_bytes().as_slice()).collect();
        let sql = "DELETE FROM blob_candidate WHERE hash = ANY($1)";
        transaction!(self.db, Quiet, tx => tx.execute(sql, &[&hashes]).await.map(drop))
    }

    async fn mark_blobs(&self, candidates: Arc<Candidates>) -> StoreResult<Marked> {
        let named_in = blob_columns(self.db.setup.domains);
        transaction!(self.db, Read, tx => blob_refs::mark(&tx, &named_in, &candidates).await)
    }

    async fn cache_mentions(
        &self,
        read: HashMap<ContentHash, Vec<ContentHash>>,
        gone: Vec<ContentHash>,
    ) -> StoreResult<()> {
        transaction!(self.db, Quiet, tx => blob_refs::cache(&tx, &read, &gone).await)
    }

    async fn is_used_alone(&self) -> StoreResult<bool> {
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 \
                   AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
                   AND classid::bigint = $1 AND objid::bigint <> $2) \
                   AND NOT EXISTS (SELECT 1 FROM job WHERE state = 2) \
                   AND NOT EXISTS (SELECT 1 FROM claim JOIN job ON job.id = ANY(claim.jobs) \
                   WHERE job.state = 0 AND job.fence < claim.token) \
                   AND NOT EXISTS (SELECT 1 FROM worker WHERE seen_at >= $3 AND coalesce(left_at, 0) < seen_at)";
        let (class, process) = self.db.setup.use_lock;
        let (class, process) = (i64::from(class), i64::from(process));
        let seen = (crate::Queue::clock(self).now() - SEEN_LATELY).as_millis();
        let alone = self.db.ask(sql, &[&class, &process, &seen], |row| get(row, 0)).await?;
        Ok(alone.first().copied().unwrap_or(false))
    }

    async fn reclaim(&self, whole: bool) -> StoreResult<Reclaimed> {
        let before = self.size().await?;
        let how = if whole { "VACUUM (FULL, ANALYZE)" } else { "VACUUM" };
        let statements: Vec<String> = self.pruned().map(|table| format!("{how} {table}")).collect();
        self.db.upkeep(&statements).await?;
        let after = self.size().await?;
        Ok(Reclaimed { bytes: before.saturating_sub(after), complete: whole })
    }
}

impl PostgresStore {
    /// The tables that deletions take rows from.
    fn pruned(&self) -> impl Iterator<Item = &'static str> {
        let of_domains = self.db.setup.domains.iter().flat_map(|domain| domain.schema().pruned);
        PRUNED.iter().chain(of_domains).copied()
    }

    /// What the tables take, with their indexes.
    async fn size(&self) -> StoreResult<u64> {
        let sql =
            "SELECT coalesce(sum(pg_total_relation_size(to_regclass(name))), 0)::bigint FROM unnest($1::text[]) name";
        let size = self.db.ask(sql, &[&self.pruned().collect::<Vec<_>>()], |row| get::<i64>(row, 0)).await?;
        Ok(size.first().map_or(0, |size| (*size).max(0) as u64))
    }
}

fn read_hold(row: &Row) -> TxResult<Hold> {
    Ok(Hold {
        submission: SubmissionId::from_raw(get(row, 0)?),
        reason: get(row, 1)?,
        held_at: Timestamp::from_millis(get::<Option<i64>>(row, 2)?.unwrap_or(0)),
    })
}

async fn hold(tx: &Tx, submissions: &[SubmissionId], reason: &str) -> TxResult<Vec<SubmissionId>> {
    let mut new = Vec::new();
    for id in submissions {
        // A deletion of it takes its turn.
        let known = tx.first("SELECT 1 FROM submission WHERE id = $1 FOR UPDATE", &[&id.raw()]).await?;
        if known.is_none() {
            return Err(StoreError::not_found(id).into());
        }
        let find = "SELECT hold_reason IS NOT NULL, deleting_at IS NOT NULL FROM retention WHERE submission_id = $1";
        let before = tx.first(find, &[&id.raw()]).await?;
        let (was_held, is_going) = match &before {
            Some(row) => (get::<bool>(row, 0)?, get::<bool>(row, 1)?),
            None => (false, false),
        };
        if is_going {
            let message = format!("{id} is being deleted and cannot be placed on hold any more");
            return Err(StoreError::Invalid(message).into());
        }
        let place = "INSERT INTO retention (submission_id, hold_reason, held_at) VALUES ($1, $2, $3) \
                     ON CONFLICT (submission_id) DO UPDATE SET hold_reason = excluded.hold_reason, held_at = \
                     CASE WHEN retention.hold_reason IS NULL THEN excluded.held_at ELSE retention.held_at END";
        tx.execute(place, &[&id.raw(), &reason, &tx.millis()]).await?;
        if !was_held {
            events::append_about(tx, kind::SUBMISSION_HELD, *id, None, &json!({"reason": reason})).await?;
            new.push(*id);
        }
    }
    Ok(new)
}

async fn release(tx: &Tx, submissions: &[SubmissionId]) -> TxResult<Vec<SubmissionId>> {
    let mut released = Vec::new();
    let release = "UPDATE retention SET hold_reason = NULL, held_at = NULL \
                   WHERE submission_id = $1 AND hold_reason IS NOT NULL";
    for id in submissions {
        if tx.execute(release, &[&id.raw()]).await? == 1 {
            events::append_about(tx, kind::SUBMISSION_RELEASED, *id, None, &json!({})).await?;
            released.push(*id);
        }
    }
    Ok(released)
}

async fn list_retained(tx: &Tx, filter: &RetentionFilter) -> TxResult<Vec<Retained>> {
    let after = filter.after.map_or(0, SubmissionId::raw);
    let limit = i64::try_from(filter.limit).unwrap_or(i64::MAX);
    let (owner, workflow) = (filter.owner.as_deref(), filter.workflow.as_deref());
    let before = filter.ended_before.map(Timestamp::as_millis);
    let mut params: Vec<Param<'_>> = vec![&after, &limit];
    let mut conditions = vec!["s.id > $1".to_owned()];
    if let Some(owner) = &owner {
        params.push(owner);
        conditions.push(format!("s.owner = ${}", params.len()));
    }
    if let Some(workflow) = &workflow {
        params.push(workflow);
        conditions.push(format!("s.workflow = ${}", params.len()));
    }
    if let Some(before) = &before {
        params.push(before);
        let completed = status_number(SubmissionStatus::Completed);
        conditions.push(format!("s.completed_at < ${} AND s.status >= {completed}", params.len()));
    }
    if let Some(parts) = &filter.has {
        let bits = parts.bits();
        conditions.push(format!("coalesce(r.expired, 0) & {bits} <> {bits}"));
    }
    if filter.deleting {
        conditions.push("r.deleting_at IS NOT NULL".to_owned());
    }
    let sql = format!(
        "SELECT s.id, s.workflow, s.status, r.hold_reason FROM submission s \
         LEFT JOIN retention r ON r.submission_id = s.id WHERE {} ORDER BY s.id LIMIT $2",
        conditions.join(" AND ")
    );
    let view = |row: &Row| {
        Ok(Retained {
            id: SubmissionId::from_raw(get(row, 0)?),
            workflow: name(row, 1)?,
            status: removal::status(row, 2)?,
            hold: get(row, 3)?,
        })
    };
    tx.collect(&sql, &params, view).await
}

async fn extent(tx: &Tx, submissions: &[SubmissionId]) -> TxResult<Extent> {
    let ids: Vec<i64> = submissions.iter().map(|id| id.raw()).collect();
    let mut extent = Extent::default();
    let mut blobs = HashSet::new();
    for (table, _, columns) in PARTS {
        let sql = format!("SELECT {columns} FROM {table} WHERE submission_id = ANY($1)");
        for row in tx.query(&sql, &[&ids]).await? {
            extent.rows += 1;
            collect_hashes(&row, &mut blobs)?;
        }
    }
    for sql in [
        "SELECT count(*) FROM submission WHERE id = ANY($1)",
        "SELECT count(*) FROM event WHERE submission_id = ANY($1)",
        "SELECT coalesce(sum(1 + chunks), 0)::bigint FROM indexed_document WHERE submission_id = ANY($1)",
    ] {
        if let Some(row) = tx.first(sql, &[&ids]).await? {
            extent.rows += get::<i64>(&row, 0)? as u64;
        }
    }
    extent.blobs = blobs.into_iter().collect();
    Ok(extent)
}
