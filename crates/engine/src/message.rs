//! Seed 002's messages: components of other programs publish their results under a routing key.
//!
//! A message is held against what its stage needs before it counts. What nobody can use is an error that says why, and
//! changes nothing, so that the right message may still come. A duplicate of what was taken is ignored.

use crate::{
    catalog::SubmissionInfo,
    engine::Engine,
    error::{EngineError, EngineResult},
    report::{About, Reported},
    workflow::{Over, Resolved, Stage, Target},
};
use bindery_core::{
    ItemId, Name, SubmissionId,
    item::ItemKind,
    job::Job,
    outcome::{Outcome, OutcomeStatus},
    review::{Review, ReviewStatus},
    submission::Submission,
};
use bindery_store::{
    CommitResult,
    pages::ItemPages,
    query::{ItemFilter, JobFilter, JoinFilter, ReviewFilter},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The routing key under which a request begins, and the queue that it waits in.
pub const NEW_REQUEST: &str = "request.new";
pub const ROUTER_QUEUE: &str = "q.workflow_router";

/// Under this key, a payload keeps the fields of its envelope that are none of ours.
pub const ENVELOPE_KEY: &str = "_envelope";

/// The field that names a review, in its own message and in the answer to it.
pub const TASK_ID: &str = "task_id";

/// The envelope that components exchange.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PipelineMessage {
    pub request_id: String,
    #[serde(default)]
    pub trace_id: Option<String>,
    #[serde(default)]
    pub workflow_name: Option<String>,
    #[serde(default)]
    pub current_stage: Option<String>,
    /// As the sender writes it; for information.
    #[serde(default)]
    pub deadline_utc: Option<String>,
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
    /// Null where there is none.
    #[serde(default)]
    pub payload: Value,
    #[serde(default)]
    pub source_component: Option<String>,
    /// As the sender writes it; for information.
    #[serde(default)]
    pub created_at: Option<String>,
    /// The fields that are none of these. They are kept with the payload, and are in the messages that follow from it.
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

impl PipelineMessage {
    /// The payload with the fields of the envelope that are none of ours.
    fn into_output(self) -> Value {
        let mut output = self.payload;
        if let (Value::Object(fields), false) = (&mut output, self.others.is_empty()) {
            fields.insert(ENVELOPE_KEY.to_owned(), Value::Object(self.others));
        }
        output
    }

    /// Whether this answers a review: it names it.
    fn names(&self, review: &Review) -> bool {
        let named = self.others.get(TASK_ID).or_else(|| self.payload.get(TASK_ID));
        named.and_then(Value::as_str).is_some_and(|named| named == review.id.to_string())
    }
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
        if let Some(unknown) = message.current_stage.as_deref().filter(|name| info.workflow.index_of(name).is_none()) {
            return Err(EngineError::NotFound(format!("stage {unknown:?} in workflow {}", info.workflow.name)));
        }
        let item = match self.item_of(&info, index, &message).await {
            Ok(item) => item,
            Err(unknown) => {
                // Why it is not there says more than that it is not.
                self.check_aggregation(&info, index).await?;
                return Err(unknown);
            }
        };
        if let Some(job) = self.sender(&info, item, index, message.source_component.as_deref()).await? {
            return self.take_result(&info, item, job, message, target).await;
        }
        self.check_aggregation(&info, index).await?;
        let Some(before) = index.checked_sub(1).map(|before| &info.workflow.stages[before]) else {
            let message = format!("no result leads to {routing_key:?}, the first stage of {}", info.workflow.name);
            return Err(EngineError::Invalid(message));
        };
        if let Some(review) = self.find_open_review(&info, item, before).await? {
            return self.decided(before, review, message).await;
        }
        self.publish_unawaited(&submission, &info, item, before, message).await
    }

    /// A result that is waited for counts if it is one.
    async fn take_result(
        &self,
        info: &SubmissionInfo,
        item: Option<ItemId>,
        job: Job,
        message: PipelineMessage,
        target: Target,
    ) -> EngineResult<Published> {
        let stage = info.workflow.stage(&job.stage).ok_or_else(|| EngineError::NotFound(job.stage.to_string()))?;
        let input = self.read_payload(&job.payload).await?;
        let confidence = checked_confidence(stage, &message.payload, &input)?;
        let about = About { submission: info.id, item, stage: job.stage, processor: job.processor };
        let reported = Reported::Completed { output: message.into_output(), confidence };
        let commits = self.plan_report(info, &about, reported, target).await?;
        let results = self.store().commit(commits).await?;
        let taken = results.first().is_some_and(CommitResult::is_applied);
        Ok(if taken { Published::Taken } else { Published::Ignored })
    }

    /// A result that nobody waits for: a duplicate of one that was taken, one that came after its time was over, or one
    /// that was never asked for, which is an error.
    async fn publish_unawaited(
        &self,
        submission: &Submission,
        info: &SubmissionInfo,
        item: Option<ItemId>,
        before: &Stage,
        message: PipelineMessage,
    ) -> EngineResult<Published> {
        let outcomes = self.store().item_outcomes(info.id, item, &before.name).await?;
        let is_sender = |outcome: &&Outcome| {
            before.processors.len() == 1 || message.source_component.as_deref() == Some(outcome.processor.as_str())
        };
        let Some(outcome) = outcomes.iter().find(is_sender) else {
            if submission.status.is_final() {
                return Ok(Published::Ignored);
            }
            let what = message.document_id.as_deref().map_or_else(|| "it".to_owned(), |id| format!("{id:?}"));
            let text = format!("nobody waits for a result of the stage {} about {what}", before.name);
            return Err(EngineError::Invalid(text));
        };
        if outcome.status != OutcomeStatus::Failed || !before.has_outside_processor() {
            return Ok(Published::Ignored);
        }
        // Too late to be waited for, and still a result: it is kept in the place of the failure.
        let confidence = checked_confidence(before, &message.payload, &Value::Null)?;
        if before.confidence_threshold.is_some_and(|threshold| confidence.is_none_or(|stated| stated < threshold)) {
            let text =
                format!("a result of the stage {} came too late, and is not sure enough to be kept", before.name);
            return Err(EngineError::Invalid(text));
        }
        let (stage, processor) = (before.name.clone(), outcome.processor.clone());
        let about = About { submission: info.id, item, stage, processor };
        let reported = Reported::Completed { output: message.into_output(), confidence };
        let commits = self.plan_report(info, &about, reported, Target::Next).await?;
        let results = self.store().commit(commits).await?;
        Ok(if results.iter().any(CommitResult::is_applied) { Published::Taken } else { Published::Ignored })
    }

    /// What leads to an aggregation is counted there, and before that has begun to wait there is nothing to count in.
    async fn check_aggregation(&self, info: &SubmissionInfo, target: usize) -> EngineResult<()> {
        let stage = &info.workflow.stages[target];
        let filter = JoinFilter { stage: Some(stage.name.clone()), limit: Some(1), ..JoinFilter::default() };
        if stage.aggregation.is_none() || !self.store().joins(info.id, filter).await?.is_empty() {
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

    /// What a person is asked about an item at a stage.
    async fn find_open_review(
        &self,
        info: &SubmissionInfo,
        item: Option<ItemId>,
        stage: &Stage,
    ) -> EngineResult<Option<Review>> {
        let statuses = ReviewStatus::OPEN.to_vec();
        let open = ReviewFilter { submission: Some(info.id), item, statuses, ..ReviewFilter::default() };
        let reviews = self.store().reviews(open).await?;
        Ok(reviews.into_iter().find(|review| review.item == item && review.stage == stage.name))
    }

    /// A message of the back office is a person's decision about the stage before the one that it goes to. What the
    /// component outside sends twice is not.
    async fn decided(&self, stage: &Stage, review: Review, message: PipelineMessage) -> EngineResult<Published> {
        let from_component = message.source_component.as_deref().is_none_or(|sender| stage.is_done_by(sender));
        if stage.has_outside_processor() && from_component && !message.names(&review) {
            return Ok(Published::Ignored);
        }
        if let Some(mistake) = stage.result.mistake_in_part(&message.payload) {
            return Err(EngineError::Invalid(mistake));
        }
        let mut output = message.payload;
        if let Value::Object(fields) = &mut output {
            fields.remove(TASK_ID);
        }
        match self.complete_review(review.id, review.assigned_to.as_deref(), output).await {
            Ok(_) => Ok(Published::Taken),
            // Somebody was faster.
            Err(EngineError::Taken(_)) => Ok(Published::Ignored),
            Err(error) => Err(error),
        }
    }

    /// The item that a message to a stage is about.
    async fn item_of(
        &self,
        info: &SubmissionInfo,
        target: usize,
        message: &PipelineMessage,
    ) -> EngineResult<Option<ItemId>> {
        if let Some(document) = &message.document_id {
            return self.find_item(info.id, document).await.map(Some);
        }
        let before = target.checked_sub(1).map(|before| &info.workflow.stages[before]);
        let Some(page) = message.page_index else {
            return match before.filter(|before| before.over != Over::Submission) {
                None => Ok(None),
                Some(before) => {
                    let text = format!(
                        "document_id is missing: each result of the stage {} is about one {}",
                        before.name, before.over
                    );
                    Err(EngineError::Invalid(text))
                }
            };
        };
        let filter = ItemFilter { kind: Some(ItemKind::Page), ..ItemFilter::default() };
        let mut pages = ItemPages::new(&**self.store(), info.id, filter);
        let mut before = 0;
        loop {
            let read = pages.next().await?;
            let found = usize::try_from(page).ok().and_then(|index| read.get(index.checked_sub(before)?));
            if let Some(found) = found {
                return Ok(Some(found.id));
            }
            before += read.len();
            if read.is_empty() {
                let message = format!("page {page} in {}, which has {before} pages", info.id);
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

/// The confidence of a result that has what its stage needs; an error that says what it lacks.
fn checked_confidence(stage: &Stage, payload: &Value, input: &Value) -> EngineResult<Option<f64>> {
    if let Some(mistake) = stage.result.mistake(payload) {
        return Err(EngineError::Invalid(format!("no result of the stage {}: {mistake}", stage.name)));
    }
    stage
        .confidence_of(payload, input)
        .map_err(|mistake| EngineError::Invalid(format!("no result of the stage {}: {mistake}", stage.name)))
}
