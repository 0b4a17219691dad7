//! What people and other programs see: progress, and the state documents of the source systems, all derived.

use crate::{
    catalog::SubmissionInfo,
    chain::END,
    engine::Engine,
    error::{EngineError, EngineResult},
    internal::is_completed,
    workflow::{OnReview, Over, Stage, Workflow},
};
use bindery_core::{
    Name, Payload, SubmissionId, Timestamp,
    item::{Item, ItemKind},
    join::Join,
    outcome::{Outcome, OutcomeStatus},
    progress::{Progress, StageCounts, StageProgress},
    submission::{Submission, SubmissionStatus, senders_id},
};
use bindery_store::{
    pages::{ItemPages, JoinPages, OutcomePages},
    query::{ItemCounts, ItemFilter, JoinFilter, JoinScope, OutcomePage},
};
use serde::Serialize;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

async fn stored(engine: &Engine, id: SubmissionId) -> EngineResult<Submission> {
    engine.store().submission(id).await?.ok_or_else(|| EngineError::NotFound(id.to_string()))
}

/// How a submission stands, stage by stage.
pub async fn progress(engine: &Engine, id: SubmissionId) -> EngineResult<Progress> {
    let submission = stored(engine, id).await?;
    let info = engine.catalog().submission(id).await?;
    let items = engine.store().item_counts(id).await?;
    let files = DeclaredFiles::read(engine, id, &info.workflow).await?;
    let mut counts: BTreeMap<Name, StageCounts> =
        engine.store().stage_counts(id).await?.into_iter().map(|row| (row.stage, row.counts)).collect();
    let mut stages: Vec<StageProgress> = Vec::new();
    // What has ended had as much to do as was done; only what was cancelled broke off.
    let is_over = submission.status.is_final() && submission.status != SubmissionStatus::Cancelled;
    for stage in &info.workflow.stages {
        let expected = count_expected(stage, &stages, &info.workflow, &items, files);
        let counts = counts.remove(&stage.name).unwrap_or_default();
        let expected = if is_over { Some(counts.total()) } else { expected };
        stages.push(StageProgress { stage: stage.name.clone(), expected, counts });
    }
    Ok(Progress {
        submission: id,
        external_id: senders_id(submission.external_id.as_deref()).map(str::to_owned),
        workflow: submission.workflow,
        workflow_version: submission.workflow_version,
        status: submission.status,
        received_at: submission.received_at,
        deadline_at: submission.deadline.at,
        sla_breached: submission.deadline.breached_at.is_some(),
        completed_at: submission.completed_at,
        error: submission.error,
        files: items.files,
        pages: items.pages,
        documents: items.documents,
        stages,
    })
}

/// How many pieces of work a stage will have, if that is certain already. `before` are the stages before it.
fn count_expected(
    stage: &Stage,
    before: &[StageProgress],
    workflow: &Workflow,
    items: &ItemCounts,
    files: DeclaredFiles,
) -> Option<u64> {
    let each = stage.processors.len() as u64;
    let existing = match stage.over {
        Over::Submission => return Some(each),
        Over::File => items.files,
        Over::Document => items.documents,
        Over::Page => items.pages,
    };
    let Some(previous) = before.last() else {
        return files.total(existing).map(|total| total * each);
    };
    let previous_stage = &workflow.stages[before.len() - 1];
    if previous_stage.over == stage.over && stage.aggregation.is_none() {
        // Items that failed a stage earlier do not come here.
        let previous_each = previous_stage.processors.len() as u64;
        let coming = previous.expected?.saturating_sub(previous.counts.failed) / previous_each;
        return Some(coming * each);
    }
    // What failed before its parts were made does not come here.
    let same = workflow.stages[..before.len()].iter().rposition(|earlier| earlier.over == stage.over);
    // Where several processors work on an item, it may go on although one of them has failed.
    let same = same.filter(|index| workflow.stages[*index].processors.len() == 1);
    if let Some(earlier) = same.and_then(|index| before.get(index)) {
        return Some(earlier.expected?.saturating_sub(earlier.counts.failed) * each);
    }
    // Parts are counted once everything that makes them has ended.
    let made = previous.expected.is_some_and(|expected| previous.counts.done() >= expected);
    (made || stage.over == Over::File).then_some(existing * each)
}

/// What a submission's joins say about how many files it has.
#[derive(Debug, Clone, Copy)]
enum DeclaredFiles {
    /// Its sender has not said it.
    Unknown,
    /// As many as there are.
    Known,
    AtLeast(u64),
}

