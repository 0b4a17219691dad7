//! What one visit learns for the next.

use crate::{
    client::{Arrived, Condition, address},
    vendor::{PageReading, Request},
};
use bindery_core::ContentHash;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// All that is remembered of a city's site.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// By [`page_key`]. Pages that the last visit did not want are not among them.
    #[serde(default)]
    pub pages: BTreeMap<String, KnownPage>,
    /// By what pages are for: addresses hold dates and change from visit to visit, purposes do not.
    #[serde(default)]
    pub kinds: BTreeMap<String, KnownKind>,
}

/// How a page was when it was fetched.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KnownPage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Where it was found at last, without secrets.
    pub url: String,
    /// The last of each that was not zero.
    #[serde(default)]
    pub counts: Counts,
    #[serde(default)]
    pub landmarks: BTreeMap<String, usize>,
    /// The body, for pages that can be asked about with a condition: a page that has not changed is read again from it,
    /// and so leads on to pages that may have. Without it, the whole page is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<ContentHash>,
    /// Whoever stores this keeps the bytes where they keep bytes, under `content`.
    #[serde(skip)]
    pub body: Option<Vec<u8>>,
}

/// How the pages of one purpose were.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KnownKind {
    /// The last of each that was not zero.
    #[serde(default)]
    pub counts: Counts,
    #[serde(default)]
    pub landmarks: BTreeMap<String, usize>,
    /// The landmarks that were seen together, in words.
    #[serde(default)]
    pub layouts: BTreeSet<String>,
}

/// What was found on a page, or on several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub meetings: usize,
    pub items: usize,
}

impl Counts {
    pub(super) fn from_reading(reading: &PageReading) -> Self {
        let items = reading.meetings.iter().map(|meeting| meeting.items.len()).sum();
        Self { meetings: reading.meetings.len(), items }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.meetings += other.meetings;
        self.items += other.items;
    }

    /// These, or the earlier ones where there is nothing now.
    pub(super) fn or(self, earlier: Self) -> Self {
        let or = |now: usize, before: usize| if now == 0 { before } else { now };
        Self { meetings: or(self.meetings, earlier.meetings), items: or(self.items, earlier.items) }
    }
}

/// The same for landmarks.
pub(super) fn landmarks_or(now: &BTreeMap<String, usize>, before: &BTreeMap<String, usize>) -> BTreeMap<String, usize> {
    let mut landmarks = before.clone();
    for (name, count) in now {
        if *count > 0 || !landmarks.contains_key(name) {
            landmarks.insert(name.clone(), *count);
        }
    }
    landmarks
}

/// What a page is remembered by: its address without secrets, and what is sent.
pub fn page_key(request: &Request) -> String {
    let url = address::redact(&request.url);
    match &request.body {
        None => url,
        Some(body) => format!("{url} {}", address::shown_body(&body.text)),
    }
}

impl KnownPage {
    /// What to ask about a page with.
    pub(super) fn condition(&self) -> Option<Condition> {
        let Self { etag, last_modified, body: Some(_), .. } = self else { return None };
        let condition = Condition { etag: etag.clone(), last_modified: last_modified.clone() };
        (condition != Condition::default()).then_some(condition)
    }

    /// A page that has arrived. Its body is kept if there is something to ask about it with.
    pub(super) fn arrived(page: &Arrived) -> Self {
        let (url, content_type) = (address::redact(&page.url), page.content_type.clone());
        let (etag, last_modified) = (page.etag.clone(), page.last_modified.clone());
        let body = (etag.is_some() || last_modified.is_some()).then(|| page.bytes.clone());
        let content = body.as_deref().map(ContentHash::of);
        Self { etag, last_modified, content_type, url, content, body, ..Self::default() }
    }

    /// The page as it was then, asked for by this address now.
    pub(super) fn as_arrived(&self, asked: &str) -> Arrived {
        let Self { etag, last_modified, content_type, url, body, .. } = self.clone();
        let url = if address::redact(asked) == url { asked.to_owned() } else { url };
        let bytes = body.unwrap_or_default();
        Arrived { url, content_type, etag, last_modified, length: Some(bytes.len() as u64), bytes }
    }
}
