//! Puts the pages of a file together.

use super::{PAGE_COMBINER, READER, SPLITTER, page_reader::stored_page};
use crate::results::{in_order, name_of, reason, stage_of};
use bindery_core::{StepError, item::ItemKind, outcome::OutcomeStatus};
use bindery_engine::{Extracted, Processor, context::StepContext, processor::NewArtifact};
use bindery_reader::{
    combine::{CombinedDocument, page_markdown},
    render,
};
use serde_json::{Value, json};

/// Binds a file's pages in their order. The result is stored under two readable keys: `text-docs/FILE.json`, which other
/// programs read, and `text-docs/FILE.md`, which people do.
#[derive(Debug, Clone, Copy)]
pub struct PageCombiner;

impl Processor for PageCombiner {
    fn name(&self) -> &'static str {
        PAGE_COMBINER
    }

    fn process(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        let file = context.item()?;
        let stage = stage_of(context, READER)?;
        let (mut markdown, mut missing, mut by_ocr, mut words) = (Vec::new(), Vec::new(), 0_u64, 0);
        for page in in_order(context.items(Some(ItemKind::Page), Some(file.id))?) {
            let number = usize::try_from(page.ordinal).unwrap_or(0) + 1;
            let found = context.item_outcomes(page.id, &stage)?;
            let outcome = found.iter().find(|outcome| &*outcome.processor == READER);
            let text = match outcome {
                Some(outcome) if outcome.status == OutcomeStatus::Completed => {
                    let output = context.read(&outcome.output)?;
                    by_ocr += u64::from(output["read_by"] == "ocr");
                    words += output["words"].as_u64().unwrap_or(0);
                    match output["markdown"].as_str() {
                        Some(text) => text.to_owned(),
                        // Read by an earlier version.
                        None => render::markdown(&stored_page(context, &output)?),
                    }
                }
                other => {
                    let why = other.map_or_else(|| "was not read".to_owned(), reason);
                    missing.push(json!({"page": number, "reason": why}));
                    format!("*This page could not be read: {why}*")
                }
            };
            markdown.push(page_markdown(number, &text));
        }
        let opened = context.item_outcomes(file.id, &stage_of(context, SPLITTER)?)?;
        let about = opened.first().map(|outcome| context.read(&outcome.output)).transpose()?.unwrap_or_default();
        Ok(json!({
            "file": name_of(&file), "id": file.public_id(), "type": about["type"], "metadata": about["metadata"],
            "pages": markdown, "missing": missing, "by_ocr": by_ocr, "words": words,
        }))
    }

    fn extract(&self, context: &StepContext, mut processed: Value) -> Result<Extracted, StepError> {
        let pages: Vec<String> = match processed["pages"].take() {
            Value::Array(pages) => pages.into_iter().filter_map(|page| page.as_str().map(str::to_owned)).collect(),
            _ => return Err(StepError::bug("the step before left no pages")),
        };
        let text = |name: &str| processed[name].as_str().unwrap_or_default().to_owned();
        let (id, kind) = (text("id"), text("type"));
        processed["pages"] = json!(pages.len());
        let whole = pages.join("\n");
        let mut document = serde_json::to_value(CombinedDocument::new(&id, &kind, pages))
            .map_err(|error| StepError::bug(format!("the document cannot be written: {error}")))?;
        if processed["missing"].as_array().is_some_and(|missing| !missing.is_empty()) {
            document["missing"] = processed["missing"].clone();
        }
        let key = context.item()?.id;
        let mut extracted = Extracted::new(Value::Null);
        for (ending, media_type, stored) in [
            ("json", "application/json", context.keep_json(&document)?),
            ("md", "text/markdown", context.keep_blob(whole.into_bytes())?),
        ] {
            let key = format!("text-docs/{key}.{ending}");
            processed[ending] = json!(key);
            let media_type = media_type.to_owned();
            extracted.artifacts.push(NewArtifact { key, hash: stored.hash, size: stored.size, media_type });
        }
        extracted.output = processed;
        Ok(extracted)
    }
}
