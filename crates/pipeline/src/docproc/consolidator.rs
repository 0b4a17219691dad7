//! One result for the submission.

use super::{
    message::{DocumentMessage, ExtractedMessage, PageMessage},
    pages::{PageResult, by_a_person, is_done, page_fates, stages_over, the_one_result},
    splitter::{RequestFile, SplitRequest},
};
use crate::{
    borders::{Failed, FileEntry, Totals, data_of, rounded, said_by},
    consolidate::Gather,
    results::{in_order, name_of, of_each_in, reason},
};
use bindery_core::{
    Name, StepError,
    item::{Item, ItemKind},
    outcome::Outcome,
};
use bindery_engine::{context::StepContext, workflow::Over};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The documents of the submission with their fields, evidence and doubts, and what could not be read and why. Everything
/// comes from the store; the message that brings it here need not carry any of it. If no page at all could be read, the
/// result is a failure.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestResult;

/// The result of the `default` workflow.
#[derive(Debug, Serialize)]
pub(super) struct Consolidated {
    request_id: String,
    workflow: Name,
    total_pages: usize,
    total_documents: usize,
    totals: Totals,
    documents: Vec<DocumentEntry>,
    files: Files,
    failed: Vec<Failed>,
}

type Files = Vec<FileEntry<Option<FileSeen>>>;

/// What this workflow says of a file that could be opened.
#[derive(Debug, Serialize)]
struct FileSeen {
    #[serde(rename = "type")]
    file_type: Option<String>,
    pages: u64,
    first_page_index: Option<usize>,
    warnings: Option<Vec<String>>,
}

#[derive(Debug, Serialize)]
struct DocumentEntry {
    document_id: String,
    doc_type: Option<String>,
    page_indices: Option<Vec<u64>>,
    extracted_data: Option<Map<String, Value>>,
    extraction_confidence: Option<f64>,
    status: &'static str,
    file: Option<String>,
    pages: Vec<Option<u64>>,
    type_confidence: Option<f64>,
    because: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Nothing where it failed.
    #[serde(flatten)]
    read: Option<DocumentRead>,
}

#[derive(Debug, Serialize)]
struct DocumentRead {
    field_confidences: Option<Map<String, Value>>,
    doubts: Option<Vec<String>>,
    evidence: Option<Map<String, Value>>,
    needs_review: Option<Vec<String>>,
}

impl Gather for RequestResult {
    const NAME: &'static str = "consolidator";
    type Result = Consolidated;

