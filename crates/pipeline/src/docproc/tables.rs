//! A submission as rows of that system's tables: the same columns under the same names, all derived.
//!
//! Nothing is stored like this. A page that could not be read, and a document whose fields could not, have the status
//! `failed`, which those tables do not know. Rows are made one by one from pages of the store: a submission may have a
//! million of them.

use super::{
    message::{DocumentMessage, ExtractedMessage, PageMessage},
    pages::{by_item, is_done, stages_over},
};
use crate::{
    borders::{data_of, seen_output},
    stage::lenient,
};
use bindery_core::{
    ItemId, SubmissionId, Timestamp,
    item::{Item, ItemKind},
    outcome::{Outcome, OutcomeStatus},
    review::{Review, ReviewStatus},
    submission::{Submission, SubmissionStatus},
};
use bindery_engine::{
    Engine, EngineError, EngineResult,
    view::{self, AggregationState},
    workflow::{Over, Stage, Workflow},
};
use bindery_store::{
    pages::{ItemPages, JoinPages, OutcomePages, PAGE, ReviewPages},
    query::{ItemFilter, JoinFilter, OutcomePage, ReviewFilter},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// The rows of one submission, table by table.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Tables {
    pub requests: Vec<Value>,
    pub pages: Vec<Value>,
    pub documents: Vec<Value>,
    pub backoffice_tasks: Vec<Value>,
    pub aggregation_state: Vec<Value>,
}

/// Which table a row is of. [`each_row`] goes through them in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableName {
    Requests,
    Pages,
    Documents,
    BackofficeTasks,
    AggregationState,
}

impl TableName {
    pub const ALL: [Self; 5] =
        [Self::Requests, Self::Pages, Self::Documents, Self::BackofficeTasks, Self::AggregationState];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Pages => "pages",
            Self::Documents => "documents",
            Self::BackofficeTasks => "backoffice_tasks",
            Self::AggregationState => "aggregation_state",
        }
    }
}

/// A submission as rows, all at once.
pub async fn tables(engine: &Engine, id: SubmissionId) -> EngineResult<Tables> {
    let mut tables = Tables::default();
    let collect = |table, row| {
        let rows = match table {
            TableName::Requests => &mut tables.requests,
            TableName::Pages => &mut tables.pages,
            TableName::Documents => &mut tables.documents,
            TableName::BackofficeTasks => &mut tables.backoffice_tasks,
            TableName::AggregationState => &mut tables.aggregation_state,
        };
        rows.push(row);
        Ok::<_, EngineError>(())
    };
    each_row(engine, id, collect).await?;
    let result = view::result(engine, id).await?;
    for request in tables.requests.iter_mut().filter_map(Value::as_object_mut) {
        request.insert("result_payload".to_owned(), json!(result));
    }
    Ok(tables)
}

/// Hands over the rows of a submission one by one, table by table. The `result_payload` of the request is `null`: it is
/// the [result](view::result_payload), which may be long.
pub async fn each_row<E: From<EngineError>>(
    engine: &Engine,
    id: SubmissionId,
    mut visit: impl FnMut(TableName, Value) -> Result<(), E>,
) -> Result<(), E> {
    let seen = Seen::look(engine, id).await?;
    visit(TableName::Requests, seen.request().await?)?;
    seen.pages(|row| visit(TableName::Pages, row)).await?;
    seen.documents(|row| visit(TableName::Documents, row)).await?;
    seen.tasks(|row| visit(TableName::BackofficeTasks, row)).await?;
    seen.aggregations(|row| visit(TableName::AggregationState, row)).await
}

/// What the status of a submission says.
#[derive(Debug, Default, Deserialize)]
struct Summary {
    status: String,
    page_count: u64,
    document_count: u64,
    error: Option<String>,
}

/// Where a page or a document stands in the order of its kind.
type Place = (Option<ItemId>, i64, ItemId);

/// What is known of a submission before its rows are made: of its items their places only.
struct Seen<'e> {
    engine: &'e Engine,
    submission: Submission,
    workflow: Arc<Workflow>,
    pages: Vec<Place>,
    documents: Vec<Place>,
    /// The documents by the pages that they have.
    document_of: HashMap<u64, ItemId>,
    /// When a result came, or a join changed.
    last_change: Option<Timestamp>,
}

