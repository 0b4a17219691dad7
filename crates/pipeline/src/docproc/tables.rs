//! A submission as rows of that system's tables: the same columns under the same names, all derived.
//!
//! Nothing is stored like this. A page that could not be read, and a document whose fields could not, have the status
//! `failed`, which those tables do not know.

use super::pages::{by_item, data_of, in_page_order, is_done, stages_over};
use bindery_core::{
    ItemId, SubmissionId, Timestamp,
    item::{Item, ItemKind},
    join::Join,
    outcome::{Outcome, OutcomeStatus},
    review::{Review, ReviewStatus},
    submission::{Submission, SubmissionStatus},
};
use bindery_engine::{
    Engine, EngineError, EngineResult,
    view::{self, AggregationState},
    workflow::{Over, Stage, Workflow},
};
use bindery_store::query::{ItemFilter, ReviewFilter};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;

/// The rows of one submission, table by table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tables {
    pub requests: Vec<Value>,
    pub pages: Vec<Value>,
    pub documents: Vec<Value>,
    pub backoffice_tasks: Vec<Value>,
    pub aggregation_state: Vec<Value>,
}

/// A submission as rows.
pub async fn tables(engine: &Engine, id: SubmissionId) -> EngineResult<Tables> {
    let seen = Seen::look(engine, id).await?;
    let pages = seen.pages().await?;
    let documents = seen.documents().await?;
    Ok(Tables {
        requests: vec![seen.request().await?],
        backoffice_tasks: seen.tasks(&pages).await?,
        aggregation_state: seen.aggregations().await?,
        pages,
        documents,
    })
}

/// All that the rows are made of.
struct Seen<'e> {
    engine: &'e Engine,
    submission: Submission,
    workflow: std::sync::Arc<Workflow>,
    items: Vec<Item>,
    outcomes: Vec<Outcome>,
    joins: Vec<Join>,
}

impl<'e> Seen<'e> {
    async fn look(engine: &'e Engine, id: SubmissionId) -> EngineResult<Self> {
        let store = engine.store();
        let submission = store.submission(id).await?.ok_or_else(|| EngineError::NotFound(id.to_string()))?;
        let workflow = std::sync::Arc::clone(&engine.catalog().submission(id).await?.workflow);
        let items = store.items(id, ItemFilter::default()).await?;
        let (outcomes, joins) = (store.outcomes(id, None).await?, store.joins(id).await?);
        Ok(Self { engine, submission, workflow, items, outcomes, joins })
    }

    fn of_kind(&self, kind: ItemKind) -> Vec<Item> {
        in_page_order(self.items.iter().filter(|item| item.kind == kind).cloned().collect())
    }

    fn of_stage(&self, stage: &Stage) -> HashMap<ItemId, Outcome> {
        by_item(self.outcomes.iter().filter(|outcome| outcome.stage == stage.name).cloned().collect())
    }

    /// When the stage before the first one over something has made what that works on.
    fn made_at(&self, over: Over) -> Timestamp {
        let first = self.workflow.stages.iter().position(|stage| stage.over == over);
        let maker = first.and_then(|first| first.checked_sub(1)).map(|before| &self.workflow.stages[before].name);
        let made = self.outcomes.iter().find(|outcome| Some(&outcome.stage) == maker && outcome.item.is_none());
        made.map_or(self.submission.received_at, |outcome| outcome.finished_at)
    }

    async fn output(&self, outcome: Option<&Outcome>) -> EngineResult<Value> {
        match outcome {
            Some(outcome) => self.engine.read_payload(&outcome.output).await,
            None => Ok(Value::Null),
        }
    }

