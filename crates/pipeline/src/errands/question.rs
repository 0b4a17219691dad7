//! Asking a person.

use super::{Sender, wanted};
use bindery_core::StepError;
use bindery_engine::{Extracted, Processor, context::StepContext, processor::Correction, workflow::Target};
use serde_json::{Value, json};

/// The workflow of questions.
pub(crate) const WORKFLOW: &str = "question";

/// What the file of a question is called, which is what people see of it.
pub(crate) const FILE: &str = "question.json";

/// Puts a question to a person: always a review, never a result of its own. A person's fields are laid over the value
/// that is asked about.
#[derive(Debug, Clone, Copy)]
pub struct Question;

impl Question {
    pub(super) const NAME: &'static str = "question";
}

impl Processor for Question {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn process(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        let wanted = wanted(context)?;
        let sender = Sender::of(context)?;
        Ok(json!({
            "question": wanted["question"], "value": wanted["value"],
            "execution": sender.execution, "state": sender.state,
        }))
    }

    fn extract(&self, _context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        let question = processed["question"].as_str().ok_or_else(|| StepError::reject("the question is missing"))?;
        let reasons = vec![question.to_owned()];
        Ok(Extracted { reasons, target: Some(Target::Backoffice), ..Extracted::new(processed) })
    }

    fn correct(&self, mut found: Value, correction: &Correction) -> Result<Extracted, StepError> {
        if let Some(value) = found.get_mut("value") {
            *value = correction.laid_over(value.take());
        }
        Ok(Extracted::new(found))
    }
}
