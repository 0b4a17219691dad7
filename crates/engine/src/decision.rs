//! What people decide about results: accept, correct, reject.
//!
//! A decision is one commit: the review is closed, the result replaced, and the chain goes on; or nothing of it is
//! stored. Where the chain had gone on without the answer, also to the end of the submission, it begins again behind the
//! stage: what is still under way without the decision is taken back, and what had ended runs once more. So whatever
//! moment a process dies at, the decision is in the result or the person knows that it was not taken.
//!
//! What a correction means is the processor's matter ([`Processor::correct`](crate::Processor::correct)).

use crate::{
    catalog::SubmissionInfo,
    chain::{END, Next, internal_processor},
    engine::Engine,
    error::{EngineError, EngineResult},
    processor::{Correction, Extracted},
    reuse::{Prepared, REJECTED, reuse_of},
    settle::{Found, Settlement, Settler, Work},
    workflow::{Over, Target},
};
use bindery_core::{
    ItemId, JoinId, Name, Payload, ReviewId, SubmissionId, Timestamp,
    error::ErrorClass,
    event::kind,
    item::{Item, ItemKind},
    job::ErrorRecord,
    join::Join,
    outcome::{Outcome, OutcomeStatus, Reuse},
    review::{Decision, Review, ReviewStatus},
    submission::SubmissionStatus,
};
use bindery_store::{
    Again, Commit, CommitResult, Guard, Rejection,
    query::{JoinFilter, ReviewFilter},
};
use serde_json::{Value, json};

/// How often a decision is planned anew because others change the same result at the same moment.
const MOST_TRIES: usize = 20;

/// Where a result tells of the person who has decided about it.
pub const DECIDED: &str = "decided";

/// What a decision has come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    pub submission: SubmissionId,
    pub item: Option<ItemId>,
    pub stage: Name,
    /// The result from now on; nothing where it was rejected.
    pub output: Value,
}

/// A decision about a piece of work, and who makes it.
struct Plan<'a> {
    work: Work,
    found: Value,
    decision: &'a Decision,
    by: Option<&'a str>,
    /// The chain has gone on before.
    again: bool,
}

impl Engine {
    /// Gives a review to a person, who has it alone until it is decided or its time is over.
    pub async fn claim_review(&self, id: ReviewId, by: &str) -> EngineResult<Review> {
        self.known_review(id).await?;
        let given = self.store().assign_review(id, by).await?;
        let review = self.known_review(id).await?;
        if given { Ok(review) } else { Err(refusal(&review)) }
    }

    /// A person has decided what they were asked.
    ///
    /// The same question about the same content, asked elsewhere, is decided with it.
    pub async fn decide(&self, id: ReviewId, by: Option<&str>, decision: &Decision) -> EngineResult<Decided> {
        let decided = Box::pin(self.decide_one(id, by, decision)).await?;
        if let Ok(review) = self.known_review(id).await {
            Box::pin(self.decide_same_content(&review, by, decision)).await;
        }
        Ok(decided)
    }

    pub(crate) async fn decide_one(
        &self,
        id: ReviewId,
        by: Option<&str>,
        decision: &Decision,
    ) -> EngineResult<Decided> {
        let review = self.known_review(id).await?;
        if !review.is_open() || review.assigned_to.as_deref().is_some_and(|who| Some(who) != by) {
            return Err(refusal(&review));
        }
        let info = self.catalog().submission(review.submission).await?;
        let work = work(&info, review.item, &review.stage, &review.processor, review.join, review.priority)?;
        let found = self.read_payload(&review.input).await?;
        let guard = Guard::Review { review: id, by: by.map(str::to_owned), decision: decision.clone() };
        let plan = Plan { work, found, decision, by, again: review.goes_on };
        let (mut commit, decided) = self.plan_decision(&info, guard, plan).await?;
        let about = json!({"review": id, "stage": review.stage, "by": by, "verdict": decision.as_str()});
        self.announce(&info, review.item, &about, &mut commit);
        match self.store().commit(vec![commit]).await?.pop() {
            Some(CommitResult::Applied { .. }) => Ok(decided),
            Some(CommitResult::Rejected(Rejection::ReviewClosed)) => Err(refusal(&self.known_review(id).await?)),
            other => Err(EngineError::Invalid(format!("{id} was not stored: {other:?}"))),
        }
    }

