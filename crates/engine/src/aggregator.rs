//! The consumer that follows outside processors: their `DocumentProcessedEvent`s drive the same joins as our own work.
//!
//! Events that the engine wrote itself carry its submission id and are passed over: what they report is stored already.
//! Events from outside name a submission and a document by the sender's ids. The first event about either makes it
//! known; `SubmissionCreated` says how many documents there are. No order is required between them.

use crate::{
    catalog::SubmissionInfo,
    chain::{At, Next},
    engine::Engine,
    error::{EngineError, EngineResult},
    feed,
    intake::Intake,
    report::{About, Reported},
    stop::StopSignal,
    workflow::{Over, Stage, Workflow},
};
use bindery_core::{
    ItemId, JoinId, Name, Payload, SubmissionId,
    event::{Event, NewEvent, kind},
    item::{Item, ItemKind},
    join::{JoinChange, JoinStep},
};
use bindery_store::{
    Changes, Commit, CommitResult, Guard, Rejection,
    query::{JoinFilter, JoinScope},
};
use serde_json::{Value, json};
use std::{collections::HashMap, sync::Arc};

/// Under this name the consumer's position is kept.
pub const CONSUMER: &str = "docproc-aggregator";

/// The workflow of submissions that are known from events only, unless their `SubmissionCreated` names another.
pub const DEFAULT_WORKFLOW: &str = "submission-documents";

/// Marks submissions that outside programs have told us about.
pub const CHANNEL: &str = "events";

/// Outside parsers name themselves with this before their key.
const PROCESSOR_PREFIX: &str = "docproc-parser-";

fn kinds() -> [Name; 3] {
    [kind::SUBMISSION_CREATED, kind::DOCUMENT_UPLOADED, kind::DOCUMENT_PROCESSED].map(Name::from)
}

/// Runs until it is asked to stop.
pub async fn follow(engine: &Engine, stop: StopSignal) {
    let consumer = Name::from(CONSUMER);
    feed::follow(engine, &consumer, &kinds(), stop, |events| handle(engine, events)).await;
}

/// Handles what is new, once.
pub async fn step(engine: &Engine) -> EngineResult<feed::Consumed> {
    feed::step(engine, &Name::from(CONSUMER), &kinds(), |events| handle(engine, events)).await
}

async fn handle(engine: &Engine, events: Vec<Event>) -> EngineResult<Vec<Commit>> {
    let mut batch = Batch { engine, documents: HashMap::new() };
    let mut effects = Vec::new();
    for event in events.into_iter().filter(|event| event.submission.is_none()) {
        match batch.effects_of(&event).await {
            Ok(more) => effects.extend(more),
            Err(error @ (EngineError::Store(_) | EngineError::Blob(_))) => return Err(error),
            // What is wrong with the event will be wrong the next time, too; those behind it must not wait.
            Err(error) => tracing::warn!(event.id = %event.public_id(), error = %error, "an event was passed over"),
        }
    }
    Ok(effects)
}

impl Engine {
    /// Appends an event from outside, given as its envelope `{id?, eventType, submissionId, timestamp?, data}`. What is
    /// wrong with it is said in one sentence, and nothing is stored. An event whose id is known changes nothing.
    pub async fn append_outside(&self, envelopes: &[Value]) -> EngineResult<Vec<Option<bindery_core::EventSeq>>> {
        let events = envelopes.iter().map(outside_event).collect::<EngineResult<Vec<_>>>()?;
        Ok(self.store().append_events(events).await?)
    }
}

/// The fields of an envelope.
const ENVELOPE_FIELDS: [&str; 6] = ["id", "eventType", "submissionId", "userId", "timestamp", "data"];

