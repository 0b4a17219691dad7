//! Settling a piece of work: its result becomes one commit (or, for a large fan-out, a few that continue each other).

use crate::{
    catalog::SubmissionInfo,
    chain::{At, Next, fully_processed, is_document_stage},
    decision::rejected,
    engine::Engine,
    error::{EngineError, EngineResult, NO_SPACE},
    fan_out::FanOut,
    processor::{Announcement, Children, Extracted, NewArtifact},
    reuse::{Earlier, Prepared, reuse_of},
    steps::Failure,
    workflow::{OnReview, Over, Resolved, Stage, Target},
};
use bindery_core::{
    Disposition, ItemId, JoinId, Name, Payload, StepError, SubmissionId,
    artifact::Artifact,
    event::{NewEvent, kind},
    job::{ErrorRecord, Job, Token},
    join::Arrival,
    outcome::{Outcome, OutcomeStatus, ResumePoint},
    review::{NewReview, Review},
};
use bindery_store::{Changes, Commit, Guard, JobEnd};
use serde_json::{Value, json};
use std::time::Duration;

/// The milestone of a submission whose documents have all been processed.
const DOCUMENTS_COMPLETE: &str = "submission-documents-complete";

/// How soon work that found no space on a disk tries again.
const SPACE_AGAIN_AFTER: Duration = Duration::from_secs(10);

/// What a processor's run came to, with large values already in the blob store.
#[derive(Debug)]
pub struct Found {
    pub output: Payload,
    pub confidence: Option<f64>,
    pub children: Option<Children>,
    pub reasons: Vec<String>,
    pub target: Target,
    pub artifacts: Vec<NewArtifact>,
    pub label: Option<String>,
    pub skipped: Option<String>,
    pub events: Vec<Announcement>,
    pub cost_micros: i64,
    pub processor_version: u32,
    /// What the work is known by, where it can be taken over.
    pub(crate) known_by: Option<Prepared>,
    /// It was done before, for this submission.
    pub taken_over_from: Option<SubmissionId>,
    /// A person has decided about it.
    pub is_decided: bool,
    /// That person has rejected it.
    pub rejected: Option<ErrorRecord>,
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
    pub async fn settle_found(&self, guard: Guard, work: Work, found: Found) -> EngineResult<Settlement> {
        let taken_over_from = found.taken_over_from;
        // On the heap: whoever waits for it would carry all of it about.
        let mut settlement = Box::pin(self.settle_found_or_known(guard, work, found)).await?;
        if let Some(from) = taken_over_from {
            let changes = match &mut settlement {
                Settlement::Commit(commit) => &mut commit.changes,
                Settlement::FanOut(fan_out) => &mut fan_out.changes,
            };
            tell_where_from(changes, from);
        }
        Ok(settlement)
    }

    async fn settle_found_or_known(&self, guard: Guard, work: Work, found: Found) -> EngineResult<Settlement> {
        let mut found = found;
        if let Some(from) = found.taken_over_from.filter(|_| found.is_decided) {
            let review = match found.known_by.and_then(|known| known.subject) {
                Some(subject) => self.engine.decision_about(subject).await?,
                None => None,
            };
            // Somebody may have thought better of it in yet another submission.
            let is_overtaken = review.as_ref().is_some_and(|review| review.submission != from);
            if !is_overtaken || found.rejected.is_some() {
                return self.settle_with_decision(guard, work, found, review).await;
            }
        }
        if (!found.is_decided || found.taken_over_from.is_some())
            && let Some(subject) = found.known_by.and_then(|known| known.subject)
        {
            let place = (work.submission, work.item);
            match self.engine.earlier_decision(subject, &work.processor, &found.output, place).await? {
                Some(Earlier::Stands { review, extracted }) => {
                    let Extracted { output, label, events, .. } = *extracted;
                    found.output = self.engine.store_payload(&output).await?;
                    found.label = label.or(found.label);
                    found.events.extend(events);
                    found.confidence = Some(1.0);
                    found.target = Target::Next;
                    found.is_decided = true;
                    return self.settle_with_decision(guard, work, found, Some(review)).await;
                }
                Some(Earlier::Rejected { review, reason }) => {
                    found.rejected = Some(rejected(&reason));
                    found.is_decided = true;
                    return self.settle_with_decision(guard, work, found, Some(review)).await;
                }
                Some(Earlier::DoesNotFit { why }) => found.reasons.push(why),
                None => {}
            }
        }
        self.settle_new(guard, work, found).await
    }

