//! Takes a submission apart into pages.

use super::message::PageData;
use crate::{
    borders::OpenedFile,
    reading::{SharedReaders, content_of},
    results::{in_order, name_of, none_opened},
    stage::{Stage, fields_of},
};
use bindery_core::{ContentHash, StepError, error::ErrorClass, item::ItemKind};
use bindery_engine::{Child, Children, Extracted, context::StepContext};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Opens every file of the submission and numbers their pages from 0, in the order of the files. A file that cannot be
/// opened is named in the result with the reason; if none can, the submission has failed.
#[derive(Debug, Clone)]
pub(super) struct RequestSplitter {
    readers: Arc<SharedReaders>,
}

impl RequestSplitter {
    pub(super) fn new(readers: Arc<SharedReaders>) -> Self {
        Self { readers }
    }
}

/// A file of the submission: what it is and how many pages it has, or why it cannot be read.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct RequestFile {
    file_index: i64,
    original_filename: String,
    file_path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<usize>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(super) file_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<ContentHash>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) warnings: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    pub(super) first_page_index: Option<usize>,
}

/// The files of a submission, and how many pages they have together.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SplitRequest {
    page_count: usize,
    pub(super) files: Vec<RequestFile>,
}

impl Stage for RequestSplitter {
    const NAME: &'static str = "splitter";
    type Input = IgnoredAny;
    type Made = SplitRequest;
    type Output = SplitRequest;

    /// Which of the files can be read, and how many pages have they?
    fn process(&self, context: &StepContext, _input: IgnoredAny) -> Result<SplitRequest, StepError> {
        let (mut split, mut reasons) = (SplitRequest::default(), Vec::new());
        for file in in_order(context.items(Some(ItemKind::File), None)?) {
            if context.is_cancelled() {
                return Err(StepError::retry("stopped before all files were opened").named("Cancelled"));
            }
            let mut entry = RequestFile {
                file_index: file.ordinal,
                original_filename: name_of(&file),
                file_path: format!("raw/{}", file.id),
                ..RequestFile::default()
            };
            match content_of(&file).and_then(|content| self.readers.open_shared(context, content, file.label)) {
                Ok(OpenedFile { content, file_type, pages, warnings, .. }) => {
                    entry.pages = Some(pages);
                    entry.file_type = Some(file_type);
                    entry.content = Some(content);
                    entry.warnings = Some(warnings);
                    entry.first_page_index = Some(split.page_count);
                    split.page_count += pages;
                }
                // What is wrong with a file is its own matter; a store that cannot be reached is ours.
                Err(error) if error.class() == ErrorClass::Reject => {
                    entry.error = Some(error.message.clone());
                    reasons.push(error.message);
                }
                Err(error) => return Err(error),
            }
            split.files.push(entry);
        }
        if let Some(first) = reasons.first() {
            none_opened(split.files.len(), reasons.len(), first)?;
        }
        Ok(split)
    }

    fn extract(&self, context: &StepContext, split: SplitRequest) -> Result<Extracted<SplitRequest>, StepError> {
        let pages_of = |file: &RequestFile| 1..=file.pages.unwrap_or(0);
        let places =
            split.files.iter().enumerate().flat_map(|(index, file)| pages_of(file).map(move |page| (index, page)));
        let places: Vec<(usize, usize)> = places.collect();
        let submission = context.submission()?;
        let metadata: Value = serde_json::from_str(&submission.metadata).unwrap_or_default();
        let for_all = fields_of(&json!({"channel": submission.channel, "metadata": metadata}));
        let files = split.files.clone();
        let children = Children::generate(ItemKind::Page, split.page_count, move |page_index| {
            let Some((file, number)) = places.get(page_index) else { return Child::default() };
            child(&files[*file], page_index, *number, for_all.clone())
        });
        Ok(Extracted::new(split).with_children(children))
    }
}

/// A page as its message tells of it.
fn child(file: &RequestFile, page_index: usize, page_number: usize, input: Map<String, Value>) -> Child {
    let page_id = format!("page_{page_index}");
    let data = fields_of(&PageData {
        page_id: &page_id,
        page_index,
        page_number,
        file_content: file.content,
        file_index: file.file_index,
        file_path: &file.file_path,
        original_filename: &file.original_filename,
    });
    let label = Some(format!("page {page_number} of {}", file.original_filename));
    Child { label, key: Some(page_id), data, input, ..Child::default() }
}
