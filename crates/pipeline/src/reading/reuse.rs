//! By what the results of reading are known again: bytes, not names.

use super::{PAGE_READER, SPLITTER, combiner::PageCombiner, page_reader::PageReader, splitter::FileSplitter};
use crate::{
    borders::PageOfFile,
    results::{has_result, name_of, reason, stage_of},
    stage::{Carried, fit},
};
use bindery_core::{ContentHash, ItemId, Name, StepError, item::ItemKind, outcome::Outcome};
use bindery_engine::{Child, Children, Content, Extracted, Reusable, context::StepContext, steps::input_hash};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// Of a name only the ending may say how bytes are read.
pub(crate) fn ending(name: Option<&str>) -> Option<String> {
    let (_, ending) = name?.rsplit_once('.')?;
    Some(ending.to_lowercase())
}

/// What a stage has found on the parts of an item, in their order: the hash of each result, or why there is none.
pub(crate) fn results_of_parts(
    context: &StepContext,
    parent: ItemId,
    kind: ItemKind,
    stage: Name,
) -> Result<Vec<Value>, StepError> {
    let mut results = Vec::new();
    context.visit_parts(Some(parent), kind, &[stage], |item, found| {
        let said = found.iter().flatten().map(|outcome| json!([outcome.processor, result_of(outcome)]));
        results.push((item.ordinal, item.id, Value::Array(said.collect())));
        Ok(())
    })?;
    results.sort_by_key(|(ordinal, id, _)| (*ordinal, *id));
    Ok(results.into_iter().map(|(ordinal, _, said)| json!([ordinal, said])).collect())
}

fn result_of(outcome: &Outcome) -> Value {
    if has_result(outcome) { json!(input_hash(&outcome.output)) } else { json!({"error": reason(outcome)}) }
}

impl Reusable for FileSplitter {
    fn content(&self, context: &StepContext, _input: &Value) -> Result<Content, StepError> {
        let (item, content) = super::received(context)?;
        Ok(Content { reads: json!([content, ending(item.label.as_deref())]), ..Content::default() })
    }

    fn names_its_submission(&self) -> bool {
        true
    }

    /// Each page names its file.
    fn adopt(&self, context: &StepContext, _input: &Value, mut found: Extracted) -> Result<Extracted, StepError> {
        let name = json!(context.item()?.label);
        found.children = found.children.map(|children| {
            changed_children(&children, |_, child| {
                child.data.insert("name".to_owned(), name.clone());
            })
        });
        Ok(found)
    }
}

impl Reusable for PageReader {
    fn content(&self, _context: &StepContext, input: &Value) -> Result<Content, StepError> {
        let page: PageOfFile = fit(input).map_err(|misfit| StepError::reject(misfit.to_string()))?;
        Ok(Content { reads: json!([page.content, page.page, ending(page.name.as_deref())]), ..Content::default() })
    }
}

/// What the result of combining says that is another in each submission.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct OfItem {
    file: String,
    id: String,
    json: String,
    md: String,
}

/// The same of the document that is stored.
#[derive(Debug, Serialize, Deserialize)]
struct OfDocument {
    #[serde(rename = "documentId")]
    document_id: String,
}

fn carried<T: DeserializeOwned>(value: Value) -> Result<Carried<T>, StepError> {
    Carried::read(value).map_err(|misfit| StepError::bug(format!("a stored result is of another form: {misfit}")))
}

impl Reusable for PageCombiner {
    fn content(&self, context: &StepContext, _input: &Value) -> Result<Content, StepError> {
        let file = context.item()?;
        let pages = results_of_parts(context, file.id, ItemKind::Page, stage_of(context, PAGE_READER)?)?;
        let opened = context.item_outcomes(file.id, &stage_of(context, SPLITTER)?)?;
        let opened: Vec<Value> = opened.iter().map(result_of).collect();
        Ok(Content { reads: json!([opened, pages]), ..Content::default() })
    }

    fn names_its_submission(&self) -> bool {
        true
    }

    /// The file has another id and perhaps another name here; what is stored under its keys says the id, too.
    fn adopt(&self, context: &StepContext, _input: &Value, mut found: Extracted) -> Result<Extracted, StepError> {
        let file = context.item()?;
        let mut combined: Carried<OfItem> = carried(std::mem::take(&mut found.output))?;
        for artifact in &mut found.artifacts {
            let is_json = ending(Some(&artifact.key)).as_deref() == Some("json");
            artifact.key = format!("text-docs/{}.{}", file.id, if is_json { "json" } else { "md" });
            if is_json {
                let stored: Value = serde_json::from_slice(&context.blob(artifact.hash)?)
                    .map_err(|error| StepError::bug(format!("a stored document is not JSON: {error}")))?;
                let document = carried::<OfDocument>(stored)?.with(OfDocument { document_id: file.public_id() });
                let stored = context.keep_json(&Value::Object(document.into_message()))?;
                (artifact.hash, artifact.size) = (stored.hash, stored.size);
                combined.part.json.clone_from(&artifact.key);
            } else {
                combined.part.md.clone_from(&artifact.key);
            }
        }
        let OfItem { json, md, .. } = combined.part.clone();
        let here = OfItem { file: name_of(&file), id: file.public_id(), json, md };
        found.output = Value::Object(combined.with(here).into_message());
        Ok(found)
    }
}

/// The page of a file that an item is.
pub(crate) fn place_of_page(context: &StepContext) -> Result<Option<(ContentHash, usize)>, StepError> {
    let page: Option<PageOfFile> = serde_json::from_str(&context.item()?.data).ok();
    Ok(page.map(|page| (page.content, page.page.get())))
}

/// The parts that an item was taken apart into, each changed.
pub(crate) fn changed_children(children: &Children, change: impl Fn(usize, &mut Child)) -> Children {
    let changed = (0..children.count).map(|place| {
        let mut child = children.child(place);
        change(place, &mut child);
        child
    });
    Children::new(children.kind, changed.collect())
}
