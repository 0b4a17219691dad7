//! Which type of document a page is from.

use super::{CLASSIFIER, Knowledge};
use crate::{intake::stated_doctype, reading::stored_page};
use bindery_core::StepError;
use bindery_engine::{Correction, Extracted, Processor, context::StepContext};
use bindery_fields::classify::{PageClass, Reason};
use serde_json::{Value, json};
use std::sync::Arc;

/// Where the result names the type.
const TYPE: &str = "doc_type";

/// Classifies a page that was read, unless the submission [states the type](crate::intake::state_doctype). What the reader said of it goes on with the result.
#[derive(Debug, Clone)]
pub struct PageClassifier {
    knowledge: Arc<Knowledge>,
}

impl PageClassifier {
    pub fn new(knowledge: Arc<Knowledge>) -> Self {
        Self { knowledge }
    }

    /// The class of a page whose type is stated. Where documents begin and end is still seen from the page.
    fn stated(&self, class: &PageClass, stated: &str) -> Result<PageClass, StepError> {
        let Some(doctype) = self.knowledge.doctypes.get(stated) else {
            let message =
                format!("the submission states the document type {stated:?}; known are {}", self.knowledge.names());
            return Err(StepError::reject(message).named("UnknownDocType"));
        };
        let because = vec![Reason::new("the submission states the type", 1.0)];
        Ok(PageClass {
            doctype: doctype.name.clone(),
            confidence: 1.0,
            because,
            runners_up: Vec::new(),
            begins: class.begins,
            ends: class.ends,
        })
    }
}

impl Processor for PageClassifier {
    fn name(&self) -> &'static str {
        CLASSIFIER
    }

    fn process(&self, context: &StepContext, mut input: Value) -> Result<Value, StepError> {
        let page = stored_page(context, &input)?;
        let mut class = self.knowledge.classifier().classify(&page);
        if let Some(stated) = context.submission().ok().and_then(|submission| stated_doctype(&submission.metadata)) {
            class = self.stated(&class, &stated)?;
        }
        if let Some(input) = input.as_object_mut() {
            // The page's text is in the reader's result, and once is enough.
            input.remove("markdown");
        }
        input[TYPE] = json!(class.doctype);
        input["class"] = json!(class);
        Ok(input)
    }

    fn extract(&self, _context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        let confidence = processed["class"]["confidence"].as_f64().unwrap_or(0.0);
        let label = processed[TYPE].as_str().map(str::to_owned);
        let taken_for = label.as_deref().unwrap_or("nothing");
        let reasons = vec![format!("the page is taken for {taken_for}, {:.0} % sure", confidence * 100.0)];
        Ok(Extracted { label, reasons, ..Extracted::new(processed).with_confidence(confidence) })
    }

    /// A person says which type the page is from; there is nothing else to say.
    fn correct(&self, mut found: Value, correction: &Correction) -> Result<Extracted, StepError> {
        if let Some((unknown, _)) = correction.differing(&found).find(|(name, _)| *name != TYPE) {
            return Err(StepError::reject(format!("of a page, {TYPE} can be corrected, and not {unknown:?}")));
        }
        if let Some(said) = correction.fields.get(TYPE) {
            let known = said.as_str().filter(|name| self.knowledge.doctypes.get(name).is_some());
            found[TYPE] = json!(known.ok_or_else(|| {
                StepError::reject(format!("{said} is no type of document; there are {}", self.knowledge.names()))
            })?);
        }
        let label = found[TYPE].as_str().map(str::to_owned);
        Ok(Extracted { label, ..Extracted::new(found) })
    }
}
