//! What passes from stage to stage of the document chain: the borders with the keys that others look for.

use bindery_core::ContentHash;
use bindery_engine::processor::NewArtifact;
use bindery_reader::model::{PageKind, ReadBy};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// Bytes that were kept under an outward key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptFile {
    pub(crate) key: String,
    pub(crate) content: ContentHash,
    pub(crate) size: u64,
}

impl From<NewArtifact> for KeptFile {
    fn from(artifact: NewArtifact) -> Self {
        Self { key: artifact.key, content: artifact.hash, size: artifact.size }
    }
}

impl KeptFile {
    pub(crate) fn artifact(&self, media_type: &str) -> NewArtifact {
        let media_type = media_type.to_owned();
        NewArtifact { key: self.key.clone(), hash: self.content, size: self.size, media_type }
    }
}

/// A received file, and which way it goes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct IdpFile {
    /// Its id outside.
    pub(crate) document: String,
    pub(crate) name: Option<String>,
    pub(crate) content: ContentHash,
    pub(crate) size: Option<u64>,
    #[serde(rename = "type")]
    pub(crate) file_type: String,
    pub(crate) extension: String,
    pub(crate) media_type: String,
    /// Whether it is pages as they are printed.
    pub(crate) printed: bool,
    pub(crate) page_count: usize,
    /// Under which it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
}

/// The file of one page, or why there is none.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct PageFile {
    #[serde(flatten)]
    pub(crate) kept: Option<KeptFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

/// A page of a file that was taken apart; what the last four say is known once it was looked at.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct IdpPage {
    pub(crate) document: String,
    /// Of the whole file.
    pub(crate) content: ContentHash,
    pub(crate) name: Option<String>,
    pub(crate) ending: String,
    pub(crate) media_type: String,
    /// From 1.
    pub(crate) page: NonZeroUsize,
    pub(crate) file: PageFile,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<PageKind>,
    /// Whether it needs OCR.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ocr: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The page itself, where it was read to tell that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) read: Option<ContentHash>,
}

impl IdpPage {
    /// From 0.
    pub(crate) fn index(&self) -> usize {
        self.page.get() - 1
    }
}

/// What was read of a page.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct IdpPageText {
    pub(crate) document: String,
    pub(crate) page: usize,
    pub(crate) read_by: ReadBy,
    pub(crate) reason: String,
    pub(crate) confidence: Option<f32>,
    pub(crate) words: u64,
    pub(crate) warnings: Vec<String>,
    pub(crate) text: KeptFile,
    /// Its words with their boxes, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hocr: Option<KeptFile>,
}

/// The pages of a file that was converted as a whole.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OfficePages {
    pub(crate) document: String,
    #[serde(rename = "type")]
    pub(crate) file_type: String,
    pub(crate) words: u64,
    pub(crate) pages: Vec<KeptFile>,
}
