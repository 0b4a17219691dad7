//! One result for the submission.

use super::{
    CLASSIFIER, COMBINER, CONSOLIDATOR, OFFICE, SPLITTER,
    audit::{self, AuditStatus},
    outward::{Bytes, Outward},
    places::Places,
};
use crate::{
    borders::{Combined, Failed, FilesBound, Totals, output_of},
    consolidate::Gather,
    results::{name_of, of_each},
};
use bindery_core::{StepError, item::ItemKind};
use bindery_engine::{Extracted, context::StepContext};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// Lists the documents with where their JSON is, and what is missing and why. If none came through, that is a failure.
#[derive(Debug, Clone)]
pub(crate) struct IdpResult {
    places: Arc<Places>,
}

impl IdpResult {
    pub(crate) fn new(places: Arc<Places>) -> Self {
        Self { places }
    }
}

/// The result of the `idp` workflow.
#[derive(Debug, Serialize)]
pub(crate) struct DocumentsBound {
    submission: String,
    totals: Totals,
    files: Vec<DocumentFile>,
    failed: Vec<Failed>,
}

#[derive(Debug, Serialize)]
struct DocumentFile {
    name: String,
    document_id: String,
    status: AuditStatus,
    #[serde(flatten)]
    bound: Option<BoundFile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Debug, Serialize)]
struct BoundFile {
    #[serde(rename = "type")]
    file_type: Option<String>,
    pages: u64,
    words: u64,
    by_ocr: u64,
    json: Option<String>,
    markdown: Option<String>,
    hocr: Option<String>,
}

impl Gather for IdpResult {
    const NAME: &'static str = CONSOLIDATOR;
    type Result = DocumentsBound;

    fn gather(&self, context: &StepContext) -> Result<DocumentsBound, StepError> {
        let stages = [COMBINER, OFFICE, SPLITTER, CLASSIFIER];
        let found = of_each(context, ItemKind::File, stages, |file, [combined, before @ ..]| {
            let (status, why) = audit::status(combined, &before);
            let (name, document_id) = (name_of(file), file.public_id());
            let Some(outcome) = combined.filter(|_| status == AuditStatus::Combined) else {
                let why = why.unwrap_or_else(|| "was not read".to_owned());
                let error = Some(why.clone());
                let listed = DocumentFile { name: name.clone(), document_id, status, bound: None, error };
                return Ok((name, listed, Err(why)));
            };
            let read: Combined = output_of(context, outcome)?;
            let bound = Some(BoundFile {
                file_type: read.file_type.clone(),
                pages: read.pages,
                words: read.words,
                by_ocr: read.by_ocr,
                json: read.json.clone(),
                markdown: read.md.clone(),
                hocr: read.hocr.clone(),
            });
            let listed = DocumentFile { name: name.clone(), document_id, status, bound, error: None };
            Ok((name, listed, Ok(read)))
        })?;
        let FilesBound { files, failed, totals } = FilesBound::new(found);
        if let (Some(first), true) = (failed.first(), files.iter().all(|file| file.error.is_some())) {
            let file = first.file.as_deref().unwrap_or_default();
            let message = format!("none of the files came through; {file}: {}", first.reason);
            return Err(StepError::reject(message).named("NothingRead"));
        }
        Ok(DocumentsBound { submission: context.submission()?.public_id(), totals, files, failed })
    }

    /// Also where others look for it.
    fn store(&self, context: &StepContext, result: Value) -> Result<Extracted, StepError> {
        let outward = Outward::of(context, &self.places)?;
        let key = outward.key("output", &format!("{}.json", context.submission()?.id))?;
        let bytes = result.to_string().into_bytes();
        let artifact = outward.keep(context, &key, Bytes::New(&bytes), "application/json")?;
        Ok(Extracted { artifacts: vec![artifact], ..Extracted::new(result) })
    }
}
