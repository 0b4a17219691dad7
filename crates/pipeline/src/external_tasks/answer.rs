//! What was answered, and the report to the task that waits for it.

use super::{Question, Sender, reporting_stage};
use crate::{borders::said_by, consolidate::Gather, stage::Stage as _};
use bindery_core::{
    StepError,
    outcome::{Outcome, OutcomeStatus},
};
use bindery_engine::{context::StepContext, machines::Answer};
use serde::Deserialize;
use serde_json::{Value, json};

/// What a task fails with when a person rejects.
const REJECTED: &str = "Review.Rejected";

/// Reports how an external task ended to the task that waits for it, and keeps the same as the submission's result. Where nobody
/// waits any more, the result is all there is.
#[derive(Debug, Clone, Copy)]
pub(super) struct TaskAnswer;

impl Gather for TaskAnswer {
    const NAME: &'static str = "task_answer";
    type Result = Value;

    fn gather(&self, context: &StepContext) -> Result<Value, StepError> {
        let bug = || StepError::bug("nobody has answered, and nobody was asked");
        let asked = reporting_stage(context.workflow()?).ok_or_else(bug)?;
        let is_question = asked.processor(Question::NAME).is_some();
        let outcome = context.outcomes(&asked.name)?.into_iter().next().ok_or_else(bug)?;
        let answer = match outcome.status {
            OutcomeStatus::Failed => failed(&outcome, is_question),
            _ if is_question => Answer::Succeeded(said_by::<Judged>(context, &outcome)?.for_machine()),
            _ => Answer::Succeeded(context.read(&outcome.output)?),
        };
        let result = match &answer {
            Answer::Failed { error, cause } => json!({"error": error, "cause": cause}),
            Answer::Succeeded(output) => output.clone(),
            Answer::Heartbeat => Value::Null,
        };
        if let Some(token) = Sender::from_context(context)?.token
            && !context.report_task(&token, answer)?
        {
            tracing::debug!(submission = %context.submission()?.id, "nobody waits for this answer (any more)");
        }
        Ok(result)
    }
}

/// A question that a person has decided about.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Judged {
    value: Value,
    decided: Judgement,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Judgement {
    verdict: Option<String>,
    by: Option<String>,
    at: Value,
}

impl Judged {
    /// In the words that a machine is told.
    fn for_machine(self) -> Value {
        let Self { value, decided: Judgement { verdict, by, at } } = self;
        json!({"verdict": verdict, "by": by, "at": at, "value": value})
    }
}

/// Names that `Retry` and `Catch` can go by.
fn failed(outcome: &Outcome, is_question: bool) -> Answer {
    let kind = outcome.error.as_ref().map(|error| error.kind.as_str());
    let error = match kind {
        Some("Rejected") if is_question => REJECTED,
        Some("Timeout") => "States.Timeout",
        _ => "States.TaskFailed",
    };
    Answer::Failed { error: Some(error.to_owned()), cause: Some(crate::results::reason(outcome)) }
}
