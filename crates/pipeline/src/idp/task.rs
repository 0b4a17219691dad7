//! What the tasks beside the chain answer: `{statusCode, body}`, as the programs that call them expect it.

use super::{
    outward::layout_of,
    places::{self, Places},
};
use bindery_core::{Disposition, StepError};
use bindery_engine::EngineError;
use bindery_store::blobs::{BlobError, KeyLayout, OutwardKey, Shelf};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Where the chain takes files in and leaves its results: the settings `place`, a bucket or folder, and `keys`, the
/// prefixes in it.
#[derive(Debug, Clone)]
pub struct IdpPlace {
    pub(super) places: Arc<Places>,
    pub(super) shelf: Shelf,
    pub(super) layout: KeyLayout,
}

impl IdpPlace {
    /// Opens it as settings say.
    pub fn from_settings(settings: &Map<String, Value>, places: &Arc<Places>) -> Result<Self, TaskError> {
        let example = "the bucket or folder of the document chain, such as s3://idp or file:///srv/idp";
        let url =
            required(settings, "place", example).map_err(|error| TaskError::Invalid(format!("settings.{error}")))?;
        let layout = layout_of(settings.get("keys")).map_err(|error| TaskError::Invalid(error.message))?;
        Ok(Self { places: Arc::clone(places), shelf: places.open(url)?, layout })
    }

    /// Where the copy of a document's file stands.
    pub fn raw_key(&self, document_id: &str, file_name: &str) -> Result<OutwardKey, TaskError> {
        self.key("raw", &format!("{document_id}/{file_name}"))
    }

    /// What stands under a key.
    pub async fn read(&self, key: &OutwardKey) -> Result<Option<Vec<u8>>, TaskError> {
        Ok(self.shelf.read(key).await?)
    }

    /// The JSON of a document, once it is there.
    pub(crate) async fn text_of(&self, document_id: &str) -> Result<Option<Vec<u8>>, TaskError> {
        Ok(self.shelf.read(&self.key("text_doc", &format!("{document_id}.json"))?).await?)
    }

    /// The key of one kind of artifact.
    pub(super) fn key(&self, kind: &str, name: &str) -> Result<OutwardKey, TaskError> {
        self.layout.key(kind, name).map_err(|error| BlobError::from(error).into())
    }
}

/// Why a task was not done, in one sentence.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// 400: the request is at fault.
    #[error("{0}")]
    Invalid(String),
    /// 404: what the request names is not there.
    #[error("{0}")]
    Missing(String),
    /// 500: it could not be done now.
    #[error("{0}")]
    Failed(StepError),
}

impl TaskError {
    pub const fn status(&self) -> u16 {
        match self {
            Self::Invalid(_) => 400,
            Self::Missing(_) => 404,
            Self::Failed(_) => 500,
        }
    }
}

impl From<EngineError> for TaskError {
    fn from(error: EngineError) -> Self {
        Self::Failed(StepError::from(error))
    }
}

impl From<BlobError> for TaskError {
    fn from(error: BlobError) -> Self {
        let error = places::refusal(error);
        match error.disposition {
            Disposition::Reject => Self::Invalid(error.message),
            _ => Self::Failed(error),
        }
    }
}

/// A step that fails says what to do next, so that a failed task is tried again where that helps, and only there.
impl From<TaskError> for StepError {
    fn from(error: TaskError) -> Self {
        match error {
            TaskError::Invalid(message) => Self::reject(message).named("BadRequest"),
            TaskError::Missing(message) => Self::reject(message).named("NotFound"),
            TaskError::Failed(error) => error,
        }
    }
}

/// A task's result as an answer.
pub fn respond(result: Result<Map<String, Value>, TaskError>) -> Value {
    match result {
        Ok(body) => json!({"statusCode": 200, "body": body}),
        Err(error) => json!({"statusCode": error.status(), "body": {"message": error.to_string()}}),
    }
}

/// A text that a request must have.
pub(crate) fn required<'a>(request: &'a Map<String, Value>, name: &str, example: &str) -> Result<&'a str, TaskError> {
    match request.get(name) {
        Some(Value::String(text)) => Ok(text),
        None | Some(Value::Null) => Err(TaskError::Invalid(format!("{name} is missing: expected {example}"))),
        Some(found) => Err(TaskError::Invalid(format!("{name}: expected {example}, found {found}"))),
    }
}

/// A request is an object.
pub(crate) fn object(request: &Value) -> Result<&Map<String, Value>, TaskError> {
    request.as_object().ok_or_else(|| TaskError::Invalid(format!("expected an object with fields, found {request}")))
}