/// Checks an envelope and makes an event of it.
pub fn outside_event(envelope: &Value) -> EngineResult<NewEvent> {
    let invalid = |message: &str| EngineError::Invalid(format!("event: {message}"));
    let fields = envelope.as_object().ok_or_else(|| invalid("expected a JSON object"))?;
    if let Some(unknown) = fields.keys().find(|key| !ENVELOPE_FIELDS.contains(&key.as_str())) {
        return Err(invalid(&format!("unknown field {unknown:?}; known are {}", ENVELOPE_FIELDS.join(", "))));
    }
    let text = |field: &str| match fields.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text.clone())),
        Some(other) => Err(invalid(&format!("{field}: expected a text, found {other}"))),
    };
    let event_kind = text("eventType")?.ok_or_else(|| invalid("eventType is missing"))?;
    let subject = text("submissionId")?;
    let mut data = fields.get("data").cloned().unwrap_or_else(|| json!({}));
    if let (Some(user), Some(data)) = (text("userId")?, data.as_object_mut()) {
        data.entry("userId").or_insert(Value::String(user));
    }
    check(&event_kind, subject.as_deref(), &data)?;
    let at =
        text("timestamp")?.map(|at| at.parse().map_err(|error| invalid(&format!("timestamp: {error}")))).transpose()?;
    Ok(NewEvent {
        kind: Name::from(event_kind),
        submission: None,
        item: None,
        subject: subject.map(Name::from),
        id: text("id")?,
        at,
        data: data.to_string(),
    })
}

/// Whether an event of one of our kinds has what we need.
fn check(event_kind: &str, subject: Option<&str>, data: &Value) -> EngineResult<()> {
    if !kinds().iter().any(|known| known == event_kind) {
        return Ok(());
    }
    let invalid = |message: String| Err(EngineError::Invalid(format!("{event_kind}: {message}")));
    if subject.is_none() {
        return invalid("submissionId is missing".to_owned());
    }
    let wrong_text = |field: &&str| !matches!(data.get(*field), None | Some(Value::Null | Value::String(_)));
    if let Some(field) = ["workflow", "userId", "fileName", "error"].into_iter().find(wrong_text) {
        return invalid(format!("data.{field}: expected a text, found {}", data[field]));
    }
    if event_kind == kind::SUBMISSION_CREATED {
        return match total_documents(data) {
            Some(_) => Ok(()),
            None => {
                invalid("data: expected totalDocuments (a whole number from 0 on) or documentUrls (a list)".to_owned())
            }
        };
    }
    let has_text = |field: &str| data.get(field).and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty());
    if !has_text("documentId") {
        return invalid("data.documentId: expected a text".to_owned());
    }
    if event_kind == kind::DOCUMENT_PROCESSED {
        if !has_text("processor") {
            return invalid("data.processor: expected a text".to_owned());
        }
        let status = data.get("status").and_then(Value::as_str);
        if !matches!(status, Some("completed" | "failed")) {
            let found = data.get("status").unwrap_or(&Value::Null);
            return invalid(format!("data.status: expected \"completed\" or \"failed\", found {found}"));
        }
    }
    Ok(())
}

/// How many documents a `SubmissionCreated` says there are.
fn total_documents(data: &Value) -> Option<i64> {
    match data.get("totalDocuments") {
        None | Some(Value::Null) => data.get("documentUrls")?.as_array().map(|urls| urls.len() as i64),
        Some(total) => total.as_i64().filter(|total| *total >= 0),
    }
}

/// The stage and the processor that a report is about. Outside, a processor may carry its prefix.
fn processor_of<'a>(workflow: &'a Workflow, data: &Value) -> EngineResult<(&'a Stage, &'a Name)> {
    let named = data.get("processor").and_then(Value::as_str).unwrap_or_default();
    let of_files = |name: &str| {
        let mut stages = workflow.stages.iter().filter(|stage| stage.over == Over::File);
        stages.find_map(|stage| stage.processor(name).map(|processor| (stage, &processor.name)))
    };
    of_files(named).or_else(|| named.strip_prefix(PROCESSOR_PREFIX).and_then(of_files)).ok_or_else(|| {
        let message = format!("workflow {} has no processor {named:?} that works on each file", workflow.name);
        EngineError::Invalid(message)
    })
}

