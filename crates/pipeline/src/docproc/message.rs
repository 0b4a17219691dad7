//! Messages of the `default` workflow: the borders under the names of that system.
//!
//! Each component sends on what it was sent with its own part, and a program outside may stand in the place of any of
//! them. So what is written is whole, and of what is read every field may be missing.

use crate::{borders::StoredFile, stage::fields_of};
use bindery_core::{ContentHash, Name};
use bindery_fields::classify::Reason;
use bindery_reader::model::ReadBy;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, num::NonZeroUsize};

/// A page, as the splitter makes it.
#[derive(Debug, Serialize)]
pub(super) struct PageData<'a> {
    /// The same however often the work is done.
    pub(super) page_id: &'a str,
    /// In the submission, from 0.
    pub(super) page_index: usize,
    /// In its file, from 1.
    pub(super) page_number: usize,
    pub(super) file_content: Option<ContentHash>,
    pub(super) file_index: i64,
    pub(super) file_path: &'a str,
    pub(super) original_filename: &'a str,
}

/// A page that is to be read.
#[derive(Debug, Deserialize)]
pub(super) struct UnreadPage {
    pub(super) page_number: NonZeroUsize,
    pub(super) file_content: ContentHash,
    pub(super) original_filename: Option<String>,
}

/// What reading adds to the message of a page.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ReadPart {
    pub(super) ocr_text: String,
    pub(super) ocr_confidence: f32,
    pub(super) read_by: ReadBy,
    pub(super) warnings: Vec<String>,
    pub(super) page_content: ContentHash,
}

/// A page that was read, by us or by a program outside.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TextPart {
    pub(super) page_content: Option<ContentHash>,
    pub(super) ocr_text: Option<String>,
}

/// What the classification adds to it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ClassPart {
    pub(super) doc_type: Name,
    pub(super) classification_confidence: f64,
    pub(super) because: Vec<Reason>,
    pub(super) other_types: Vec<OtherType>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OtherType {
    pub(super) doc_type: Name,
    pub(super) confidence: f64,
}

/// What is known of a page, from whatever messages there are about it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PageMessage {
    pub(super) page_index: Option<u64>,
    pub(super) page_number: Option<u64>,
    pub(super) file_content: Option<ContentHash>,
    pub(super) file_index: Option<i64>,
    pub(super) file_path: Option<String>,
    pub(super) original_filename: Option<String>,
    pub(super) ocr_text: Option<String>,
    pub(super) ocr_confidence: Option<f64>,
    pub(super) page_content: Option<ContentHash>,
    pub(super) doc_type: Option<String>,
    pub(super) classification_confidence: Option<f64>,
    pub(super) because: Option<Value>,
}

impl PageMessage {
    /// What this message lacks is taken from an earlier one.
    pub(super) fn or(self, earlier: Self) -> Self {
        Self {
            page_index: self.page_index.or(earlier.page_index),
            page_number: self.page_number.or(earlier.page_number),
            file_content: self.file_content.or(earlier.file_content),
            file_index: self.file_index.or(earlier.file_index),
            file_path: self.file_path.or(earlier.file_path),
            original_filename: self.original_filename.or(earlier.original_filename),
            ocr_text: self.ocr_text.or(earlier.ocr_text),
            ocr_confidence: self.ocr_confidence.or(earlier.ocr_confidence),
            page_content: self.page_content.or(earlier.page_content),
            doc_type: self.doc_type.or(earlier.doc_type),
            classification_confidence: self.classification_confidence.or(earlier.classification_confidence),
            because: self.because.or(earlier.because),
        }
    }
}

/// A document, as a message tells of it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct DocumentMessage {
    pub(super) document_id: Option<String>,
    pub(super) doc_type: Option<String>,
    pub(super) page_indices: Option<Vec<u64>>,
    pub(super) type_confidence: Option<f64>,
    pub(super) because: Option<Value>,
    pub(super) files: Vec<StoredFile>,
    // By the index of the page, and for the extractor alone.
    pub(super) ocr_texts: BTreeMap<u64, Option<String>>,
    pub(super) page_contents: BTreeMap<u64, ContentHash>,
    pub(super) page_numbers: BTreeMap<u64, Option<u64>>,
}

impl DocumentMessage {
    /// What is kept with the document, and what only its extractor is sent: texts are long.
    pub(super) fn into_parts(self) -> (Map<String, Value>, Map<String, Value>) {
        let texts = ["ocr_texts", "page_contents", "page_numbers"];
        fields_of(&self).into_iter().partition(|(name, _)| !texts.contains(&name.as_str()))
    }
}

/// The fields of a document.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ExtractedMessage {
    pub(super) document_id: Option<String>,
    pub(super) doc_type: Option<String>,
    pub(super) page_indices: Option<Vec<u64>>,
    pub(super) needs_review: Option<Vec<String>>,
    /// By the workflow's names, in its order; null where nothing was found.
    pub(super) extracted_data: Option<Map<String, Value>>,
    pub(super) extraction_confidence: Option<f64>,
    pub(super) field_confidences: Option<Map<String, Value>>,
    pub(super) evidence: Option<Map<String, Value>>,
    pub(super) doubts: Option<Vec<String>>,
}
