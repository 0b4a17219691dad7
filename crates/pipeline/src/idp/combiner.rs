//! Puts the pages of a document together.

use super::{
    CLASSIFIER, COMBINER, OCR, OFFICE, TEXT,
    office::kept,
    outward::{Bytes, Outward},
    places::Places,
};
use crate::{
    reading::content_of,
    results::{in_order, name_of, reason, stage_of},
};
use bindery_core::{
    ItemId, Name, StepError,
    item::{Item, ItemKind},
    outcome::{Outcome, OutcomeStatus},
};
use bindery_engine::{Extracted, Processor, context::StepContext, workflow::OnFailed};
use bindery_reader::combine::{CombinedDocument, CombinedWords, PageWords, page_markdown};
use serde_json::{Value, json};
use std::sync::Arc;

/// Binds a document's pages in their order to `text-docs/{doc}.json`, and for people to `text-docs/{doc}.md`. The words of
/// the pages, where there are any, become `hocr/{doc}.json`.
///
/// The stage's join sees to it that every page has ended. With `on_failed: fail`, a document of which pages have failed is
/// not put together until they are repaired; with `continue`, each is a gap that is named.
#[derive(Debug, Clone)]
pub struct DocumentCombiner {
    places: Arc<Places>,
}

/// What was found of a document.
#[derive(Debug, Default)]
struct Bound {
    pages: Vec<String>,
    words_of_pages: Vec<PageWords>,
    has_words: bool,
    missing: Vec<Value>,
    by_ocr: u64,
    words: u64,
}

impl DocumentCombiner {
    pub fn new(places: Arc<Places>) -> Self {
        Self { places }
    }
}

impl Processor for DocumentCombiner {
    fn name(&self) -> &'static str {
        COMBINER
    }

    fn process(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        let file = context.item()?;
        let document = file.public_id();
        let bound = match outcome_of(context, file.id, OFFICE)? {
            Some(office) if office.status == OutcomeStatus::Completed => converted(context, &office)?,
            _ => printed(context, &file)?,
        };
        let may_be_missing = context.stage()?.aggregation.is_none_or(|join| join.on_failed == OnFailed::Continue);
        if !may_be_missing && let Some(first) = bound.missing.first() {
            let numbers: Vec<String> = bound.missing.iter().map(|gap| gap["page"].to_string()).collect();
            let why = first["reason"].as_str().unwrap_or_default();
            let message = format!("page {} of {} is missing: {why}", numbers.join(", "), bound.pages.len());
            return Err(StepError::reject(message).named("MissingPages"));
        }
        let about = outcome_of(context, file.id, CLASSIFIER)?;
        let about = about.map(|outcome| context.read(&outcome.output)).transpose()?.unwrap_or_default();
        let kind = about["type"].as_str().unwrap_or_default();
        let mut output = json!({
            "document_id": document, "file": name_of(&file), "type": kind, "pages": bound.pages.len(),
            "missing": bound.missing, "by_ocr": bound.by_ocr, "words": bound.words,
        });
        self.write(context, &document, kind, bound, &mut output)?;
        Ok(output)
    }

    fn extract(&self, _context: &StepContext, mut processed: Value) -> Result<Extracted, StepError> {
        let mut extracted = Extracted::new(Value::Null);
        for (name, media_type) in [("json", "application/json"), ("md", "text/markdown"), ("hocr", "application/json")]
        {
            if let Some(artifact) = kept(&processed[name], media_type) {
                processed[name] = json!(artifact.key);
                extracted.artifacts.push(artifact);
            }
        }
        extracted.output = processed;
        Ok(extracted)
    }
}