impl<'e> Seen<'e> {
    async fn look(engine: &'e Engine, id: SubmissionId) -> EngineResult<Self> {
        let store = engine.store();
        let submission = store.submission(id).await?.ok_or_else(|| EngineError::NotFound(id.to_string()))?;
        let workflow = Arc::clone(&engine.catalog().submission(id).await?.workflow);
        let (pages, documents, document_of) = (Vec::new(), Vec::new(), HashMap::new());
        let mut seen = Self { engine, submission, workflow, pages, documents, document_of, last_change: None };
        seen.look_at_items().await?;
        let mut joins = JoinPages::new(&**store, id, JoinFilter::default());
        loop {
            let page = joins.next().await?;
            if page.is_empty() {
                break;
            }
            seen.last_change = seen.last_change.max(page.iter().map(|join| join.updated_at).max());
        }
        for stage in &seen.workflow.stages {
            let mut outcomes = OutcomePages::new(&**store, id, &stage.name, None);
            loop {
                let page = outcomes.next().await?;
                if page.is_empty() {
                    break;
                }
                seen.last_change = seen.last_change.max(page.iter().map(|outcome| outcome.finished_at).max());
            }
        }
        Ok(seen)
    }

    async fn look_at_items(&mut self) -> EngineResult<()> {
        let mut items = ItemPages::new(&**self.engine.store(), self.submission.id, ItemFilter::default());
        loop {
            let read = items.next().await?;
            if read.is_empty() {
                break;
            }
            for item in read {
                let place = (item.parent, item.ordinal, item.id);
                match item.kind {
                    ItemKind::Page => self.pages.push(place),
                    ItemKind::Document => {
                        let indices = data_of::<DocumentMessage>(&item).page_indices.unwrap_or_default();
                        self.document_of.extend(indices.into_iter().map(|index| (index, item.id)));
                        self.documents.push(place);
                    }
                    ItemKind::File => {}
                }
            }
        }
        self.pages.sort_unstable();
        self.documents.sort_unstable();
        Ok(())
    }

    /// The items at some places, in the order of the places.
    async fn items(&self, places: &[Place]) -> EngineResult<Vec<Item>> {
        let ids = Some(places.iter().map(|(_, _, id)| *id).collect());
        let filter = ItemFilter { ids, ..ItemFilter::default() };
        let found = self.engine.store().items(self.submission.id, filter).await?;
        let mut by_id: HashMap<ItemId, Item> = found.into_iter().map(|item| (item.id, item)).collect();
        Ok(places.iter().filter_map(|(_, _, id)| by_id.remove(id)).collect())
    }

    /// The one result of a stage for each of some items.
    async fn outcomes(&self, stage: &Stage, items: &[Item]) -> EngineResult<HashMap<ItemId, Outcome>> {
        let limit = items.len() * stage.processors.len().max(1);
        let ids = Some(items.iter().map(|item| item.id).collect());
        let page = OutcomePage { items: ids, ..OutcomePage::first(stage.name.clone(), limit) };
        Ok(by_item(self.engine.store().outcome_page(self.submission.id, page).await?))
    }

    /// When the stage before the first one over something has made what that works on.
    async fn made_at(&self, over: Over) -> EngineResult<Timestamp> {
        let first = self.workflow.stages.iter().position(|stage| stage.over == over);
        let maker = first.and_then(|first| first.checked_sub(1)).map(|before| &self.workflow.stages[before].name);
        let Some(maker) = maker else { return Ok(self.submission.received_at) };
        let made = self.engine.store().item_outcomes(self.submission.id, None, maker).await?;
        Ok(made.first().map_or(self.submission.received_at, |outcome| outcome.finished_at))
    }

    /// The first file: that system takes in one at a time.
    async fn first_file(&self) -> EngineResult<Option<Item>> {
        let filter = ItemFilter { kind: Some(ItemKind::File), ..ItemFilter::default() };
        let mut files = ItemPages::new(&**self.engine.store(), self.submission.id, filter);
        let mut first: Option<Item> = None;
        let place = |file: &Item| (file.parent, file.ordinal, file.id);
        loop {
            let read = files.next().await?;
            if read.is_empty() {
                return Ok(first);
            }
            first = read.into_iter().chain(first).min_by_key(place);
        }
    }

