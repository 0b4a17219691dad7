//! Which type of document a page is from.

use super::{
    message::{ClassPart, OtherType, TextPart},
    pages::page_of,
};
use crate::{
    borders::rounded,
    documents::Knowledge,
    stage::{Carried, Stage},
};
use bindery_core::StepError;
use bindery_engine::{Extracted, context::StepContext};
use std::sync::Arc;

/// Suggests a type for a page that was read. The message goes on with `doc_type`, `classification_confidence`, the reasons
/// and the other types that come into question.
#[derive(Debug, Clone)]
pub(super) struct TypeClassifier {
    knowledge: Arc<Knowledge>,
}

impl TypeClassifier {
    pub(super) fn new(knowledge: Arc<Knowledge>) -> Self {
        Self { knowledge }
    }
}

impl Stage for TypeClassifier {
    const NAME: &'static str = "classifier";
    const EXPECTS: &'static str = "a page that was read";
    type Input = Carried<TextPart>;
    type Made = Carried<ClassPart>;
    type Output = Carried<ClassPart>;

    fn process(&self, context: &StepContext, message: Carried<TextPart>) -> Result<Carried<ClassPart>, StepError> {
        let TextPart { page_content, ocr_text } = &message.part;
        let class = self.knowledge.classifier().classify(&page_of(context, *page_content, ocr_text.as_deref())?);
        let other = |(doc_type, likelihood)| OtherType { doc_type, confidence: rounded(likelihood) };
        Ok(message.with(ClassPart {
            doc_type: class.doctype,
            classification_confidence: class.confidence,
            because: class.because,
            other_types: class.runners_up.into_iter().map(other).collect(),
        }))
    }

    fn extract(&self, _context: &StepContext, page: Carried<ClassPart>) -> Result<Extracted<Self::Output>, StepError> {
        let (label, confidence) = (Some(page.part.doc_type.to_string()), page.part.classification_confidence);
        Ok(Extracted { label, ..Extracted::new(page).with_confidence(confidence) })
    }
}
