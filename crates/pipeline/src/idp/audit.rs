//! How far each document is: a view over the outcomes of the chain, never a record of its own that could disagree.
//!
//! ```text
//!  UPLOADED ──► SPLIT (page_count) ──► COMBINED
//!      └──► FAILED        └──► MISSING_PAGES ──► COMBINED, when the pages were repaired
//! ```

use super::{CLASSIFIER, COMBINER, OCR, OFFICE, PAGE_KIND, SPLITTER, TEXT};
use crate::{
    borders::{Combined, seen_output},
    results::reason,
};
use bindery_core::{
    ItemId, SubmissionId,
    item::{Item, ItemKind},
    outcome::{Outcome, OutcomeStatus},
};
use bindery_engine::{Engine, EngineError, EngineResult};
use bindery_store::query::ItemFilter;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// How far a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AuditStatus {
    /// It was taken in.
    Uploaded,
    /// It was taken apart into pages.
    Split,
    /// Its pages were put together.
    Combined,
    /// Pages failed for good, and it was given up for that.
    MissingPages,
    /// It could not be read at all.
    Failed,
}

/// One document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Audit {
    pub document_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_name: Option<String>,
    pub status: AuditStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_count: Option<u64>,
    /// The pages that failed, from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<u64>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The document with this id, if it was taken in under it.
pub async fn of_document(engine: &Engine, document_id: &str) -> EngineResult<Option<Audit>> {
    let Some(submission) = engine.store().find_submission(document_id).await? else { return Ok(None) };
    let all = of_submission(engine, submission.id).await?;
    Ok(all.into_iter().find(|audit| audit.document_id == document_id))
}

/// The documents of a submission, in the order in which they were taken in.
pub async fn of_submission(engine: &Engine, id: SubmissionId) -> EngineResult<Vec<Audit>> {
    let info = engine.catalog().submission(id).await?;
    let mut by_processor: HashMap<&str, BTreeMap<ItemId, Outcome>> = HashMap::new();
    for processor in [CLASSIFIER, OFFICE, SPLITTER, PAGE_KIND, TEXT, OCR, COMBINER] {
        let stage = info.workflow.stages.iter().find(|stage| stage.processor(processor).is_some());
        let Some(stage) = stage else {
            let message = format!("workflow {} is no document chain: no stage runs {processor}", info.workflow.name);
            return Err(EngineError::Invalid(message));
        };
        let outcomes = engine.store().outcomes(id, Some(&stage.name)).await?;
        let of_item = outcomes.into_iter().filter_map(|outcome| Some((outcome.item?, outcome))).collect();
        by_processor.insert(processor, of_item);
    }
    let of = |processor: &str, item: ItemId| by_processor.get(processor).and_then(|found| found.get(&item));
    let files = ItemFilter { kind: Some(ItemKind::File), ..ItemFilter::default() };
    let mut audits = Vec::new();
    for file in crate::results::in_order(engine.store().items(id, files).await?) {
        let pages = ItemFilter { kind: Some(ItemKind::Page), parent: Some(file.id), ..ItemFilter::default() };
        let pages = engine.store().items(id, pages).await?;
        let failed = |page: &&Item| {
            let outcomes = [PAGE_KIND, TEXT, OCR].map(|processor| of(processor, page.id));
            outcomes.into_iter().flatten().any(|outcome| outcome.status == OutcomeStatus::Failed)
        };
        let missing: Vec<u64> = pages.iter().filter(failed).map(|page| page.ordinal as u64 + 1).collect();
        let earlier = [OFFICE, SPLITTER, CLASSIFIER].map(|processor| of(processor, file.id));
        let (status, why) = status(of(COMBINER, file.id), &earlier);
        let page_count = match of(COMBINER, file.id).filter(|_| status == AuditStatus::Combined) {
            Some(outcome) => Some(seen_output::<Combined>(engine, Some(outcome)).await?.pages),
            None => (!pages.is_empty()).then_some(pages.len() as u64),
        };
        audits.push(Audit {
            document_id: file.public_id(),
            file_name: file.label.clone(),
            status,
            page_count,
            missing: if status == AuditStatus::Combined { Vec::new() } else { missing },
            reason: why,
        });
    }
    Ok(audits)
}

/// What the outcomes of a file's own stages come to: of the one that puts pages together, and of those before it (first
/// the extractor, then the splitter).
pub(super) fn status(combined: Option<&Outcome>, earlier: &[Option<&Outcome>; 3]) -> (AuditStatus, Option<String>) {
    let is = |outcome: Option<&Outcome>, status| outcome.is_some_and(|outcome| outcome.status == status);
    if is(combined, OutcomeStatus::Completed) {
        return (AuditStatus::Combined, None);
    }
    if let Some(outcome) = combined.filter(|outcome| outcome.status == OutcomeStatus::Failed) {
        return (AuditStatus::MissingPages, Some(reason(outcome)));
    }
    if let Some(outcome) = earlier.iter().flatten().find(|outcome| outcome.status == OutcomeStatus::Failed) {
        return (AuditStatus::Failed, Some(reason(outcome)));
    }
    let split = is(earlier[1], OutcomeStatus::Completed);
    (if split { AuditStatus::Split } else { AuditStatus::Uploaded }, None)
}
