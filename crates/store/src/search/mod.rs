//! Full-text search: which page of which document speaks of something.
//!
//! Documents are indexed in *collections*, as chunks of text of which each knows its page. Pages are found: a page that
//! has one word of a question in its first chunk and another in its last one is found by both. See [`Query`] for what
//! can be asked.
//!
//! **The same on every backend.** Texts and questions become words here ([`words`]), and what is shown of a page is made
//! here ([`Snippet`]); the databases keep the index and rank what they find. Ranks are a database's own, so pages that
//! fit about as well as each other may come in another order elsewhere.

mod query;
mod snippet;
mod words;

pub use query::Query;
pub(crate) use query::Term;
pub use snippet::Snippet;

use crate::error::{StoreError, StoreResult};
use async_trait::async_trait;
use bindery_core::SubmissionId;
use serde::Serialize;
use std::collections::HashSet;

/// Positions of words behind this one are not kept by every backend.
const MOST_WORDS: usize = 16_000;

/// A document with its text, to be found in a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedDocument {
    pub collection: String,
    /// There is one of each in a collection.
    pub document_id: String,
    /// What callers know the file by.
    pub file_guid: String,
    pub file_name: String,
    /// JSON, kept as it is.
    pub metadata: String,
    pub chunks: Vec<TextChunk>,
    /// Whose text it is: the document leaves the index with that submission. None: nobody's.
    pub submission: Option<SubmissionId>,
    /// Whose it is where it is of no submission: it leaves the index with everything of that person.
    pub owner: Option<String>,
}

/// A part of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TextChunk {
    /// From 1.
    pub page: u32,
    /// Its place in the document, from 0.
    pub ordinal: u32,
    pub text: String,
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRequest {
    pub query: Query,
    /// None: everywhere.
    pub collection: Option<String>,
    pub limit: usize,
    /// So many of the best are left out.
    pub offset: usize,
}

/// A page that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub collection: String,
    pub document_id: String,
    pub file_guid: String,
    pub file_name: String,
    /// From 1.
    pub page: u32,
    /// How well it fits: greater is better. To be compared inside one answer only.
    pub score: f64,
    pub snippet: Snippet,
}

/// What a collection holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CollectionView {
    pub collection: String,
    pub documents: u64,
    /// Those with text.
    pub pages: u64,
    pub chunks: u64,
}

/// The index of texts.
#[async_trait]
pub trait Search: Send + Sync {
    /// Makes a document findable, in place of what was indexed under its id in its collection: doing it twice does it
    /// once. Durable when it returns, whole or not at all.
    async fn index_document(&self, document: IndexedDocument) -> StoreResult<()>;

    /// Takes a document out of a collection. False if it was not there.
    async fn remove_document(&self, collection: &str, document_id: &str) -> StoreResult<bool>;

    /// How many documents a person has in the index that are of no submission.
    async fn owned_documents(&self, owner: &str) -> StoreResult<u64>;

    /// Takes at most `limit` of them out. Returns how many went: call it again until none does.
    async fn remove_documents_of(&self, owner: &str, limit: usize) -> StoreResult<u64>;

    /// The pages that were asked for, those that fit best first.
    async fn search(&self, request: SearchRequest) -> StoreResult<Vec<Hit>>;

    /// All collections, by name.
    async fn collections(&self) -> StoreResult<Vec<CollectionView>>;
}

/// A row for a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChunkRow {
    pub(crate) page: i64,
    pub(crate) ordinal: i64,
    pub(crate) text: String,
    /// As it is compared.
    pub(crate) words: String,
}

impl IndexedDocument {
    /// Checks the document, and makes rows of its chunks.
    pub(crate) fn rows(&self) -> StoreResult<Vec<ChunkRow>> {
        let about = format!("document {:?} of collection {:?}", self.document_id, self.collection);
        let invalid = |what: String| Err(StoreError::Invalid(format!("{about}: {what}")));
        if self.collection.is_empty() || self.document_id.is_empty() {
            return invalid("expected a collection and a document id that are not empty".to_owned());
        }
        let texts = [&self.collection, &self.document_id, &self.file_guid, &self.file_name];
        if texts.iter().any(|text| text.contains('\0')) {
            return invalid("the names and ids of a document have no zero characters".to_owned());
        }
        if let Err(error) = serde_json::from_str::<serde_json::Value>(&self.metadata) {
            return invalid(format!("the metadata is not JSON: {error}"));
        }
        let mut places = HashSet::new();
        let mut rows = Vec::with_capacity(self.chunks.len());
        for chunk in &self.chunks {
            if chunk.page == 0 || !places.insert(chunk.ordinal) {
                return invalid(format!("chunk {}: pages count from 1, and every place is taken once", chunk.ordinal));
            }
            let words = words::word_list(&chunk.text);
            if words.split(' ').count() > MOST_WORDS {
                return invalid(format!("chunk {} has more than {MOST_WORDS} words; cut it smaller", chunk.ordinal));
            }
            // Not every database can keep a zero character.
            let text = chunk.text.replace('\0', "\u{fffd}");
            rows.push(ChunkRow { page: i64::from(chunk.page), ordinal: i64::from(chunk.ordinal), text, words });
        }
        Ok(rows)
    }

    /// How many pages have text.
    pub(crate) fn pages(&self) -> i64 {
        self.chunks.iter().map(|chunk| chunk.page).collect::<HashSet<_>>().len() as i64
    }
}
