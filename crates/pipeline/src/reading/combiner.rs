//! Puts the pages of a file together.

use super::{PAGE_COMBINER, PAGE_READER, SPLITTER};
use crate::{
    borders::{BoundPages, Gap, PageText, output_of, stored_page},
    results::{in_order, name_of, reason, runs_any, stage_of},
    stage::Stage,
};
use bindery_core::{StepError, item::ItemKind, outcome::OutcomeStatus};
use bindery_engine::{Extracted, Reusable, context::StepContext, processor::NewArtifact, workflow};
use bindery_reader::{
    model::{Metadata, ReadBy},
    render,
};
use serde::{Deserialize, Serialize, de::IgnoredAny};

/// Binds a file's pages in their order. The result is stored under two readable keys: `text-docs/FILE.json`, which other
/// programs read, and `text-docs/FILE.md`, which people do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageCombiner;

/// What opening the file has told.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Opened {
    #[serde(rename = "type")]
    file_type: Option<String>,
    metadata: Option<Metadata>,
}

/// A file whose pages are together.
#[derive(Debug, Serialize)]
pub(crate) struct CombinedFile {
    file: String,
    id: String,
    #[serde(flatten)]
    opened: Opened,
    pages: usize,
    missing: Vec<Gap>,
    by_ocr: u64,
    words: u64,
    json: String,
    md: String,
}

impl Stage for PageCombiner {
    const NAME: &'static str = PAGE_COMBINER;
    type Input = IgnoredAny;
    type Made = (Opened, BoundPages);
    type Output = CombinedFile;

    fn reads(&self, _here: &workflow::Stage, earlier: &workflow::Stage) -> bool {
        runs_any(earlier, &[PAGE_READER, SPLITTER])
    }

    fn reuse(&self) -> Option<&dyn Reusable> {
        Some(self)
    }

    fn process(&self, context: &StepContext, _input: IgnoredAny) -> Result<Self::Made, StepError> {
        let file = context.item()?;
        let stage = stage_of(context, PAGE_READER)?;
        let mut bound = BoundPages::default();
        for page in in_order(context.items(Some(ItemKind::Page), Some(file.id))?) {
            let number = usize::try_from(page.ordinal).unwrap_or(0) + 1;
            let found = context.item_outcomes(page.id, &stage)?;
            match found.iter().find(|outcome| &*outcome.processor == PAGE_READER) {
                Some(outcome) if outcome.status == OutcomeStatus::Completed => {
                    let read: PageText = output_of(context, outcome)?;
                    bound.by_ocr += u64::from(read.read_by == ReadBy::Ocr);
                    bound.words += read.words as u64;
                    match read.markdown {
                        Some(text) => bound.page(number, &text),
                        None => bound.page(number, &render::markdown(&stored_page(context, read.content)?)),
                    }
                }
                other => bound.gap(number, other.map_or_else(|| "was not read".to_owned(), reason)),
            }
        }
        let opened = context.item_outcomes(file.id, &stage_of(context, SPLITTER)?)?;
        let opened = opened.first().map(|outcome| output_of(context, outcome)).transpose()?.unwrap_or_default();
        Ok((opened, bound))
    }

    fn extract(&self, context: &StepContext, made: Self::Made) -> Result<Extracted<CombinedFile>, StepError> {
        let (opened, bound) = made;
        let file = context.item()?;
        let (name, id) = (name_of(&file), file.public_id());
        let (pages, missing, by_ocr, words) = (bound.pages.len(), bound.missing.clone(), bound.by_ocr, bound.words);
        let markdown = bound.markdown().into_bytes();
        let document = bound.document_json(&id, opened.file_type.as_deref().unwrap_or_default())?;
        let mut artifacts = Vec::new();
        for (ending, media_type, bytes) in [("json", "application/json", document), ("md", "text/markdown", markdown)] {
            let stored = context.keep_blob(bytes)?;
            let (key, media_type) = (format!("text-docs/{}.{ending}", file.id), media_type.to_owned());
            artifacts.push(NewArtifact { key, hash: stored.hash, size: stored.size, media_type });
        }
        let (json, md) = (artifacts[0].key.clone(), artifacts[1].key.clone());
        let output = CombinedFile { file: name, id, opened, pages, missing, by_ocr, words, json, md };
        Ok(Extracted { artifacts, ..Extracted::new(output) })
    }
}
