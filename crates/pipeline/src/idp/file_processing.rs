//! The task `file_processing`: a file that somebody names is copied to where the chain takes files in.
//!
//! The copy is verified, and starts the chain by being there (`bindery intake` looks for it). Who asks twice for the same
//! file gets the same document.

use super::{
    document,
    location::{Location, check_collection, folder_url},
    places::{Places, wait},
    task::{IdpPlace, TaskError, object, required, respond},
};
use crate::stage::Stage;
use bindery_core::StepError;
use bindery_engine::{Extracted, Kind, context::StepContext};
use bindery_store::blobs::{BlobError, ObjectError, Offer, OutwardKey, Shelf};
use serde_json::{Map, Value};
use std::{path::Path, sync::Arc};

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct FileRequest {
    pub file: Location,
    pub collection_name: String,
    /// Everything else that the caller gave, for those who come later: `ingest_params`, `llm_params` and so on.
    pub passed: Map<String, Value>,
}

/// What was done.
#[derive(Debug, Clone, PartialEq)]
pub struct FileAnswer {
    pub document_id: String,
    /// Where the copy is.
    pub s3_location: String,
    pub file_name: String,
    pub file_guid: String,
    pub passed: Map<String, Value>,
}

impl FileRequest {
    /// Checks a request, the whole of it, before anything is done.
    pub fn parse(request: &Value) -> Result<Self, TaskError> {
        let request = object(request)?;
        let file = required(request, "file", "the address of a file such as s3://bucket/key")?;
        let collection = required(request, "collection_name", "the name of a collection")?;
        let file = Location::parse(file).map_err(TaskError::Invalid)?;
        check_collection(collection).map_err(TaskError::Invalid)?;
        let mut passed = request.clone();
        passed.retain(|name, _| name != "file");
        Ok(Self { file, collection_name: collection.to_owned(), passed })
    }
}

impl FileAnswer {
    /// The body of the answer. What was passed stays as it was, unless it has the name of something that we say.
    pub fn into_body(self) -> Map<String, Value> {
        let Self { document_id, s3_location, file_name, file_guid, passed } = self;
        let mut body = passed;
        for (name, value) in [
            ("document_id", document_id),
            ("s3_location", s3_location),
            ("file_name", file_name),
            ("file_guid", file_guid),
        ] {
            body.insert(name.to_owned(), Value::String(value));
        }
        body
    }
}

/// Copies the file.
pub async fn file_processing(place: &IdpPlace, request: FileRequest) -> Result<FileAnswer, TaskError> {
    let (source, key) = source_of(place, &request.file)?;
    let missing = || TaskError::Missing(format!("there is no file {}", request.file));
    let offer = source.look(&key).await?.ok_or_else(missing)?;
    let document_id = document::id_of(&offer.external_id(), &request.collection_name);
    let file_name = request.file.name().to_owned();
    let target = place.raw_key(&document_id, &file_name)?;
    let copy = copied(place, &source, &offer, &target).await?;
    let given = request.passed.get("file_guid").and_then(Value::as_str).filter(|guid| !guid.is_empty());
    let file_guid = given.unwrap_or(&document_id).to_owned();
    Ok(FileAnswer { file_guid, document_id, s3_location: copy.location, file_name, passed: request.passed })
}

async fn copied(place: &IdpPlace, source: &Shelf, offer: &Offer, target: &OutwardKey) -> Result<Offer, TaskError> {
    match place.shelf.copy_from(source, offer, target).await {
        Ok(copy) => Ok(copy),
        Err(error) => {
            if matches!(error, BlobError::Object(ObjectError::CopyDiffers { .. })) {
                // Nobody should take in what is not the file. The error is the one that counts.
                let _ = place.shelf.remove(target).await;
            }
            Err(error.into())
        }
    }
}

/// The place that a file is at, and its key there.
fn source_of(place: &IdpPlace, file: &Location) -> Result<(Shelf, OutwardKey), TaskError> {
    let (url, key) = match file {
        Location::S3 { bucket, key } => (format!("s3://{bucket}"), key),
        Location::Local { folder, name } => {
            // A folder that is not there must not come to be by being asked for.
            if !Path::new(folder).join(name).is_file() {
                return Err(TaskError::Missing(format!("there is no file {file}")));
            }
            (folder_url(folder), name)
        }
    };
    let key = OutwardKey::parse(key).map_err(BlobError::from)?;
    Ok((place.places.open(&url)?, key))
}

/// The task as a processor. The settings `place` and `keys` say where the chain is.
#[derive(Debug, Clone)]
pub(crate) struct FileProcessing {
    places: Arc<Places>,
}

impl FileProcessing {
    pub(crate) fn new(places: Arc<Places>) -> Self {
        Self { places }
    }
}

impl Stage for FileProcessing {
    const NAME: &'static str = "file_processing";
    const KIND: Kind = Kind::Io;
    /// Callers say more than we have a type for, and get it back.
    type Input = Value;
    type Made = Value;
    type Output = Value;

    fn validate(&self, _context: &StepContext, request: &Value) -> Result<(), StepError> {
        FileRequest::parse(request)?;
        Ok(())
    }

    fn process(&self, context: &StepContext, request: Value) -> Result<Value, StepError> {
        let place = IdpPlace::from_settings(context.settings(), &self.places)?;
        let request = FileRequest::parse(&request)?;
        let answer = wait(async move { file_processing(&place, request).await })??;
        Ok(respond(Ok(answer.into_body())))
    }

    fn extract(&self, _context: &StepContext, answer: Value) -> Result<Extracted, StepError> {
        Ok(Extracted::new(answer))
    }
}