    /// A person has decided about the result of an item, asked or not: an open review of it is decided, or one is opened
    /// and decided in the same commit. It is the result of the last stage that worked on the item.
    pub async fn decide_item(
        &self,
        submission: SubmissionId,
        item: ItemId,
        by: Option<&str>,
        decision: &Decision,
    ) -> EngineResult<Decided> {
        let info = self.catalog().submission(submission).await?;
        for _ in 0..MOST_TRIES {
            if let Some(open) = self.open_review(submission, item).await? {
                return self.decide(open, by, decision).await;
            }
            let Some(known) = self.store().item(submission, item).await? else {
                return Err(EngineError::NotFound(format!("{item} in {submission}")));
            };
            if let Some(decided) = self.decide_unasked(&info, &known, by, decision).await? {
                return Ok(decided);
            }
        }
        Err(EngineError::Taken(format!("the result of {item} is changed by others all the time; try again")))
    }

    /// A person's fields over what was found; nothing at all accepts it. Returns the result.
    pub async fn complete_review(&self, id: ReviewId, by: Option<&str>, said: Value) -> EngineResult<Value> {
        let decision = match said {
            Value::Null => Decision::Accepted,
            Value::Object(fields) => Decision::Corrected { fields },
            other => {
                let message = format!("{id}: expected the fields that were decided, as an object, found {other}");
                return Err(EngineError::Invalid(message));
            }
        };
        Ok(self.decide(id, by, &decision).await?.output)
    }

    async fn known_review(&self, id: ReviewId) -> EngineResult<Review> {
        self.store().review(id).await?.ok_or_else(|| EngineError::NotFound(id.to_string()))
    }

