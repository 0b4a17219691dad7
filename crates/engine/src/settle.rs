//! Settling a piece of work: its result becomes one commit (or, for a large fan-out, a few that continue each other).

use crate::{
    catalog::SubmissionInfo,
    chain::{At, Next, fully_processed, is_document_stage},
    engine::Engine,
    error::{EngineError, EngineResult},
    fan_out::FanOut,
    processor::{Children, NewArtifact},
    steps::Failure,
    workflow::{Over, Resolved, Stage, Target},
};
use bindery_core::{
    Disposition, ItemId, JoinId, Name, Payload, StepError, SubmissionId,
    artifact::Artifact,
    event::kind,
    job::{ErrorRecord, Job, Token},
    join::Arrival,
    outcome::{Outcome, OutcomeStatus, ResumePoint},
    review::NewReview,
};
use bindery_store::{Changes, Commit, Guard, JobEnd};
use serde_json::json;

/// What a processor's run came to, with large values already in the blob store.
#[derive(Debug)]
pub struct Found {
    pub output: Payload,
    pub confidence: Option<f64>,
    pub children: Option<Children>,
    pub target: Target,
    pub artifacts: Vec<NewArtifact>,
    pub label: Option<String>,
    pub skipped: Option<String>,
    pub cost_micros: i64,
    pub processor_version: u32,
}

/// A claimed job as far as its settlement needs it: the same for a worker's claim, an outside report and a review.
#[derive(Debug, Clone)]
pub struct Work {
    pub submission: SubmissionId,
    pub item: Option<ItemId>,
    pub stage: usize,
    pub processor: Name,
    pub join: Option<JoinId>,
    pub priority: i32,
    pub attempt: u32,
    pub input: Payload,
    /// The event that reports the result is in the log already: it is what brought it here.
    pub reported_by_event: bool,
}

impl Work {
    pub fn of_job(job: &Job, stage: usize) -> Self {
        Self {
            submission: job.submission,
            item: job.item,
            stage,
            processor: job.processor.clone(),
            join: job.join,
            priority: job.priority,
            attempt: job.attempt,
            input: job.payload.clone(),
            reported_by_event: false,
        }
    }

    pub(crate) fn at(&self) -> At {
        At { stage: self.stage, item: self.item, join: self.join, priority: self.priority }
    }
}

/// A commit ready to be stored, or a fan-out that needs several.
#[derive(Debug)]
pub enum Settlement {
    Commit(Box<Commit>),
    FanOut(Box<FanOut>),
}

/// Settles work for one submission.
#[derive(Debug)]
pub struct Settler<'a> {
    pub engine: &'a Engine,
    pub info: &'a SubmissionInfo,
}

