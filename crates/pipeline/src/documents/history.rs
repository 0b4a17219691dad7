//! Documents that were read before, with what people have said of them since.

use super::EXTRACTOR;
use crate::borders::{DocumentGroup, ExtractedDocument};
use bindery_core::{ItemId, Name, SubmissionId, item::ItemKind};
use bindery_engine::{
    Engine, EngineResult,
    workflow::{Over, Stage},
};
use bindery_fields::extract::Extraction;
use bindery_reader::Page;
use bindery_store::{
    blobs::BlobsExt as _,
    query::{ItemFilter, SubmissionFilter},
};
use std::collections::HashMap;

/// A document that was read.
#[derive(Debug, Clone)]
pub struct PastDocument {
    pub submission: SubmissionId,
    /// As results name it: `doc_1_2`.
    pub document: String,
    pub doctype: Name,
    pub pages: Vec<Page>,
    pub extraction: Extraction,
}

/// The documents of the newest submissions that `wanted` says yes to, the newest first. Documents whose pages or results
/// are gone, as after a deletion, are left out. Only those that are wanted are held at once.
pub async fn past_documents(
    engine: &Engine,
    most_submissions: usize,
    wanted: impl Fn(&PastDocument) -> bool,
) -> EngineResult<Vec<PastDocument>> {
    let newest = SubmissionFilter { limit: Some(most_submissions), ..SubmissionFilter::default() };
    let mut found = Vec::new();
    for submission in engine.store().submissions(newest).await? {
        let info = engine.catalog().submission(submission.id).await?;
        let is_extractor = |stage: &&Stage| stage.processors.iter().any(|processor| processor.name == *EXTRACTOR);
        let Some(extractor) = info.workflow.stages.iter().position(|stage| is_extractor(&stage)) else { continue };
        let mut results: HashMap<ItemId, ExtractedDocument> = HashMap::new();
        // Stages of the user's own hand the document on, changed and corrected.
        let over_documents = info.workflow.stages[extractor..].iter().take_while(|stage| stage.over == Over::Document);
        for stage in over_documents {
            for outcome in engine.store().outcomes(submission.id, Some(&stage.name)).await? {
                let Some(item) = outcome.item else { continue };
                let read = engine.read_payload(&outcome.output).await.ok();
                results.extend(read.and_then(|read| Some((item, serde_json::from_value(read).ok()?))));
            }
        }
        let documents = ItemFilter { kind: Some(ItemKind::Document), ..ItemFilter::default() };
        for item in engine.store().items(submission.id, documents).await? {
            let Some(result) = results.remove(&item.id) else { continue };
            let Ok(group) = serde_json::from_str::<DocumentGroup>(&item.data) else { continue };
            let Some(pages) = pages_of(engine, &group).await else { continue };
            let document = PastDocument {
                submission: submission.id,
                document: item.public_id(),
                doctype: result.doc_type,
                pages,
                extraction: result.extraction,
            };
            if wanted(&document) {
                found.push(document);
            }
        }
    }
    Ok(found)
}

/// None where one of them is gone.
async fn pages_of(engine: &Engine, group: &DocumentGroup) -> Option<Vec<Page>> {
    let mut pages = Vec::with_capacity(group.page_contents.len());
    for content in &group.page_contents {
        pages.push(serde_json::from_value(engine.blobs().get_json(*content).await.ok()?).ok()?);
    }
    Some(pages)
}
