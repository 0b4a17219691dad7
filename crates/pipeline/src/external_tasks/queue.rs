//! Handing a task out on a queue, from which a program outside takes it.

use super::{Sender, request_of};
use bindery_core::{ExecutionId, Name, StepError};
use bindery_engine::{
    Engine, EngineError, EngineResult, Extracted,
    context::StepContext,
    workflow::{Stage, Workflow},
};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::Value;

/// What the file of a task is called.
pub(crate) const FILE: &str = "task.json";

/// The component that a queue belongs to: `q.resize` and `resize` are the same queue.
pub fn queue_component(queue: &str) -> &str {
    queue.strip_prefix("q.").unwrap_or(queue)
}

/// The workflow of the tasks that are handed out on a queue, as YAML. A program that takes one has a day to report, five
/// times over; a state says how long it really waits with `TimeoutSeconds`.
pub fn queue_workflow(queue: &str) -> String {
    let component = queue_component(queue);
    format!(
        "name: queue-{component}
description: Tasks of state machines for the program behind the queue q.{component}.
version: 2
stages:
  - name: hand_out
    component: task_hand_out
    routing_key: task.hand_out
    over: file
    parallel: true
    status: processing
  - name: work
    component: \"{component}\"
    routing_key: task.{component}
    over: file
    parallel: true
    processors: [{{name: \"{component}\", external: true}}]
    timeout_seconds: 86400
    max_attempts: 5
    result: any
  - name: answer
    component: task_answer
    routing_key: task.answered
    aggregation: {{collect_by: submission_id, expect_count_from: file_count, on_failed: continue}}
    max_attempts: 50
    retry: {{max_seconds: 60}}
    status: consolidating
"
    )
}

/// Stores the workflow of a queue, unless it is there. A queue that our own workers work on cannot be one of a program
/// outside, too: a broker hands each message to whoever comes first.
pub(crate) async fn register(engine: &Engine, queue: &str) -> EngineResult<Name> {
    let text = queue_workflow(queue);
    let own = Workflow::parse(&text, None)?;
    if engine.store().workflow(&own.name, Some(own.version)).await?.is_some() {
        return Ok(own.name);
    }
    let queue = Name::from(format!("q.{}", queue_component(queue)));
    for stored in engine.store().workflows().await? {
        let workflow = engine.catalog().workflow(&stored.name, Some(stored.version)).await?;
        let inside =
            |stage: &&Stage| stage.queue() == queue && stage.processors.iter().any(|processor| !processor.external);
        if let Some(stage) = workflow.stages.iter().find(inside) {
            return Err(EngineError::Invalid(format!(
                "the queue {queue} is worked on here, by the stage {} of the workflow {}; take another name",
                stage.name, workflow.name
            )));
        }
    }
    Ok(engine.register_workflow(&text, None).await?.name.clone())
}

/// Puts what a task is to do into the message that goes out.
#[derive(Debug, Clone, Copy)]
pub(super) struct HandOut;

/// The message.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct HandedOut {
    task_token: Option<String>,
    execution: ExecutionId,
    state: String,
    /// What the machine says is to be done.
    input: Value,
}

impl crate::stage::Stage for HandOut {
    const NAME: &'static str = "task_hand_out";
    type Input = IgnoredAny;
    type Made = HandedOut;
    type Output = HandedOut;

    fn process(&self, context: &StepContext, _input: IgnoredAny) -> Result<HandedOut, StepError> {
        let Sender { token, execution, state, .. } = Sender::from_context(context)?;
        Ok(HandedOut { task_token: token, execution, state, input: request_of(context)? })
    }

    fn extract(&self, _context: &StepContext, task: HandedOut) -> Result<Extracted<HandedOut>, StepError> {
        Ok(Extracted::new(task))
    }
}