    /// What is asked about an item.
    async fn open_review(&self, submission: SubmissionId, item: ItemId) -> EngineResult<Option<ReviewId>> {
        let statuses = ReviewStatus::OPEN.to_vec();
        let (submission, item_id) = (Some(submission), Some(item));
        let filter = ReviewFilter { submission, item: item_id, statuses, ..ReviewFilter::default() };
        let open = self.store().reviews(filter).await?;
        match open.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(only.id)),
            several => {
                let ids: Vec<String> =
                    several.iter().map(|review| format!("{} ({})", review.id, review.stage)).collect();
                Err(EngineError::Invalid(format!("{item} has several open reviews: say which of {}", ids.join(", "))))
            }
        }
    }

    /// None if somebody else has changed the result meanwhile.
    async fn decide_unasked(
        &self,
        info: &SubmissionInfo,
        item: &Item,
        by: Option<&str>,
        decision: &Decision,
    ) -> EngineResult<Option<Decided>> {
        let submission = self.store().submission(info.id).await?;
        if submission.is_some_and(|submission| submission.status == SubmissionStatus::Cancelled) {
            return Err(EngineError::Invalid(format!("{} is cancelled", info.id)));
        }
        let (index, outcome) = self.last_result(info, item).await?;
        let stage = &info.workflow.stages[index];
        if let Some(later) = info.workflow.taken_apart_after(index) {
            let message = format!("the stage {later} works on the parts of {}: decide about those", item.public_id());
            return Err(EngineError::Invalid(message));
        }
        let found = self.value_to_correct(info, item, &outcome).await?;
        let work = work_on(self, info, item, index, &outcome).await?;
        let settler = Settler { engine: self, info };
        let queue = stage.backoffice_queue.clone().unwrap_or_else(|| Name::from("task"));
        let asked = vec!["a person decided without being asked".to_owned()];
        let mut review = settler.new_review(&work, queue, asked, self.store_payload(&found).await?).await?;
        review.subject = outcome.reuse.as_ref().and_then(|reuse| reuse.subject);
        review.decided = Some((decision.clone(), by.map(str::to_owned)));
        let plan = Plan { work, found, decision, by, again: true };
        let (mut commit, decided) = self.plan_decision(info, Guard::Unchanged(Box::new(outcome)), plan).await?;
        let about = json!({"stage": stage.name, "by": by, "verdict": decision.as_str()});
        self.announce(info, Some(item.id), &about, &mut commit);
        commit.changes.reviews.push(review);
        match self.store().commit(vec![commit]).await?.pop() {
            Some(CommitResult::Applied { .. }) => Ok(Some(decided)),
            Some(CommitResult::Rejected(Rejection::Changed)) => Ok(None),
            other => Err(EngineError::Invalid(format!("the decision was not stored: {other:?}"))),
        }
    }

    /// The commit that a decision comes to.
    async fn plan_decision(
        &self,
        info: &SubmissionInfo,
        guard: Guard,
        plan: Plan<'_>,
    ) -> EngineResult<(Commit, Decided)> {
        let Plan { work, found, decision, by, again } = plan;
        let settler = Settler { engine: self, info };
        let stage = settler.stage(work.stage).name.clone();
        let mut decided = Decided { submission: work.submission, item: work.item, stage, output: Value::Null };
        let again = work.join.filter(|_| again);
        let again = again.map(|join| Again { submission: work.submission, item: work.item, join });
        let known_by = self.known_by(&work, &settler).await?;
        let mut commit = match decision {
            Decision::Rejected { reason } => {
                let mut changes = settler.give_up(&work, &rejected(reason), None, None).await?;
                let found =
                    Found { known_by, is_decided: true, ..self.found_outside(&Value::Null, None, Target::Next).await? };
                let reuse = known_by.and_then(|known| reuse_of(known, &found)).map(Box::new);
                changes.outcomes.iter_mut().for_each(|outcome| outcome.reuse.clone_from(&reuse));
                Commit { guard, changes }
            }
            Decision::Accepted | Decision::Corrected { .. } => {
                let correction = correction(decision, by, self.clock().now());
                let extracted = self.corrected(&work.processor, found, &correction)?;
                decided.output = signed(extracted.output, decision, &correction);
                let found = self.found_outside(&decided.output, Some(1.0), Target::Next).await?;
                let (label, events) = (extracted.label, extracted.events);
                let found = Found { label, events, known_by, is_decided: true, ..found };
                match settler.settle_found(guard, work, found).await? {
                    Settlement::Commit(commit) => *commit,
                    Settlement::FanOut(_) => {
                        return Err(EngineError::Invalid("a decision cannot take an item apart".to_owned()));
                    }
                }
            }
            Decision::Superseded => {
                return Err(EngineError::Invalid("nobody decides that a question falls away".to_owned()));
            }
        };
        commit.changes.again = again;
        commit.changes.supersedes_reviews = true;
        Ok((commit, decided))
    }

    /// What the result that is decided about is known by.
    async fn known_by(&self, work: &Work, settler: &Settler<'_>) -> EngineResult<Option<Prepared>> {
        let stage = &settler.stage(work.stage).name;
        let outcomes = self.store().item_outcomes(work.submission, work.item, stage).await?;
        let outcome = outcomes.into_iter().find(|outcome| outcome.processor == work.processor);
        let reuse = outcome.and_then(|outcome| outcome.reuse);
        Ok(reuse.map(|reuse| {
            let Reuse { key, recipe, subject, .. } = *reuse;
            Prepared { key, recipe, subject, is_anew: false }
        }))
    }

    /// The first thing that is told of a decision is that it was made.
    fn announce(&self, info: &SubmissionInfo, item: Option<ItemId>, about: &Value, commit: &mut Commit) {
        let mut next = Next::new(self, info);
        next.event(kind::REVIEW_COMPLETED, item, about);
        commit.changes.events.splice(0..0, next.into_changes().events);
    }

    /// What the processor makes of a person's word. One that runs elsewhere is not asked.
    pub(crate) fn corrected(&self, processor: &Name, found: Value, correction: &Correction) -> EngineResult<Extracted> {
        match self.registry().get(processor) {
            Some(known) => {
                known.correct(found, correction).map_err(|error| EngineError::Invalid(error.message.clone()))
            }
            None => Ok(Extracted::new(correction.laid_over(found))),
        }
    }

    /// The result of the last stage that has worked on an item.
    pub async fn last_result(&self, info: &SubmissionInfo, item: &Item) -> EngineResult<(usize, Outcome)> {
        for (index, stage) in info.workflow.stages.iter().enumerate().rev() {
            let mut own = self.store().item_outcomes(info.id, Some(item.id), &stage.name).await?;
            let Some(outcome) = own.pop() else { continue };
            if !own.is_empty() {
                let message = format!("{}: {} has results of several processors", item.public_id(), outcome.stage);
                return Err(EngineError::Invalid(message));
            }
            return Ok((index, outcome));
        }
        Err(EngineError::Invalid(format!("{} has no result yet", item.public_id())))
    }

    /// What there is to decide about. A result that was rejected is what it was before.
    async fn value_to_correct(&self, info: &SubmissionInfo, item: &Item, outcome: &Outcome) -> EngineResult<Value> {
        if outcome.status != OutcomeStatus::Failed {
            return self.read_payload(&outcome.output).await;
        }
        let of_item = ReviewFilter { submission: Some(info.id), item: Some(item.id), ..ReviewFilter::default() };
        let reviews = self.store().reviews(of_item).await?.into_iter();
        let about = reviews.filter(|review| review.stage == outcome.stage);
        let Some(review) = about.max_by_key(|review| review.id) else {
            let why = outcome.error.as_ref().map_or("failed", |error| &error.message);
            let message = format!("there is no result of {} to decide about: {why}", item.public_id());
            return Err(EngineError::Invalid(message));
        };
        self.read_payload(&review.input).await
    }

    /// The join that the chain of an item ends in when it comes from a stage.
    async fn join_of(&self, info: &SubmissionInfo, stage: usize, item: &Item) -> EngineResult<Option<JoinId>> {
        let several = info.workflow.stages[stage].processors.len() > 1;
        let (name, scope) = match info.workflow.next_aggregation_after(stage) {
            _ if several => (info.workflow.stages[stage].name.clone(), Some(item.id)),
            Some((_, next)) => {
                let whole = next.aggregation.is_none_or(|aggregation| aggregation.scope == Over::Submission);
                (next.name.clone(), if whole { None } else { self.file_of(item).await? })
            }
            None => (Name::from(END), None),
        };
        let of_processors = |join: &Join| join.on_close.processor == internal_processor::ADVANCE;
        let filter = JoinFilter { stage: Some(name), scope: Some(scope.into()), ..JoinFilter::default() };
        let mut joins = self.store().joins(info.id, filter).await?;
        joins.retain(|join| of_processors(join) == several);
        Ok(joins.into_iter().max_by_key(|join| (join.generation, join.id)).map(|join| join.id))
    }

    async fn file_of(&self, item: &Item) -> EngineResult<Option<ItemId>> {
        let mut at = item.clone();
        while at.kind != ItemKind::File {
            let Some(parent) = at.parent else { return Ok(None) };
            let Some(above) = self.store().item(item.submission, parent).await? else { return Ok(None) };
            at = above;
        }
        Ok(Some(at.id))
    }
}

