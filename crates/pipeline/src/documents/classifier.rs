//! Which type of document a page is from.

use super::{CLASSIFIER, Knowledge};
use crate::reading::stored_page;
use bindery_core::StepError;
use bindery_engine::{Extracted, Processor, context::StepContext};
use serde_json::{Value, json};
use std::sync::Arc;

/// Classifies a page that was read. What the reader said of it goes on with the result.
#[derive(Debug, Clone)]
pub struct PageClassifier {
    knowledge: Arc<Knowledge>,
}

impl PageClassifier {
    pub fn new(knowledge: Arc<Knowledge>) -> Self {
        Self { knowledge }
    }
}

impl Processor for PageClassifier {
    fn name(&self) -> &'static str {
        CLASSIFIER
    }

    fn process(&self, context: &StepContext, mut input: Value) -> Result<Value, StepError> {
        let page = stored_page(context, &input)?;
        let class = self.knowledge.classifier().classify(&page);
        if let Some(input) = input.as_object_mut() {
            // The page's text is in the reader's result, and once is enough.
            input.remove("markdown");
        }
        input["doc_type"] = json!(class.doctype);
        input["class"] = json!(class);
        Ok(input)
    }

    fn extract(&self, _context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        let confidence = processed["class"]["confidence"].as_f64().unwrap_or(0.0);
        let label = processed["doc_type"].as_str().map(str::to_owned);
        Ok(Extracted { label, ..Extracted::new(processed).with_confidence(confidence) })
    }
}
