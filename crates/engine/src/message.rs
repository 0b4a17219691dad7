//! Seed 002's messages: components of other programs publish their results under a routing key.

use crate::{
    catalog::SubmissionInfo,
    engine::Engine,
    error::{EngineError, EngineResult},
    report::{About, Reported},
    workflow::{Resolved, Target},
};
use bindery_core::{
    ItemId, Name, SubmissionId, Timestamp, item::ItemKind, job::Job, review::ReviewStatus, submission::Submission,
};
use bindery_store::{
    CommitResult,
    pages::ItemPages,
    query::{ItemFilter, JobFilter, ReviewFilter},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where components put the confidence of their result: the latest first, as messages carry earlier ones along.
const CONFIDENCE_FIELDS: [&str; 4] =
    ["extraction_confidence", "classification_confidence", "confidence", "ocr_confidence"];

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
    /// message's document or page; where several components work on it, `source_component` says whose result it is.
    /// Results of outside components and of the back office count alike.
    pub async fn publish(&self, routing_key: &str, message: PipelineMessage) -> EngineResult<Published> {
        let submission = self.find_submission(&message.request_id).await?;
        let info = self.catalog().submission(submission.id).await?;
        let target = Target::Key(Name::from(routing_key));
        // An unknown routing key is an error before anything is looked for.
        let Resolved::Stage { index } = info.workflow.resolve(&info.workflow.stages[0].name, &target)? else {
            return Ok(Published::Ignored);
        };
        let item = match self.item_of(submission.id, &message).await {
            Ok(item) => item,
            Err(unknown) => {
                // Why it is not there says more than that it is not.
                self.check_aggregation(&info, index).await?;
                return Err(unknown);
            }
        };
        if let Some(job) = self.sender(&info, item, index, message.source_component.as_deref()).await? {
            let confidence = CONFIDENCE_FIELDS.iter().find_map(|field| message.payload.get(field)?.as_f64());
            let about = About { submission: submission.id, item, stage: job.stage, processor: job.processor };
            let reported = Reported::Completed { output: message.payload, confidence };
            let commits = self.plan_report(&info, &about, reported, target).await?;
            let results = self.store().commit(commits).await?;
            let taken = results.first().is_some_and(CommitResult::is_applied);
            return Ok(if taken { Published::Taken } else { Published::Ignored });
        }
        self.check_aggregation(&info, index).await?;
        self.decided(&info, item, index, message.payload).await
    }

    /// What leads to an aggregation is counted there, and before that has begun to wait there is nothing to count in.
    async fn check_aggregation(&self, info: &SubmissionInfo, target: usize) -> EngineResult<()> {
        let stage = &info.workflow.stages[target];
        if stage.aggregation.is_none() || self.store().joins(info.id).await?.iter().any(|join| join.stage == stage.name)
        {
            return Ok(());
        }
        let request = info.public_id();
        Err(EngineError::NotFound(format!("aggregation state of the request {request:?} at the stage {}", stage.name)))
    }

    /// The job that waits for this message: at the nearest stage before the one that the message goes to. One at that
    /// stage itself waits for the next message; this one is a duplicate of what brought it there.
    async fn sender(
        &self,
        info: &SubmissionInfo,
        item: Option<ItemId>,
        target: usize,
        component: Option<&str>,
    ) -> EngineResult<Option<Job>> {
        let filter = JobFilter { submission: Some(info.id), item, ..JobFilter::default() };
        let jobs = self.store().jobs(filter).await?.into_iter().map(|view| view.job);
        let mut waiting: Vec<(usize, Job)> = jobs
            .filter(|job| job.await_report_ms.is_some() && job.state.is_live() && job.item == item)
            .filter_map(|job| Some((info.workflow.index_of(&job.stage)?, job)))
            .filter(|(stage, _)| *stage < target)
            .collect();
        let Some(nearest) = waiting.iter().map(|(stage, _)| *stage).max() else { return Ok(None) };
        waiting.retain(|(stage, _)| *stage == nearest);
        let stage = &info.workflow.stages[nearest];
        if stage.processors.len() > 1 {
            let Some(processor) = component.and_then(|name| stage.processor(name)) else {
                let known: Vec<&str> = stage.processors.iter().map(|processor| processor.name.as_str()).collect();
                return Err(EngineError::Invalid(format!(
                    "stage {} has several processors: say in source_component which of {} sends this",
                    stage.name,
                    known.join(", ")
                )));
            };
            waiting.retain(|(_, job)| job.processor == processor.name);
        }
        Ok(waiting.pop().map(|(_, job)| job))
    }

    /// A message of the back office is a person's decision about the stage before the one that it goes to.
    async fn decided(
        &self,
        info: &SubmissionInfo,
        item: Option<ItemId>,
        target: usize,
        output: Value,
    ) -> EngineResult<Published> {
        let Some(stage) = target.checked_sub(1).map(|before| &info.workflow.stages[before].name) else {
            return Ok(Published::Ignored);
        };
        let statuses = ReviewStatus::OPEN.to_vec();
        let open = ReviewFilter { submission: Some(info.id), statuses, ..ReviewFilter::default() };
        let reviews = self.store().reviews(open).await?;
        let Some(review) = reviews.into_iter().find(|review| review.item == item && review.stage == *stage) else {
            return Ok(Published::Ignored);
        };
        match self.complete_review(review.id, review.assigned_to.as_deref(), output).await {
            Ok(_) => Ok(Published::Taken),
            // Somebody was faster.
            Err(EngineError::Taken(_)) => Ok(Published::Ignored),
            Err(error) => Err(error),
        }
    }

    async fn item_of(&self, submission: SubmissionId, message: &PipelineMessage) -> EngineResult<Option<ItemId>> {
        if let Some(document) = &message.document_id {
            return self.find_item(submission, document).await.map(Some);
        }
        let Some(page) = message.page_index else { return Ok(None) };
        let filter = ItemFilter { kind: Some(ItemKind::Page), ..ItemFilter::default() };
        let mut pages = ItemPages::new(&**self.store(), submission, filter);
        let mut before = 0;
        loop {
            let read = pages.next().await?;
            let found = usize::try_from(page).ok().and_then(|index| read.get(index.checked_sub(before)?));
            if let Some(found) = found {
                return Ok(Some(found.id));
            }
            before += read.len();
            if read.is_empty() {
                let message = format!("page {page} in {submission}, which has {before} pages");
                return Err(EngineError::NotFound(message));
            }
        }
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