impl Settler<'_> {
    pub(crate) fn stage(&self, index: usize) -> &Stage {
        &self.info.workflow.stages[index]
    }

    /// The guard of a worker's claim that ends well.
    pub fn done(job: &Job, token: Token) -> Guard {
        Guard::Claim { job: job.id, token, end: JobEnd::Done }
    }

    /// A result was found: store it and go on, or ask a person.
    pub async fn found(&self, guard: Guard, work: Work, found: Found) -> EngineResult<Settlement> {
        if let Some(queue) = self.asks_a_person(&work, &found)? {
            return Ok(Settlement::Commit(Box::new(self.review(guard, &work, found, queue))));
        }
        let status = if found.skipped.is_some() { OutcomeStatus::Skipped } else { OutcomeStatus::Completed };
        let mut next = Next::new(self.engine, self.info);
        let outcome = self.outcome(&work, status, &found);
        self.report_outcome(&mut next, &work, &outcome).await?;
        next.changes.outcomes.push(outcome);
        next.changes.artifacts = stored_artifacts(&work, found.artifacts);
        if let Some(label) = found.label {
            self.relabel(&mut next, &work, label).await?;
        }
        self.aggregation_event(&mut next, &work).await?;
        let several_processors = self.stage(work.stage).processors.len() > 1;
        if let Some(children) = found.children {
            self.check_children(&work, &children)?;
            let changes = next.into_changes();
            return Ok(Settlement::FanOut(Box::new(FanOut { work, children, changes, earlier: None })));
        }
        if several_processors {
            next.arrive(work.join, Arrival::Completed);
        } else {
            match self.info.workflow.resolve(&self.stage(work.stage).name, &found.target)? {
                Resolved::Stage { index } => next.proceed_to(index, work.at(), found.output).await?,
                Resolved::End | Resolved::Backoffice { .. } => next.arrive(work.join, Arrival::Completed),
            }
        }
        Ok(Settlement::Commit(Box::new(Commit { guard, changes: next.into_changes() })))
    }

    /// The queue of the people who should look, if they should.
    fn asks_a_person(&self, work: &Work, found: &Found) -> EngineResult<Option<Name>> {
        let stage = self.stage(work.stage);
        let doubtful = stage
            .confidence_threshold
            .is_some_and(|threshold| found.confidence.is_some_and(|confidence| confidence < threshold));
        if !doubtful && found.target != Target::Backoffice {
            return Ok(None);
        }
        match self.info.workflow.resolve(&stage.name, &Target::Backoffice)? {
            Resolved::Backoffice { queue } => Ok(Some(queue)),
            _ => Ok(None),
        }
    }

    fn review(&self, guard: Guard, work: &Work, found: Found, queue: Name) -> Commit {
        let threshold = self.stage(work.stage).confidence_threshold;
        let reason = match (found.confidence, threshold) {
            (Some(confidence), Some(threshold)) if confidence < threshold => {
                format!("confidence {confidence:.2} is below {threshold:.2}")
            }
            _ => "the processor asks for a person".to_owned(),
        };
        let outcome = self.outcome(work, OutcomeStatus::Review, &found);
        self.review_commit(guard, work, outcome, queue, reason, found.output)
    }

    fn review_commit(
        &self,
        guard: Guard,
        work: &Work,
        outcome: Outcome,
        queue: Name,
        reason: String,
        input: Payload,
    ) -> Commit {
        let mut next = Next::new(self.engine, self.info);
        let stage = &self.stage(work.stage).name;
        next.event(
            kind::REVIEW_REQUESTED,
            work.item,
            &json!({"stage": stage, "processor": work.processor, "queue": queue, "reason": reason}),
        );
        next.changes.reviews.push(NewReview {
            submission: work.submission,
            item: work.item,
            stage: stage.clone(),
            processor: work.processor.clone(),
            join: work.join,
            queue,
            priority: work.priority,
            reason,
            input,
        });
        next.changes.outcomes.push(outcome);
        Commit { guard, changes: next.into_changes() }
    }

    /// A step failed: what happens next is what its error says.
    pub async fn failed(&self, job: &Job, token: Token, work: &Work, failure: Failure) -> EngineResult<Commit> {
        let Failure { error, step, resume, cost_micros } = failure;
        let resume = resume.map(|point| *point);
        let stage = self.stage(work.stage);
        let record =
            ErrorRecord { class: error.class(), kind: error.kind.clone(), message: error.message.clone(), step };
        let claim = |end| Guard::Claim { job: job.id, token, end };
        let max_attempts =
            stage.processor(&work.processor).map_or(stage.max_attempts, |processor| stage.max_attempts_of(processor));
        match &error.disposition {
            Disposition::Retry { after } if work.attempt < max_attempts => {
                let wait = after.unwrap_or_else(|| stage.backoff.delay(work.attempt, fastrand::f64()));
                let at = self.engine.clock().now() + wait;
                let mut next = Next::new(self.engine, self.info);
                let data = json!({
                    "job": job.id, "stage": stage.name, "processor": work.processor, "attempt": work.attempt,
                    "maxAttempts": max_attempts, "error": record.message, "step": record.step, "notBefore": at,
                    "costMicros": cost_micros,
                });
                next.event(kind::JOB_RETRIED, work.item, &data);
                Ok(Commit { guard: claim(JobEnd::Retry { at, error: record, resume }), changes: next.into_changes() })
            }
            Disposition::Park { until } => {
                // What to wait for is also what to unpark it by, so people must see it.
                let message = format!("waits for {until}: {}", record.message);
                let record = ErrorRecord { message, ..record };
                let mut next = Next::new(self.engine, self.info);
                let data = json!({"job": job.id, "stage": stage.name, "until": until, "error": record.message});
                next.event(kind::JOB_PARKED, work.item, &data);
                let end = JobEnd::Park { until: until.clone(), error: record, resume };
                Ok(Commit { guard: claim(end), changes: next.into_changes() })
            }
            Disposition::Review if stage.backoffice_queue.is_some() => {
                let queue = stage.backoffice_queue.clone().unwrap_or_else(|| Name::from("task"));
                let mut outcome = self.bare_outcome(work, OutcomeStatus::Review);
                let reason = record.message.clone();
                outcome.error = Some(record);
                outcome.resume = resume;
                Ok(self.review_commit(claim(JobEnd::Done), work, outcome, queue, reason, work.input.clone()))
            }
            _ => {
                let mut changes = self.give_up(work, &record, resume.clone(), Some(job)).await?;
                changes.outcomes.iter_mut().for_each(|outcome| outcome.cost_micros = cost_micros);
                Ok(Commit { guard: claim(JobEnd::Dead { error: record, resume }), changes })
            }
        }
    }

    /// The changes of work that has failed for good: a failed outcome, and the chain ends.
    pub async fn give_up(
        &self,
        work: &Work,
        error: &ErrorRecord,
        resume: Option<ResumePoint>,
        job: Option<&Job>,
    ) -> EngineResult<Changes> {
        let mut next = Next::new(self.engine, self.info);
        let mut outcome = self.bare_outcome(work, OutcomeStatus::Failed);
        outcome.error = Some(error.clone());
        outcome.resume = resume;
        self.report_outcome(&mut next, work, &outcome).await?;
        next.changes.outcomes.push(outcome);
        if let Some(job) = job {
            let data = json!({
                "job": job.id, "stage": job.stage, "processor": job.processor, "attempts": job.attempt,
                "error": error.message, "class": error.class,
            });
            next.event(kind::JOB_DEAD_LETTERED, work.item, &data);
        }
        next.arrive(work.join, Arrival::Failed);
        Ok(next.into_changes())
    }

    fn outcome(&self, work: &Work, status: OutcomeStatus, found: &Found) -> Outcome {
        Outcome {
            output: found.output.clone(),
            confidence: found.confidence,
            cost_micros: found.cost_micros,
            processor_version: found.processor_version,
            ..self.bare_outcome(work, status)
        }
    }

    fn bare_outcome(&self, work: &Work, status: OutcomeStatus) -> Outcome {
        Outcome {
            submission: work.submission,
            item: work.item,
            stage: self.stage(work.stage).name.clone(),
            processor: work.processor.clone(),
            status,
            output: Payload::null(),
            confidence: None,
            error: None,
            resume: None,
            input_hash: Some(crate::steps::input_hash(&work.input)),
            processor_version: 0,
            attempts: work.attempt,
            cost_micros: 0,
            finished_at: self.engine.clock().now(),
        }
    }

    /// Every outcome is an event: a `DocumentProcessedEvent` where a processor has read a file, a plain one elsewhere.
    async fn report_outcome(&self, next: &mut Next<'_>, work: &Work, outcome: &Outcome) -> EngineResult<()> {
        let error = outcome.error.as_ref().map(|error| error.message.as_str());
        if !is_document_stage(&self.info.workflow, work.stage) {
            let data = json!({
                "stage": outcome.stage, "processor": outcome.processor, "status": outcome.status,
                "item": work.item, "error": error,
            });
            next.event(kind::OUTCOME_RECORDED, work.item, &data);
            return Ok(());
        }
        let document_id = self.document_id(work).await?;
        let data = json!({
            "documentId": document_id, "processor": outcome.processor,
            "status": if outcome.status == OutcomeStatus::Failed { "failed" } else { "completed" },
            "documentRecordId": document_id, "error": error,
        });
        if !work.reported_by_event {
            next.event(kind::DOCUMENT_PROCESSED, work.item, &data);
        }
        if self.stage(work.stage).processors.len() == 1 {
            let data = fully_processed(&document_id, &[outcome.processor.to_string()]);
            next.milestone(kind::DOCUMENT_FULLY_PROCESSED, work.item, "document-fully-processed", &data);
        }
        Ok(())
    }

    /// The id that a document is known by outside.
    async fn document_id(&self, work: &Work) -> EngineResult<String> {
        let Some(id) = work.item else { return Ok(work.submission.to_string()) };
        let item = self.engine.store().item(work.submission, id).await?;
        Ok(item.map_or_else(|| id.to_string(), |item| item.public_id()))
    }

    /// An aggregation's own job says that its stage has closed, and what was collected.
    async fn aggregation_event(&self, next: &mut Next<'_>, work: &Work) -> EngineResult<()> {
        let stage = self.stage(work.stage);
        let Some(aggregation) = stage.aggregation else { return Ok(()) };
        if aggregation.counts == Over::File && aggregation.scope == Over::Submission {
            let counted = crate::view::submission_state(self.engine, work.submission).await?;
            let data = json!({
                "totalDocuments": counted.total_documents,
                "processedDocuments": counted.completed_documents + counted.failed_documents,
                "allDocumentsProcessed": true,
            });
            next.milestone(kind::SUBMISSION_DOCUMENTS_COMPLETE, None, "submission-documents-complete", &data);
        } else {
            let data = json!({"stage": stage.name, "collected": aggregation.counts.as_str()});
            next.event(kind::STAGE_CLOSED, work.item, &data);
        }
        Ok(())
    }

    async fn relabel(&self, next: &mut Next<'_>, work: &Work, label: String) -> EngineResult<()> {
        let Some(id) = work.item else { return Ok(()) };
        if let Some(mut item) = self.engine.store().item(work.submission, id).await? {
            item.label = Some(label);
            next.changes.items.push(item);
        }
        Ok(())
    }
}

fn stored_artifacts(work: &Work, artifacts: Vec<NewArtifact>) -> Vec<Artifact> {
    let stored = artifacts.into_iter().map(|artifact| Artifact {
        submission: work.submission,
        item: work.item,
        key: artifact.key,
        hash: artifact.hash,
        size: artifact.size,
        media_type: artifact.media_type,
    });
    stored.collect()
}

/// A failure of the engine itself, as a step's failure.
pub fn engine_failure(error: EngineError) -> Failure {
    Failure::new(StepError::from(error))
}
