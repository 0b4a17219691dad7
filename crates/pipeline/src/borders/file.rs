//! A received file.

use bindery_core::ContentHash;
use bindery_reader::model::Metadata;
use serde::{Deserialize, Serialize};

/// Where the bytes of a file are, and what people call it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct StoredFile {
    pub(crate) content: Option<ContentHash>,
    pub(crate) name: Option<String>,
}

/// What intake says of a file.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct FileData {
    #[serde(default)]
    pub(crate) size: Option<u64>,
}

/// A file that could be opened.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OpenedFile {
    pub(crate) content: ContentHash,
    pub(crate) name: Option<String>,
    #[serde(rename = "type")]
    pub(crate) file_type: String,
    pub(crate) pages: usize,
    pub(crate) metadata: Metadata,
    pub(crate) warnings: Vec<String>,
}
