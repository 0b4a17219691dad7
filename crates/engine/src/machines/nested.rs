//! Executions that tasks start: how they are named, described and answered for.

use super::{
    handle::{arn_of_execution, arn_of_machine, machine_name},
    tasks::TaskFailure,
};
use bindery_core::{ExecutionId, Name, Timestamp};
use bindery_states::asl::stepper::{Event, Nested};
use bindery_store::{
    Store, StoreError,
    executions::{ExecutionEnd, NewExecution, Started, StoredExecution},
};
use serde_json::{Value, json};

/// The same after a crash, so that the same task never starts a second one.
fn name_of(nested: &Nested, parent: ExecutionId, task: u64) -> String {
    nested.name.clone().unwrap_or_else(|| format!("{parent}-{task}"))
}

/// The answer to the request itself.
fn started(nested: &Nested, name: &str, at: Timestamp) -> Value {
    json!({"ExecutionArn": arn_of_execution(&nested.machine, name), "StartDate": at.as_millis()})
}

/// The same, as the description of one that has ended tells it.
pub(super) fn submitted(description: &Value) -> Value {
    json!({"ExecutionArn": description["ExecutionArn"], "StartDate": description["StartDate"]})
}

/// Starts it, once however often it is asked for. Gives the answer to the request itself.
pub(super) async fn start(
    store: &dyn Store,
    (parent, task): (ExecutionId, u64),
    owner: Option<String>,
    nested: &Nested,
) -> Result<Value, TaskFailure> {
    let trouble = |error: StoreError| TaskFailure::new("States.TaskFailed", error);
    let machine = Name::from(machine_name(&nested.machine));
    let Some(stored) = store.machine(&machine, None).await.map_err(trouble)? else {
        let error = "StepFunctions.StateMachineDoesNotExistException";
        return Err(TaskFailure::new(error, format!("State Machine Does Not Exist: '{}'", nested.machine)));
    };
    let name = name_of(nested, parent, task);
    let parent = Some((parent, task));
    let new = NewExecution {
        machine,
        version: stored.version,
        name: name.clone(),
        input: nested.input.to_string(),
        owner,
        parent,
    };
    let started_at = match store.start_executions(vec![new]).await.map_err(trouble)?.pop() {
        // Asked for before a crash.
        Some(Started::Existing(existing)) if existing.parent == parent => existing.started_at,
        Some(Started::Existing(existing)) => {
            let error = "StepFunctions.ExecutionAlreadyExistsException";
            return Err(TaskFailure::new(error, format!("Execution Already Exists: '{name}' is {}", existing.id)));
        }
        Some(Started::New(_)) | None => store.clock().now(),
    };
    Ok(started(nested, &name, started_at))
}

/// What the parent is told when it has ended.
pub(super) fn description(child: &StoredExecution, end: &ExecutionEnd, at: Timestamp) -> Value {
    let mut description = json!({
        "ExecutionArn": arn_of_execution(&child.machine, &child.name),
        "Input": child.input,
        "InputDetails": {"Included": true},
        "Name": child.name,
        "StartDate": child.started_at.as_millis(),
        "StateMachineArn": arn_of_machine(&child.machine),
        "Status": end.status.as_str(),
        "StopDate": at.as_millis(),
    });
    let mut set = |key: &str, value: Value| description[key] = value;
    if let Some(output) = &end.output {
        set("Output", output.as_str().into());
        set("OutputDetails", json!({"Included": true}));
    }
    if let Some(error) = &end.error {
        set("Error", error.as_str().into());
    }
    if let Some(cause) = &end.cause {
        set("Cause", cause.as_str().into());
    }
    description
}

/// The end of a child as an event of its parent. `.sync:2` has payloads as JSON, `.sync` as texts.
pub(super) fn answer(task: u64, as_json: bool, succeeded: bool, mut description: Value) -> Event {
    if as_json {
        for key in ["Input", "Output"] {
            let parsed = description.get(key).and_then(Value::as_str).and_then(|text| serde_json::from_str(text).ok());
            if let Some(parsed) = parsed {
                description[key] = parsed;
            }
        }
    }
    if succeeded {
        return Event::TaskSucceeded { task, output: description };
    }
    Event::TaskFailed { task, error: Some("States.TaskFailed".to_owned()), cause: Some(description.to_string()) }
}