    async fn request(&self) -> EngineResult<Value> {
        let (submission, files) = (&self.submission, self.of_kind(ItemKind::File));
        let status = view::request_status(self.engine, submission.id).await?;
        let changes = self.outcomes.iter().map(|outcome| outcome.finished_at);
        let changes = changes.chain(self.joins.iter().map(|join| join.updated_at)).chain(submission.completed_at);
        Ok(json!({
            "id": submission.id, "external_id": submission.external_id, "channel": submission.channel,
            "workflow_name": submission.workflow, "status": status["status"], "priority": submission.priority,
            "deadline_utc": submission.deadline.at,
            "sla_seconds": self.workflow.sla.map(|sla| sla.deadline.as_secs()),
            // Of the first one: that system takes in one at a time.
            "original_filename": files.first().map(|file| &file.label),
            "file_storage_path": files.first().map(|file| format!("raw/{}", file.id)),
            "page_count": status["page_count"], "document_count": status["document_count"],
            "result_payload": status["result"], "error_message": status["error"],
            "metadata": serde_json::from_str::<Value>(&submission.metadata).unwrap_or_default(),
            "created_at": submission.received_at, "updated_at": changes.max().unwrap_or(submission.received_at),
            "completed_at": submission.completed_at,
        }))
    }

    async fn pages(&self) -> EngineResult<Vec<Value>> {
        let stages: Vec<_> = stages_over(&self.workflow, Over::Page).map(|stage| self.of_stage(stage)).collect();
        let document_of: HashMap<u64, String> = self
            .of_kind(ItemKind::Document)
            .iter()
            .flat_map(|document| {
                let indices = data_of(document)["page_indices"].as_array().cloned().unwrap_or_default();
                indices.into_iter().filter_map(|index| Some((index.as_u64()?, document.public_id())))
            })
            .collect();
        let (created_at, grouped_at) = (self.made_at(Over::Page), self.made_at(Over::Document));
        let mut rows = Vec::new();
        for (place, page) in self.of_kind(ItemKind::Page).into_iter().enumerate() {
            let data = data_of(&page);
            let index = data["page_index"].as_u64().unwrap_or(place as u64);
            let document_id = document_of.get(&index);
            let outcomes: Vec<Option<&Outcome>> = stages.iter().map(|stage| stage.get(&page.id)).collect();
            let (first, last) = (outcomes.first().copied().flatten(), outcomes.last().copied().flatten());
            let read = self.output(first).await?;
            let classified = self.output(last.filter(|_| stages.len() > 1)).await?;
            let known = outcomes.iter().flatten().map(|outcome| outcome.finished_at).max();
            let grouped = document_id.map(|_| grouped_at);
            rows.push(json!({
                "id": page.public_id(), "request_id": self.submission.public_id(), "page_index": index,
                "status": page_status(&outcomes, document_id.is_some()), "file_storage_path": data["file_path"],
                "ocr_text": read["ocr_text"], "ocr_confidence": read["ocr_confidence"],
                "doc_type": classified["doc_type"],
                "classification_confidence": last.filter(|_| stages.len() > 1).and_then(|outcome| outcome.confidence),
                "document_id": document_id, "metadata": data, "created_at": created_at,
                "updated_at": known.max(grouped).unwrap_or(created_at),
            }));
        }
        Ok(rows)
    }

