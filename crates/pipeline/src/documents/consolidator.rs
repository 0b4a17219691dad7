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
        let mut documents: Vec<Value> = documents.into_iter().map(|(_, entry)| entry).collect();
        doubt_duplicates(&mut documents);
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

/// A document with the same seller, number and total as one before it is probably the same paper twice: counted once
/// more, it would be paid once more. Whoever decided about it has seen that.
fn doubt_duplicates(documents: &mut [Value]) {
    let mut seen: HashMap<[String; 3], String> = HashMap::new();
    for document in documents {
        let Some(identity) = identity(&document["extracted_data"]) else { continue };
        let own = format!("{} in {}", text(&document["document_id"]), text(&document["file"]));
        let Some(first) = seen.get(&identity) else {
            seen.insert(identity, own);
            continue;
        };
        if document[DECIDED].is_null()
            && let Some(reasons) = document["needs_review"].as_array_mut()
        {
            reasons.push(json!(format!("seller, number and total are the same as those of {first}")));
            document["status"] = json!("review");
        }
    }
}

/// Seller, number and total in comparable form, where all three were read.
fn identity(data: &Value) -> Option<[String; 3]> {
    let letters = |key: &str| {
        let text: String = data[key].as_str()?.chars().filter(|c| c.is_alphanumeric()).collect();
        (!text.is_empty()).then(|| text.to_lowercase())
    };
    Some([letters("seller").or_else(|| letters("merchant"))?, letters("number")?, letters("grand_total")?])
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn document(id: &str, seller: &str, total: &str) -> Value {
        let data = json!({"seller": seller, "number": "2026-17", "grand_total": total});
        json!({"document_id": id, "file": "a.pdf", "extracted_data": data, "needs_review": [], "status": "completed"})
    }

    #[test]
    fn the_same_invoice_twice_is_doubted_once() {
        let mut decided = document("doc_4", "Birch Paper Ltd", "119.00");
        decided[DECIDED] = json!({"by": "marta"});
        let mut all = [
            document("doc_1", "Birch Paper Ltd.", "119.00"),
            document("doc_2", "Birch Paper Ltd", "12.00"),
            document("doc_3", "BIRCH PAPER LTD", "119.00"),
            decided,
            json!({"document_id": "doc_5", "status": "failed"}),
        ];
        doubt_duplicates(&mut all);
        let statuses: Vec<&Value> = all.iter().map(|document| &document["status"]).collect();
        assert_eq!(statuses, ["completed", "completed", "review", "completed", "failed"]);
        let reason = "seller, number and total are the same as those of doc_1 in a.pdf";
        assert_eq!(all[2]["needs_review"], json!([reason]));
    }
}
