//! One result for the submission.

use super::{
    CLASSIFIER, EXTRACTOR, GROUPER,
    own_stages::{Said, own_stages, said_of_others, take_over},
};
use crate::{
    borders::{ExtractedDocument, output_of, rounded},
    consolidate::Gather,
    reading::{self, FilesRead},
    results::{has_result, name_of, none_read, of_each, of_each_in, reason, stage_of},
};
use bindery_core::{
    ItemId, Name, StepError,
    error::ErrorClass,
    item::{Item, ItemKind},
    outcome::{Outcome, OutcomeStatus},
    review::{Decision, Review},
};
use bindery_engine::context::StepContext;
use bindery_fields::{
    classify::Reason,
    extract::{CheckResult, FieldValue, Row},
};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The documents with their fields, the files with their texts, what needs a person, and what is missing and why.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocumentsResult;

/// The result of the `documents` workflow.
#[derive(Debug, Serialize)]
pub(crate) struct DocumentsRead {
    #[serde(flatten)]
    files: FilesRead,
    request_id: String,
    workflow: Name,
    total_pages: u64,
    total_documents: usize,
    documents: Vec<DocumentEntry>,
    /// What stages of the user's own say about pages and files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    more: Vec<Said>,
}

/// The processors that this workflow ships with; what others say is the user's own.
const SHIPPED: [&str; 7] = [
    reading::SPLITTER,
    reading::PAGE_READER,
    CLASSIFIER,
    reading::PAGE_COMBINER,
    GROUPER,
    EXTRACTOR,
    DocumentsResult::NAME,
];

/// How a document is listed.
#[derive(Debug, Serialize)]
struct DocumentEntry {
    document_id: String,
    file: String,
    doc_type: Option<String>,
    /// What was read of it; nothing where it failed.
    #[serde(flatten)]
    read: Option<DocumentRead>,
    #[serde(skip_serializing_if = "Option::is_none")]
    needs_review: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided: Option<Value>,
    status: DocumentStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// What stages of the user's own say about it beside fields, by stage.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    more: BTreeMap<Name, Value>,
}

#[derive(Debug, Serialize)]
struct DocumentRead {
    page_indices: Vec<usize>,
    type_confidence: f64,
    because: Vec<Reason>,
    extracted_data: BTreeMap<String, String>,
    extraction_confidence: f64,
    evidence: BTreeMap<String, FieldValue>,
    rows: BTreeMap<String, Vec<Row>>,
    checks: Vec<CheckResult>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum DocumentStatus {
    Completed,
    Review,
    Failed,
}

impl Gather for DocumentsResult {
    const NAME: &'static str = "document_consolidator";
    type Result = DocumentsRead;

    fn check(&self, context: &StepContext) -> Result<(), StepError> {
        none_read(context, reading::SPLITTER)
    }

