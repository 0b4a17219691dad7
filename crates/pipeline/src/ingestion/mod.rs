//! Texts become findable: a document's text is cut into chunks and indexed, so that a page is found by its words.
//!
//! ```text
//!  text-docs/{documentId}.json ──chunk──► chunks with their pages ──index──► bindery search "…"
//! ```
//!
//! [`ingest`] is what an ingestion machine runs, on a document of the chain ([`idp`](crate::idp)); [`index_submission`]
//! does the same for whatever a submission has read. Both may be done again: what was indexed of a document before is
//! replaced, in one transaction.

pub mod chunk;
mod pieces;
mod text;

pub use text::DocumentText;

use crate::{
    borders::{Combined, seen_output},
    idp::{
        COMBINER, IdpPlace, TaskError,
        location::{check_collection, check_document_id},
        object, required,
    },
    reading::PAGE_COMBINER,
};
use bindery_core::{Name, SubmissionId, artifact::Artifact, outcome::OutcomeStatus};
use bindery_engine::{Engine, EngineError, EngineResult};
use bindery_store::{StoreError, pages::OutcomePages, search::IndexedDocument};
use chunk::{ChunkParams, chunks};
use serde::Serialize;
use serde_json::{Value, json};

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IngestRequest {
    pub document_id: String,
    pub ingest_params: ChunkParams,
    pub collection_name: String,
    /// What callers know the file by; none: the document's id.
    pub file_guid: Option<String>,
    /// None: what the document was taken in as.
    pub file_name: Option<String>,
    /// Whose the text is, where it is of no submission.
    pub owner: Option<String>,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IngestAnswer {
    #[serde(rename = "documentId")]
    pub document_id: String,
    pub collection_name: String,
    pub chunks: usize,
    /// Those with text.
    pub pages: usize,
}

impl IngestRequest {
    /// Checks a request, the whole of it, before anything is done: `documentId`, `ingest_params`, `collection_name`,
    /// `file_guid` and `file_name`. Other fields are for others.
    pub fn parse(request: &Value) -> Result<Self, TaskError> {
        let request = object(request)?;
        let id = required(request, "documentId", "the id that file_processing gave")?;
        check_document_id("documentId", id).map_err(TaskError::Invalid)?;
        let collection = required(request, "collection_name", "the name of a collection")?;
        check_collection(collection).map_err(TaskError::Invalid)?;
        let params = request.get("ingest_params").unwrap_or(&Value::Null);
        let text = |name: &str| match request.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Ok(None),
            Some(Value::String(text)) if !text.contains('\0') => Ok(Some(text.clone())),
            Some(found) => Err(TaskError::Invalid(format!("{name}: expected a text, found {found}"))),
        };
        Ok(Self {
            document_id: id.to_owned(),
            ingest_params: ChunkParams::parse(params).map_err(TaskError::Invalid)?,
            collection_name: collection.to_owned(),
            file_guid: text("file_guid")?,
            file_name: text("file_name")?,
            owner: None,
        })
    }
}

/// Indexes a document of the chain: by the text that the engine has of it or, where it has none, by the one that stands
/// under the outward key of `place`.
pub async fn ingest(
    engine: &Engine,
    place: Option<&IdpPlace>,
    request: IngestRequest,
) -> Result<IngestAnswer, TaskError> {
    let id = request.document_id.clone();
    let mut found = of_document(engine, &id).await?;
    if let (None, Some(place)) = (&found, place) {
        found = place.text_of(&id).await?.map(|json| (None, json, None));
    }
    let Some((known_as, json, submission)) = found else {
        let message = format!("there is no text of document {id:?}: expected the id of a document that was read");
        return Err(TaskError::Missing(message));
    };
    let text = DocumentText::parse(&json).map_err(|why| TaskError::Invalid(format!("text-docs/{id}.json: {why}")))?;
    let names = Names {
        collection: request.collection_name,
        file_guid: request.file_guid.unwrap_or_else(|| id.clone()),
        file_name: request.file_name.or(known_as).unwrap_or_else(|| id.clone()),
        document_id: id,
        owner: request.owner.filter(|_| submission.is_none()),
        submission,
    };
    index(engine, names, &text, request.ingest_params).await
}

/// The text of a file, as the engine has it.
struct Read {
    document_id: String,
    file_name: Option<String>,
    artifact: Artifact,
}

