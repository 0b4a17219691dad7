//! One result for the submission.

use super::pages::{PageResult, by_a_person, by_item, data_of, is_done, page_results, stages_over};
use crate::{
    documents::rounded,
    results::{in_order, name_of, reason, store_result},
};
use bindery_core::{
    ItemId, StepError,
    item::{Item, ItemKind},
    outcome::Outcome,
};
use bindery_engine::{Extracted, Processor, context::StepContext, workflow::Over};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The documents of the submission with their fields, evidence and doubts, and what could not be read and why. Everything
/// comes from the store; the message that brings it here need not carry any of it. If no page at all could be read, the
/// result is a failure.
#[derive(Debug, Clone, Copy)]
pub struct RequestConsolidator;

impl Processor for RequestConsolidator {
    fn name(&self) -> &'static str {
        "consolidator"
    }

    fn process(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        let pages = page_results(context)?;
        none_read(&pages)?;
        let (files, mut failed) = files(context, &pages)?;
        for page in &pages {
            if let Some(why) = &page.failed {
                let about = data_of(&page.item);
                failed.push(json!({
                    "file": about["original_filename"], "page": about["page_number"], "page_index": page.index, "reason": why,
                }));
            }
        }
        let documents = documents(context, &pages)?;
        let submission = context.submission()?;
        let waiting = documents.iter().filter(|document| has_reasons(document)).count();
        Ok(json!({
            "request_id": submission.public_id(), "workflow": submission.workflow.name,
            "total_pages": pages.len(), "total_documents": documents.len(),
            "totals": {
                "files": files.len(), "pages": pages.len(), "documents": documents.len(), "failed": failed.len(),
                "need_review": waiting,
            },
            "documents": documents, "files": files, "failed": failed,
        }))
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        store_result(context, processed)
    }
}

fn has_reasons(document: &Value) -> bool {
    document["needs_review"].as_array().is_some_and(|reasons| !reasons.is_empty())
}

/// A submission of which no page could be read has failed, and says so.
fn none_read(pages: &[PageResult]) -> Result<(), StepError> {
    let mut reasons = pages.iter().filter_map(|page| page.failed.as_ref());
    let Some(first) = reasons.next().filter(|_| pages.iter().all(|page| page.failed.is_some())) else { return Ok(()) };
    let message = match pages.len() {
        1 => format!("the only page could not be read: {first}"),
        count => format!("none of the {count} pages could be read; the first: {first}"),
    };
    Err(StepError::reject(message).named("NothingRead"))
}

/// The files as the splitter saw them, and those of them that it could not open.
fn files(context: &StepContext, pages: &[PageResult]) -> Result<(Vec<Value>, Vec<Value>), StepError> {
    let split = context.outcomes(&context.workflow()?.stages[0].name)?;
    let split = split.iter().find(|outcome| outcome.item.is_none() && is_done(outcome));
    let seen = split.map(|outcome| context.read(&outcome.output)).transpose()?.unwrap_or_default();
    let mut page_counts: HashMap<i64, u64> = HashMap::new();
    for page in pages {
        *page_counts.entry(data_of(&page.item)["file_index"].as_i64().unwrap_or(-1)).or_default() += 1;
    }
    let (mut files, mut failed) = (Vec::new(), Vec::new());
    for file in in_order(context.items(Some(ItemKind::File), None)?) {
        let entry = usize::try_from(file.ordinal).ok().and_then(|place| seen["files"].get(place));
        let entry = entry.cloned().unwrap_or_default();
        let mut listed = json!({
            "name": name_of(&file), "type": entry["type"], "pages": page_counts.get(&file.ordinal).copied().unwrap_or(0),
            "first_page_index": entry["first_page_index"], "warnings": entry["warnings"],
        });
        if let Some(error) = entry["error"].as_str() {
            listed = json!({"name": name_of(&file), "error": error});
            failed.push(json!({"file": name_of(&file), "reason": error}));
        }
        files.push(listed);
    }
    Ok((files, failed))
}

fn documents(context: &StepContext, pages: &[PageResult]) -> Result<Vec<Value>, StepError> {
    let extracted: HashMap<ItemId, Outcome> = match stages_over(context.workflow()?, Over::Document).next_back() {
        Some(stage) => by_item(context.outcomes(&stage.name)?),
        None => HashMap::new(),
    };
    let place_of: HashMap<u64, Value> = pages.iter().map(|page| (page.index, data_of(&page.item))).collect();
    let documents = in_order(context.items(Some(ItemKind::Document), None)?);
    documents.iter().map(|document| entry(context, document, extracted.get(&document.id), &place_of)).collect()
}

fn entry(
    context: &StepContext,
    document: &Item,
    outcome: Option<&Outcome>,
    place_of: &HashMap<u64, Value>,
) -> Result<Value, StepError> {
    let data = data_of(document);
    let indices = data["page_indices"].as_array().into_iter().flatten().filter_map(Value::as_u64);
    let places: Vec<&Value> = indices.filter_map(|index| place_of.get(&index)).collect();
    let mut entry = json!({
        "document_id": document.public_id(), "doc_type": document.label, "page_indices": data["page_indices"],
        "extracted_data": {}, "extraction_confidence": null, "status": "failed",
        "file": places.first().map(|place| &place["original_filename"]),
        "pages": places.iter().map(|place| &place["page_number"]).collect::<Vec<_>>(),
        "type_confidence": data["type_confidence"], "because": data["because"],
    });
    let Some(outcome) = outcome.filter(|outcome| is_done(outcome)) else {
        entry["error"] = json!(outcome.map_or_else(|| "its fields were not read".to_owned(), reason));
        return Ok(entry);
    };
    let output = context.read(&outcome.output)?;
    let person = by_a_person(outcome.confidence, &output["extraction_confidence"]);
    entry["status"] = json!("completed");
    entry["extracted_data"] = output["extracted_data"].clone();
    entry["extraction_confidence"] = rounded(&json!(outcome.confidence));
    for key in ["field_confidences", "doubts"] {
        entry[key] = output[key].clone();
    }
    entry["evidence"] = evidence(&output, person);
    // What a person has decided needs nobody else.
    entry["needs_review"] = if person { json!([]) } else { output["needs_review"].clone() };
    Ok(entry)
}

/// Where each value stands; one that a person has entered stands nowhere.
fn evidence(output: &Value, person: bool) -> Value {
    let Some(found) = output["evidence"].as_object().filter(|_| person) else { return output["evidence"].clone() };
    let values = output["extracted_data"].as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let evidence: Map<String, Value> = values
        .map(|(name, value)| match found.get(name) {
            Some(known) if known["normalised"] == *value => (name.clone(), known.clone()),
            _ => (name.clone(), json!({"normalised": value, "tier": "person", "confidence": 1.0, "doubts": []})),
        })
        .collect();
    Value::Object(evidence)
}