impl DeclaredFiles {
    async fn read(engine: &Engine, id: SubmissionId, workflow: &Workflow) -> EngineResult<Self> {
        let whole = JoinFilter { scope: Some(JoinScope::Submission), ..JoinFilter::default() };
        let whole = engine.store().joins(id, whole).await?;
        if !whole.iter().all(|join| join.declared) {
            return Ok(Self::Unknown);
        }
        let until =
            workflow.next_collector_after(0, Over::Submission).map_or(workflow.stages.len(), |(index, _)| index);
        if !workflow.stages[..until].iter().all(|stage| stage.over == Over::File) {
            return Ok(Self::Known);
        }
        let Some(join) = whole.iter().find(|join| join.stage == *next_join_stage(workflow, 0)) else {
            return Ok(Self::Known);
        };
        // A document that is repaired before the join has closed is expected there once more.
        let again = JoinFilter { outer: Some(join.id), repaired: true, ..JoinFilter::default() };
        let mut again = JoinPages::new(&**engine.store(), id, again);
        let mut expected = join.expected;
        loop {
            let page = again.next().await?;
            if page.is_empty() {
                return Ok(Self::AtLeast(expected.unsigned_abs()));
            }
            expected -= page.len() as i64;
        }
    }

    /// Where `known` files are known.
    fn total(self, known: u64) -> Option<u64> {
        match self {
            Self::Unknown => None,
            Self::Known => Some(known),
            Self::AtLeast(count) => Some(known.max(count)),
        }
    }
}

fn next_join_stage(workflow: &Workflow, index: usize) -> &str {
    workflow.next_collector_after(index, Over::Submission).map_or(END, |(_, stage)| &stage.name)
}

/// One processor's report on a document, in seed 000's shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProcessorState {
    /// `completed`, `failed` or `pending`.
    pub status: String,
    pub timestamp: Option<Timestamp>,
    pub error: Option<String>,
}

/// Seed 000's document processing state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentState {
    pub id: String,
    pub submission_id: String,
    pub processors: BTreeMap<String, ProcessorState>,
    pub all_processors_complete: bool,
}

/// Seed 000's submission processing state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubmissionState {
    pub id: String,
    pub submission_id: String,
    pub total_documents: i64,
    pub completed_documents: i64,
    pub failed_documents: i64,
    pub all_documents_processed: bool,
    pub last_updated: Timestamp,
}

/// The stage whose processors read the documents: the first one that works on each file.
fn document_stage(workflow: &Workflow) -> EngineResult<usize> {
    let index = workflow.stages.iter().position(|stage| stage.over == Over::File);
    index
        .ok_or_else(|| EngineError::Invalid(format!("workflow {} has no stage that works on each file", workflow.name)))
}

impl DocumentState {
    fn from_outcomes(info: &SubmissionInfo, stage: &Stage, document: &Item, outcomes: &[Outcome]) -> Self {
        let mut processors = BTreeMap::new();
        for processor in &stage.processors {
            let outcome = outcomes.iter().find(|outcome| outcome.processor == processor.name);
            let reported = outcome.map_or_else(ProcessorState::pending, ProcessorState::from_outcome);
            processors.insert(processor.name.to_string(), reported);
        }
        Self {
            id: document.public_id(),
            submission_id: info.public_id(),
            processors,
            all_processors_complete: all_terminal(stage, outcomes),
        }
    }
}

/// Whether every processor has ended with a document, well or not.
fn all_terminal(stage: &Stage, outcomes: &[Outcome]) -> bool {
    let ended = |name: &Name| {
        outcomes.iter().any(|outcome| outcome.processor == *name && outcome.status != OutcomeStatus::Review)
    };
    stage.processors.iter().all(|processor| ended(&processor.name))
}

impl ProcessorState {
    fn pending() -> Self {
        Self { status: "pending".to_owned(), timestamp: None, error: None }
    }

    fn from_outcome(outcome: &Outcome) -> Self {
        let status = match outcome.status {
            OutcomeStatus::Completed | OutcomeStatus::Skipped => "completed",
            OutcomeStatus::Failed => "failed",
            OutcomeStatus::Review => return Self::pending(),
        };
        let error = outcome.error.as_ref().map(|error| error.message.clone());
        Self { status: status.to_owned(), timestamp: Some(outcome.finished_at), error }
    }
}