    async fn documents(&self) -> EngineResult<Vec<Value>> {
        let extracted = stages_over(&self.workflow, Over::Document).next_back().map(|stage| self.of_stage(stage));
        let extracted = extracted.unwrap_or_default();
        let created_at = self.made_at(Over::Document);
        let mut rows = Vec::new();
        for document in self.of_kind(ItemKind::Document) {
            let outcome = extracted.get(&document.id);
            let (data, output) = (data_of(&document), self.output(outcome).await?);
            rows.push(json!({
                "id": document.public_id(), "request_id": self.submission.public_id(), "doc_type": document.label,
                "page_indices": data["page_indices"], "status": self.document_status(outcome),
                "extracted_data": output["extracted_data"],
                "extraction_confidence": outcome.and_then(|outcome| outcome.confidence), "metadata": data,
                "created_at": created_at,
                "updated_at": outcome.map_or(created_at, |outcome| outcome.finished_at.max(created_at)),
            }));
        }
        Ok(rows)
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

    async fn tasks(&self, pages: &[Value]) -> EngineResult<Vec<Value>> {
        let filter = ReviewFilter { submission: Some(self.submission.id), ..ReviewFilter::default() };
        let mut reviews = self.engine.store().reviews(filter).await?;
        reviews.sort_by_key(|review| review.id);
        let mut rows = Vec::new();
        for review in reviews {
            rows.push(self.task(&review, pages).await?);
        }
        Ok(rows)
    }

    async fn task(&self, review: &Review, pages: &[Value]) -> EngineResult<Value> {
        let item = self.items.iter().find(|item| Some(item.id) == review.item);
        let reference = item.map_or_else(|| self.submission.public_id(), Item::public_id);
        let found = self.engine.read_payload(&review.input).await?;
        let (task_type, skills, input) = match item.map(|item| item.kind) {
            Some(ItemKind::Page) => ("classification", vec![json!("classification")], page_input(&found)),
            Some(ItemKind::Document) => {
                let skills = vec![json!("extraction"), found["doc_type"].clone()];
                ("extraction", skills, document_input(&found, &reference, pages))
            }
            _ => (review.stage.as_str(), vec![json!(review.stage)], found),
        };
        let decided = self.outcomes.iter().find(|outcome| {
            (outcome.item, &outcome.stage, &outcome.processor) == (review.item, &review.stage, &review.processor)
        });
        let decided = decided.filter(|_| review.status == ReviewStatus::Completed);
        // As the review itself is stored: not every store keeps when it was assigned.
        let stored = json!(review);
        Ok(json!({
            "id": review.id, "request_id": self.submission.public_id(), "task_type": task_type,
            "reference_id": reference, "status": review.status, "priority": review.priority,
            "assigned_to": review.assigned_to, "assigned_at": stored["assigned_at"], "source_stage": review.stage,
            "workflow_name": self.submission.workflow, "input_data": input, "output_data": self.output(decided).await?,
            "deadline_utc": self.submission.deadline.at, "required_skills": skills, "created_at": review.created_at,
            "completed_at": review.completed_at,
        }))
    }

    async fn aggregations(&self) -> EngineResult<Vec<Value>> {
        let states = view::aggregation_states(self.engine, self.submission.id).await?;
        Ok(states.iter().map(|state| self.aggregation(state)).collect())
    }

    fn aggregation(&self, state: &AggregationState) -> Value {
        let join = self.joins.iter().find(|join| join.id.to_string() == state.id);
        let stage = join.and_then(|join| self.workflow.stage(&join.stage));
        let counts = stage.and_then(|stage| stage.aggregation).map(|aggregation| aggregation.counts);
        let received = counts.map(|over| self.received(over)).unwrap_or_default();
        json!({
            "id": state.id, "request_id": state.request_id, "stage": state.stage,
            "expected_count": state.expected_count, "received_count": state.received_count, "received_ids": received,
            "is_complete": state.is_complete, "updated_at": state.updated_at,
            "created_at": counts.map(|over| self.made_at(over)),
        })
    }

    /// The pages or documents that have passed all stages over them, or have failed at one.
    fn received(&self, over: Over) -> Vec<String> {
        let kind = match over {
            Over::Page => ItemKind::Page,
            Over::Document => ItemKind::Document,
            Over::File | Over::Submission => ItemKind::File,
        };
        let stages: Vec<_> = stages_over(&self.workflow, over).map(|stage| self.of_stage(stage)).collect();
        let ended = |item: &&Item| {
            let failed = stages.iter().any(|stage| stage.get(&item.id).is_some_and(is_failed));
            failed || stages.last().is_some_and(|stage| stage.get(&item.id).is_some_and(is_done))
        };
        self.of_kind(kind).iter().filter(ended).map(Item::public_id).collect()
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
fn page_input(found: &Value) -> Value {
    json!({
        "page_index": found["page_index"], "ocr_text": found["ocr_text"], "suggested_type": found["doc_type"],
        "confidence": found["classification_confidence"],
    })
}

/// What a person needs to correct the fields of a document.
fn document_input(found: &Value, document_id: &str, pages: &[Value]) -> Value {
    let own = pages.iter().filter(|page| page["document_id"] == document_id);
    let texts = own.map(|page| (page["page_index"].to_string(), page["ocr_text"].clone()));
    json!({
        "document_id": document_id, "doc_type": found["doc_type"], "extracted_data": found["extracted_data"],
        "confidence": found["extraction_confidence"], "ocr_texts": texts.collect::<serde_json::Map<_, _>>(),
    })
}
