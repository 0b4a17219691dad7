//! A document: pages that belong together, and what is read from them.

use super::StoredFile;
use bindery_core::{ContentHash, Name};
use bindery_fields::{classify::Reason, extract::Extraction};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Pages of a file that belong together.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DocumentGroup {
    pub(crate) doc_type: Name,
    /// Their numbers in the file, from 1.
    pub(crate) pages: Vec<usize>,
    pub(crate) page_contents: Vec<ContentHash>,
    pub(crate) confidence: f64,
    pub(crate) because: Vec<Reason>,
    #[serde(default)]
    pub(crate) runners_up: Vec<(Name, f64)>,
    pub(crate) file: StoredFile,
}

/// A document with its fields.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ExtractedDocument {
    pub(crate) doc_type: Name,
    pub(crate) page_indices: Vec<usize>,
    pub(crate) file: Option<String>,
    pub(crate) type_confidence: f64,
    pub(crate) because: Vec<Reason>,
    pub(crate) extraction: Extraction,
    /// Who has decided about it and how, where somebody has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) decided: Option<Value>,
    /// What stages of the user's own say about it beside fields.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) more: BTreeMap<Name, Value>,
}