    /// A result with the decision that stands about it, which this submission then has, too.
    async fn settle_with_decision(
        &self,
        guard: Guard,
        work: Work,
        found: Found,
        review: Option<Review>,
    ) -> EngineResult<Settlement> {
        let known_by = found.known_by;
        let settlement = match &found.rejected {
            Some(error) => {
                let mut changes = self.give_up(&work, error, None, None).await?;
                let reuse = known_by.and_then(|known| reuse_of(known, &found)).map(Box::new);
                changes.outcomes.iter_mut().for_each(|outcome| outcome.reuse.clone_from(&reuse));
                Settlement::Commit(Box::new(Commit { guard, changes }))
            }
            None => self.settle_new(guard, work.clone(), found).await?,
        };
        let Some(Review { queue, reasons, input, decision: Some(decision), assigned_to, .. }) = review else {
            return Ok(settlement);
        };
        if let Payload::Blob(hash) = &input
            && !self.engine.blobs().touch(*hash).await?
        {
            return Ok(settlement);
        }
        let mut copy = self.new_review(&work, queue, reasons, input).await?;
        copy.subject = known_by.and_then(|known| known.subject);
        copy.decided = Some((decision, assigned_to));
        Ok(match settlement {
            Settlement::Commit(mut commit) => {
                commit.changes.reviews.push(copy);
                Settlement::Commit(commit)
            }
            Settlement::FanOut(mut fan_out) => {
                fan_out.changes.reviews.push(copy);
                Settlement::FanOut(fan_out)
            }
        })
    }

    /// A result that nobody has decided about before, or that is decided.
    async fn settle_new(&self, guard: Guard, work: Work, found: Found) -> EngineResult<Settlement> {
        if !found.is_decided
            && let Some(queue) = self.asks_a_person(&work, &found)?
        {
            return Ok(Settlement::Commit(Box::new(self.review(guard, &work, found, queue).await?)));
        }
        let status = if found.skipped.is_some() { OutcomeStatus::Skipped } else { OutcomeStatus::Completed };
        let mut next = Next::new(self.engine, self.info);
        let outcome = self.outcome(&work, status, &found);
        self.report_outcome(&mut next, &work, &outcome).await?;
        self.record(&mut next, outcome);
        next.changes.artifacts = stored_artifacts(&work, found.artifacts);
        if let Some(label) = found.label {
            self.relabel(&mut next, &work, label).await?;
        }
        self.aggregation_event(&mut next, &work).await?;
        announce(&mut next, &work, &found.events);
        if let Some(children) = found.children {
            self.check_children(&work, &children)?;
            let changes = next.into_changes();
            return Ok(Settlement::FanOut(Box::new(FanOut { work, children, changes, earlier: None })));
        }
        self.go_on(&mut next, &work, &found.target, found.output).await?;
        Ok(Settlement::Commit(Box::new(Commit { guard, changes: next.into_changes() })))
    }

    /// The result that is there from now on. What people were asked about the one before it, without anybody waiting for
    /// the answer, is asked no more.
    fn record(&self, next: &mut Next<'_>, outcome: Outcome) {
        next.changes.supersedes_reviews |=
            self.info.workflow.stage(&outcome.stage).is_some_and(|stage| stage.on_review == OnReview::Continue);
        next.changes.outcomes.push(outcome);
    }