    fn gather(&self, context: &StepContext) -> Result<DocumentsRead, StepError> {
        let mut files = reading::files_read(context)?;
        let mut documents = documents(context)?;
        let questions = Questions::read(context)?;
        for (id, entry) in &mut documents {
            if let Some(reasons) = questions.open.get(id) {
                entry.needs_review = Some(reasons.clone());
                entry.status = DocumentStatus::Review;
            }
        }
        for (document, reason) in doubt_duplicates(&mut documents, &questions.accepted_duplicates) {
            // One that is open already is decided first; then this runs again.
            context.request_review(document, vec![reason])?;
        }
        let documents: Vec<DocumentEntry> = documents.into_iter().map(|(_, entry)| entry).collect();
        let waiting = documents.iter().filter(|document| document.status == DocumentStatus::Review).count();
        files.totals.documents = Some(documents.len());
        files.totals.need_review = Some(waiting);
        let submission = context.submission()?;
        Ok(DocumentsRead {
            request_id: submission.public_id(),
            workflow: submission.workflow.name.clone(),
            total_pages: files.totals.pages,
            total_documents: documents.len(),
            documents,
            more: said_of_others(context, &SHIPPED)?,
            files,
        })
    }
}

/// The documents in the order of their files, and inside a file in their own.
fn documents(context: &StepContext) -> Result<Vec<(ItemId, DocumentEntry)>, StepError> {
    let files = of_each(context, ItemKind::File, [], |file, []| Ok((file.id, name_of(file))))?;
    let place_of: HashMap<ItemId, usize> = files.iter().enumerate().map(|(place, (file, _))| (*file, place)).collect();
    let mut stages = vec![stage_of(context, EXTRACTOR)?];
    stages.extend(own_stages(context, ItemKind::Document, &SHIPPED)?);
    let made = of_each_in(context, ItemKind::Document, &stages, |document, found| {
        let Some(place) = document.parent.and_then(|file| place_of.get(&file).copied()) else { return Ok(None) };
        let Some((extracted, own)) = found.split_first() else { return Ok(None) };
        let entry = entry(context, &files[place].1, document, extracted.last(), own)?;
        Ok(Some((place, document.id, entry)))
    })?;
    let mut documents: Vec<(usize, ItemId, DocumentEntry)> = made.into_iter().flatten().collect();
    documents.sort_by_key(|(place, ..)| *place);
    Ok(documents.into_iter().map(|(_, id, entry)| (id, entry)).collect())
}

fn entry(
    context: &StepContext,
    file: &str,
    document: &Item,
    outcome: Option<&Outcome>,
    own: &[Vec<Outcome>],
) -> Result<DocumentEntry, StepError> {
    let listed = DocumentEntry {
        document_id: document.public_id(),
        file: file.to_owned(),
        doc_type: document.label.clone(),
        read: None,
        needs_review: None,
        decided: None,
        status: DocumentStatus::Failed,
        error: None,
        more: BTreeMap::new(),
    };
    let Some(outcome) = outcome.filter(|outcome| has_result(outcome)) else {
        let why = outcome.map_or_else(|| "its fields were not read".to_owned(), reason);
        return Ok(DocumentEntry { error: Some(why), ..listed });
    };
    let found: ExtractedDocument = match output_of(context, outcome) {
        Ok(found) => found,
        // What a program outside has said of one document is no reason to lose the others.
        Err(error) if error.class() == ErrorClass::Reject => {
            return Ok(DocumentEntry { error: Some(error.message), ..listed });
        }
        Err(error) => return Err(error),
    };
    let mut found = found;
    let waits = take_over(context, own, &mut found)?;
    let ExtractedDocument { page_indices, type_confidence, because, extraction, decided, more, .. } = found;
    let doubtful = !extraction.needs_review.is_empty() && decided.is_none();
    let is_open = waits || outcome.status == OutcomeStatus::Review || doubtful;
    let data = extraction.fields.iter().map(|(name, field)| (name.clone(), field.normalised.clone()));
    Ok(DocumentEntry {
        read: Some(DocumentRead {
            page_indices,
            type_confidence: rounded(type_confidence),
            because,
            extracted_data: data.collect(),
            extraction_confidence: rounded(f64::from(extraction.confidence)),
            evidence: extraction.fields,
            rows: extraction.rows,
            checks: extraction.checks,
        }),
        needs_review: Some(extraction.needs_review),
        decided,
        more,
        status: if is_open { DocumentStatus::Review } else { DocumentStatus::Completed },
        ..listed
    })
}

/// How the reason of a duplicate begins.
const SAME_AS: &str = "seller, number and total are the same as those of ";

/// A document with the same seller, number and total as one before it is probably the same paper twice: counted once
/// more, it would be paid once more. Returns those that a person should look at, with the reason.
fn doubt_duplicates(documents: &mut [(ItemId, DocumentEntry)], accepted: &HashSet<ItemId>) -> Vec<(ItemId, String)> {
    let mut seen: HashMap<[String; 3], String> = HashMap::new();
    let mut doubted = Vec::new();
    for (id, document) in documents {
        let Some(identity) = document.read.as_ref().and_then(|read| identity(&read.extracted_data)) else { continue };
        let own = format!("{} in {}", document.document_id, document.file);
        let Some(first) = seen.get(&identity) else {
            seen.insert(identity, own);
            continue;
        };
        if accepted.contains(id) {
            continue;
        }
        let reason = format!("{SAME_AS}{first}");
        let reasons = document.needs_review.get_or_insert_default();
        if !reasons.contains(&reason) {
            reasons.push(reason.clone());
        }
        document.status = DocumentStatus::Review;
        doubted.push((*id, reason));
    }
    doubted
}

/// Seller, number and total in comparable form, where all three were read.
fn identity(data: &BTreeMap<String, String>) -> Option<[String; 3]> {
    let letters = |key: &str| {
        let text: String = data.get(key)?.chars().filter(|c| c.is_alphanumeric()).collect();
        (!text.is_empty()).then(|| text.to_lowercase())
    };
    Some([letters("seller").or_else(|| letters("merchant"))?, letters("number")?, letters("grand_total")?])
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
        let mut stages = vec![stage_of(context, EXTRACTOR)?];
        stages.extend(own_stages(context, ItemKind::Document, &SHIPPED)?);
        let of_stage = context.reviews()?.into_iter().filter(|review| stages.contains(&review.stage));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn document(id: i64, data: &[(&str, &str)]) -> (ItemId, DocumentEntry) {
        let read = DocumentRead {
            page_indices: vec![1],
            type_confidence: 1.0,
            because: Vec::new(),
            extracted_data: data.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            extraction_confidence: 1.0,
            evidence: BTreeMap::new(),
            rows: BTreeMap::new(),
            checks: Vec::new(),
        };
        let entry = DocumentEntry {
            document_id: format!("doc_{id}"),
            file: "a.pdf".to_owned(),
            doc_type: None,
            read: Some(read),
            needs_review: Some(Vec::new()),
            decided: None,
            status: DocumentStatus::Completed,
            error: None,
            more: BTreeMap::new(),
        };
        (ItemId::from_raw(id), entry)
    }

    fn invoice(id: i64, seller: &str, total: &str) -> (ItemId, DocumentEntry) {
        document(id, &[("seller", seller), ("number", "2026-17"), ("grand_total", total)])
    }

    #[test]
    fn the_same_invoice_twice_is_doubted_once() {
        let failed = DocumentEntry { read: None, status: DocumentStatus::Failed, ..document(5, &[]).1 };
        let mut all = [
            invoice(1, "Birch Paper Ltd.", "119.00"),
            invoice(2, "Birch Paper Ltd", "12.00"),
            invoice(3, "BIRCH PAPER LTD", "119.00"),
            invoice(4, "Birch Paper Ltd", "119.00"),
            (ItemId::from_raw(5), failed),
        ];
        let reason = "seller, number and total are the same as those of doc_1 in a.pdf";
        for _ in 0..2 {
            let doubted = doubt_duplicates(&mut all, &HashSet::from([ItemId::from_raw(4)]));
            assert_eq!(doubted, [(ItemId::from_raw(3), reason.to_owned())]);
            let statuses: Vec<DocumentStatus> = all.iter().map(|(_, document)| document.status).collect();
            let (completed, review) = (DocumentStatus::Completed, DocumentStatus::Review);
            assert_eq!(statuses, [completed, completed, review, completed, DocumentStatus::Failed]);
            assert_eq!(all[2].1.needs_review, Some(vec![reason.to_owned()]), "the reason is named once");
        }
    }
}
