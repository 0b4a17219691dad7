//! Asking a person.

use super::{Sender, request_of};
use crate::stage::{Stage, lenient};
use bindery_core::{ExecutionId, StepError};
use bindery_engine::{Extracted, context::StepContext, processor::Correction, workflow::Target};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::Value;

/// The workflow of questions.
pub(crate) const WORKFLOW: &str = "question";

/// What the file of a question is called, which is what people see of it.
pub(crate) const FILE: &str = "question.json";

/// Puts a question to a person: always a review, never a result of its own. A person's fields are laid over the value
/// that is asked about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question;

/// What is asked, about what, and for whom.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Asked {
    question: Option<String>,
    pub(super) value: Value,
    execution: ExecutionId,
    state: String,
}

/// A question as a state machine writes it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Wanted {
    question: Option<String>,
    value: Value,
}

impl Stage for Question {
    const NAME: &'static str = "question";
    type Input = IgnoredAny;
    type Made = Asked;
    type Output = Asked;

    fn process(&self, context: &StepContext, _input: IgnoredAny) -> Result<Asked, StepError> {
        let Wanted { question, value } = lenient(&request_of(context)?);
        let sender = Sender::from_context(context)?;
        Ok(Asked { question, value, execution: sender.execution, state: sender.state })
    }

    fn extract(&self, _context: &StepContext, asked: Asked) -> Result<Extracted<Asked>, StepError> {
        let question = asked.question.clone().ok_or_else(|| StepError::reject("the question is missing"))?;
        Ok(Extracted { reasons: vec![question], target: Some(Target::Backoffice), ..Extracted::new(asked) })
    }

    fn correct(&self, mut found: Value, correction: &Correction) -> Result<Extracted, StepError> {
        if let Some(value) = found.get_mut("value") {
            *value = correction.laid_over(value.take());
        }
        Ok(Extracted::new(found))
    }
}
