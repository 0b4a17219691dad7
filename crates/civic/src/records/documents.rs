//! Documents that agendas name: what was fetched from an address, and what a file says.
//!
//! A file is known by its content, wherever it is found, so that each is read once ever. What could not be fetched or
//! read is kept with its reason, so that nobody tries again for nothing.

use super::CivicRecords;
use bindery_core::{ContentHash, Timestamp};
use bindery_store::{
    CommitResult, StoreError, StoreResult,
    rows::{Answers, Query, RowWrites, UnitOfWork, column, decode, run},
};
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
    /// What the server said when it was found that another file stands here than the one that was fetched before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<Replacement>,
    pub fetched_at: Option<Timestamp>,
    /// When the site was last asked, with whatever result.
    pub checked_at: Option<Timestamp>,
    /// Why the last try gave nothing: a word that programs know, such as `dead_link`, and a sentence.
    pub why: Option<String>,
    pub message: Option<String>,
    /// How many tries in a row gave nothing.
    pub failures: u32,
}

/// A file that took the place of another one at its address, as its server describes it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Replacement {
    pub content_length: Option<u64>,
    pub last_modified: Option<String>,
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
    #[serde(rename = "banana")]
    pub city_key: String,
    pub topic: String,
    pub count: u64,
    pub last_seen: Option<Timestamp>,
}

impl CivicRecords<'_> {
    /// What is known of these addresses, by address; those of which nothing is known are left out.
    pub async fn known_documents(&self, urls: &[String]) -> StoreResult<Vec<KnownDocument>> {
        self.list(Query::records::<KnownDocument>().filter(column("url").is_any_of(urls)).ascending(&["url"])).await
    }

    /// Keeps what is known of an address, in place of what was known.
    pub async fn put_document(&self, document: KnownDocument) -> StoreResult<()> {
        expect_text("url of a document", &document.url)?;
        run(self.store, PutDocument(document)).await
    }

    /// What these files say by one reader's rules, by hash; those that it has not read are left out.
    pub async fn known_texts(&self, hashes: &[String], reader: &str) -> StoreResult<Vec<KnownText>> {
        let query = Query::records::<KnownText>()
            .filter(column("content_sha256").is_any_of(hashes))
            .filter(column("reader").equals(reader));
        self.list(query.ascending(&["content_sha256"])).await
    }

    /// Keeps what a file says by one reader's rules; reading it again takes the place of the first time.
    pub async fn put_text(&self, text: KnownText) -> StoreResult<()> {
        expect_text("content_sha256 of a text", &text.content_sha256)?;
        expect_text("reader of a text", &text.reader)?;
        run(self.store, PutText(text)).await
    }

    /// Counts words that mean no topic, each as often as it is named.
    pub async fn count_unknown_topics(&self, city_key: &str, topics: &[String]) -> StoreResult<()> {
        if topics.is_empty() {
            return Ok(());
        }
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for topic in topics {
            *counts.entry(topic.clone()).or_default() += 1;
        }
        run(self.store, CountTopics { city_key: city_key.to_owned(), counts }).await
    }

    /// Of one jurisdiction, or of all; the most frequent first.
    pub async fn unknown_topics(&self, city_key: Option<&str>) -> StoreResult<Vec<UnknownTopic>> {
        let query = Query::records::<UnknownTopic>().filter_some(city_key.map(|it| column("city_key").equals(it)));
        let mut found: Vec<UnknownTopic> = self.list(query.ascending(&["city_key", "topic"])).await?;
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

impl UnitOfWork for PutDocument {
    type Output = ();

    fn writes(&self, _: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, ())> {
        let mut writes = RowWrites::default();
        writes.put(&self.0);
        Ok((writes, ()))
    }
}

struct PutText(KnownText);

impl UnitOfWork for PutText {
    type Output = ();

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, ())> {
        let mut writes = RowWrites::default();
        writes.put(&KnownText { read_at: self.0.read_at.or(Some(answers.now)), ..self.0.clone() });
        Ok((writes, ()))
    }
}

struct CountTopics {
    city_key: String,
    counts: BTreeMap<String, u64>,
}

impl UnitOfWork for CountTopics {
    type Output = ();

    fn lock_keys(&self) -> Vec<String> {
        vec![self.city_key.clone()]
    }

    fn queries(&self) -> Vec<Query> {
        let topics: Vec<&String> = self.counts.keys().collect();
        vec![
            Query::records::<UnknownTopic>()
                .filter(column("city_key").equals(&self.city_key))
                .filter(column("topic").is_any_of(&topics)),
        ]
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, ())> {
        let known: Vec<UnknownTopic> = decode(answers.rows(0))?;
        let known: BTreeMap<&str, u64> = known.iter().map(|topic| (topic.topic.as_str(), topic.count)).collect();
        let mut writes = RowWrites::default();
        for (topic, more) in &self.counts {
            let count = known.get(topic.as_str()).copied().unwrap_or(0).saturating_add(*more);
            let (city_key, topic) = (self.city_key.clone(), topic.clone());
            writes.put(&UnknownTopic { city_key, topic, count, last_seen: Some(answers.now) });
        }
        Ok((writes, ()))
    }
}
