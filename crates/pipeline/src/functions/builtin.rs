//! The functions that come with Bindery.

use super::{Functions, failed};
use crate::{
    DEFAULT_WORKFLOW,
    external_tasks::{self, question, queue},
    idp::{
        TaskError, document,
        file_processing::{FileRequest, file_processing},
        file_processing_status::{StatusRequest, file_processing_status},
        respond,
    },
    ingestion::{IngestRequest, ingest},
    intake::{self, Taken},
};
use bindery_core::{StepError, SubmissionId};
use bindery_engine::{
    EngineError,
    machines::{TaskCall, TaskFailure, TaskResult},
    view,
};
use bindery_store::search::{Hit, Query, SearchRequest};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Each with one line on what it does.
pub const BUILTIN: [(&str, &str); 9] = [
    ("file_processing", "copy a file to where the document chain takes files in, and have it read"),
    ("file_processing_status", "how far a document of the chain is: PENDING, COMPLETE or FAILED"),
    ("ingest_document", "cut the text of a document into chunks and index them"),
    ("read_file", "a text or JSON file as a value"),
    ("review", "ask a person; with a task token, the decision is the task's answer"),
    ("search", "find pages by their words"),
    ("submit", "take files in for a workflow"),
    ("submission_status", "how far a submission is"),
    ("submission_result", "the consolidated result of a submission"),
];

/// The largest file that is a value.
const LARGEST_VALUE: u64 = 256 * 1024;

/// The chain that reads what `file_processing` copies.
const CHAIN: &str = "idp";

impl Functions {
    /// None if there is no such function.
    pub(super) async fn builtin(&self, name: &str, payload: &Value, call: &TaskCall) -> Option<TaskResult> {
        Some(match name {
            "file_processing" => self.file_processing(payload, call).await,
            "file_processing_status" => self.file_processing_status(payload).await,
            "ingest_document" => self.ingest_document(payload, call).await,
            "read_file" => read_file(payload).await,
            "review" => self.review(payload, call).await,
            "search" => self.search(payload).await,
            "submit" => self.submit(payload, call).await,
            "submission_status" => self.submission_status(payload).await,
            "submission_result" => self.submission_result(payload).await,
            _ => return None,
        })
    }

    fn place(&self) -> Result<&crate::idp::IdpPlace, TaskFailure> {
        let why = "no place is configured for the document chain: [machines] place in bindery.toml";
        self.place.as_ref().ok_or_else(|| TaskFailure::new("States.TaskFailed", why))
    }

    /// The copy starts the reading: it is taken in under the document's id, so that asking twice reads once.
    async fn file_processing(&self, payload: &Value, call: &TaskCall) -> TaskResult {
        let place = self.place()?;
        let copied = match FileRequest::parse(payload) {
            Ok(request) => file_processing(place, request).await,
            Err(error) => Err(error),
        };
        let copied = match copied {
            Ok(copied) => copied,
            Err(error) => return refused_or_failed(error),
        };
        let key = place.raw_key(&copied.document_id, &copied.file_name).map_err(refusal)?;
        let lost = || TaskFailure::new("NotFound", format!("the copy {} is gone", copied.s3_location));
        let bytes = place.read(&key).await.map_err(refusal)?.ok_or_else(lost)?;
        let file = document::take_in_bytes(&**self.engine.blobs(), bytes, &copied.file_name, &copied.document_id);
        let file = file.await.map_err(|error| failed(StepError::from(EngineError::from(error))))?;
        let mut intake = Taken::one(file).into_intake(CHAIN);
        intake.external_id = Some(copied.document_id.clone());
        intake.owner.clone_from(&call.owner);
        "machine".clone_into(&mut intake.channel);
        intake.metadata.insert("location".to_owned(), json!(copied.s3_location));
        self.engine.submit(intake).await.map_err(trouble)?;
        Ok(respond(Ok(copied.into_body())))
    }

    async fn file_processing_status(&self, payload: &Value) -> TaskResult {
        let place = self.place()?;
        let status = match StatusRequest::parse(payload) {
            Ok(request) => file_processing_status(place, Some(&self.engine), request).await,
            Err(error) => Err(error),
        };
        match status {
            Ok(status) => Ok(respond(Ok(status.into_body()))),
            Err(error) => refused_or_failed(error),
        }
    }

    /// `{documentId, collection_name, ingest_params?, file_guid?, file_name?}`
    async fn ingest_document(&self, payload: &Value, call: &TaskCall) -> TaskResult {
        let request = IngestRequest { owner: call.owner.clone(), ..IngestRequest::parse(payload).map_err(refusal)? };
        let done = ingest(&self.engine, self.place.as_ref(), request).await.map_err(refusal)?;
        serde_json::to_value(done).map_err(|error| TaskFailure::new("States.Runtime", error))
    }

    /// `{query, collection?, limit?}`
    async fn search(&self, payload: &Value) -> TaskResult {
        let text = |key: &str| payload.get(key).and_then(Value::as_str);
        let query = text("query").ok_or_else(|| bad("query: expected a text such as \"grand total\" -draft"))?;
        let request = SearchRequest {
            query: Query::parse(query).map_err(|why| bad(&why))?,
            collection: text("collection").map(str::to_owned),
            limit: payload.get("limit").and_then(Value::as_u64).map_or(10, |limit| limit.min(100) as usize),
            offset: 0,
        };
        let hits = self.engine.store().search(request).await.map_err(|error| trouble(error.into()))?;
        let hit = |hit: Hit| {
            json!({"collection": hit.collection, "documentId": hit.document_id, "file_guid": hit.file_guid,
                   "file_name": hit.file_name, "page": hit.page, "snippet": hit.snippet.text})
        };
        Ok(json!({"hits": hits.into_iter().map(hit).collect::<Vec<_>>()}))
    }

