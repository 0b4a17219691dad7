//! The task `file_processing_status`: how far a document is, by what stands under the outward keys.
//!
//! `fileupload_status` is `COMPLETE` once the document's JSON is there, and `PENDING` before. A document that the chain
//! has given up is `FAILED`, so that nobody waits for it for ever; that is known inside only, and is said where the
//! caller has an engine.

use super::{
    audit::{self, Audit, AuditStatus},
    location::check_document_id,
    places::{Places, wait},
    task::{IdpPlace, TaskError, object, required, respond},
};
use crate::stage::Stage;
use bindery_core::StepError;
use bindery_engine::{Engine, Extracted, Kind, context::StepContext};
use bindery_reader::{
    combine::CombinedDocument,
    split::{MANIFEST, Manifest},
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusRequest {
    pub document_id: String,
    /// Everything else that the caller gave, to be handed on.
    pub passed: Map<String, Value>,
}

/// Whether the document is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileUploadStatus {
    Pending,
    Complete,
    Failed,
}

impl FileUploadStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Complete => "COMPLETE",
            Self::Failed => "FAILED",
        }
    }
}

/// How far it is.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusAnswer {
    pub document_id: String,
    pub fileupload_status: FileUploadStatus,
    /// The key of the JSON, once it is there.
    pub text_doc_key: Option<String>,
    pub status: AuditStatus,
    pub page_count: Option<u64>,
    /// Why nothing will come.
    pub error: Option<String>,
    pub passed: Map<String, Value>,
}

impl StatusRequest {
    /// The id is at the top, or in `body`, as the task before leaves it.
    pub fn parse(request: &Value) -> Result<Self, TaskError> {
        let top = object(request)?;
        let fields = match top.get("body") {
            Some(Value::Object(body)) if !top.contains_key("document_id") => body,
            _ => top,
        };
        let id = required(fields, "document_id", "the id that file_processing gave")?;
        check_document_id("document_id", id).map_err(TaskError::Invalid)?;
        Ok(Self { document_id: id.to_owned(), passed: fields.clone() })
    }
}

impl StatusAnswer {
    pub fn into_body(self) -> Map<String, Value> {
        let mut body = self.passed;
        let fields = [
            ("document_id", json!(self.document_id)),
            ("fileupload_status", json!(self.fileupload_status.as_str())),
            ("text_doc_key", json!(self.text_doc_key)),
            ("status", json!(self.status)),
            ("page_count", json!(self.page_count)),
            ("error", json!(self.error)),
        ];
        body.extend(
            fields.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.to_owned(), value)),
        );
        body
    }
}

/// Looks for the document: among the outward keys and, where there is an engine, in its records.
pub async fn file_processing_status(
    place: &IdpPlace,
    engine: Option<&Engine>,
    request: StatusRequest,
) -> Result<StatusAnswer, TaskError> {
    let StatusRequest { document_id, passed } = request;
    let known = match engine {
        Some(engine) => audit::of_document(engine, &document_id).await?,
        None => None,
    };
    let seen = match known {
        Some(audit) => audit,
        None => outside(place, &document_id).await?,
    };
    let key = place.key("text_doc", &format!("{document_id}.json"))?;
    let fileupload_status = match seen.status {
        AuditStatus::Combined => FileUploadStatus::Complete,
        AuditStatus::MissingPages | AuditStatus::Failed => FileUploadStatus::Failed,
        AuditStatus::Uploaded | AuditStatus::Split => FileUploadStatus::Pending,
    };
    Ok(StatusAnswer {
        fileupload_status,
        text_doc_key: (seen.status == AuditStatus::Combined).then(|| key.to_string()),
        status: seen.status,
        page_count: seen.page_count,
        error: seen.reason,
        document_id,
        passed,
    })
}

/// What the outward keys tell.
async fn outside(place: &IdpPlace, document: &str) -> Result<Audit, TaskError> {
    let seen = |status, page_count| Audit {
        document_id: document.to_owned(),
        file_name: None,
        status,
        page_count,
        missing: Vec::new(),
        reason: None,
    };
    if let Some(bytes) = place.text_of(document).await? {
        let pages = serde_json::from_slice::<CombinedDocument>(&bytes).ok().map(|found| found.page_count as u64);
        return Ok(seen(AuditStatus::Combined, pages));
    }
    let manifest = place.key("pdf_page", &format!("{document}/{MANIFEST}"))?;
    if let Some(bytes) = place.shelf.read(&manifest).await? {
        let pages = serde_json::from_slice::<Manifest>(&bytes).ok().map(|found| found.pages as u64);
        return Ok(seen(AuditStatus::Split, pages));
    }
    if place.shelf.list(&place.key("raw", document)?).await?.is_empty() {
        let message = format!("there is no document {document:?}: expected the id that file_processing gave");
        return Err(TaskError::Missing(message));
    }
    Ok(seen(AuditStatus::Uploaded, None))
}

/// The task as a processor: by the outward keys alone. The settings `place` and `keys` say where they are.
#[derive(Debug, Clone)]
pub(crate) struct FileProcessingStatus {
    places: Arc<Places>,
}

impl FileProcessingStatus {
    pub(crate) fn new(places: Arc<Places>) -> Self {
        Self { places }
    }
}

impl Stage for FileProcessingStatus {
    const NAME: &'static str = "file_processing_status";
    const KIND: Kind = Kind::Io;
    /// Callers say more than we have a type for, and get it back.
    type Input = Value;
    type Made = Value;
    type Output = Value;

    fn validate(&self, _context: &StepContext, request: &Value) -> Result<(), StepError> {
        StatusRequest::parse(request)?;
        Ok(())
    }

    fn process(&self, context: &StepContext, request: Value) -> Result<Value, StepError> {
        let place = IdpPlace::from_settings(context.settings(), &self.places)?;
        let request = StatusRequest::parse(&request)?;
        let answer = wait(async move { file_processing_status(&place, None, request).await })??;
        Ok(respond(Ok(answer.into_body())))
    }

    fn extract(&self, _context: &StepContext, answer: Value) -> Result<Extracted, StepError> {
        Ok(Extracted::new(answer))
    }
}