    async fn request(&self) -> EngineResult<Value> {
        let (submission, file) = (&self.submission, self.first_file().await?);
        let status: Summary = lenient(&view::request_summary(self.engine, submission.id).await?);
        let changed = self.last_change.max(submission.completed_at);
        Ok(json!({
            "id": submission.id, "external_id": submission.external_id, "channel": submission.channel,
            "workflow_name": submission.workflow, "status": status.status, "priority": submission.priority,
            "deadline_utc": submission.deadline.at,
            "sla_seconds": self.workflow.sla.map(|sla| sla.deadline.as_secs()),
            "original_filename": file.as_ref().map(|file| &file.label),
            "file_storage_path": file.as_ref().map(|file| format!("raw/{}", file.id)),
            "page_count": status.page_count, "document_count": status.document_count,
            "result_payload": null, "error_message": status.error,
            "metadata": serde_json::from_str::<Value>(&submission.metadata).unwrap_or_default(),
            "created_at": submission.received_at, "updated_at": changed.unwrap_or(submission.received_at),
            "completed_at": submission.completed_at,
        }))
    }

    async fn pages<E: From<EngineError>>(&self, mut visit: impl FnMut(Value) -> Result<(), E>) -> Result<(), E> {
        let stages: Vec<&Stage> = stages_over(&self.workflow, Over::Page).collect();
        let (created_at, grouped_at) = (self.made_at(Over::Page).await?, self.made_at(Over::Document).await?);
        let names = self.document_names().await?;
        for (chunk, places) in self.pages.chunks(PAGE).enumerate() {
            let pages = self.items(places).await?;
            let mut found = Vec::new();
            for stage in &stages {
                found.push(self.outcomes(stage, &pages).await?);
            }
            for (number, page) in pages.iter().enumerate() {
                let outcomes: Vec<Option<&Outcome>> = found.iter().map(|stage| stage.get(&page.id)).collect();
                let (data, whole): (PageMessage, Value) = (data_of(page), data_of(page));
                let index = data.page_index.unwrap_or((chunk * PAGE + number) as u64);
                let document_id = self.document_of.get(&index).and_then(|document| names.get(document));
                let (first, last) = (outcomes.first().copied().flatten(), outcomes.last().copied().flatten());
                let last_of_many = last.filter(|_| stages.len() > 1);
                let read: PageMessage = seen_output(self.engine, first).await?;
                let classified: PageMessage = seen_output(self.engine, last_of_many).await?;
                let known = outcomes.iter().flatten().map(|outcome| outcome.finished_at).max();
                let grouped = document_id.map(|_| grouped_at);
                visit(json!({
                    "id": page.public_id(), "request_id": self.submission.public_id(), "page_index": index,
                    "status": page_status(&outcomes, document_id.is_some()), "file_storage_path": data.file_path,
                    "ocr_text": read.ocr_text, "ocr_confidence": read.ocr_confidence,
                    "doc_type": classified.doc_type,
                    "classification_confidence": last_of_many.and_then(|outcome| outcome.confidence),
                    "document_id": document_id, "metadata": whole, "created_at": created_at,
                    "updated_at": known.max(grouped).unwrap_or(created_at),
                }))?;
            }
        }
        Ok(())
    }

    /// The ids of documents as others know them.
    async fn document_names(&self) -> EngineResult<HashMap<ItemId, String>> {
        let mut names = HashMap::new();
        for places in self.documents.chunks(PAGE) {
            names.extend(self.items(places).await?.iter().map(|item| (item.id, item.public_id())));
        }
        Ok(names)
    }

    async fn documents<E: From<EngineError>>(&self, mut visit: impl FnMut(Value) -> Result<(), E>) -> Result<(), E> {
        let stage = stages_over(&self.workflow, Over::Document).next_back();
        let created_at = self.made_at(Over::Document).await?;
        for places in self.documents.chunks(PAGE) {
            let documents = self.items(places).await?;
            let extracted = match stage {
                Some(stage) => self.outcomes(stage, &documents).await?,
                None => HashMap::new(),
            };
            for document in &documents {
                let outcome = extracted.get(&document.id);
                let (data, whole): (DocumentMessage, Value) = (data_of(document), data_of(document));
                let found: ExtractedMessage = seen_output(self.engine, outcome).await?;
                visit(json!({
                    "id": document.public_id(), "request_id": self.submission.public_id(), "doc_type": document.label,
                    "page_indices": data.page_indices, "status": self.document_status(outcome),
                    "extracted_data": found.extracted_data,
                    "extraction_confidence": outcome.and_then(|outcome| outcome.confidence), "metadata": whole,
                    "created_at": created_at,
                    "updated_at": outcome.map_or(created_at, |outcome| outcome.finished_at.max(created_at)),
                }))?;
            }
        }
        Ok(())
    }