    /// `{files: [path, …], workflow?, external_id?, metadata?}`
    async fn submit(&self, payload: &Value, call: &TaskCall) -> TaskResult {
        let files = payload.get("files").and_then(Value::as_array);
        let files: Option<Vec<PathBuf>> =
            files.and_then(|files| files.iter().map(|file| file.as_str().map(PathBuf::from)).collect());
        let files = files.filter(|files| !files.is_empty());
        let files = files.ok_or_else(|| bad("files: expected a list of paths, at least one"))?;
        let text = |key: &str| payload.get(key).and_then(Value::as_str);
        let taken = intake::take_in(&self.engine, &files).await;
        let taken = taken.map_err(|error| TaskFailure::new("BadRequest", error))?;
        let mut intake = taken.into_intake(text("workflow").unwrap_or(DEFAULT_WORKFLOW));
        // The same task after a crash is the same submission.
        let own = || format!("{}/{}", call.execution_arn, call.task);
        intake.external_id = Some(text("external_id").map_or_else(own, str::to_owned));
        intake.owner.clone_from(&call.owner);
        "machine".clone_into(&mut intake.channel);
        if let Some(metadata) = payload.get("metadata").and_then(Value::as_object) {
            intake.metadata.extend(metadata.clone());
        }
        let received = self.engine.submit(intake).await.map_err(trouble)?;
        Ok(json!({"submission_id": received.id()}))
    }

    /// `{question, value?, priority?}`
    async fn review(&self, payload: &Value, call: &TaskCall) -> TaskResult {
        let asked = payload.get("question").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let asked = asked.ok_or_else(|| bad("question: expected a text such as \"May this order be paid?\""))?;
        let priority = match payload.get("priority") {
            None | Some(Value::Null) => 0,
            Some(given) => given
                .as_i64()
                .and_then(|given| i32::try_from(given).ok())
                .ok_or_else(|| bad("priority: expected a whole number; more is more urgent, and 0 is usual"))?,
        };
        let wanted = json!({"question": asked, "value": payload.get("value")});
        let sent =
            external_tasks::send(&self.engine, question::WORKFLOW, call, question::FILE, &wanted, priority).await;
        Ok(json!({"submission_id": sent.map_err(trouble)?}))
    }

    /// The task waits on a queue until a program outside takes it.
    pub(super) async fn hand_out(&self, queue: &str, payload: &Value, call: &TaskCall) -> TaskResult {
        let workflow = queue::register(&self.engine, queue).await.map_err(trouble)?;
        let sent = external_tasks::send(&self.engine, workflow, call, queue::FILE, payload, 0).await;
        Ok(json!({"submission_id": sent.map_err(trouble)?}))
    }

    /// `{submission_id}`
    async fn submission_status(&self, payload: &Value) -> TaskResult {
        let id = submission_of(payload)?;
        view::request_status(&self.engine, id).await.map_err(trouble)
    }

    async fn submission_result(&self, payload: &Value) -> TaskResult {
        let id = submission_of(payload)?;
        let result = view::result(&self.engine, id).await.map_err(trouble)?;
        result.ok_or_else(|| TaskFailure::new("NotReady", format!("{id} has no result yet")))
    }
}

/// `{file: path}`: JSON where it is some, else text.
async fn read_file(payload: &Value) -> TaskResult {
    let path = payload.get("file").and_then(Value::as_str).ok_or_else(|| bad("file: expected a path"))?;
    let wrong = |error: std::io::Error| TaskFailure::new("NotFound", format!("{path}: {error}"));
    let size = tokio::fs::metadata(path).await.map_err(wrong)?.len();
    if size > LARGEST_VALUE {
        return Err(bad(&format!("{path} has {size} bytes; a value has at most {LARGEST_VALUE}")));
    }
    let bytes = tokio::fs::read(path).await.map_err(wrong)?;
    Ok(serde_json::from_slice(&bytes).unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned())))
}

fn submission_of(payload: &Value) -> Result<SubmissionId, TaskFailure> {
    let id = payload.get("submission_id").and_then(Value::as_str).and_then(|text| text.parse().ok());
    id.ok_or_else(|| bad("submission_id: expected an id such as sub_12"))
}

fn bad(why: &str) -> TaskFailure {
    TaskFailure::new("BadRequest", why)
}

/// Who asked wrongly is told so in the answer, as callers of these functions expect; what may be better next time is a
/// failure, which is tried again.
fn refused_or_failed(error: TaskError) -> TaskResult {
    match error {
        TaskError::Failed(_) => Err(refusal(error)),
        at_fault => Ok(respond(Err(at_fault))),
    }
}

fn refusal(error: TaskError) -> TaskFailure {
    match error {
        TaskError::Failed(error) => TaskFailure::new("States.TaskFailed", error.message),
        other => failed(StepError::from(other)),
    }
}

fn trouble(error: EngineError) -> TaskFailure {
    match error {
        EngineError::Store(error) => TaskFailure::new("States.TaskFailed", error),
        EngineError::Blob(error) => TaskFailure::new("States.TaskFailed", error),
        other => TaskFailure::new("BadRequest", other),
    }
}
