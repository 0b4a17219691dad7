//! Documents that agendas name: what was fetched from an address, and what a file says.
//!
//! A file is known by its content, wherever it is found, so that each is read once ever. What could not be fetched or
//! read is kept with its reason, so that nobody tries again for nothing.

use bindery_core::{ContentHash, Timestamp};
use serde::{Deserialize, Serialize};

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
