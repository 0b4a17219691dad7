//! Which type of document a page is from.

use super::{CLASSIFIER, Knowledge};
use crate::{
    borders::{ClassifiedPage, PageText, stored_page},
    intake::stated_doctype,
    stage::{Carried, Stage},
};
use bindery_core::StepError;
use bindery_engine::{Correction, Extracted, Reusable, context::StepContext};
use bindery_fields::classify::{PageClass, Reason};
use serde_json::Value;
use std::sync::Arc;

/// Where the result names the type.
const TYPE: &str = "doc_type";

/// Classifies a page that was read, unless the submission [states the type](crate::intake::state_doctype). What the reader said of it goes on with the result.
#[derive(Debug, Clone)]
pub(crate) struct PageClassifier {
    knowledge: Arc<Knowledge>,
}

impl PageClassifier {
    pub(crate) fn new(knowledge: Arc<Knowledge>) -> Self {
        Self { knowledge }
    }

    pub(super) fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }

    /// The class of a page whose type is stated. Where documents begin and end is still seen from the page.
    fn stated_class(&self, class: &PageClass, stated: &str) -> Result<PageClass, StepError> {
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

impl Stage for PageClassifier {
    const NAME: &'static str = CLASSIFIER;
    const EXPECTS: &'static str = "a page that page_reader has read";
    type Input = Carried<PageText>;
    type Made = Carried<ClassifiedPage>;
    type Output = Carried<ClassifiedPage>;

    fn reuse(&self) -> Option<&dyn Reusable> {
        Some(self)
    }

    fn process(&self, context: &StepContext, read: Carried<PageText>) -> Result<Carried<ClassifiedPage>, StepError> {
        let content = read.part.content;
        let mut class = self.knowledge.classifier().classify(&stored_page(context, content)?);
        if let Some(stated) = context.submission().ok().and_then(|submission| stated_doctype(&submission.metadata)) {
            class = self.stated_class(&class, &stated)?;
        }
        // The page's text is in the reader's result, and once is enough.
        let read = read.remove("markdown");
        Ok(read.with(ClassifiedPage { content, doc_type: class.doctype.to_string(), class }))
    }

    fn extract(
        &self,
        _context: &StepContext,
        page: Carried<ClassifiedPage>,
    ) -> Result<Extracted<Self::Output>, StepError> {
        let (doc_type, confidence) = (page.part.doc_type.clone(), page.part.class.confidence);
        let reasons = vec![format!("the page is taken for {doc_type}, {:.0} % sure", confidence * 100.0)];
        Ok(Extracted { label: Some(doc_type), reasons, ..Extracted::new(page).with_confidence(confidence) })
    }

    /// A person says which type the page is from; there is nothing else to say.
    fn correct(&self, found: Value, correction: &Correction) -> Result<Extracted, StepError> {
        if let Some((unknown, _)) = correction.differences(&found).find(|(name, _)| *name != TYPE) {
            return Err(StepError::reject(format!("of a page, {TYPE} can be corrected, and not {unknown:?}")));
        }
        if let Some(said) = correction.fields.get(TYPE)
            && said.as_str().is_none_or(|name| self.knowledge.doctypes.get(name).is_none())
        {
            let message = format!("{said} is no type of document; there are {}", self.knowledge.names());
            return Err(StepError::reject(message));
        }
        let found = correction.laid_over(found);
        let label = found.get(TYPE).and_then(Value::as_str).map(str::to_owned);
        Ok(Extracted { label, ..Extracted::new(found) })
    }
}
