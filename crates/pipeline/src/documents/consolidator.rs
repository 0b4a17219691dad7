//! One result for the submission.

use super::EXTRACTOR;
use crate::{
    reading,
    results::{has_result, name_of, none_read, of_each, reason, stage_of, store_result},
};
use bindery_core::{
    ItemId, StepError,
    item::{Item, ItemKind},
    outcome::{Outcome, OutcomeStatus},
};
use bindery_engine::{Extracted, Processor, context::StepContext, decision::DECIDED};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The documents with their fields, the files with their texts, what needs a person, and what is missing and why.
#[derive(Debug, Clone, Copy)]
pub struct DocumentConsolidator;

impl Processor for DocumentConsolidator {
    fn name(&self) -> &'static str {
        "document_consolidator"
    }

    /// Is there anything to bind?
    fn validate(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        none_read(context, reading::SPLITTER)?;
        Ok(Value::Null)
    }

    fn process(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        let mut result = reading::files_read(context)?;
        let asked = open_questions(context)?;
        let files = of_each(context, ItemKind::File, [], |file, []| Ok((file.id, name_of(file))))?;
        let place_of: HashMap<ItemId, usize> =
            files.iter().enumerate().map(|(place, (file, _))| (*file, place)).collect();
        let made = of_each(context, ItemKind::Document, [EXTRACTOR], |document, [extracted]| {
            let Some(place) = document.parent.and_then(|file| place_of.get(&file).copied()) else { return Ok(None) };
            let mut entry = entry(context, &files[place].1, document, extracted)?;
            if let Some(reasons) = asked.get(&document.id) {
                entry["needs_review"] = json!(reasons);
            }
            Ok(Some((place, entry)))
        })?;
        let mut documents: Vec<(usize, Value)> = made.into_iter().flatten().collect();
        // Those of one file stay in their order.
        documents.sort_by_key(|(place, _)| *place);
        let documents: Vec<Value> = documents.into_iter().map(|(_, entry)| entry).collect();
        let submission = context.submission()?;
        result["request_id"] = json!(submission.public_id());
        result["workflow"] = json!(submission.workflow.name);
        result["total_pages"] = result["totals"]["pages"].clone();
        result["total_documents"] = json!(documents.len());
        let waiting = documents.iter().filter(|document| document["status"] == "review").count();
        result["totals"]["documents"] = json!(documents.len());
        result["totals"]["need_review"] = json!(waiting);
        result["documents"] = Value::Array(documents);
        Ok(result)
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        store_result(context, processed)
    }
}

fn entry(context: &StepContext, file: &str, document: &Item, outcome: Option<&Outcome>) -> Result<Value, StepError> {
    let mut entry = json!({"document_id": document.public_id(), "file": file, "doc_type": document.label});
    let Some(outcome) = outcome.filter(|outcome| has_result(outcome)) else {
        let why = outcome.map_or_else(|| "its fields were not read".to_owned(), reason);
        entry["status"] = json!("failed");
        entry["error"] = json!(why);
        return Ok(entry);
    };
    let output = context.read(&outcome.output)?;
    let decided = &output[DECIDED];
    let extraction = &output["extraction"];
    let values: Map<String, Value> = extraction["fields"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, field)| (name.clone(), field["normalised"].clone()))
        .collect();
    let doubtful = extraction["needs_review"].as_array().is_some_and(|reasons| !reasons.is_empty());
    entry["page_indices"] = output["page_indices"].clone();
    entry["type_confidence"] = rounded(&output["type_confidence"]);
    entry["because"] = output["because"].clone();
    entry["extracted_data"] = Value::Object(values);
    // A person's word counts more than that of the fields which they left as they were.
    let confidence = if decided.is_null() { extraction["confidence"].clone() } else { json!(outcome.confidence) };
    entry["extraction_confidence"] = rounded(&confidence);
    entry["needs_review"] = extraction["needs_review"].clone();
    entry["evidence"] = extraction["fields"].clone();
    entry["rows"] = extraction["rows"].clone();
    entry["checks"] = extraction["checks"].clone();
    if !decided.is_null() {
        entry[DECIDED] = decided.clone();
    }
    let open = outcome.status == OutcomeStatus::Review || (doubtful && decided.is_null());
    entry["status"] = json!(if open { "review" } else { "completed" });
    Ok(entry)
}

/// Why people are asked about documents that go on meanwhile.
fn open_questions(context: &StepContext) -> Result<HashMap<ItemId, Vec<String>>, StepError> {
    let stage = stage_of(context, EXTRACTOR)?;
    let reviews = context.reviews()?.into_iter().filter(|review| review.is_open() && review.stage == stage);
    Ok(reviews.filter_map(|review| Some((review.item?, review.reasons))).collect())
}

/// A confidence as people read it: more than three digits say nothing.
pub(crate) fn rounded(confidence: &Value) -> Value {
    confidence.as_f64().map_or(Value::Null, |confidence| json!((confidence * 1000.0).round() / 1000.0))
}
