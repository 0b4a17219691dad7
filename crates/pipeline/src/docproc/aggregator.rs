//! Consecutive pages of one type become one document.

use super::{
    UNKNOWN,
    message::{DocumentMessage, PageMessage},
    pages::{by_a_person, page_results},
};
use crate::{
    borders::{StoredFile, rounded},
    settings,
    stage::Stage,
};
use bindery_core::{StepError, item::ItemKind};
use bindery_engine::{Child, Children, Extracted, context::StepContext};
use bindery_fields::classify::Reason;
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::json;

/// Groups the classified pages of a submission in their order. A document never goes on from one file to the next, unless
/// the stage's settings say `across_files: true`: a scanner may make a file of each page. A page that could not be read
/// belongs to no document, and ends the one before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClassificationAggregator;

#[derive(Debug, Serialize)]
pub(super) struct Grouped {
    document_count: usize,
}

impl Stage for ClassificationAggregator {
    const NAME: &'static str = "classification_aggregator";
    type Input = IgnoredAny;
    type Made = Vec<Draft>;
    type Output = Grouped;

    fn validate(&self, context: &StepContext, _input: &IgnoredAny) -> Result<(), StepError> {
        settings::yes_or_no(context, "across_files", false).map(drop)
    }

    fn process(&self, context: &StepContext, _input: IgnoredAny) -> Result<Vec<Draft>, StepError> {
        let across_files = settings::yes_or_no(context, "across_files", false)?;
        let mut documents: Vec<Draft> = Vec::new();
        let mut goes_on = false;
        for page in page_results(context)? {
            if page.failed.is_some() {
                goes_on = false;
                continue;
            }
            let (index, confidence) = (page.index, page.confidence());
            let message = page.message(context)?;
            let doc_type = message.doc_type.as_deref().filter(|name| !name.is_empty()).unwrap_or(UNKNOWN);
            let file = message.file_index;
            let same = |draft: &Draft| {
                draft.document.doc_type.as_deref() == Some(doc_type) && (across_files || draft.file == file)
            };
            if !goes_on || !documents.last().is_some_and(same) {
                documents.push(Draft::new(documents.len() + 1, doc_type, file));
            }
            if let Some(draft) = documents.last_mut() {
                draft.add(index, confidence, message);
            }
            goes_on = true;
        }
        Ok(documents)
    }

    fn extract(&self, _context: &StepContext, documents: Vec<Draft>) -> Result<Extracted<Grouped>, StepError> {
        let children = documents.into_iter().map(|Draft { mut document, .. }| {
            document.type_confidence = document.type_confidence.map(rounded);
            let (label, key) = (document.doc_type.clone(), document.document_id.clone());
            let (data, input) = document.into_parts();
            Child { label, key, data, input, ..Child::default() }
        });
        let children = Children::new(ItemKind::Document, children.collect());
        Ok(Extracted::new(Grouped { document_count: children.count }).with_children(children))
    }
}

/// A document in the making.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Draft {
    /// The file of its first page.
    file: Option<i64>,
    document: DocumentMessage,
}

impl Draft {
    fn new(number: usize, doc_type: &str, file: Option<i64>) -> Self {
        // The same however often, and in whatever order, the work is done.
        let document_id = Some(format!("doc_{number}"));
        let document = DocumentMessage { document_id, doc_type: Some(doc_type.to_owned()), ..Default::default() };
        Self { file, document }
    }

    /// The document is as sure as its least sure page.
    fn add(&mut self, index: u64, confidence: Option<f64>, page: PageMessage) {
        let document = &mut self.document;
        let indices = document.page_indices.get_or_insert_default();
        if indices.is_empty() {
            document.because = if by_a_person(confidence, page.classification_confidence) {
                Some(json!([Reason::new("a person has said so", 1.0)]))
            } else {
                page.because
            };
        }
        indices.push(index);
        document.type_confidence = match (document.type_confidence, confidence) {
            (Some(least), Some(confidence)) => Some(least.min(confidence)),
            (least, confidence) => least.or(confidence),
        };
        document.ocr_texts.insert(index, page.ocr_text);
        document.page_numbers.insert(index, page.page_number);
        document.page_contents.extend(page.page_content.map(|content| (index, content)));
        let file = StoredFile { content: page.file_content, name: page.original_filename };
        if !document.files.contains(&file) {
            document.files.push(file);
        }
    }
}
