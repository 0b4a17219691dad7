//! Consecutive pages become documents.

use super::{CLASSIFIER, GROUPER, Knowledge, attachments_of};
use crate::{
    reading::{ReadingRoom, stored_page},
    results::{has_result, in_order, stage_of},
};
use bindery_core::{Name, StepError, item::ItemKind};
use bindery_engine::{Child, Children, Extracted, Processor, context::StepContext};
use bindery_fields::classify::{PageClass, documents};
use bindery_reader::Page;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};
use std::{collections::HashMap, sync::Arc};

/// Groups the classified pages of a file. A page that could not be read or classified belongs to no document; the result
/// names it. A file with an e-invoice inside is one document of the type that the e-invoice states; a document that fits
/// no type gets the one whose fields fit it.
#[derive(Debug, Clone)]
pub struct DocumentGrouper {
    room: Arc<ReadingRoom>,
    knowledge: Arc<Knowledge>,
}

impl DocumentGrouper {
    pub fn new(room: Arc<ReadingRoom>, knowledge: Arc<Knowledge>) -> Self {
        Self { room, knowledge }
    }
}

impl Processor for DocumentGrouper {
    fn name(&self) -> &'static str {
        GROUPER
    }

    fn process(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        let file = context.item()?;
        let stage = stage_of(context, CLASSIFIER)?;
        let mut pages: Vec<(Page, PageClass)> = Vec::new();
        let mut contents: HashMap<usize, Value> = HashMap::new();
        for item in in_order(context.items(Some(ItemKind::Page), Some(file.id))?) {
            let outcomes = context.item_outcomes(item.id, &stage)?;
            // A page that a person is asked about goes on with the type that was found.
            let classified = outcomes.iter().find(|outcome| has_result(outcome));
            let Some(outcome) = classified else { continue };
            let output = context.read(&outcome.output)?;
            let page = stored_page(context, &output)?;
            contents.insert(page.number, output["content"].clone());
            pages.push((page, class_of(&output)?));
        }
        let pages: Vec<(&Page, &PageClass)> = pages.iter().map(|(page, class)| (page, class)).collect();
        let stored_file = json!({"content": file.content.map(|hash| hash.to_string()), "name": file.label});
        let attachments = attachments_of(&self.room, context, &stored_file)?;
        let documents: Vec<Value> = documents(&pages, &attachments, &self.knowledge.doctypes)
            .into_iter()
            .map(|document| {
                let stored: Vec<&Value> = document.pages.iter().filter_map(|page| contents.get(page)).collect();
                json!({
                    "doc_type": document.doctype, "pages": document.pages, "page_contents": stored,
                    "confidence": document.confidence, "because": document.because,
                    "runners_up": document.runners_up, "file": stored_file,
                })
            })
            .collect();
        Ok(json!({"file": file.ordinal + 1, "documents": documents}))
    }

    fn extract(&self, _context: &StepContext, mut processed: Value) -> Result<Extracted, StepError> {
        let (file, Value::Array(documents)) = (processed["file"].take(), processed["documents"].take()) else {
            return Err(StepError::bug("the step before left no documents"));
        };
        let output = json!({"documents": documents.len()});
        let children = documents.into_iter().enumerate().map(|(index, document)| {
            let label = document["doc_type"].as_str().map(str::to_owned);
            let data = match document {
                Value::Object(data) => data,
                _ => Map::new(),
            };
            // The same however often, and in whatever order, the work is done.
            let key = Some(format!("doc_{file}_{}", index + 1));
            Child { label, key, data, ..Child::default() }
        });
        let children = Children::new(ItemKind::Document, children.collect());
        Ok(Extracted::new(output).with_children(children))
    }
}

/// What the classifier found, or what a person said instead.
fn class_of(output: &Value) -> Result<PageClass, StepError> {
    let unreadable = |error| StepError::bug(format!("the class of a page cannot be understood: {error}"));
    let class = PageClass::deserialize(&output["class"]).map_err(unreadable)?;
    match output["doc_type"].as_str() {
        Some(said) if *class.doctype != *said => {
            Ok(PageClass { doctype: Name::from(said), confidence: 1.0, runners_up: Vec::new(), ..class })
        }
        _ => Ok(class),
    }
}
