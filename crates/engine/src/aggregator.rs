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
    workflow::{Over, Target},
};
use bindery_core::{
    ItemId, Name, Payload,
    event::{Event, NewEvent, kind},
    item::{Item, ItemKind},
    join::{Join, JoinChange, JoinStep},
};
use bindery_store::{Changes, Commit, CommitResult, Guard, Rejection};
use serde_json::{Value, json};
use std::sync::Arc;

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
    let mut effects = Vec::new();
    for event in events.into_iter().filter(|event| event.submission.is_none()) {
        match effects_of(engine, &event).await {
            Ok(more) => effects.extend(more),
            Err(error @ (EngineError::Store(_) | EngineError::Blob(_))) => return Err(error),
            // What is wrong with the event will be wrong the next time, too; those behind it must not wait.
            Err(error) => tracing::warn!(event.id = %event.public_id(), error = %error, "an event was passed over"),
        }
    }
    Ok(effects)
}

async fn effects_of(engine: &Engine, event: &Event) -> EngineResult<Vec<Commit>> {
    let data: Value = serde_json::from_str(&event.data)
        .map_err(|error| EngineError::Invalid(format!("data of {}: {error}", event.kind)))?;
    check(&event.kind, event.subject.as_deref(), &data)?;
    let subject = event.subject.as_deref().unwrap_or_default();
    let info = submission_for(engine, subject, event, &data).await?;
    match event.kind.as_str() {
        kind::SUBMISSION_CREATED => declare(engine, &info, &data).await,
        kind::DOCUMENT_UPLOADED => document_for(engine, &info, &data).await.map(|_| Vec::new()),
        _ => report(engine, &info, &data).await,
    }
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
    let data = fields.get("data").cloned().unwrap_or_else(|| json!({}));
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
    if event_kind == kind::SUBMISSION_CREATED {
        return match total_documents(data) {
            Some(_) => Ok(()),
            None => invalid("data: expected documentUrls (a list) or totalDocuments (a whole number)".to_owned()),
        };
    }
    if data.get("documentId").and_then(Value::as_str).is_none_or(str::is_empty) {
        return invalid("data.documentId: expected a text".to_owned());
    }
    if event_kind == kind::DOCUMENT_PROCESSED {
        if data.get("processor").and_then(Value::as_str).is_none_or(str::is_empty) {
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

fn total_documents(data: &Value) -> Option<i64> {
    let said = data.get("totalDocuments").and_then(Value::as_i64).filter(|total| *total >= 0);
    said.or_else(|| data.get("documentUrls").and_then(Value::as_array).map(|urls| urls.len() as i64))
}

/// The submission that an event is about; made known if it is not yet.
async fn submission_for(
    engine: &Engine,
    subject: &str,
    event: &Event,
    data: &Value,
) -> EngineResult<Arc<SubmissionInfo>> {
    if let Ok(found) = engine.find_submission(subject).await {
        return engine.catalog().remember(found).await;
    }
    let workflow = data.get("workflow").and_then(Value::as_str).unwrap_or(DEFAULT_WORKFLOW);
    let mut intake = Intake::new(workflow, Vec::new());
    intake.external_id = Some(subject.to_owned());
    intake.owner = data.get("userId").and_then(Value::as_str).map(str::to_owned);
    CHANNEL.clone_into(&mut intake.channel);
    intake.received_at = Some(event.at);
    intake.files_are_all = false;
    let workflow = engine.catalog().workflow(&intake.workflow, None).await?;
    let planned = engine.plan_submission(intake, workflow).await?;
    let id = match engine.store().commit(vec![planned.commit]).await?.pop() {
        Some(CommitResult::Rejected(Rejection::AlreadyExists(existing))) => existing,
        _ => planned.info.id,
    };
    engine.catalog().submission(id).await
}

/// The join that collects the submission's documents.
async fn documents_join(engine: &Engine, info: &SubmissionInfo) -> EngineResult<Join> {
    let stage =
        info.workflow.next_collector_after(0, Over::Submission).map_or(crate::chain::END, |(_, stage)| &stage.name);
    let joins = engine.store().joins(info.id).await?;
    joins
        .into_iter()
        .find(|join| join.stage == *stage && join.scope.is_none())
        .ok_or_else(|| EngineError::NotFound(format!("join that collects the documents of {}", info.public_id())))
}

async fn declare(engine: &Engine, info: &SubmissionInfo, data: &Value) -> EngineResult<Vec<Commit>> {
    let total = total_documents(data).unwrap_or(0);
    let join = documents_join(engine, info).await?.id;
    let step = JoinStep { join, change: JoinChange::Declare(total) };
    Ok(vec![Commit::always(Changes { join_steps: vec![step], ..Changes::default() })])
}

/// The document that an event is about; made known if it is not yet, with jobs that wait for its processors.
async fn document_for(engine: &Engine, info: &SubmissionInfo, data: &Value) -> EngineResult<ItemId> {
    let key = data.get("documentId").and_then(Value::as_str).unwrap_or_default();
    if let Ok(known) = engine.find_item(info.id, key).await {
        return Ok(known);
    }
    if info.channel != CHANNEL {
        let message = format!("document {key:?} is not one of {}", info.public_id());
        return Err(EngineError::Invalid(message));
    }
    if info.workflow.stages[0].over != Over::File {
        let message = format!("workflow {} does not begin with a stage over files", info.workflow.name);
        return Err(EngineError::Invalid(message));
    }
    let id = engine.ids().items(1).await?.remove(0);
    let join = documents_join(engine, info).await?.id;
    let mut next = Next::new(engine, info);
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
    next.enter(At { stage: 0, item: Some(id), join: Some(join), priority: 0 }, Payload::null()).await?;
    let commit = Commit { guard: Guard::NewItem, changes: next.into_changes() };
    match engine.store().commit(vec![commit]).await?.pop() {
        Some(CommitResult::Rejected(Rejection::ItemExists(existing))) => Ok(existing),
        _ => Ok(id),
    }
}

async fn report(engine: &Engine, info: &SubmissionInfo, data: &Value) -> EngineResult<Vec<Commit>> {
    let item = document_for(engine, info, data).await?;
    let named = data.get("processor").and_then(Value::as_str).unwrap_or_default();
    let name = named.strip_prefix(PROCESSOR_PREFIX).unwrap_or(named);
    let stage = info.workflow.stages.iter().find(|stage| stage.over == Over::File && stage.processor(name).is_some());
    let Some(stage) = stage else {
        let message = format!("workflow {} has no processor {name:?} that works on each file", info.workflow.name);
        return Err(EngineError::Invalid(message));
    };
    let reported = if data.get("status").and_then(Value::as_str) == Some("completed") {
        let output = json!({"documentRecordId": data.get("documentRecordId")});
        Reported::Completed { output, confidence: None }
    } else {
        let error = data.get("error").and_then(Value::as_str).unwrap_or_default();
        Reported::Failed { error: error.to_owned() }
    };
    let about = About { submission: info.id, item: Some(item), stage: stage.name.clone(), processor: Name::from(name) };
    engine.plan_report(info, &about, reported, Target::Next).await
}
