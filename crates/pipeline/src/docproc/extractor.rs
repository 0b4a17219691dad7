//! The fields of a document that the workflow asks for.

use super::{
    UNKNOWN,
    pages::page_of,
    schema::{plan, second_look},
    values::{Answers, answers, everything},
};
use crate::{
    documents::{FieldExtractor, Knowledge, rounded},
    reading::ReadingRoom,
};
use bindery_core::StepError;
use bindery_engine::{Extracted, Processor, context::StepContext};
use bindery_fields::extract::{Sources, extract};
use bindery_reader::Page;
use serde_json::{Value, json};
use std::sync::Arc;

/// Reads what the workflow's `extraction_schemas` ask for in documents of the type; where they ask for nothing, whatever
/// our own type has. Each value has its evidence and its confidence, and the least of those is the document's.
#[derive(Debug, Clone)]
pub struct SchemaExtractor {
    knowledge: Arc<Knowledge>,
    fields: FieldExtractor,
}

impl SchemaExtractor {
    pub fn new(room: Arc<ReadingRoom>, knowledge: Arc<Knowledge>) -> Self {
        Self { fields: FieldExtractor::new(room, Arc::clone(&knowledge)), knowledge }
    }
}

impl Processor for SchemaExtractor {
    fn name(&self) -> &'static str {
        "extractor"
    }

    /// Is it a document with pages?
    fn validate(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
        if input["page_indices"].as_array().is_none_or(Vec::is_empty) {
            let message = "this is no document: whoever groups the pages should send `page_indices` and `ocr_texts`";
            return Err(StepError::reject(message).named("NoDocument"));
        }
        Ok(input)
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        let doc_type = input["doc_type"].as_str().unwrap_or(UNKNOWN);
        let doctype = self.knowledge.doctype(doc_type)?;
        let pages = pages(context, &input)?;
        let mut attachments = Vec::new();
        for file in input["files"].as_array().into_iter().flatten() {
            attachments.extend(self.fields.attachments(context, file)?);
        }
        let sources = Sources { attachments: &attachments, templates: &self.knowledge.templates };
        let found = match context.workflow()?.extraction_schemas.get(doc_type) {
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
        let threshold = context.stage()?.confidence_threshold;
        Ok(json!({
            "document_id": input["document_id"], "doc_type": doc_type, "page_indices": input["page_indices"],
            "needs_review": reasons(&found, threshold), "extracted_data": found.data,
            "extraction_confidence": rounded(&json!(found.confidence)), "field_confidences": found.confidences,
            "evidence": placed(&input, Value::Object(found.evidence)), "doubts": found.doubts,
        }))
    }

    fn extract(&self, _context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        // None where nothing was asked for: then there is nothing to ask a person about.
        let confidence = processed["extraction_confidence"].as_f64();
        Ok(Extracted { confidence, ..Extracted::new(processed) })
    }
}

/// The pages of the document, numbered as the submission numbers them.
fn pages(context: &StepContext, input: &Value) -> Result<Vec<Page>, StepError> {
    let mut pages = Vec::new();
    for index in input["page_indices"].as_array().into_iter().flatten().filter_map(Value::as_u64) {
        let key = index.to_string();
        let message = json!({"page_content": input["page_contents"][&key], "ocr_text": input["ocr_texts"][&key]});
        let number = usize::try_from(index).unwrap_or(0) + 1;
        pages.push(Page { number, ..page_of(context, &message)? });
    }
    Ok(pages)
}

/// Evidence with both numbers of the page: its place in the submission, from 0, and in its file, from 1.
fn placed(input: &Value, mut evidence: Value) -> Value {
    for field in evidence.as_object_mut().into_iter().flat_map(|fields| fields.values_mut()) {
        let Some(index) = field["page"].as_u64().and_then(|number| number.checked_sub(1)) else { continue };
        field["page_index"] = json!(index);
        field["page"] = input["page_numbers"][index.to_string()].clone();
    }
    evidence
}

/// Why a person should look: everything that keeps the document below the threshold.
fn reasons(found: &Answers, threshold: Option<f64>) -> Vec<String> {
    let Some(threshold) = threshold else { return Vec::new() };
    if found.confidence.is_none_or(|confidence| confidence >= threshold) {
        return Vec::new();
    }
    let unsure = found.confidences.iter().filter_map(|(name, confidence)| {
        let confidence = confidence.as_f64().filter(|confidence| *confidence > 0.0 && *confidence < threshold)?;
        Some(format!("{name} is {:.0} % sure", confidence * 100.0))
    });
    found.doubts.iter().cloned().chain(unsure).collect()
}