/// The documents of a submission that is known from events.
#[derive(Debug, Clone, Copy)]
struct Documents {
    /// The join that collects them.
    join: JoinId,
    /// How many there are in all, once that has been said.
    declared: Option<i64>,
    known: i64,
}

/// A run of events that is handled together.
struct Batch<'a> {
    engine: &'a Engine,
    /// Looked up once: a submission may have thousands of documents, each with a join of its own.
    documents: HashMap<SubmissionId, Documents>,
}

impl Batch<'_> {
    async fn effects_of(&mut self, event: &Event) -> EngineResult<Vec<Commit>> {
        let data: Value = serde_json::from_str(&event.data)
            .map_err(|error| EngineError::Invalid(format!("data of {}: {error}", event.kind)))?;
        check(&event.kind, event.subject.as_deref(), &data)?;
        let info = self.submission_for(event, &data).await?;
        match event.kind.as_str() {
            kind::SUBMISSION_CREATED => self.declare(&info, &data).await.map(|()| Vec::new()),
            kind::DOCUMENT_UPLOADED => self.document_for(&info, &data).await.map(|_| Vec::new()),
            _ => self.report(&info, event, &data).await,
        }
    }

    /// The submission that an event is about; made known if it is not yet.
    async fn submission_for(&self, event: &Event, data: &Value) -> EngineResult<Arc<SubmissionInfo>> {
        let engine = self.engine;
        let subject = event.subject.as_deref().unwrap_or_default();
        match engine.find_submission(subject).await {
            Ok(found) => return engine.catalog().remember(found).await,
            // An id of our own form that we have not given out could become somebody else's.
            Err(EngineError::NotFound(_)) if subject.parse::<SubmissionId>().is_err() => {}
            Err(error) => return Err(error),
        }
        let workflow = data.get("workflow").and_then(Value::as_str).unwrap_or(DEFAULT_WORKFLOW);
        let mut intake = Intake::new(workflow, Vec::new());
        intake.external_id = Some(subject.to_owned());
        intake.owner = data.get("userId").and_then(Value::as_str).map(str::to_owned);
        CHANNEL.clone_into(&mut intake.channel);
        intake.received_at = Some(event.at);
        intake.files_are_all = false;
        let workflow = engine.catalog().workflow(&intake.workflow, None).await?;
        if event.kind == kind::DOCUMENT_PROCESSED {
            // A report that cannot count makes nothing known.
            processor_of(&workflow, data)?;
        }
        let planned = engine.plan_submission(intake, workflow).await?;
        let id = match engine.store().commit(vec![planned.commit]).await?.pop() {
            Some(CommitResult::Rejected(Rejection::AlreadyExists(existing))) => existing,
            _ => planned.info.id,
        };
        engine.catalog().submission(id).await
    }

    async fn documents(&mut self, info: &SubmissionInfo) -> EngineResult<Documents> {
        if let Some(documents) = self.documents.get(&info.id) {
            return Ok(*documents);
        }
        let stage =
            info.workflow.next_collector_after(0, Over::Submission).map_or(crate::chain::END, |(_, stage)| &stage.name);
        let (stage, scope) = (Some(Name::from(stage)), Some(JoinScope::Submission));
        let filter = JoinFilter { stage, scope, limit: Some(1), ..JoinFilter::default() };
        let joins = self.engine.store().joins(info.id, filter).await?;
        let join = joins.first().ok_or_else(|| {
            EngineError::NotFound(format!("join that collects the documents of {}", info.public_id()))
        })?;
        let known = self.engine.store().item_counts(info.id).await?.files as i64;
        let documents = Documents { join: join.id, declared: join.declared.then_some(join.expected), known };
        self.documents.insert(info.id, documents);
        Ok(documents)
    }

    /// Stores how many documents there are. Said again, it changes nothing, so it need not wait for the position.
    async fn declare(&mut self, info: &SubmissionInfo, data: &Value) -> EngineResult<()> {
        let documents = self.documents(info).await?;
        if documents.declared.is_some() {
            return Ok(());
        }
        // A document that exists is waited for, whatever the sender says; another instance may just have added one.
        let known = self.engine.store().item_counts(info.id).await?.files as i64;
        let total = total_documents(data).unwrap_or(0).max(known);
        let step = JoinStep { join: documents.join, change: JoinChange::Declare(total) };
        let declare = Commit::always(Changes { join_steps: vec![step], ..Changes::default() });
        self.engine.store().commit(vec![declare]).await?;
        self.documents.remove(&info.id);
        Ok(())
    }

    /// The document that an event is about; made known if it is not yet, with jobs that wait for its processors.
    async fn document_for(&mut self, info: &SubmissionInfo, data: &Value) -> EngineResult<ItemId> {
        let key = data.get("documentId").and_then(Value::as_str).unwrap_or_default();
        if info.channel != CHANNEL {
            let message = || format!("document {key:?} is not one of {}", info.public_id());
            return self.find_document(info, key).await?.ok_or_else(|| EngineError::Invalid(message()));
        }
        // Counted before it is looked for: one that another instance adds in between is found, not taken for surplus.
        let documents = self.documents(info).await?;
        if let Some(found) = self.find_document(info, key).await? {
            return Ok(found);
        }
        if documents.declared.is_some_and(|total| documents.known >= total) {
            let message =
                format!("{} has {} documents, and {key:?} is none of them", info.public_id(), documents.known);
            return Err(EngineError::Invalid(message));
        }
        if info.workflow.stages[0].over != Over::File {
            let message = format!("workflow {} does not begin with a stage over files", info.workflow.name);
            return Err(EngineError::Invalid(message));
        }
        let id = self.engine.ids().items(1).await?.remove(0);
        let mut next = Next::new(self.engine, info);
        next.changes.items.push(Item {
            id,
            submission: info.id,
            parent: None,
            kind: ItemKind::File,
            ordinal: id.raw(),
            key: Some(key.to_owned()),
            label: data.get("fileName").and_then(Value::as_str).map(str::to_owned),
            content: None,
            data: data.to_string(),
        });
        let at = At { stage: 0, item: Some(id), join: Some(documents.join), priority: 0 };
        next.enter(at, Payload::null()).await?;
        let commit = Commit { guard: Guard::NewItem, changes: next.into_changes() };
        let stored = self.engine.store().commit(vec![commit]).await?.pop();
        if let Some(CommitResult::Rejected(Rejection::ItemExists(existing))) = stored {
            return Ok(existing);
        }
        self.documents.insert(info.id, Documents { known: documents.known + 1, ..documents });
        Ok(id)
    }

    /// A document by its sender's id. Only one that has none goes by ours.
    async fn find_document(&self, info: &SubmissionInfo, key: &str) -> EngineResult<Option<ItemId>> {
        let store = self.engine.store();
        if let Some(found) = store.find_item(info.id, key).await? {
            return Ok(Some(found.id));
        }
        let Ok(id) = key.parse::<ItemId>() else { return Ok(None) };
        Ok(store.item(info.id, id).await?.filter(|item| item.key.is_none()).map(|item| item.id))
    }

    async fn report(&mut self, info: &SubmissionInfo, event: &Event, data: &Value) -> EngineResult<Vec<Commit>> {
        let (stage, processor) = processor_of(&info.workflow, data)?;
        let item = self.document_for(info, data).await?;
        let reported = if data.get("status").and_then(Value::as_str) == Some("completed") {
            let output = json!({"documentRecordId": data.get("documentRecordId")});
            Reported::Completed { output, confidence: None }
        } else {
            let error = data.get("error").and_then(Value::as_str).unwrap_or_default();
            Reported::Failed { error: error.to_owned() }
        };
        let about =
            About { submission: info.id, item: Some(item), stage: stage.name.clone(), processor: processor.clone() };
        self.engine.plan_report_of_event(info, &about, reported, event.at).await
    }
}