async fn submission_priority(engine: &Engine, info: &SubmissionInfo) -> EngineResult<i32> {
    Ok(engine.store().submission(info.id).await?.map_or(0, |submission| submission.priority))
}

/// The work whose result was stored last for an item, as if it were settled once more.
pub(crate) async fn work_on(
    engine: &Engine,
    info: &SubmissionInfo,
    item: &Item,
    stage: usize,
    outcome: &Outcome,
) -> EngineResult<Work> {
    let join = engine.join_of(info, stage, item).await?;
    let priority = submission_priority(engine, info).await?;
    work(info, Some(item.id), &info.workflow.stages[stage].name, &outcome.processor, join, priority)
}

fn work(
    info: &SubmissionInfo,
    item: Option<ItemId>,
    stage: &Name,
    processor: &Name,
    join: Option<JoinId>,
    priority: i32,
) -> EngineResult<Work> {
    let unknown = || EngineError::NotFound(format!("stage {stage} in workflow {}", info.workflow.name));
    Ok(Work {
        submission: info.id,
        item,
        stage: info.workflow.index_of(stage).ok_or_else(unknown)?,
        processor: processor.clone(),
        join,
        priority,
        attempt: 1,
        input: Payload::null(),
        reported_by_event: false,
    })
}

pub(crate) fn correction(decision: &Decision, by: Option<&str>, at: Timestamp) -> Correction {
    let fields = match decision {
        Decision::Corrected { fields } => fields.clone(),
        _ => serde_json::Map::new(),
    };
    Correction { fields, by: by.map(str::to_owned), at }
}

/// The result says who has decided about it, and when.
pub(crate) fn signed(mut output: Value, decision: &Decision, correction: &Correction) -> Value {
    if let Value::Object(fields) = &mut output {
        let decided = json!({"verdict": decision.as_str(), "by": correction.by, "at": correction.at});
        fields.insert(DECIDED.to_owned(), decided);
    }
    output
}

pub(crate) fn rejected(reason: &str) -> ErrorRecord {
    ErrorRecord { class: ErrorClass::Reject, kind: REJECTED.to_owned(), message: reason.to_owned(), step: None }
}

/// Why somebody does not get a review, or may not decide it.
fn refusal(review: &Review) -> EngineError {
    let id = review.id;
    EngineError::Taken(match (&review.decision, &review.assigned_to, review.status) {
        (Some(Decision::Superseded), ..) => format!("{id} fell away: what it asked about was done again"),
        (_, _, ReviewStatus::Cancelled) => format!("{id} is cancelled together with {}", review.submission),
        (Some(decision), Some(who), _) => format!("{id} is completed already: {} by {who}", decision.as_str()),
        (Some(decision), None, _) => format!("{id} is completed already: {}", decision.as_str()),
        (None, Some(who), ReviewStatus::Assigned) => format!("{id} is assigned to {who}"),
        _ => format!("{id} is completed already"),
    })
}
