//! Consecutive pages of one type become one document.

use super::{
    UNKNOWN,
    pages::{PageResult, by_a_person, page_results},
};
use crate::{documents::rounded, settings};
use bindery_core::{StepError, item::ItemKind};
use bindery_engine::{Child, Children, Extracted, Processor, context::StepContext};
use serde_json::{Map, Value, json};

/// Groups the classified pages of a submission in their order. A document never goes on from one file to the next, unless
/// the stage's settings say `across_files: true`: a scanner may make a file of each page. A page that could not be read
/// belongs to no document, and ends the one before it.
#[derive(Debug, Clone, Copy)]
pub struct ClassificationAggregator;

impl Processor for ClassificationAggregator {
    fn name(&self) -> &'static str {
        "classification_aggregator"
    }

    fn validate(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        settings::yes_or_no(context, "across_files", false)?;
        Ok(input)
    }

    fn process(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        let across_files = settings::yes_or_no(context, "across_files", false)?;
        let mut documents: Vec<Draft> = Vec::new();
        let mut goes_on = false;
        for page in page_results(context)? {
            if page.failed.is_some() {
                goes_on = false;
                continue;
            }
            let message = page.message(context)?;
            let doc_type = message["doc_type"].as_str().filter(|name| !name.is_empty()).unwrap_or(UNKNOWN);
            let file = &message["file_index"];
            let same = |draft: &&mut Draft| draft.doc_type == doc_type && (across_files || draft.file == *file);
            if let Some(draft) = documents.last_mut().filter(|_| goes_on).filter(same) {
                draft.add(&page, &message);
            } else {
                let mut draft = Draft::new(doc_type, file.clone());
                draft.add(&page, &message);
                documents.push(draft);
            }
            goes_on = true;
        }
        let documents: Vec<Value> =
            documents.into_iter().enumerate().map(|(index, draft)| draft.finish(index + 1)).collect();
        Ok(json!({"documents": documents}))
    }

    fn extract(&self, _context: &StepContext, mut processed: Value) -> Result<Extracted, StepError> {
        let Value::Array(documents) = processed["documents"].take() else {
            return Err(StepError::bug("the step before left no documents"));
        };
        let children = documents.into_iter().map(|mut document| {
            let input = object(document["input"].take());
            let data = object(document["data"].take());
            let text = |name: &str| data.get(name).and_then(Value::as_str).map(str::to_owned);
            Child { label: text("doc_type"), key: text("document_id"), data, input, ..Child::default() }
        });
        let children = Children::new(ItemKind::Document, children.collect());
        Ok(Extracted::new(json!({"document_count": children.count})).with_children(children))
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// A document in the making.
#[derive(Debug)]
struct Draft {
    doc_type: String,
    /// The file of its first page.
    file: Value,
    page_indices: Vec<u64>,
    /// Of its least sure page.
    confidence: Option<f64>,
    because: Value,
    /// Keyed by the index of the page.
    ocr_texts: Map<String, Value>,
    page_contents: Map<String, Value>,
    page_numbers: Map<String, Value>,
    /// What its pages are from, each once.
    files: Vec<Value>,
}

impl Draft {
    fn new(doc_type: &str, file: Value) -> Self {
        Self {
            doc_type: doc_type.to_owned(),
            file,
            page_indices: Vec::new(),
            confidence: None,
            because: Value::Null,
            ocr_texts: Map::new(),
            page_contents: Map::new(),
            page_numbers: Map::new(),
            files: Vec::new(),
        }
    }

    fn add(&mut self, page: &PageResult, message: &Value) {
        if self.page_indices.is_empty() {
            self.because = if by_a_person(page.confidence(), &message["classification_confidence"]) {
                json!([{"text": "a person has said so", "weight": 1.0}])
            } else {
                message["because"].clone()
            };
        }
        self.page_indices.push(page.index);
        self.confidence = match (self.confidence, page.confidence()) {
            (Some(least), Some(confidence)) => Some(least.min(confidence)),
            (least, confidence) => least.or(confidence),
        };
        let key = page.index.to_string();
        self.ocr_texts.insert(key.clone(), message["ocr_text"].clone());
        self.page_numbers.insert(key.clone(), message["page_number"].clone());
        if message["page_content"].is_string() {
            self.page_contents.insert(key, message["page_content"].clone());
        }
        let file = json!({"content": message["file_content"], "name": message["original_filename"]});
        if !self.files.contains(&file) {
            self.files.push(file);
        }
    }

    /// What is kept with the document, and what only its extractor needs.
    fn finish(self, number: usize) -> Value {
        json!({
            "data": {
                // The same however often, and in whatever order, the work is done.
                "document_id": format!("doc_{number}"), "doc_type": self.doc_type, "page_indices": self.page_indices,
                "type_confidence": rounded(&json!(self.confidence)), "because": self.because, "files": self.files,
            },
            "input": {
                "ocr_texts": self.ocr_texts, "page_contents": self.page_contents, "page_numbers": self.page_numbers,
            },
        })
    }
}