/// A text of a document: the name of its file, its bytes, and the submission that it is of.
type Found = (Option<String>, Vec<u8>, Option<SubmissionId>);

/// The engine's text of a document.
async fn of_document(engine: &Engine, document_id: &str) -> EngineResult<Option<Found>> {
    let Some(submission) = engine.store().find_submission(document_id).await? else { return Ok(None) };
    let read = read_by(engine, submission.id).await?.into_iter().find(|read| read.document_id == document_id);
    let Some(Read { file_name, artifact, .. }) = read else { return Ok(None) };
    Ok(Some((file_name, engine.blobs().get(artifact.hash).await?, Some(submission.id))))
}

/// Indexes the text of every file of a submission, whichever of the workflows that bind pages has read it. Each is known
/// by its id, or by the one that it was taken in under.
pub async fn index_submission(
    engine: &Engine,
    submission: SubmissionId,
    collection: &str,
    params: ChunkParams,
) -> Result<Vec<IngestAnswer>, TaskError> {
    check_collection(collection).map_err(TaskError::Invalid)?;
    let mut done = Vec::new();
    for Read { document_id, file_name, artifact } in read_by(engine, submission).await? {
        let json = engine.blobs().get(artifact.hash).await?;
        let text = DocumentText::parse(&json)
            .map_err(|why| TaskError::Invalid(format!("{} of {submission}: {why}", artifact.key)))?;
        let names = Names {
            collection: collection.to_owned(),
            file_guid: document_id.clone(),
            file_name: file_name.unwrap_or_else(|| document_id.clone()),
            document_id,
            submission: Some(submission),
            owner: None,
        };
        done.push(index(engine, names, &text, params).await?);
    }
    Ok(done)
}

/// The files whose pages a submission has put together, by what the stages that do so have left.
async fn read_by(engine: &Engine, submission: SubmissionId) -> EngineResult<Vec<Read>> {
    let (store, info) = (engine.store(), engine.catalog().submission(submission).await?);
    let mut found = Vec::new();
    let combines = |processor: &Name| [PAGE_COMBINER, COMBINER].contains(&processor.as_str());
    let with_one =
        info.workflow.stages.iter().filter(|stage| stage.processors.iter().any(|processor| combines(&processor.name)));
    for stage in with_one {
        let mut pages = OutcomePages::new(&**store, submission, &stage.name, Some(OutcomeStatus::Completed));
        loop {
            let page = pages.next().await?;
            if page.is_empty() {
                break;
            }
            for outcome in page.into_iter().filter(|outcome| combines(&outcome.processor)) {
                let combined: Combined = seen_output(engine, Some(&outcome)).await?;
                let (Some(key), Some(item)) = (combined.json, outcome.item) else { continue };
                let Some(artifact) = store.artifact(submission, &key).await? else { continue };
                if let Some(file) = store.item(submission, item).await? {
                    found.push(Read { document_id: file.public_id(), file_name: file.label, artifact });
                }
            }
        }
    }
    Ok(found)
}

/// What a document is known by.
struct Names {
    collection: String,
    document_id: String,
    file_guid: String,
    file_name: String,
    submission: Option<SubmissionId>,
    owner: Option<String>,
}

async fn index(
    engine: &Engine,
    names: Names,
    text: &DocumentText,
    params: ChunkParams,
) -> Result<IngestAnswer, TaskError> {
    let Names { collection, document_id, file_guid, file_name, submission, owner } = names;
    let chunks = chunks(text.pages(), params);
    let mut pages: Vec<u32> = chunks.iter().map(|chunk| chunk.page).collect();
    pages.dedup();
    let answer = IngestAnswer {
        document_id: document_id.clone(),
        collection_name: collection.clone(),
        chunks: chunks.len(),
        pages: pages.len(),
    };
    let metadata = json!({
        "docType": text.kind, "hash_key": text.hash.to_string(), "pageCount": text.page_count, "ingest_params": params,
    });
    let metadata = metadata.to_string();
    let document =
        IndexedDocument { collection, document_id, file_guid, file_name, metadata, chunks, submission, owner };
    match engine.store().index_document(document).await {
        Ok(()) => Ok(answer),
        Err(StoreError::Invalid(message)) => Err(TaskError::Invalid(message)),
        Err(error) => Err(EngineError::from(error).into()),
    }
}
