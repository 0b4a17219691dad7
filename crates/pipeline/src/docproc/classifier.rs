//! Which type of document a page is from.

use super::pages::{page_of, with};
use crate::documents::{Knowledge, rounded};
use bindery_core::StepError;
use bindery_engine::{Extracted, Processor, context::StepContext};
use serde_json::{Value, json};
use std::sync::Arc;

/// Suggests a type for a page that was read. The message goes on with `doc_type`, `classification_confidence`, the reasons
/// and the other types that come into question.
#[derive(Debug, Clone)]
pub struct TypeClassifier {
    knowledge: Arc<Knowledge>,
}

impl TypeClassifier {
    pub fn new(knowledge: Arc<Knowledge>) -> Self {
        Self { knowledge }
    }
}

impl Processor for TypeClassifier {
    fn name(&self) -> &'static str {
        "classifier"
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        let class = self.knowledge.classifier().classify(&page_of(context, &input)?);
        let others: Vec<Value> = class
            .runners_up
            .iter()
            .map(|(doc_type, likelihood)| json!({"doc_type": doc_type, "confidence": rounded(&json!(likelihood))}))
            .collect();
        Ok(with(
            input,
            json!({
                "doc_type": class.doctype, "classification_confidence": class.confidence, "because": class.because,
                "other_types": others,
            }),
        ))
    }

    fn extract(&self, _context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        let confidence = processed["classification_confidence"].as_f64().unwrap_or(0.0);
        let label = processed["doc_type"].as_str().map(str::to_owned);
        Ok(Extracted { label, ..Extracted::new(processed).with_confidence(confidence) })
    }
}