    fn gather(&self, context: &StepContext) -> Result<Consolidated, StepError> {
        let pages = page_fates(context)?;
        none_read(&pages)?;
        let (files, mut failed) = files(context, &pages)?;
        failed.extend(pages.iter().filter_map(|page| {
            Some(Failed {
                file: page.data.original_filename.clone(),
                page: page.data.page_number,
                page_index: Some(page.index),
                reason: page.failed.clone()?,
                ..Failed::default()
            })
        }));
        let documents = documents(context, &pages)?;
        let submission = context.submission()?;
        let reasons = |document: &DocumentEntry| document.read.as_ref()?.needs_review.as_ref().map(Vec::len);
        let waiting = documents.iter().filter(|document| reasons(document).is_some_and(|count| count > 0)).count();
        Ok(Consolidated {
            request_id: submission.public_id(),
            workflow: submission.workflow.name.clone(),
            total_pages: pages.len(),
            total_documents: documents.len(),
            totals: Totals {
                files: files.len(),
                pages: pages.len() as u64,
                documents: Some(documents.len()),
                failed: failed.len(),
                need_review: Some(waiting),
                ..Totals::default()
            },
            documents,
            files,
            failed,
        })
    }
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
fn files(context: &StepContext, pages: &[PageResult]) -> Result<(Files, Vec<Failed>), StepError> {
    let split = context.outcomes(&context.workflow()?.stages[0].name)?;
    let split = split.iter().find(|outcome| outcome.item.is_none() && is_done(outcome));
    let seen: SplitRequest = split.map(|outcome| said_by(context, outcome)).transpose()?.unwrap_or_default();
    let mut page_counts: HashMap<Option<i64>, u64> = HashMap::new();
    for page in pages {
        *page_counts.entry(page.data.file_index).or_default() += 1;
    }
    let mut seen = seen.files.into_iter();
    let (mut files, mut failed) = (Vec::new(), Vec::new());
    for file in in_order(context.items(Some(ItemKind::File), None)?) {
        let RequestFile { file_type, warnings, error, first_page_index, .. } = seen.next().unwrap_or_default();
        let name = name_of(&file);
        failed.extend(error.as_ref().map(|why| Failed::file(&name, why)));
        let pages = page_counts.get(&Some(file.ordinal)).copied().unwrap_or(0);
        let own = error.is_none().then_some(FileSeen { file_type, pages, first_page_index, warnings });
        files.push(FileEntry { name, own, read: None, error });
    }
    Ok((files, failed))
}

fn documents(context: &StepContext, pages: &[PageResult]) -> Result<Vec<DocumentEntry>, StepError> {
    let stage = stages_over(context.workflow()?, Over::Document).next_back();
    let stages: Vec<Name> = stage.iter().map(|stage| stage.name.clone()).collect();
    let place_of: HashMap<u64, &PageMessage> = pages.iter().map(|page| (page.index, &page.data)).collect();
    of_each_in(context, ItemKind::Document, &stages, |document, found| {
        let extracted = found.first().cloned().and_then(the_one_result);
        entry(context, document, extracted.as_ref(), &place_of)
    })
}

fn entry(
    context: &StepContext,
    document: &Item,
    outcome: Option<&Outcome>,
    place_of: &HashMap<u64, &PageMessage>,
) -> Result<DocumentEntry, StepError> {
    let data: DocumentMessage = data_of(document);
    let indices = data.page_indices.iter().flatten();
    let places: Vec<&PageMessage> = indices.filter_map(|index| place_of.get(index).copied()).collect();
    let listed = DocumentEntry {
        document_id: document.public_id(),
        doc_type: document.label.clone(),
        extracted_data: Some(Map::new()),
        extraction_confidence: None,
        status: "failed",
        file: places.first().and_then(|place| place.original_filename.clone()),
        pages: places.iter().map(|place| place.page_number).collect(),
        page_indices: data.page_indices,
        type_confidence: data.type_confidence,
        because: data.because,
        error: None,
        read: None,
    };
    let Some(outcome) = outcome.filter(|outcome| is_done(outcome)) else {
        let error = Some(outcome.map_or_else(|| "its fields were not read".to_owned(), reason));
        return Ok(DocumentEntry { error, ..listed });
    };
    let found: ExtractedMessage = said_by(context, outcome)?;
    let is_by_a_person = by_a_person(outcome.confidence, found.extraction_confidence);
    let evidence = match found.evidence {
        Some(evidence) if is_by_a_person => Some(entered(evidence, found.extracted_data.as_ref())),
        evidence => evidence,
    };
    Ok(DocumentEntry {
        status: "completed",
        extracted_data: found.extracted_data,
        extraction_confidence: outcome.confidence.map(rounded),
        read: Some(DocumentRead {
            field_confidences: found.field_confidences,
            doubts: found.doubts,
            evidence,
            // What a person has decided needs nobody else.
            needs_review: if is_by_a_person { Some(Vec::new()) } else { found.needs_review },
        }),
        ..listed
    })
}

/// Where each value stands; one that a person has entered stands nowhere.
fn entered(mut evidence: Map<String, Value>, values: Option<&Map<String, Value>>) -> Map<String, Value> {
    let values = values.into_iter().flatten().filter(|(_, value)| !value.is_null());
    let of_value = |(name, value): (&String, &Value)| match evidence.remove(name) {
        Some(known) if known.get("normalised") == Some(value) => (name.clone(), known),
        _ => (name.clone(), json!({"normalised": value, "tier": "person", "confidence": 1.0, "doubts": []})),
    };
    values.map(of_value).collect()
}