/// A cursor over the documents of a submission with their states.
#[derive(Debug)]
pub struct DocumentStates<'e> {
    engine: &'e Engine,
    info: Arc<SubmissionInfo>,
    stage: usize,
    documents: ItemPages<'e>,
}

impl<'e> DocumentStates<'e> {
    pub async fn new(engine: &'e Engine, submission: SubmissionId) -> EngineResult<Self> {
        let info = engine.catalog().submission(submission).await?;
        let stage = document_stage(&info.workflow)?;
        let filter = ItemFilter { kind: Some(ItemKind::File), ..ItemFilter::default() };
        Ok(Self { engine, info, stage, documents: ItemPages::new(&**engine.store(), submission, filter) })
    }

    /// The next page; an empty one is the end.
    pub async fn next(&mut self) -> EngineResult<Vec<DocumentState>> {
        let stage = &self.info.workflow.stages[self.stage];
        let documents = self.documents.next().await?;
        if documents.is_empty() {
            return Ok(Vec::new());
        }
        let limit = documents.len() * stage.processors.len().max(1);
        let items = Some(documents.iter().map(|document| document.id).collect());
        let page = OutcomePage { items, ..OutcomePage::first(stage.name.clone(), limit) };
        let outcomes = self.engine.store().outcome_page(self.info.id, page).await?;
        let by_item = outcomes.chunk_by(|one, other| one.item == other.item);
        let of_item: HashMap<_, _> = by_item.map(|outcomes| (outcomes[0].item, outcomes)).collect();
        let outcomes_of = |document: &Item| of_item.get(&Some(document.id)).copied().unwrap_or_default();
        let state = |document: &Item| DocumentState::from_outcomes(&self.info, stage, document, outcomes_of(document));
        Ok(documents.iter().map(state).collect())
    }
}

/// What the outcomes of the documents add up to, read page by page.
#[derive(Debug, Default)]
struct DocumentCounts {
    completed: i64,
    failed: i64,
    last_finished: Option<Timestamp>,
    /// Those of the document that was read last: the next page may have more of them.
    open: Vec<Outcome>,
}

impl DocumentCounts {
    async fn read(engine: &Engine, submission: SubmissionId, stage: &Stage) -> EngineResult<Self> {
        let mut counts = Self::default();
        let mut pages = OutcomePages::new(&**engine.store(), submission, &stage.name, None);
        loop {
            let page = pages.next().await?;
            if page.is_empty() {
                counts.close(stage);
                return Ok(counts);
            }
            for outcome in page {
                if counts.open.first().is_some_and(|first| first.item != outcome.item) {
                    counts.close(stage);
                }
                counts.last_finished = counts.last_finished.max(Some(outcome.finished_at));
                counts.open.push(outcome);
            }
        }
    }

    fn close(&mut self, stage: &Stage) {
        let outcomes = std::mem::take(&mut self.open);
        if outcomes.is_empty() || !all_terminal(stage, &outcomes) {
            return;
        }
        if is_completed(stage, &outcomes) {
            self.completed += 1;
        } else {
            self.failed += 1;
        }
    }
}

/// The documents are counted by their outcomes, so each counts once, however often it was reported or repaired.
pub async fn submission_state(engine: &Engine, submission: SubmissionId) -> EngineResult<SubmissionState> {
    let info = engine.catalog().submission(submission).await?;
    let index = document_stage(&info.workflow)?;
    let counts = DocumentCounts::read(engine, submission, &info.workflow.stages[index]).await?;
    let known = engine.store().item_counts(submission).await?.files;
    let total = DeclaredFiles::read(engine, submission, &info.workflow).await?.total(known).unwrap_or(known);
    let collects = next_join_stage(&info.workflow, index);
    let (mut collecting, mut closed, mut last_changed) = (0, 0, counts.last_finished);
    let mut joins = JoinPages::new(&**engine.store(), submission, JoinFilter::default());
    loop {
        let page = joins.next().await?;
        if page.is_empty() {
            break;
        }
        for join in page {
            last_changed = last_changed.max(Some(join.updated_at));
            if join.stage == *collects {
                collecting += 1;
                closed += i64::from(join.closed_at.is_some());
            }
        }
    }
    Ok(SubmissionState {
        id: info.public_id(),
        submission_id: info.public_id(),
        total_documents: total as i64,
        completed_documents: counts.completed,
        failed_documents: counts.failed,
        all_documents_processed: collecting > 0 && closed == collecting,
        last_updated: last_changed.unwrap_or(info.received_at),
    })
}

