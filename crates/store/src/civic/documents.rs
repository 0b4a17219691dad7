//! Documents that agendas name: what was fetched from an address, and what a file says.
//!
//! A file is known by its content, wherever it is found, so that each is read once ever. What could not be fetched or
//! read is kept with its reason, so that nobody tries again for nothing.

use super::{
    CivicRecords,
    work::{Question, Seen, Work, Writes, nouns, run},
};
use crate::{
    commit::CommitResult,
    error::{StoreError, StoreResult},
};
use bindery_core::{ContentHash, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is known of an address.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct KnownDocument {
    /// Without what changes from visit to visit, such as signatures.
    pub url: String,
    /// Of the last file that was fetched from here. None: there was never one.
    pub content_sha256: Option<String>,
    pub bytes: Option<u64>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub fetched_at: Option<Timestamp>,
    /// When the site was last asked, with whatever result.
    pub checked_at: Option<Timestamp>,
    /// Why the last try gave nothing: a word that programs know, such as `dead_link`, and a sentence.
    pub why: Option<String>,
    pub message: Option<String>,
    /// How many tries in a row gave nothing.
    pub failures: u32,
}

/// What a file says.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct KnownText {
    pub content_sha256: String,
    /// The version of the rules by which it was read. Others read it anew.
    pub reader: String,
    /// The blob with its text; none where it has none.
    pub text: Option<ContentHash>,
    /// In characters.
    pub length: u64,
    /// `pdf`, `docx` …
    pub file_type: String,
    pub page_count: u32,
    pub pages_by_ocr: u32,
    pub warnings: Vec<String>,
    /// Why it has no text: a word that programs know, such as `encrypted`, and a sentence.
    pub why: Option<String>,
    pub message: Option<String>,
    pub read_at: Option<Timestamp>,
}

/// A word that a model or a site uses for a topic, and that means none that is known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UnknownTopic {
    pub banana: String,
    pub topic: String,
    pub count: u64,
    pub last_seen: Option<Timestamp>,
}

impl CivicRecords<'_> {
    /// What is known of these addresses, by address; those of which nothing is known are left out.
    pub async fn known_documents(&self, urls: &[String]) -> StoreResult<Vec<KnownDocument>> {
        self.list(Question::of::<KnownDocument>().whose("url = ANY(?)", urls).by("url", None)).await
    }

    /// The addresses that this file was fetched from last.
    pub async fn documents_with_content(&self, content_sha256: &str) -> StoreResult<Vec<KnownDocument>> {
        self.list(Question::of::<KnownDocument>().whose("content_sha256 = ?", content_sha256).by("url", None)).await
    }

    /// Keeps what is known of an address, in place of what was known.
    pub async fn put_document(&self, document: KnownDocument) -> StoreResult<()> {
        expect_text("url of a document", &document.url)?;
        run(self.backend, PutDocument(document)).await
    }

    /// What these files say by one reader's rules, by hash; those that it has not read are left out.
    pub async fn known_texts(&self, hashes: &[String], reader: &str) -> StoreResult<Vec<KnownText>> {
        let question = Question::of::<KnownText>().whose("content_sha256 = ANY(?)", hashes).whose("reader = ?", reader);
        self.list(question.by("content_sha256", None)).await
    }

    /// Keeps what a file says by one reader's rules; reading it again takes the place of the first time.
    pub async fn put_text(&self, text: KnownText) -> StoreResult<()> {
        expect_text("content_sha256 of a text", &text.content_sha256)?;
        expect_text("reader of a text", &text.reader)?;
        run(self.backend, PutText(text)).await
    }

    /// Counts words that mean no topic, each as often as it is named.
    pub async fn count_unknown_topics(&self, banana: &str, topics: &[String]) -> StoreResult<()> {
        if topics.is_empty() {
            return Ok(());
        }
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for topic in topics {
            *counts.entry(topic.clone()).or_default() += 1;
        }
        run(self.backend, CountTopics { banana: banana.to_owned(), counts }).await
    }

    /// Of one jurisdiction, or of all; the most frequent first.
    pub async fn unknown_topics(&self, banana: Option<&str>) -> StoreResult<Vec<UnknownTopic>> {
        let question = Question::of::<UnknownTopic>().given("banana = ?", banana);
        let mut found: Vec<UnknownTopic> = self.list(question.by("banana, topic", None)).await?;
        found.sort_by_key(|topic| std::cmp::Reverse(topic.count));
        Ok(found)
    }
}

fn expect_text(what: &str, text: &str) -> StoreResult<()> {
    if text.is_empty() {
        return Err(StoreError::Invalid(format!("{what}: expected one, found an empty text")));
    }
    Ok(())
}

struct PutDocument(KnownDocument);

impl Work for PutDocument {
    type Done = ();

    fn cities(&self) -> Vec<String> {
        Vec::new()
    }

    fn questions(&self) -> Vec<Question> {
        Vec::new()
    }

    fn writes(&self, _: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, ())> {
        let mut writes = Writes::default();
        writes.put(&self.0);
        Ok((writes, ()))
    }
}

struct PutText(KnownText);

impl Work for PutText {
    type Done = ();

    fn cities(&self) -> Vec<String> {
        Vec::new()
    }

    fn questions(&self) -> Vec<Question> {
        Vec::new()
    }

    fn writes(&self, seen: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, ())> {
        let mut writes = Writes::default();
        writes.put(&KnownText { read_at: self.0.read_at.or(Some(seen.now)), ..self.0.clone() });
        Ok((writes, ()))
    }
}

struct CountTopics {
    banana: String,
    counts: BTreeMap<String, u64>,
}

impl Work for CountTopics {
    type Done = ();

    fn cities(&self) -> Vec<String> {
        vec![self.banana.clone()]
    }

    fn questions(&self) -> Vec<Question> {
        let topics: Vec<&String> = self.counts.keys().collect();
        vec![Question::of::<UnknownTopic>().whose("banana = ?", &self.banana).whose("topic = ANY(?)", &topics)]
    }

    fn writes(&self, seen: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, ())> {
        let known: Vec<UnknownTopic> = nouns(seen.answer(0))?;
        let known: BTreeMap<&str, u64> = known.iter().map(|topic| (topic.topic.as_str(), topic.count)).collect();
        let mut writes = Writes::default();
        for (topic, more) in &self.counts {
            let count = known.get(topic.as_str()).copied().unwrap_or(0).saturating_add(*more);
            let (banana, topic) = (self.banana.clone(), topic.clone());
            writes.put(&UnknownTopic { banana, topic, count, last_seen: Some(seen.now) });
        }
        Ok((writes, ()))
    }
}
