//! Doing what an execution asks for: tasks, nested executions, the items and results of a distributed Map.

use super::{
    nested,
    tasks::{ItemsRequest, ResultsRequest, TaskCall, TaskFailure, Tasks},
};
use crate::work_id::idempotency_key;
use bindery_core::ExecutionId;
use bindery_states::asl::stepper::{Command, Event};
use bindery_store::Store;

pub(super) fn task_failed(task: u64, failure: TaskFailure) -> Event {
    Event::TaskFailed { task, error: Some(failure.error), cause: Some(failure.cause) }
}

/// Does what a command asks for, and says what came of it.
pub(super) async fn perform(
    tasks: &dyn Tasks,
    store: &dyn Store,
    id: ExecutionId,
    owner: Option<String>,
    arn: String,
    command: Command,
) -> Event {
    match command {
        Command::RunTask { task, nested: Some(nested), .. } => {
            match nested::start(store, (id, task), owner, &nested).await {
                Ok(output) if nested.waits => Event::TaskSubmitted { task, output },
                Ok(output) => Event::TaskSucceeded { task, output },
                Err(failure) => task_failed(task, failure),
            }
        }
        Command::RunTask { task, state, resource, input, token, visit: (thread, event), retries, .. } => {
            let waits = token.is_some();
            let idempotency_key = idempotency_key(&[&arn, &state, &thread.to_string(), &event.to_string()]);
            let attempt = retries.saturating_add(1);
            let call = TaskCall {
                execution: id,
                owner,
                execution_arn: arn,
                task,
                state,
                resource,
                input,
                token,
                attempt,
                idempotency_key,
            };
            match tasks.run(call).await {
                Ok(output) if waits => Event::TaskSubmitted { task, output },
                Ok(output) => Event::TaskSucceeded { task, output },
                Err(failure) => task_failed(task, failure),
            }
        }
        Command::ReadItems { task, resource, arguments, config, max_items, .. } => {
            match tasks.read_items(ItemsRequest { resource, arguments, config, max_items }).await {
                Ok(items) => Event::ItemsRead { task, items },
                Err(failure) => task_failed(task, failure),
            }
        }
        Command::WriteResults { task, state, resource, arguments, config, results } => {
            let request = ResultsRequest { execution_arn: arn, state, resource, arguments, config, results };
            match tasks.write_results(request).await {
                Ok(output) => Event::TaskSucceeded { task, output },
                Err(failure) => task_failed(task, failure),
            }
        }
        Command::CancelTask { .. }
        | Command::StartTimer { .. }
        | Command::CancelTimer { .. }
        | Command::Continue
        | Command::Finish => Event::Continued,
    }
}
