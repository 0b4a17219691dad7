//! The fields of a document that the workflow asks for.

use super::{
    UNKNOWN,
    message::{DocumentMessage, ExtractedMessage},
    pages::page_of,
    schema::{plan, second_look},
    values::{Answers, answers, everything},
};
use crate::{
    borders::rounded,
    documents::{Knowledge, attachments_of},
    reading::SharedReaders,
    stage::Stage,
};
use bindery_core::StepError;
use bindery_engine::{Extracted, context::StepContext};
use bindery_fields::extract::{Sources, extract};
use bindery_reader::Page;
use serde_json::Value;
use std::sync::Arc;

/// Reads what the workflow's `extraction_schemas` ask for in documents of the type; where they ask for nothing, whatever
/// our own type has. Each value has its evidence and its confidence, and the least of those is the document's.
#[derive(Debug, Clone)]
pub(super) struct SchemaExtractor {
    readers: Arc<SharedReaders>,
    knowledge: Arc<Knowledge>,
}

impl SchemaExtractor {
    pub(super) fn new(readers: Arc<SharedReaders>, knowledge: Arc<Knowledge>) -> Self {
        Self { readers, knowledge }
    }
}

impl Stage for SchemaExtractor {
    const NAME: &'static str = "extractor";
    const EXPECTS: &'static str = "a document with `page_indices` and `ocr_texts`";
    type Input = DocumentMessage;
    type Made = ExtractedMessage;
    type Output = ExtractedMessage;

    /// Is it a document with pages?
    fn validate(&self, _context: &StepContext, document: &DocumentMessage) -> Result<(), StepError> {
        if document.page_indices.as_ref().is_none_or(Vec::is_empty) {
            let message = "this is no document: whoever groups the pages should send `page_indices` and `ocr_texts`";
            return Err(StepError::reject(message).named("NoDocument"));
        }
        Ok(())
    }

    fn process(&self, context: &StepContext, document: DocumentMessage) -> Result<ExtractedMessage, StepError> {
        let doc_type = document.doc_type.as_deref().unwrap_or(UNKNOWN);
        let doctype = self.knowledge.doctype(doc_type)?;
        let pages = pages(context, &document)?;
        let mut attachments = Vec::new();
        for file in &document.files {
            attachments.extend(attachments_of(&self.readers, context, file)?);
        }
        let sources = Sources { attachments: &attachments, templates: &self.knowledge.templates };
        let mut found = match context.workflow()?.extraction_schemas.get(doc_type) {
            None => everything(&extract(doctype, &pages, &sources)),
            Some(schema) => {
                let (doctype, mut wanted) = plan(doctype, schema);
                let mut extraction = extract(&doctype, &pages, &sources);
                if let Some(again) = second_look(&doctype, &mut wanted, &extraction) {
                    // Only what was looked for: nothing that was found is found anew.
                    let more = extract(&again, &pages, &sources).fields;
                    extraction.fields.extend(more.into_iter().filter(|(name, _)| doctype.fields.field(name).is_none()));
                }
                answers(&wanted, &extraction)
            }
        };
        for evidence in found.evidence.values_mut() {
            evidence.place(&document.page_numbers);
        }
        let reasons = reasons(&found, context.stage()?.confidence_threshold);
        let evidence = found.evidence.into_iter().map(|(name, evidence)| (name, evidence.into_value()));
        Ok(ExtractedMessage {
            doc_type: Some(doc_type.to_owned()),
            document_id: document.document_id,
            page_indices: document.page_indices,
            needs_review: Some(reasons),
            extracted_data: Some(found.data),
            extraction_confidence: found.confidence.map(rounded),
            field_confidences: Some(found.confidences),
            evidence: Some(evidence.collect()),
            doubts: Some(found.doubts),
        })
    }

    fn extract(&self, _context: &StepContext, found: ExtractedMessage) -> Result<Extracted<Self::Output>, StepError> {
        // None where nothing was asked for: then there is nothing to ask a person about.
        Ok(Extracted { confidence: found.extraction_confidence, ..Extracted::new(found) })
    }
}

/// The pages of the document, numbered as the submission numbers them.
fn pages(context: &StepContext, document: &DocumentMessage) -> Result<Vec<Page>, StepError> {
    let indices = document.page_indices.iter().flatten();
    let page = |index: &u64| {
        let text = document.ocr_texts.get(index).and_then(Option::as_deref);
        let page = page_of(context, document.page_contents.get(index).copied(), text)?;
        Ok(Page { number: usize::try_from(*index).unwrap_or(0) + 1, ..page })
    };
    indices.map(page).collect()
}

/// Why a person should look: everything that keeps the document below the threshold.
fn reasons(found: &Answers, threshold: Option<f64>) -> Vec<String> {
    let Some(threshold) = threshold else { return Vec::new() };
    if found.confidence.is_none_or(|confidence| confidence >= threshold) {
        return Vec::new();
    }
    let unsure = found.confidences.iter().filter_map(|(name, confidence)| {
        let confidence = Value::as_f64(confidence).filter(|confidence| *confidence > 0.0 && *confidence < threshold)?;
        Some(format!("{name} is {:.0} % sure", confidence * 100.0))
    });
    found.doubts.iter().cloned().chain(unsure).collect()
}
