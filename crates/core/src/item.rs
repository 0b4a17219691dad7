//! Items: what work is done on.

use crate::{ContentHash, ItemId, SubmissionId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// A file as it was received.
    File,
    /// A page of a file.
    Page,
    /// A logical document: consecutive pages that belong together.
    Document,
}

impl ItemKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Page => "page",
            Self::Document => "document",
        }
    }

    pub fn from_name(text: &str) -> Option<Self> {
        [Self::File, Self::Page, Self::Document].into_iter().find(|kind| kind.as_str() == text)
    }
}

impl fmt::Display for ItemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A file, page or document of one submission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub id: ItemId,
    pub submission: SubmissionId,
    /// The item it was taken from; none for what was received.
    pub parent: Option<ItemId>,
    pub kind: ItemKind,
    /// Its place among its siblings, counted from 0.
    pub ordinal: i64,
    /// The id that outside programs know it by; unique in its submission.
    pub key: Option<String>,
    /// A file's name, a document's type: for people, never a path.
    pub label: Option<String>,
    /// The bytes of a received file.
    pub content: Option<ContentHash>,
    /// Whatever its maker wants to tell later stages: a JSON object.
    pub data: String,
}

impl Item {
    /// The id to show outside: the other side's own where there is one.
    pub fn public_id(&self) -> String {
        self.key.clone().unwrap_or_else(|| self.id.to_string())
    }
}