    /// The chain goes where the result is sent.
    async fn go_on(&self, next: &mut Next<'_>, work: &Work, target: &Target, output: Payload) -> EngineResult<()> {
        let stage = self.stage(work.stage);
        if stage.processors.len() > 1 {
            next.arrive(work.join, Arrival::Completed);
            return Ok(());
        }
        match self.info.workflow.resolve(&stage.name, target)? {
            Resolved::Stage { index } => next.proceed_to(index, work.at(), output).await?,
            Resolved::End | Resolved::Backoffice { .. } => next.arrive(work.join, Arrival::Completed),
        }
        Ok(())
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

    /// Asks a person about what was found. Where the stage says so, the chain goes on with it in the same commit.
    async fn review(&self, guard: Guard, work: &Work, found: Found, queue: Name) -> EngineResult<Commit> {
        let outcome = self.outcome(work, OutcomeStatus::Review, &found);
        let reasons = self.reasons(work, &found);
        let mut next = self.question(work, outcome, queue, reasons, found.output.clone()).await?;
        if let Some(review) = next.changes.reviews.first_mut() {
            review.subject = found.known_by.and_then(|known| known.subject);
        }
        if self.stage(work.stage).on_review == OnReview::Continue {
            if let Some(children) = &found.children {
                self.check_children(work, children)?;
            }
            next.changes.artifacts = stored_artifacts(work, found.artifacts);
            if let Some(label) = found.label {
                self.relabel(&mut next, work, label).await?;
            }
            self.aggregation_event(&mut next, work).await?;
            announce(&mut next, work, &found.events);
            let target = if found.target == Target::Backoffice { Target::Next } else { found.target };
            self.go_on(&mut next, work, &target, found.output).await?;
        }
        Ok(Commit { guard, changes: next.into_changes() })
    }

    /// Why a person is asked: what the processor says itself, and that the confidence is too low.
    fn reasons(&self, work: &Work, found: &Found) -> Vec<String> {
        let threshold = self.stage(work.stage).confidence_threshold;
        let too_low = match (found.confidence, threshold) {
            (Some(confidence), Some(threshold)) if confidence < threshold => {
                Some(low_confidence_reason(confidence, threshold))
            }
            _ => None,
        };
        let mut reasons: Vec<String> = found.reasons.iter().cloned().chain(too_low).collect();
        if reasons.is_empty() {
            reasons.push(format!("{} asks for a person", work.processor));
        }
        reasons
    }

    /// What asking a person comes to.
    async fn question(
        &self,
        work: &Work,
        outcome: Outcome,
        queue: Name,
        reasons: Vec<String>,
        input: Payload,
    ) -> EngineResult<Next<'_>> {
        let mut next = Next::new(self.engine, self.info);
        let review = self.new_review(work, queue, reasons, input).await?;
        next.event(kind::REVIEW_REQUESTED, work.item, &Self::request_event(&review));
        next.changes.reviews.push(review);
        self.record(&mut next, outcome);
        Ok(next)
    }

    /// What the event of a new review tells.
    pub(crate) fn request_event(review: &NewReview) -> Value {
        json!({
            "stage": review.stage, "processor": review.processor, "queue": review.queue,
            "reason": review.reasons.join("; "), "skills": review.skills, "goesOn": review.goes_on,
        })
    }

    pub(crate) async fn new_review(
        &self,
        work: &Work,
        queue: Name,
        reasons: Vec<String>,
        input: Payload,
    ) -> EngineResult<NewReview> {
        let stage = self.stage(work.stage);
        Ok(NewReview {
            submission: work.submission,
            item: work.item,
            stage: stage.name.clone(),
            processor: work.processor.clone(),
            join: work.join,
            goes_on: stage.on_review == OnReview::Continue,
            skills: self.skills(work, &queue).await?,
            queue,
            priority: work.priority,
            reasons,
            claim_ms: i64::try_from(stage.review_timeout.as_millis()).ok(),
            input,
            subject: None,
            decided: None,
        })
    }