impl DocumentCombiner {
    fn write(
        &self,
        context: &StepContext,
        document: &str,
        kind: &str,
        bound: Bound,
        output: &mut Value,
    ) -> Result<(), StepError> {
        let outward = Outward::of(context, &self.places)?;
        let unwritable = |error| StepError::bug(format!("the document cannot be written: {error}"));
        let mut files = vec![("md", "text_doc", "md", bound.pages.join("\n").into_bytes(), "text/markdown")];
        if bound.has_words {
            let pages = bound.words_of_pages;
            let words = CombinedWords { document_id: document.to_owned(), page_count: pages.len(), pages };
            let words = serde_json::to_vec(&words).map_err(unwritable)?;
            files.push(("hocr", "hocr", "json", words, "application/json"));
        }
        let mut json = serde_json::to_value(CombinedDocument::new(document, kind, bound.pages)).map_err(unwritable)?;
        if !bound.missing.is_empty() {
            json["missing"] = json!(bound.missing);
        }
        // The last to be written: who sees it may count on the others.
        files.push(("json", "text_doc", "json", json.to_string().into_bytes(), "application/json"));
        for (name, kind, ending, bytes, media_type) in files {
            let key = outward.key(kind, &format!("{document}.{ending}"))?;
            let kept = outward.keep(context, &key, Bytes::New(&bytes), media_type)?;
            output[name] = json!({"key": kept.key, "content": kept.hash, "size": kept.size});
        }
        Ok(())
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
    let output = context.read(&office.output)?;
    let mut bound = Bound { words: output["words"].as_u64().unwrap_or(0), ..Bound::default() };
    for page in output["pages"].as_array().into_iter().flatten() {
        bound.pages.push(stored_text(context, page)?);
    }
    Ok(bound)
}

/// The pages of a file that was taken apart, each by whichever way it went.
fn printed(context: &StepContext, file: &Item) -> Result<Bound, StepError> {
    let stages = [(stage_of(context, TEXT)?, TEXT), (stage_of(context, OCR)?, OCR)];
    let before = stage_of(context, super::PAGE_KIND)?;
    let mut bound = Bound::default();
    for page in in_order(context.items(Some(ItemKind::Page), Some(file.id))?) {
        let number = usize::try_from(page.ordinal).unwrap_or(0) + 1;
        let mut found = None;
        for (stage, processor) in &stages {
            found = found.or(find(context, page.id, stage, processor)?);
        }
        if let Some(outcome) = found.as_ref().filter(|outcome| outcome.status == OutcomeStatus::Completed) {
            let output = context.read(&outcome.output)?;
            bound.by_ocr += u64::from(output["read_by"] == "ocr");
            bound.words += output["words"].as_u64().unwrap_or(0);
            bound.pages.push(stored_text(context, &output["text"])?);
            bound.has_words |= output["hocr"].is_object();
            bound.words_of_pages.push(stored_words(context, &output["hocr"])?);
            continue;
        }
        let found = found.or(find(context, page.id, &before, super::PAGE_KIND)?);
        let failed = found.filter(|outcome| outcome.status == OutcomeStatus::Failed);
        let why = failed.map_or_else(|| "was not read".to_owned(), |outcome| reason(&outcome));
        bound.missing.push(json!({"page": number, "reason": why}));
        bound.pages.push(page_markdown(number, &format!("*This page could not be read: {why}*")));
        bound.words_of_pages.push(PageWords::default());
    }
    Ok(bound)
}

fn stored_text(context: &StepContext, entry: &Value) -> Result<String, StepError> {
    let hash = content_of(entry).ok_or_else(|| StepError::bug("the result of a page names no text"))?;
    String::from_utf8(context.blob(hash)?).map_err(|_| StepError::bug("the text of a page is not UTF-8"))
}

/// The words of a page; none where nobody asked for them.
fn stored_words(context: &StepContext, entry: &Value) -> Result<PageWords, StepError> {
    let Some(hash) = content_of(entry) else { return Ok(PageWords::default()) };
    serde_json::from_slice(&context.blob(hash)?)
        .map_err(|error| StepError::bug(format!("the words of a page cannot be understood: {error}")))
}
