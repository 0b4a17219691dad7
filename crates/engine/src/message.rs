//! Seed 002's messages: components of other programs publish their results under a routing key.

use crate::{
    engine::Engine,
    error::{EngineError, EngineResult},
    report::{About, Reported},
    workflow::Target,
};
use bindery_core::{
    ItemId, Name, SubmissionId, Timestamp, item::ItemKind, review::ReviewStatus, submission::Submission,
};
use bindery_store::{
    CommitResult,
    query::{ItemFilter, ReviewFilter},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The envelope that components exchange.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PipelineMessage {
    pub request_id: String,
    #[serde(default)]
    pub trace_id: Option<String>,
    #[serde(default)]
    pub workflow_name: Option<String>,
    #[serde(default)]
    pub current_stage: Option<String>,
    #[serde(default)]
    pub deadline_utc: Option<Timestamp>,
    #[serde(default)]
    pub page_index: Option<i64>,
    #[serde(default)]
    pub page_count: Option<i64>,
    #[serde(default)]
    pub file_index: Option<i64>,
    #[serde(default)]
    pub document_id: Option<String>,
    #[serde(default)]
    pub document_count: Option<i64>,
    #[serde(default)]
    pub payload: Value,
    #[serde(default)]
    pub source_component: Option<String>,
    #[serde(default)]
    pub created_at: Option<Timestamp>,
}

/// What became of a published message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published {
    /// Counted: it was the result that was waited for.
    Taken,
    /// Nobody waited for it (any more); nothing was changed.
    Ignored,
}

impl Engine {
    /// A submission by its own id or its sender's.
    pub async fn find_submission(&self, id: &str) -> EngineResult<Submission> {
        let found = match id.parse::<SubmissionId>() {
            Ok(id) => self.store().submission(id).await?,
            Err(_) => None,
        };
        match found {
            Some(found) => Ok(found),
            None => self
                .store()
                .find_submission(id)
                .await?
                .ok_or_else(|| EngineError::NotFound(format!("submission {id:?}"))),
        }
    }

    /// Takes a component's result in. The routing key says where the work goes on; the item it is about is the
    /// message's document or page. Results of outside components and of the back office count alike.
    pub async fn publish(&self, routing_key: &str, message: PipelineMessage) -> EngineResult<Published> {
        let submission = self.find_submission(&message.request_id).await?;
        let info = self.catalog().submission(submission.id).await?;
        let target = Target::Key(Name::from(routing_key));
        // An unknown routing key is an error before anything is looked for.
        info.workflow.resolve(&info.workflow.stages[0].name, &target)?;
        let item = self.item_of(submission.id, &message).await?;
        let confidence = ["extraction_confidence", "confidence", "ocr_confidence"]
            .iter()
            .find_map(|field| message.payload.get(field).and_then(Value::as_f64));
        if let Some(job) = self.awaited(submission.id, item, None, None).await? {
            let about = About { submission: submission.id, item, stage: job.stage, processor: job.processor };
            let reported = Reported::Completed { output: message.payload, confidence };
            let commits = self.plan_report(&info, &about, reported, target).await?;
            let results = self.store().commit(commits).await?;
            let taken = results.first().is_some_and(CommitResult::is_applied);
            return Ok(if taken { Published::Taken } else { Published::Ignored });
        }
        let open = ReviewFilter {
            submission: Some(submission.id),
            statuses: vec![ReviewStatus::Pending, ReviewStatus::Assigned],
            limit: None,
        };
        let review = self.store().reviews(open).await?.into_iter().find(|review| review.item == item);
        match review {
            Some(review) => {
                let by = review.assigned_to.clone();
                match self.complete_review(review.id, by.as_deref(), message.payload).await {
                    Ok(_) => Ok(Published::Taken),
                    Err(EngineError::Invalid(_)) => Ok(Published::Ignored),
                    Err(error) => Err(error),
                }
            }
            None => Ok(Published::Ignored),
        }
    }

    async fn item_of(&self, submission: SubmissionId, message: &PipelineMessage) -> EngineResult<Option<ItemId>> {
        if let Some(document) = &message.document_id {
            return self.find_item(submission, document).await.map(Some);
        }
        let Some(page) = message.page_index else { return Ok(None) };
        let filter = ItemFilter { kind: Some(ItemKind::Page), parent: None };
        let pages = self.store().items(submission, filter).await?;
        let found = usize::try_from(page).ok().and_then(|index| pages.get(index));
        let missing = || EngineError::NotFound(format!("page {page} in {submission}, which has {} pages", pages.len()));
        Ok(Some(found.ok_or_else(missing)?.id))
    }

    /// An item by its own id or the key that outside programs know it by.
    pub async fn find_item(&self, submission: SubmissionId, id: &str) -> EngineResult<ItemId> {
        if let Ok(id) = id.parse::<ItemId>()
            && self.store().item(submission, id).await?.is_some()
        {
            return Ok(id);
        }
        let found = self.store().find_item(submission, id).await?;
        Ok(found.ok_or_else(|| EngineError::NotFound(format!("document {id:?} in {submission}")))?.id)
    }
}