    /// What a person should know about: the kind of task, and for a document its type.
    async fn skills(&self, work: &Work, queue: &Name) -> EngineResult<Vec<Name>> {
        let mut skills = vec![Name::from(queue.strip_prefix("task.").unwrap_or(queue))];
        if let (Some(id), Over::Document) = (work.item, self.stage(work.stage).over) {
            let item = self.engine.store().item(work.submission, id).await?;
            skills.extend(item.and_then(|item| item.label).map(Name::from));
        }
        Ok(skills)
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
                let after = after.unwrap_or_else(|| stage.backoff.random_delay(work.attempt));
                let at = self.engine.clock().now() + after;
                let mut next = Next::new(self.engine, self.info);
                let data = json!({
                    "job": job.id, "stage": stage.name, "processor": work.processor, "attempt": work.attempt,
                    "maxAttempts": max_attempts, "error": record.message, "step": record.step, "notBefore": at,
                    "costMicros": cost_micros,
                });
                next.event(kind::JOB_RETRIED, work.item, &data);
                Ok(Commit {
                    guard: claim(JobEnd::Retry { after, error: record, resume }),
                    changes: next.into_changes(),
                })
            }
            Disposition::Park { until, at } => {
                // Nobody tells that a disk has room again, so it is tried now and then.
                let now = self.engine.clock().now();
                let at = at.or_else(|| (record.kind == NO_SPACE).then(|| now + SPACE_AGAIN_AFTER));
                // What to wait for is also what to unpark it by, so people must see it.
                let message = format!("waits for {until}: {}", record.message);
                let record = ErrorRecord { message, ..record };
                let mut next = Next::new(self.engine, self.info);
                let data = json!({
                    "job": job.id, "stage": stage.name, "until": until, "wakesAt": at, "error": record.message,
                });
                next.event(kind::JOB_PARKED, work.item, &data);
                let after = at.map(|at| at.since(now));
                let end = JobEnd::Park { until: until.clone(), after, error: record, resume };
                Ok(Commit { guard: claim(end), changes: next.into_changes() })
            }
            Disposition::Review if stage.backoffice_queue.is_some() => {
                let queue = stage.backoffice_queue.clone().unwrap_or_else(|| Name::from("task"));
                let mut outcome = self.bare_outcome(work, OutcomeStatus::Review);
                let reason = record.message.clone();
                outcome.error = Some(record);
                outcome.resume = resume;
                let mut next = self.question(work, outcome, queue, vec![reason], work.input.clone()).await?;
                if stage.on_review == OnReview::Continue {
                    // There is no result for the stages before the next join.
                    next.arrive(work.join, Arrival::Completed);
                }
                Ok(Commit { guard: claim(JobEnd::Done), changes: next.into_changes() })
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
        self.record(&mut next, outcome);
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
            reuse: found.known_by.and_then(|known| reuse_of(known, found)).map(Box::new),
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
            reuse: None,
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
        let all = aggregation.scope == Over::Submission;
        if aggregation.counts == Over::Document && all {
            let documents = self.engine.store().item_counts(work.submission).await?.documents;
            let data = json!({
                "totalDocuments": documents, "processedDocuments": documents, "allDocumentsProcessed": true,
            });
            next.milestone(kind::SUBMISSION_DOCUMENTS_COMPLETE, None, DOCUMENTS_COMPLETE, &data);
        }
        if aggregation.counts == Over::File && all {
            let counted = crate::view::submission_state(self.engine, work.submission).await?;
            let data = json!({
                "totalDocuments": counted.total_documents,
                "processedDocuments": counted.completed_documents + counted.failed_documents,
                "allDocumentsProcessed": true,
            });
            next.milestone(kind::SUBMISSION_DOCUMENTS_COMPLETE, None, DOCUMENTS_COMPLETE, &data);
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

/// The events about a result say that it was not worked out, but found before.
fn tell_where_from(changes: &mut Changes, from: SubmissionId) {
    let about_it = |event: &&mut NewEvent| [kind::OUTCOME_RECORDED, kind::REVIEW_REQUESTED].contains(&&*event.kind);
    for event in changes.events.iter_mut().filter(about_it) {
        if let Ok(Value::Object(mut data)) = serde_json::from_str(&event.data) {
            data.insert("takenOverFrom".to_owned(), json!(from));
            event.data = Value::Object(data).to_string();
        }
    }
}

/// Appends the events that a processor has with its result.
fn announce(next: &mut Next<'_>, work: &Work, events: &[Announcement]) {
    for event in events {
        next.event(&event.kind, work.item, &event.data);
    }
}

/// With as many digits as it takes to see the difference.
fn low_confidence_reason(confidence: f64, threshold: f64) -> String {
    let written = |digits: usize| (format!("{confidence:.digits$}"), format!("{threshold:.digits$}"));
    let (confidence, threshold) =
        (2..6).map(written).find(|(confidence, threshold)| confidence != threshold).unwrap_or_else(|| written(6));
    format!("confidence {confidence} is below {threshold}")
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

#[cfg(test)]
mod tests {
    use super::low_confidence_reason;

    #[test]
    fn a_confidence_just_below_the_threshold_is_seen_to_be_below() {
        assert_eq!(low_confidence_reason(0.5, 0.75), "confidence 0.50 is below 0.75");
        assert_eq!(low_confidence_reason(0.7499, 0.75), "confidence 0.7499 is below 0.7500");
    }
}
