//! Which page speaks of something, and texts made findable.

use crate::{app::App, error::AppResult};
use bindery_core::SubmissionId;
use bindery_pipeline::{
    idp::TaskError,
    ingestion::{chunk::ChunkParams, index_submission},
};
pub use bindery_store::search::{CollectionView, Hit, Query, SearchRequest, Snippet};
use serde::Serialize;
use serde_json::Value;

/// What cannot be searched or indexed.
#[derive(Debug, thiserror::Error)]
pub enum SearchRefused {
    /// It was mistyped.
    #[error("there is no collection {named:?}")]
    UnknownCollection { named: String, known: Vec<String> },
    #[error("{0} has no texts that could be searched")]
    NoTexts(SubmissionId),
    #[error("{0}")]
    NotIndexed(String),
    /// The store could not take it.
    #[error("{0}")]
    Failed(String),
}

/// What was indexed of a submission.
#[derive(Debug, Serialize)]
pub struct IndexedSubmission {
    pub submission: SubmissionId,
    pub collection: String,
    pub pages: u64,
    /// What each file came to, as the task that ingests documents answers.
    pub files: Vec<Value>,
}

impl App {
    /// A collection that is not there was mistyped.
    pub async fn check_collection(&self, named: Option<&str>) -> AppResult<()> {
        let Some(named) = named else { return Ok(()) };
        let known: Vec<String> = self.store().collections().await?.into_iter().map(|view| view.collection).collect();
        if known.iter().any(|known| known == named) {
            return Ok(());
        }
        Err(SearchRefused::UnknownCollection { named: named.to_owned(), known }.into())
    }

    /// Makes the texts that a submission has read findable; in the collection of its workflow unless another is named.
    pub async fn index_texts(&self, named: &str, collection: Option<&str>) -> AppResult<IndexedSubmission> {
        let submission = self.engine.find_submission(named).await?;
        self.refuse_run(submission.id).await?;
        let collection = collection.unwrap_or(&submission.workflow).to_owned();
        let done = index_submission(&self.engine, submission.id, &collection, ChunkParams::default()).await;
        let done = done.map_err(|error| match error {
            TaskError::Invalid(why) | TaskError::Missing(why) => SearchRefused::NotIndexed(why),
            TaskError::Failed(error) => SearchRefused::Failed(error.message),
        })?;
        if done.is_empty() {
            return Err(SearchRefused::NoTexts(submission.id).into());
        }
        let pages = done.iter().map(|answer| answer.pages as u64).sum();
        let files = done.iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
        Ok(IndexedSubmission { submission: submission.id, collection, pages, files })
    }
}
