//! Puts the pages of a document together.

use super::{
    CLASSIFIER, COMBINER, OCR, OFFICE, PAGE_KIND, TEXT,
    border::{IdpFile, IdpPageText, KeptFile, OfficePages},
    outward::{Bytes, Outward},
    places::Places,
};
use crate::{
    borders::{BoundPages, Gap, output_of},
    results::{in_order, name_of, reason, runs_any, stage_of},
    stage::Stage,
};
use bindery_core::{
    ContentHash, ItemId, Name, StepError,
    item::{Item, ItemKind},
    outcome::{Outcome, OutcomeStatus},
};
use bindery_engine::{
    Extracted,
    context::StepContext,
    workflow::{self, OnFailed},
};
use bindery_reader::{
    combine::{CombinedWords, PageWords},
    model::ReadBy,
};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use std::sync::Arc;

/// Binds a document's pages in their order to `text-docs/{doc}.json`, and for people to `text-docs/{doc}.md`. The words of
/// the pages, where there are any, become `hocr/{doc}.json`.
///
/// The stage's join sees to it that every page has ended. With `on_failed: fail`, a document of which pages have failed is
/// not put together until they are repaired; with `continue`, each is a gap that is named.
#[derive(Debug, Clone)]
pub(crate) struct DocumentCombiner {
    places: Arc<Places>,
}

impl DocumentCombiner {
    pub(crate) fn new(places: Arc<Places>) -> Self {
        Self { places }
    }
}

/// A document whose pages are together. `F` is where each form of it is: bytes that were kept, and in the end their keys.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct BoundDocument<F> {
    document_id: String,
    file: String,
    #[serde(rename = "type")]
    file_type: String,
    pages: usize,
    missing: Vec<Gap>,
    by_ocr: u64,
    words: u64,
    md: F,
    #[serde(skip_serializing_if = "Option::is_none")]
    hocr: Option<F>,
    json: F,
}

/// What was found of a document.
#[derive(Debug, Default)]
struct Bound {
    text: BoundPages,
    words_of_pages: Vec<PageWords>,
    has_words: bool,
}

impl Stage for DocumentCombiner {
    const NAME: &'static str = COMBINER;
    type Input = IgnoredAny;
    type Made = BoundDocument<KeptFile>;
    type Output = BoundDocument<String>;

    fn reads(&self, _here: &workflow::Stage, earlier: &workflow::Stage) -> bool {
        runs_any(earlier, &[TEXT, OCR, PAGE_KIND])
    }

    fn process(&self, context: &StepContext, _input: IgnoredAny) -> Result<Self::Made, StepError> {
        let file = context.item()?;
        let bound = match outcome_of(context, file.id, OFFICE)? {
            Some(office) if office.status == OutcomeStatus::Completed => converted(context, &office)?,
            _ => printed(context, &file)?,
        };
        let may_be_missing = context.stage()?.aggregation.is_none_or(|join| join.on_failed == OnFailed::Continue);
        if !may_be_missing && let Some(first) = bound.text.missing.first() {
            let numbers: Vec<String> = bound.text.missing.iter().map(|gap| gap.page.to_string()).collect();
            let (numbers, all) = (numbers.join(", "), bound.text.pages.len());
            let message = format!("page {numbers} of {all} is missing: {}", first.reason);
            return Err(StepError::reject(message).named("MissingPages"));
        }
        let classified = outcome_of(context, file.id, CLASSIFIER)?;
        let classified: Option<IdpFile> = classified.map(|outcome| output_of(context, &outcome)).transpose()?;
        self.write(context, &file, classified.map(|file| file.file_type).unwrap_or_default(), bound)
    }

    fn extract(&self, _context: &StepContext, made: Self::Made) -> Result<Extracted<Self::Output>, StepError> {
        let mut artifacts = vec![made.json.artifact("application/json"), made.md.artifact("text/markdown")];
        artifacts.extend(made.hocr.as_ref().map(|words| words.artifact("application/json")));
        let output = BoundDocument {
            document_id: made.document_id,
            file: made.file,
            file_type: made.file_type,
            pages: made.pages,
            missing: made.missing,
            by_ocr: made.by_ocr,
            words: made.words,
            md: made.md.key,
            hocr: made.hocr.map(|words| words.key),
            json: made.json.key,
        };
        Ok(Extracted { artifacts, ..Extracted::new(output) })
    }
}