/// Seed 002's `aggregation_state` rows: one per aggregation that has begun to wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AggregationState {
    pub id: String,
    pub request_id: String,
    /// The aggregation's stage without its `_aggregation`: `classification`, `extraction`.
    pub stage: String,
    pub expected_count: i64,
    pub received_count: i64,
    pub is_complete: bool,
    pub updated_at: Timestamp,
}

/// A cursor over the aggregations of a submission, in the order in which they began to wait.
#[derive(Debug)]
pub struct AggregationStates<'e> {
    info: Arc<SubmissionInfo>,
    joins: JoinPages<'e>,
}

impl<'e> AggregationStates<'e> {
    pub async fn new(engine: &'e Engine, submission: SubmissionId) -> EngineResult<Self> {
        let info = engine.catalog().submission(submission).await?;
        Ok(Self { info, joins: JoinPages::new(&**engine.store(), submission, JoinFilter::default()) })
    }

    /// The next of them; none at the end.
    pub async fn next(&mut self) -> EngineResult<Vec<AggregationState>> {
        loop {
            let page = self.joins.next().await?;
            let is_last = page.is_empty();
            let states: Vec<AggregationState> = page.iter().filter_map(|join| self.state(join)).collect();
            if is_last || !states.is_empty() {
                return Ok(states);
            }
        }
    }

    /// None: the join is not that of an aggregation.
    fn state(&self, join: &Join) -> Option<AggregationState> {
        self.info.workflow.stage(&join.stage).filter(|stage| stage.aggregation.is_some())?;
        Some(AggregationState {
            id: join.id.to_string(),
            request_id: self.info.public_id(),
            stage: join.stage.strip_suffix("_aggregation").unwrap_or(&join.stage).to_owned(),
            expected_count: join.expected,
            received_count: join.arrived,
            is_complete: join.closed_at.is_some(),
            updated_at: join.updated_at,
        })
    }
}

/// Seed 002's status answer.
pub async fn request_status(engine: &Engine, id: SubmissionId) -> EngineResult<Value> {
    let mut status = request_summary(engine, id).await?;
    status["result"] = json!(result(engine, id).await?);
    Ok(status)
}

/// The same with `null` for the result, which may be long.
pub async fn request_summary(engine: &Engine, id: SubmissionId) -> EngineResult<Value> {
    let submission = stored(engine, id).await?;
    let items = engine.store().item_counts(id).await?;
    let breached = submission.deadline.breached_at.is_some() && !submission.status.is_final();
    let status = if breached { "sla_breached" } else { submission.status.as_str() };
    let late =
        submission.deadline.breached_at.filter(|_| breached).map(|at| format!("the deadline was missed at {at}"));
    let error = submission.error.clone().or(late);
    Ok(json!({
        "request_id": submission.public_id(), "status": status, "workflow_name": submission.workflow,
        "created_at": submission.received_at, "deadline_utc": submission.deadline.at,
        "sla_breached": submission.deadline.breached_at.is_some(),
        "completed_at": submission.completed_at, "page_count": items.pages, "document_count": items.documents,
        "result": null, "error": error,
    }))
}

/// The output of the workflow's last stage that makes one, once there is one. A stage that only hands it on makes none.
pub async fn result(engine: &Engine, id: SubmissionId) -> EngineResult<Option<Value>> {
    match result_payload(engine, id).await? {
        Some(payload) => engine.read_payload(&payload).await.map(Some),
        None => Ok(None),
    }
}

/// Where the [`result`] is.
pub async fn result_payload(engine: &Engine, id: SubmissionId) -> EngineResult<Option<Payload>> {
    let info = engine.catalog().submission(id).await?;
    let hands_on = |name: &Name| engine.registry().get(name).is_some_and(|processor| processor.hands_on());
    let makes_it = |stage: &&Stage| !stage.processors.iter().all(|processor| hands_on(&processor.name));
    let Some(last) = info.workflow.stages.iter().rev().find(makes_it) else { return Ok(None) };
    let outcomes = engine.store().item_outcomes(id, None, &last.name).await?;
    let goes_on = last.on_review == OnReview::Continue;
    let is_done = |outcome: &Outcome| match outcome.status {
        OutcomeStatus::Completed => true,
        OutcomeStatus::Review => goes_on,
        OutcomeStatus::Failed | OutcomeStatus::Skipped => false,
    };
    Ok(outcomes.into_iter().find(is_done).map(|done| done.output))
}
