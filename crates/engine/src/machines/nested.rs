//! Executions that tasks start: how they are named, described and answered for.

use super::handle::{arn_of_execution, arn_of_machine};
use bindery_core::{ExecutionId, Timestamp};
use bindery_states::asl::stepper::{Event, Nested};
use bindery_store::executions::{ExecutionEnd, StoredExecution};
use serde_json::{Value, json};

/// The same after a crash, so that the same task never starts a second one.
pub(super) fn name_of(nested: &Nested, parent: ExecutionId, task: u64) -> String {
    nested.name.clone().unwrap_or_else(|| format!("{parent}-{task}"))
}

/// The answer to the request itself.
pub(super) fn started(nested: &Nested, name: &str, at: Timestamp) -> Value {
    json!({"ExecutionArn": arn_of_execution(&nested.machine, name), "StartDate": at.as_millis()})
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