impl DocumentCombiner {
    fn write(
        &self,
        context: &StepContext,
        file: &Item,
        file_type: String,
        bound: Bound,
    ) -> Result<BoundDocument<KeptFile>, StepError> {
        let outward = Outward::from_context(context, &self.places)?;
        let document_id = file.public_id();
        let keep = |kind: &str, ending: &str, bytes: &[u8], media_type: &str| -> Result<KeptFile, StepError> {
            let key = outward.key(kind, &format!("{document_id}.{ending}"))?;
            Ok(outward.keep(context, &key, Bytes::New(bytes), media_type)?.into())
        };
        let Bound { text, words_of_pages, has_words } = bound;
        let md = keep("text_doc", "md", text.markdown().as_bytes(), "text/markdown")?;
        let mut hocr = None;
        if has_words {
            let (page_count, pages) = (words_of_pages.len(), words_of_pages);
            let words = CombinedWords { document_id: document_id.clone(), page_count, pages };
            let words = serde_json::to_vec(&words)
                .map_err(|error| StepError::bug(format!("the document cannot be written: {error}")))?;
            hocr = Some(keep("hocr", "json", &words, "application/json")?);
        }
        let (pages, missing, by_ocr, words) = (text.pages.len(), text.missing.clone(), text.by_ocr, text.words);
        // The last to be written: who sees it may count on the others.
        let json = text.document_json(&document_id, &file_type)?;
        let json = keep("text_doc", "json", &json, "application/json")?;
        let file = name_of(file);
        Ok(BoundDocument { document_id, file, file_type, pages, missing, by_ocr, words, md, hocr, json })
    }
}

/// What a processor has found of an item.
fn outcome_of(context: &StepContext, item: ItemId, processor: &str) -> Result<Option<Outcome>, StepError> {
    find(context, item, &stage_of(context, processor)?, processor)
}

fn find(context: &StepContext, item: ItemId, stage: &Name, processor: &str) -> Result<Option<Outcome>, StepError> {
    Ok(context.item_outcomes(item, stage)?.into_iter().find(|outcome| &*outcome.processor == processor))
}

/// The pages of a file that was converted as a whole.
fn converted(context: &StepContext, office: &Outcome) -> Result<Bound, StepError> {
    let converted: OfficePages = output_of(context, office)?;
    let mut bound = Bound::default();
    bound.text.words = converted.words;
    for page in &converted.pages {
        bound.text.pages.push(stored_text(context, page.content)?);
    }
    Ok(bound)
}

/// The pages of a file that was taken apart, each by whichever way it went.
fn printed(context: &StepContext, file: &Item) -> Result<Bound, StepError> {
    let stages = [(stage_of(context, TEXT)?, TEXT), (stage_of(context, OCR)?, OCR)];
    let before = stage_of(context, PAGE_KIND)?;
    let mut bound = Bound::default();
    for page in in_order(context.items(Some(ItemKind::Page), Some(file.id))?) {
        let mut found = None;
        for (stage, processor) in &stages {
            found = found.or(find(context, page.id, stage, processor)?);
        }
        if let Some(outcome) = found.as_ref().filter(|outcome| outcome.status == OutcomeStatus::Completed) {
            let read: IdpPageText = output_of(context, outcome)?;
            bound.text.by_ocr += u64::from(read.read_by == ReadBy::Ocr);
            bound.text.words += read.words;
            bound.text.pages.push(stored_text(context, read.text.content)?);
            bound.has_words |= read.hocr.is_some();
            bound.words_of_pages.push(stored_words(context, read.hocr.as_ref())?);
            continue;
        }
        let found = found.or(find(context, page.id, &before, PAGE_KIND)?);
        let failed = found.filter(|outcome| outcome.status == OutcomeStatus::Failed);
        let why = failed.map_or_else(|| "was not read".to_owned(), |outcome| reason(&outcome));
        bound.text.gap(usize::try_from(page.ordinal).unwrap_or(0) + 1, why);
        bound.words_of_pages.push(PageWords::default());
    }
    Ok(bound)
}

fn stored_text(context: &StepContext, content: ContentHash) -> Result<String, StepError> {
    String::from_utf8(context.blob(content)?).map_err(|_| StepError::bug("the text of a page is not UTF-8"))
}

/// The words of a page; none where nobody asked for them.
fn stored_words(context: &StepContext, kept: Option<&KeptFile>) -> Result<PageWords, StepError> {
    let Some(kept) = kept else { return Ok(PageWords::default()) };
    serde_json::from_slice(&context.blob(kept.content)?)
        .map_err(|error| StepError::bug(format!("the words of a page cannot be understood: {error}")))
}
