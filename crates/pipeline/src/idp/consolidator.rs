//! One result for the submission.

use super::{
    CLASSIFIER, COMBINER, CONSOLIDATOR, OFFICE, SPLITTER, audit,
    outward::{Bytes, Outward},
    places::Places,
};
use crate::results::{name_of, of_each};
use bindery_core::{StepError, item::ItemKind};
use bindery_engine::{Extracted, Processor, context::StepContext};
use serde_json::{Value, json};
use std::sync::Arc;

/// Lists the documents with where their JSON is, and what is missing and why. If none came through, that is a failure.
#[derive(Debug, Clone)]
pub struct IdpConsolidator {
    places: Arc<Places>,
}

impl IdpConsolidator {
    pub fn new(places: Arc<Places>) -> Self {
        Self { places }
    }
}

impl Processor for IdpConsolidator {
    fn name(&self) -> &'static str {
        CONSOLIDATOR
    }

    fn process(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        let stages = [COMBINER, OFFICE, SPLITTER, CLASSIFIER];
        let read = of_each(context, ItemKind::File, stages, |file, [combined, before @ ..]| {
            let (status, why) = audit::status(combined, &before);
            let (name, id) = (name_of(file), file.public_id());
            let mut failed = Vec::new();
            let Some(outcome) = combined.filter(|_| status == audit::AuditStatus::Combined) else {
                let why = why.unwrap_or_else(|| "was not read".to_owned());
                failed.push(json!({"file": name, "reason": why}));
                return Ok((json!({"name": name, "document_id": id, "status": status, "error": why}), failed));
            };
            let found = context.read(&outcome.output)?;
            let count = |key: &str| found[key].as_u64().unwrap_or(0);
            for gap in found["missing"].as_array().into_iter().flatten() {
                failed.push(json!({"file": name, "page": gap["page"], "reason": gap["reason"]}));
            }
            let file = json!({
                "name": name, "document_id": id, "status": status, "type": found["type"], "pages": count("pages"),
                "words": count("words"), "by_ocr": count("by_ocr"), "json": found["json"], "markdown": found["md"],
                "hocr": found["hocr"],
            });
            Ok((file, failed))
        })?;
        let (files, failed): (Vec<Value>, Vec<Vec<Value>>) = read.into_iter().unzip();
        let failed: Vec<Value> = failed.into_iter().flatten().collect();
        let sum = |key: &str| files.iter().filter_map(|file| file[key].as_u64()).sum::<u64>();
        let (pages, words, by_ocr) = (sum("pages"), sum("words"), sum("by_ocr"));
        if let (Some(first), true) = (failed.first(), files.iter().all(|file| file.get("error").is_some())) {
            let text = |name: &str| first[name].as_str().unwrap_or_default();
            let message = format!("none of the files came through; {}: {}", text("file"), text("reason"));
            return Err(StepError::reject(message).named("NothingRead"));
        }
        Ok(json!({
            "submission": context.submission()?.public_id(),
            "totals": {"files": files.len(), "pages": pages, "words": words, "by_ocr": by_ocr, "failed": failed.len()},
            "files": files,
            "failed": failed,
        }))
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        let outward = Outward::of(context, &self.places)?;
        let key = outward.key("output", &format!("{}.json", context.submission()?.id))?;
        let bytes = processed.to_string().into_bytes();
        let artifact = outward.keep(context, &key, Bytes::New(&bytes), "application/json")?;
        Ok(Extracted { artifacts: vec![artifact], ..Extracted::new(processed) })
    }
}
