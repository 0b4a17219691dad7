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
    review::{Decision, Review},
};
use bindery_engine::{Extracted, Processor, context::StepContext, decision::DECIDED};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

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
        let questions = Questions::read(context)?;
        let files = of_each(context, ItemKind::File, [], |file, []| Ok((file.id, name_of(file))))?;
        let place_of: HashMap<ItemId, usize> =
            files.iter().enumerate().map(|(place, (file, _))| (*file, place)).collect();
        let made = of_each(context, ItemKind::Document, [EXTRACTOR], |document, [extracted]| {
            let Some(place) = document.parent.and_then(|file| place_of.get(&file).copied()) else { return Ok(None) };
            let mut entry = entry(context, &files[place].1, document, extracted)?;
            if let Some(reasons) = questions.open.get(&document.id) {
                entry["needs_review"] = json!(reasons);
                entry["status"] = json!("review");
            }
            Ok(Some((place, document.id, entry)))
        })?;
        let mut documents: Vec<(usize, ItemId, Value)> = made.into_iter().flatten().collect();
        // Those of one file stay in their order.
        documents.sort_by_key(|(place, ..)| *place);
        let mut documents: Vec<(ItemId, Value)> = documents.into_iter().map(|(_, id, entry)| (id, entry)).collect();
        for (document, reason) in doubt_duplicates(&mut documents, &questions.accepted_duplicates) {
            // One that is open already is decided first; then this runs again.
            context.request_review(document, vec![reason])?;
        }
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
    entry["extraction_confidence"] = rounded(&extraction["confidence"]);
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

/// How the reason of a duplicate begins.
const SAME_AS: &str = "seller, number and total are the same as those of ";

/// A document with the same seller, number and total as one before it is probably the same paper twice: counted once
/// more, it would be paid once more. Returns those that a person should look at, with the reason.
fn doubt_duplicates(documents: &mut [(ItemId, Value)], accepted: &HashSet<ItemId>) -> Vec<(ItemId, String)> {
    let mut seen: HashMap<[String; 3], String> = HashMap::new();
    let mut doubted = Vec::new();
    for (id, document) in documents {
        let Some(identity) = identity(&document["extracted_data"]) else { continue };
        let own = format!("{} in {}", text(&document["document_id"]), text(&document["file"]));
        let Some(first) = seen.get(&identity) else {
            seen.insert(identity, own);
            continue;
        };
        if accepted.contains(id) {
            continue;
        }
        let reason = format!("{SAME_AS}{first}");
        if let Some(reasons) = document["needs_review"].as_array_mut()
            && !reasons.iter().any(|known| *known == reason)
        {
            reasons.push(json!(reason));
        }
        document["status"] = json!("review");
        doubted.push((*id, reason));
    }
    doubted
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

/// What people are, and were, asked about the documents.
struct Questions {
    /// Why people are asked about documents that go on meanwhile.
    open: HashMap<ItemId, Vec<String>>,
    /// Documents that somebody has accepted or corrected with the duplicate before their eyes.
    accepted_duplicates: HashSet<ItemId>,
}

impl Questions {
    fn read(context: &StepContext) -> Result<Self, StepError> {
        let stage = stage_of(context, EXTRACTOR)?;
        let of_stage = context.reviews()?.into_iter().filter(|review| review.stage == stage);
        let (open, closed): (Vec<Review>, Vec<Review>) = of_stage.partition(Review::is_open);
        let decided = |review: &Review| {
            matches!(review.decision, Some(Decision::Accepted | Decision::Corrected { .. }))
                && review.reasons.iter().any(|reason| reason.starts_with(SAME_AS))
        };
        Ok(Self {
            open: open.into_iter().filter_map(|review| Some((review.item?, review.reasons))).collect(),
            accepted_duplicates: closed
                .iter()
                .filter(|review| decided(review))
                .filter_map(|review| review.item)
                .collect(),
        })
    }
}

/// A confidence as people read it: more than three digits say nothing.
pub(crate) fn rounded(confidence: &Value) -> Value {
    confidence.as_f64().map_or(Value::Null, |confidence| json!((confidence * 1000.0).round() / 1000.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(id: i64, seller: &str, total: &str) -> (ItemId, Value) {
        let data = json!({"seller": seller, "number": "2026-17", "grand_total": total});
        let name = format!("doc_{id}");
        let entry = json!({"document_id": name, "file": "a.pdf", "extracted_data": data, "needs_review": [], "status": "completed"});
        (ItemId::from_raw(id), entry)
    }

    #[test]
    fn the_same_invoice_twice_is_doubted_once() {
        let mut all = [
            document(1, "Birch Paper Ltd.", "119.00"),
            document(2, "Birch Paper Ltd", "12.00"),
            document(3, "BIRCH PAPER LTD", "119.00"),
            document(4, "Birch Paper Ltd", "119.00"),
            (ItemId::from_raw(5), json!({"document_id": "doc_5", "status": "failed"})),
        ];
        let reason = "seller, number and total are the same as those of doc_1 in a.pdf";
        for _ in 0..2 {
            let doubted = doubt_duplicates(&mut all, &HashSet::from([ItemId::from_raw(4)]));
            assert_eq!(doubted, [(ItemId::from_raw(3), reason.to_owned())]);
            let statuses: Vec<&Value> = all.iter().map(|(_, document)| &document["status"]).collect();
            assert_eq!(statuses, ["completed", "completed", "review", "completed", "failed"]);
            assert_eq!(all[2].1["needs_review"], json!([reason]), "the reason is named once");
        }
    }
}
