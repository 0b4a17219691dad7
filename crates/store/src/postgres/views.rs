//! What people and processors see: each read is one consistent snapshot.

use super::{
    backend::PostgresStore,
    explain,
    fail::TxResult,
    progress, records, reviews,
    rows::{self, ARTIFACT_COLUMNS, ITEM_COLUMNS, JOIN_COLUMNS, OUTCOME_COLUMNS, REVIEW_COLUMNS, SUBMISSION_COLUMNS},
    session::{Db, Param, transaction},
    workers,
};
use crate::{
    error::StoreResult,
    query::{
        ConsumerView, ItemCounts, ItemFilter, JobFilter, JobView, JoinFilter, OutcomePage, QueueView, ReviewFilter,
        StageRow, StoredWorkflow, SubmissionFilter, WorkerView,
    },
    store::{Queue as _, Records},
};
use async_trait::async_trait;
use bindery_core::{
    ContentHash, ItemId, JobId, JoinId, Name, ReviewId, SubmissionId,
    artifact::Artifact,
    item::{Item, ItemKind},
    join::Join,
    outcome::Outcome,
    review::Review,
    submission::Submission,
};
use tokio_postgres::Row;

/// The first row of a query, if there is one.
async fn first<T>(
    db: &Db,
    sql: &str,
    params: &[Param<'_>],
    map: impl Fn(&Row) -> TxResult<T> + Copy,
) -> StoreResult<Option<T>> {
    Ok(db.ask(sql, params, map).await?.into_iter().next())
}

#[async_trait]
impl Records for PostgresStore {
    async fn submission(&self, id: SubmissionId) -> StoreResult<Option<Submission>> {
        let sql = format!("SELECT {SUBMISSION_COLUMNS} FROM submission WHERE id = $1");
        first(&self.db, &sql, &[&id.raw()], rows::submission).await
    }

    async fn find_submission(&self, external_id: &str) -> StoreResult<Option<Submission>> {
        let sql = format!("SELECT {SUBMISSION_COLUMNS} FROM submission WHERE external_id = $1");
        first(&self.db, &sql, &[&external_id], rows::submission).await
    }

    async fn submissions(&self, filter: SubmissionFilter) -> StoreResult<Vec<Submission>> {
        let statuses: Vec<i16> = filter.statuses.iter().map(|status| rows::status_number(*status)).collect();
        let limit = filter.limit.map(|limit| limit as i64);
        let sql = format!(
            "SELECT {SUBMISSION_COLUMNS} FROM submission WHERE ($1::text IS NULL OR channel = $1) \
             AND (cardinality($2::smallint[]) = 0 OR status = ANY($2)) ORDER BY id DESC LIMIT $3"
        );
        self.db.ask(&sql, &[&filter.channel, &statuses, &limit], rows::submission).await
    }

    async fn item(&self, submission: SubmissionId, id: ItemId) -> StoreResult<Option<Item>> {
        let sql = format!("SELECT {ITEM_COLUMNS} FROM item WHERE submission_id = $1 AND id = $2");
        first(&self.db, &sql, &[&submission.raw(), &id.raw()], rows::item).await
    }

    async fn find_item(&self, submission: SubmissionId, key: &str) -> StoreResult<Option<Item>> {
        let sql = format!("SELECT {ITEM_COLUMNS} FROM item WHERE submission_id = $1 AND key = $2");
        first(&self.db, &sql, &[&submission.raw(), &key], rows::item).await
    }

    async fn items(&self, submission: SubmissionId, filter: ItemFilter) -> StoreResult<Vec<Item>> {
        // Each condition has a statement of its own: one that is made for all would look at every item.
        let mut condition = String::new();
        for (wanted, sql) in [
            (filter.kind.is_some(), " AND kind = $2"),
            (filter.parent.is_some(), " AND parent_id = $3"),
            (filter.ids.is_some(), " AND id = ANY($4)"),
            (filter.after.is_some(), " AND id > $5"),
        ] {
            condition.push_str(if wanted { sql } else { "" });
        }
        let sql = format!(
            "SELECT {ITEM_COLUMNS} FROM item, (SELECT $2::text, $3::bigint, $4::bigint[], $5::bigint) AS given \
             WHERE submission_id = $1{condition} ORDER BY id LIMIT $6"
        );
        let (kind, parent) = (filter.kind.map(ItemKind::as_str), filter.parent.map(ItemId::raw));
        let ids: Option<Vec<i64>> = filter.ids.map(|ids| ids.into_iter().map(ItemId::raw).collect());
        let (after, limit) = (filter.after.map(ItemId::raw), filter.limit.map(|limit| limit as i64));
        self.db.ask(&sql, &[&submission.raw(), &kind, &parent, &ids, &after, &limit], rows::item).await
    }

    async fn item_counts(&self, submission: SubmissionId) -> StoreResult<ItemCounts> {
        transaction!(self.db, Read, tx => progress::item_counts(&tx, submission).await)
    }

    async fn outcomes(&self, submission: SubmissionId, stage: Option<&Name>) -> StoreResult<Vec<Outcome>> {
        let sql = format!(
            "SELECT {OUTCOME_COLUMNS} FROM outcome WHERE submission_id = $1 AND ($2::text IS NULL OR stage = $2) \
             ORDER BY item_id, stage, processor"
        );
        self.db.ask(&sql, &[&submission.raw(), &stage.map(Name::as_str)], rows::outcome).await
    }

    async fn outcome_page(&self, submission: SubmissionId, page: OutcomePage) -> StoreResult<Vec<Outcome>> {
        // As a literal: the index of what failed is found by it.
        let mut condition = page.status.map_or_else(String::new, |status| format!(" AND status = {}", status as i16));
        condition.push_str(if page.items.is_some() { " AND item_id = ANY($3)" } else { "" });
        condition.push_str(if page.after.is_some() { " AND (item_id, processor) > ($4, $5)" } else { "" });
        let sql = format!(
            "SELECT {OUTCOME_COLUMNS} FROM outcome, (SELECT $3::bigint[], $4::bigint, $5::text) AS given \
             WHERE submission_id = $1 AND stage = $2{condition} ORDER BY item_id, processor LIMIT $6"
        );
        let items: Option<Vec<i64>> = page.items.map(|ids| ids.into_iter().map(ItemId::raw).collect());
        let (item, processor) =
            page.after.map_or((0, String::new()), |after| (rows::item_number(after.item), after.processor.to_string()));
        let parameters: [Param<'_>; 6] =
            [&submission.raw(), &page.stage.as_str(), &items, &item, &processor, &(page.limit as i64)];
        self.db.ask(&sql, &parameters, rows::outcome).await
    }

    async fn item_outcomes(
        &self,
        submission: SubmissionId,
        item: Option<ItemId>,
        stage: &Name,
    ) -> StoreResult<Vec<Outcome>> {
        let sql = format!(
            "SELECT {OUTCOME_COLUMNS} FROM outcome WHERE submission_id = $1 AND stage = $2 AND item_id = $3 \
             ORDER BY processor"
        );
        let item = rows::item_number(item);
        self.db.ask(&sql, &[&submission.raw(), &stage.as_str(), &item], rows::outcome).await
    }

    async fn reusable_outcome(&self, key: ContentHash) -> StoreResult<Option<Outcome>> {
        let sql =
            format!("SELECT {OUTCOME_COLUMNS} FROM outcome WHERE reuse_key = $1 ORDER BY submission_id DESC LIMIT 1");
        first(&self.db, &sql, &[&&key.as_bytes()[..]], rows::outcome).await
    }

    async fn join(&self, id: JoinId) -> StoreResult<Option<Join>> {
        let sql = format!("SELECT {JOIN_COLUMNS} FROM joins WHERE id = $1");
        first(&self.db, &sql, &[&id.raw()], rows::join).await
    }

    async fn joins(&self, submission: SubmissionId, filter: JoinFilter) -> StoreResult<Vec<Join>> {
        let stage = filter.stage.as_deref();
        let scope = filter.scope.map(|scope| rows::item_number(scope.item()));
        let (outer, limit) = (filter.outer.map(JoinId::raw), filter.limit.map(|limit| limit as i64));
        let (after, newer_than) = (filter.after.map_or(0, JoinId::raw), i64::from(filter.repaired));
        let sql = format!(
            "SELECT {JOIN_COLUMNS} FROM joins WHERE submission_id = $1 AND ($2::text IS NULL OR stage = $2) \
             AND ($3::bigint IS NULL OR scope_id = $3) AND ($4::bigint IS NULL OR outer_id = $4) \
             AND generation > $5 AND id > $6 ORDER BY id LIMIT $7"
        );
        self.db.ask(&sql, &[&submission.raw(), &stage, &scope, &outer, &newer_than, &after, &limit], rows::join).await
    }

    async fn artifact(&self, submission: SubmissionId, key: &str) -> StoreResult<Option<Artifact>> {
        let sql = format!("SELECT {ARTIFACT_COLUMNS} FROM artifact WHERE submission_id = $1 AND key = $2");
        Ok(self.db.ask(&sql, &[&submission.raw(), &key], rows::artifact).await?.pop())
    }

    async fn artifacts(
        &self,
        submission: SubmissionId,
        after: Option<&str>,
        limit: usize,
    ) -> StoreResult<Vec<Artifact>> {
        let sql = format!(
            "SELECT {ARTIFACT_COLUMNS} FROM artifact WHERE submission_id = $1 AND key > $2 ORDER BY key LIMIT $3"
        );
        let (after, limit) = (after.unwrap_or_default(), i64::try_from(limit).unwrap_or(i64::MAX));
        self.db.ask(&sql, &[&submission.raw(), &after, &limit], rows::artifact).await
    }

    async fn job(&self, id: JobId) -> StoreResult<Option<JobView>> {
        let found = self.jobs(JobFilter { ids: vec![id], ..JobFilter::default() }).await?;
        Ok(found.into_iter().next())
    }

    async fn jobs(&self, filter: JobFilter) -> StoreResult<Vec<JobView>> {
        transaction!(self.db, Read, tx => explain::jobs(&tx, &filter).await)
    }

    async fn reviews(&self, filter: ReviewFilter) -> StoreResult<Vec<Review>> {
        reviews::list(&self.db, &filter, self.clock().now()).await
    }

    async fn review(&self, id: ReviewId) -> StoreResult<Option<Review>> {
        let sql = format!("SELECT {REVIEW_COLUMNS} FROM review WHERE id = $1");
        let found = first(&self.db, &sql, &[&id.raw()], rows::review).await?;
        Ok(found.map(|review| review.at(self.clock().now())))
    }

    async fn stage_counts(&self, submission: SubmissionId) -> StoreResult<Vec<StageRow>> {
        transaction!(self.db, Read, tx => progress::stage_counts(&tx, submission).await)
    }

    async fn queues(&self) -> StoreResult<Vec<QueueView>> {
        transaction!(self.db, Read, tx => records::queues(&tx).await)
    }

    async fn workers(&self) -> StoreResult<Vec<WorkerView>> {
        self.db.ask(workers::LIST, &[], workers::view).await
    }

    async fn consumers(&self) -> StoreResult<Vec<ConsumerView>> {
        let sql = "SELECT name, position, updated_at FROM consumer ORDER BY name";
        self.db.ask(sql, &[], records::consumer).await
    }

    async fn workflow(&self, name: &Name, version: Option<i64>) -> StoreResult<Option<StoredWorkflow>> {
        let sql = "SELECT name, version, text, stored_at FROM workflow \
                   WHERE name = $1 AND version = coalesce($2, version) ORDER BY version DESC LIMIT 1";
        first(&self.db, sql, &[&name.as_str(), &version], records::workflow).await
    }

    async fn workflows(&self) -> StoreResult<Vec<StoredWorkflow>> {
        let sql = "SELECT DISTINCT ON (name) name, version, text, stored_at FROM workflow ORDER BY name, version DESC";
        self.db.ask(sql, &[], records::workflow).await
    }
}
