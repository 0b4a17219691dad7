//! An executor that dies between any two events: whoever comes next ends with the same result and the same history.

use super::machine_rig::{MachineRig, output, short_lived};
use bindery_core::ExecutionId;
use bindery_engine::machines::ExecutorOptions;
use bindery_states::asl::stepper::StepLimits;
use serde_json::{Value, json};
use std::time::Duration;

/// A Map within a Map around tasks, a choice, a short wait and a nested execution.
fn machine() -> Value {
    let task = json!({"StartAt": "Work", "States": {
        "Work": {"Type": "Task", "Resource": "echo", "Next": "Big"},
        "Big": {"Type": "Choice", "Choices": [{"Variable": "$", "NumericGreaterThan": 3, "Next": "Down"}],
                "Default": "Up"},
        "Down": {"Type": "Pass", "Result": 0, "End": true},
        "Up": {"Type": "Pass", "End": true}}});
    let inner = json!({"StartAt": "Row", "States": {
        "Row": {"Type": "Map", "ItemProcessor": task, "MaxConcurrency": 1, "End": true}}});
    json!({"StartAt": "Rows", "States": {
        "Rows": {"Type": "Map", "ItemsPath": "$.rows", "ResultPath": "$.rows", "ItemProcessor": inner,
                 "MaxConcurrency": 1, "Next": "Sub"},
        "Sub": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync:2",
                "Parameters": {"StateMachineArn": "child", "Input.$": "$.rows"}, "ResultSelector": {"sum.$": "$.Output"},
                "ResultPath": "$.child", "End": true}}})
}

fn child() -> Value {
    json!({"StartAt": "Count", "QueryLanguage": "JSONata", "States": {
        "Count": {"Type": "Pass", "Output": "{% $sum($reduce($states.input, $append)) %}", "Next": "Slow"},
        "Slow": {"Type": "Task", "Resource": "echo", "Arguments": "{% $states.input %}", "End": true}}})
}

/// What must be the same: kinds and places of events, not their times.
async fn told(rig: &MachineRig, id: ExecutionId) -> Vec<String> {
    let events = rig.machines.history(id, 0, 10_000).await.unwrap();
    let tell = |event: &Value| {
        let name = event.pointer("/stateEnteredEventDetails/name").and_then(Value::as_str).unwrap_or_default();
        let index = event.pointer("/mapIterationStartedEventDetails/index").map_or_else(String::new, Value::to_string);
        format!("{} {} {} {name}{index}", event["id"], event["previousEventId"], event["type"].as_str().unwrap())
    };
    events.iter().map(tell).collect()
}

async fn stored_events(rig: &MachineRig, id: ExecutionId) -> u64 {
    rig.rig.store.execution(id).await.unwrap().unwrap().events
}

/// So that every state is stored by itself.
fn one_by_one(name: &str) -> ExecutorOptions {
    let limits = StepLimits { transitions: 1, ..StepLimits::default() };
    ExecutorOptions { limits, most_tasks: 1, ..short_lived(name) }
}

/// After which events to kill: some and all of the last, where another execution is started and ends; or all of them
/// where that is asked for.
fn moments(last: u64) -> impl Iterator<Item = u64> {
    let all = std::env::var_os("BINDERY_TORTURE_KILLS").is_some();
    (1..last).filter(move |moment| all || moment % 12 == 1 || moment + 7 > last)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_executor_killed_between_any_two_events_changes_nothing() {
    let rig = MachineRig::new(|call| Ok(call.input.clone()));
    rig.put("child", &child()).await;
    rig.put("machine", &machine()).await;
    let input = json!({"rows": [[1, 2], [3, 4], [5]]});
    let undisturbed = rig.start("machine", input.clone()).await;
    let executor = rig.executor(one_by_one("undisturbed"));
    let expected = output(&rig.ended(undisturbed).await);
    executor.stop().await;
    assert_eq!(expected, json!({"rows": [[1, 2], [3, 0], [0]], "child": {"sum": 6}}));
    let expected_events = told(&rig, undisturbed).await;

    let last = u64::try_from(expected_events.len()).unwrap();
    for kill_after in moments(last) {
        let id = rig.start("machine", input.clone()).await;
        let executor = rig.executor(one_by_one(&format!("dies-after-{kill_after}")));
        while stored_events(&rig, id).await < kill_after {
            let mark = rig.rig.store.change_mark();
            rig.rig.store.changed(mark, Duration::from_millis(1)).await;
        }
        executor.kill().await;
        let heir = rig.executor(one_by_one(&format!("heir-of-{kill_after}")));
        let ended = rig.ended(id).await;
        heir.stop().await;
        assert_eq!(output(&ended), expected, "killed after event {kill_after}");
        assert_eq!(told(&rig, id).await, expected_events, "killed after event {kill_after}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_executors_share_the_work_without_doing_it_twice() {
    let rig = MachineRig::new(|call| Ok(call.input.clone()));
    let machine = json!({"StartAt": "A", "States": {
        "A": {"Type": "Task", "Resource": "echo", "Next": "B"}, "B": {"Type": "Task", "Resource": "echo", "End": true}}});
    rig.put("machine", &machine).await;
    let mut ids = Vec::new();
    for number in 0..40 {
        ids.push(rig.start("machine", json!(number)).await);
    }
    let options = || ExecutorOptions { most_held: 4, ..ExecutorOptions::default() };
    let (one, other) = (rig.executor(options()), rig.executor(options()));
    for id in ids {
        rig.ended(id).await;
    }
    one.stop().await;
    other.stop().await;
    assert_eq!(rig.tasks.calls.lock().unwrap().len(), 80);
}