    fn document_status(&self, outcome: Option<&Outcome>) -> &'static str {
        match outcome.map(|outcome| outcome.status) {
            None => "created",
            Some(OutcomeStatus::Review) => "extraction_review",
            Some(OutcomeStatus::Failed) => "failed",
            Some(_) if self.submission.status == SubmissionStatus::Completed => "completed",
            Some(_) => "extracted",
        }
    }

    async fn tasks<E: From<EngineError>>(&self, mut visit: impl FnMut(Value) -> Result<(), E>) -> Result<(), E> {
        let filter = ReviewFilter { submission: Some(self.submission.id), ..ReviewFilter::default() };
        let mut reviews = ReviewPages::new(&**self.engine.store(), filter);
        loop {
            let page = reviews.next().await.map_err(EngineError::from)?;
            if page.is_empty() {
                return Ok(());
            }
            for review in page {
                visit(self.task(&review).await?)?;
            }
        }
    }

    async fn task(&self, review: &Review) -> EngineResult<Value> {
        let (store, id) = (self.engine.store(), self.submission.id);
        let item = match review.item {
            Some(item) => store.item(id, item).await?,
            None => None,
        };
        let reference = item.as_ref().map_or_else(|| self.submission.public_id(), Item::public_id);
        let found = self.engine.read_payload(&review.input).await?;
        let (task_type, skills, input) = match &item {
            Some(item) if item.kind == ItemKind::Page => {
                ("classification", vec![json!("classification")], page_input(&lenient(&found)))
            }
            Some(item) if item.kind == ItemKind::Document => {
                let found: ExtractedMessage = lenient(&found);
                let skills = vec![json!("extraction"), json!(found.doc_type)];
                ("extraction", skills, self.document_input(item, found, &reference).await?)
            }
            _ => (review.stage.as_str(), vec![json!(review.stage)], found),
        };
        let results = store.item_outcomes(id, review.item, &review.stage).await?;
        let decided = results.iter().find(|outcome| outcome.processor == review.processor);
        let decided = decided.filter(|_| review.status == ReviewStatus::Completed);
        let output: Value = seen_output(self.engine, decided).await?;
        Ok(json!({
            "id": review.id, "request_id": self.submission.public_id(), "task_type": task_type,
            "reference_id": reference, "status": review.status, "priority": review.priority,
            "assigned_to": review.assigned_to, "assigned_at": null, "source_stage": review.stage,
            "workflow_name": self.submission.workflow, "input_data": input, "output_data": output,
            "deadline_utc": self.submission.deadline.at, "required_skills": skills, "created_at": review.created_at,
            "completed_at": review.completed_at,
        }))
    }

    /// What a person needs to correct the fields of a document.
    async fn document_input(&self, document: &Item, found: ExtractedMessage, document_id: &str) -> EngineResult<Value> {
        let indices = data_of::<DocumentMessage>(document).page_indices.unwrap_or_default();
        let mut own: HashSet<u64> = indices.into_iter().collect();
        own.retain(|index| self.document_of.get(index) == Some(&document.id));
        let stage = stages_over(&self.workflow, Over::Page).next();
        let mut texts = Map::new();
        for (chunk, places) in self.pages.chunks(PAGE).enumerate() {
            if texts.len() == own.len() {
                break;
            }
            let numbered = self.items(places).await?.into_iter().enumerate().map(|(number, page)| {
                let index = data_of::<PageMessage>(&page).page_index.unwrap_or((chunk * PAGE + number) as u64);
                (index, page)
            });
            let (indices, pages): (Vec<u64>, Vec<Item>) = numbered.filter(|(index, _)| own.contains(index)).unzip();
            let read = match stage {
                Some(stage) if !pages.is_empty() => self.outcomes(stage, &pages).await?,
                _ => HashMap::new(),
            };
            for (index, page) in indices.into_iter().zip(&pages) {
                let read: PageMessage = seen_output(self.engine, read.get(&page.id)).await?;
                texts.insert(index.to_string(), json!(read.ocr_text));
            }
        }
        Ok(json!({
            "document_id": document_id, "doc_type": found.doc_type, "extracted_data": found.extracted_data,
            "confidence": found.extraction_confidence, "ocr_texts": texts,
        }))
    }

    async fn aggregations<E: From<EngineError>>(&self, mut visit: impl FnMut(Value) -> Result<(), E>) -> Result<(), E> {
        let mut states = view::AggregationStates::new(self.engine, self.submission.id).await?;
        loop {
            let page = states.next().await?;
            if page.is_empty() {
                return Ok(());
            }
            for state in page {
                visit(self.aggregation(&state).await?)?;
            }
        }
    }

    async fn aggregation(&self, state: &AggregationState) -> EngineResult<Value> {
        let is_meant = |stage: &&Stage| stage.name.strip_suffix("_aggregation").unwrap_or(&stage.name) == state.stage;
        let aggregation = self.workflow.stages.iter().find(is_meant).and_then(|stage| stage.aggregation);
        let counts = aggregation.map(|aggregation| aggregation.counts);
        let (received, created_at) = match counts {
            Some(over) => (self.received(over).await?, Some(self.made_at(over).await?)),
            None => (Vec::new(), None),
        };
        Ok(json!({
            "id": state.id, "request_id": state.request_id, "stage": state.stage,
            "expected_count": state.expected_count, "received_count": state.received_count, "received_ids": received,
            "is_complete": state.is_complete, "updated_at": state.updated_at, "created_at": created_at,
        }))
    }

    /// The pages or documents that have passed all stages over them, or have failed at one.
    async fn received(&self, over: Over) -> EngineResult<Vec<String>> {
        let places = match over {
            Over::Page => self.pages.clone(),
            Over::Document => self.documents.clone(),
            Over::File | Over::Submission => self.file_places().await?,
        };
        let stages: Vec<&Stage> = stages_over(&self.workflow, over).collect();
        let mut received = Vec::new();
        for places in places.chunks(PAGE) {
            let items = self.items(places).await?;
            let mut found = Vec::new();
            for stage in &stages {
                found.push(self.outcomes(stage, &items).await?);
            }
            let ended = |item: &&Item| {
                let failed = found.iter().any(|stage| stage.get(&item.id).is_some_and(is_failed));
                failed || found.last().is_some_and(|stage| stage.get(&item.id).is_some_and(is_done))
            };
            received.extend(items.iter().filter(ended).map(Item::public_id));
        }
        Ok(received)
    }

    async fn file_places(&self) -> EngineResult<Vec<Place>> {
        let filter = ItemFilter { kind: Some(ItemKind::File), ..ItemFilter::default() };
        let mut files = ItemPages::new(&**self.engine.store(), self.submission.id, filter);
        let mut places = Vec::new();
        loop {
            let read = files.next().await?;
            if read.is_empty() {
                places.sort_unstable();
                return Ok(places);
            }
            places.extend(read.iter().map(|file| (file.parent, file.ordinal, file.id)));
        }
    }
}

fn is_failed(outcome: &Outcome) -> bool {
    outcome.status == OutcomeStatus::Failed
}

/// From the results of the stages over the page, in order.
fn page_status(outcomes: &[Option<&Outcome>], grouped: bool) -> &'static str {
    let last = outcomes.last().copied().flatten();
    if outcomes.iter().flatten().any(|outcome| is_failed(outcome)) {
        "failed"
    } else if grouped {
        "grouped"
    } else if last.is_some_and(|outcome| outcome.status == OutcomeStatus::Review) {
        "classification_review"
    } else if last.is_some_and(is_done) {
        "classified"
    } else if outcomes.first().copied().flatten().is_some_and(is_done) {
        "ocr_complete"
    } else {
        "extracted"
    }
}

/// What a person needs to say which type a page is of.
fn page_input(found: &PageMessage) -> Value {
    json!({
        "page_index": found.page_index, "ocr_text": found.ocr_text, "suggested_type": found.doc_type,
        "confidence": found.classification_confidence,
    })
}
