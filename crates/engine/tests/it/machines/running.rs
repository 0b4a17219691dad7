//! From start to end.

use super::machine_rig::{MachineRig, output};
use bindery_engine::machines::{ExecutorOptions, StartRequest, TaskFailure};
use bindery_states::asl::stepper::StepLimits;
use bindery_store::executions::ExecutionStatus;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};

fn echo() -> MachineRig {
    MachineRig::new(|call| Ok(call.input.clone()))
}

#[tokio::test(flavor = "multi_thread")]
async fn states_that_need_nobody_run_to_the_end_with_every_event() {
    let rig = echo();
    let machine = json!({"StartAt": "A", "QueryLanguage": "JSONata", "States": {
        "A": {"Type": "Pass", "Output": {"n": "{% $states.input.n + 1 %}"}, "Next": "Again"},
        "Again": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input.n < 50 %}", "Next": "A"}],
                  "Default": "Done"},
        "Done": {"Type": "Succeed"}}});
    let ended = rig.run(&machine, json!({"n": 0})).await;
    assert_eq!(output(&ended), json!({"n": 50}));
    let events = rig.machines.history(ended.id, 0, 1_000).await.unwrap();
    assert_eq!(events.len() as u64, ended.events);
    assert_eq!(ended.events, 1 + 50 * 4 + 2 + 1);
    let ids: Vec<u64> = events.iter().map(|event| event["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (1..=ended.events).collect::<Vec<_>>());
    assert_eq!(rig.machines.history(ended.id, 100, 3).await.unwrap(), events[100..103]);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_executions_run_side_by_side() {
    let rig = echo();
    let machine = json!({"StartAt": "A", "States": {
        "A": {"Type": "Task", "Resource": "echo", "ResultPath": "$.answer", "Next": "B"},
        "B": {"Type": "Pass", "End": true}}});
    rig.put("machine", &machine).await;
    let executor = rig.executor(ExecutorOptions { most_held: 7, ..ExecutorOptions::default() });
    let mut ids = Vec::new();
    for number in 0..60 {
        ids.push(rig.start("machine", json!({"number": number})).await);
    }
    for (number, id) in ids.into_iter().enumerate() {
        assert_eq!(output(&rig.ended(id).await)["answer"], json!({"number": number}));
    }
    executor.stop().await;
    assert_eq!(rig.tasks.calls.lock().unwrap().len(), 60);
}

#[tokio::test(flavor = "multi_thread")]
async fn maps_and_branches_gather_what_their_tasks_answer() {
    let rig = MachineRig::new(|call| Ok(json!({"double": call.input["n"].as_i64().unwrap() * 2})));
    let machine = json!({"StartAt": "Both", "States": {"Both": {"Type": "Parallel", "End": true, "Branches": [
        {"StartAt": "All", "States": {"All": {"Type": "Map", "ItemsPath": "$.items", "MaxConcurrency": 3,
            "ItemProcessor": {"StartAt": "Double", "States": {"Double": {"Type": "Task", "Resource": "f", "End": true}}},
            "End": true}}},
        {"StartAt": "Far", "States": {"Far": {"Type": "Map",
            "ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": {"InputType": "JSON", "MaxItems": 4},
                           "Parameters": {"Bucket": "b", "Key": "9"}},
            "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
                              "StartAt": "Double", "States": {"Double": {"Type": "Task", "Resource": "f", "End": true}}},
            "ResultWriter": {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket": "b", "Prefix": "p"}},
            "End": true}}}]}}});
    let items: Vec<Value> = (0..20).map(|n| json!({"n": n})).collect();
    let ended = rig.run(&machine, json!({"items": items})).await;
    let doubles: Vec<Value> = (0..20).map(|n| json!({"double": n * 2})).collect();
    assert_eq!(output(&ended), json!([doubles, {"written": 4}]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_started_once_with_its_input() {
    let rig = echo();
    rig.put("machine", &json!({"StartAt": "A", "States": {"A": {"Type": "Succeed"}}})).await;
    let start =
        |input: Value| StartRequest { machine: "machine".to_owned(), name: Some("one".to_owned()), input, owner: None };
    let (id, new) = rig.machines.start(start(json!({"a": 1}))).await.unwrap();
    assert!(new);
    assert_eq!(rig.machines.start(start(json!({"a": 1}))).await.unwrap(), (id, false));
    let refused = rig.machines.start(start(json!({"a": 2}))).await.unwrap_err();
    assert!(refused.to_string().starts_with("ExecutionAlreadyExists: exec_"), "{refused}");
    let nameless =
        StartRequest { machine: "machine".to_owned(), name: Some("a b".to_owned()), input: json!({}), owner: None };
    assert!(rig.machines.start(nameless).await.unwrap_err().to_string().contains("is no name of an execution"));
    let unknown = StartRequest { machine: "other".to_owned(), name: None, input: json!({}), owner: None };
    assert!(rig.machines.start(unknown).await.unwrap_err().to_string().contains("known are machine"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_task_is_retried_and_then_caught() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let rig = MachineRig::new(|_| {
        CALLS.fetch_add(1, Ordering::SeqCst);
        Err(TaskFailure::new("Busy", "come back later"))
    });
    let machine = json!({"StartAt": "A", "States": {
        "A": {"Type": "Task", "Resource": "f",
              "Retry": [{"ErrorEquals": ["Busy"], "IntervalSeconds": 1, "MaxAttempts": 2, "JitterStrategy": "FULL"}],
              "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Sorry"}], "End": true},
        "Sorry": {"Type": "Pass", "End": true}}});
    let ended = rig.run(&machine, json!({"a": 1})).await;
    assert_eq!(output(&ended), json!({"a": 1, "error": {"Error": "Busy", "Cause": "come back later"}}));
    assert_eq!(CALLS.load(Ordering::SeqCst), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_loop_ends_alone_at_the_limit_of_its_history() {
    let rig = echo();
    let endless = json!({"StartAt": "A", "States": {
        "A": {"Type": "Pass", "Next": "B"}, "B": {"Type": "Pass", "Next": "A"}, "C": {"Type": "Pass", "Next": "A"}}});
    let refused = rig.machines.put("endless", &endless.to_string(), None).await.unwrap_err().to_string();
    assert!(refused.contains('C'), "a state that cannot be reached: {refused}");
    let endless = json!({"StartAt": "A", "States": {
        "A": {"Type": "Pass", "Next": "B"}, "B": {"Type": "Pass", "Next": "A"}}});
    rig.put("endless", &endless).await;
    rig.put("short", &json!({"StartAt": "A", "States": {"A": {"Type": "Succeed"}}})).await;
    let limits = StepLimits { history: 5_000, ..StepLimits::default() };
    let executor = rig.executor(ExecutorOptions { limits, ..ExecutorOptions::default() });
    let (endless, short) = (rig.start("endless", json!({})).await, rig.start("short", json!({})).await);
    assert_eq!(output(&rig.ended(short).await), json!({}));
    let ended = rig.ended(endless).await;
    executor.stop().await;
    assert_eq!((ended.status, ended.error.as_deref()), (ExecutionStatus::Failed, Some("States.Runtime")));
    assert!(ended.cause.unwrap().contains("history"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payload_that_is_too_large_fails_with_its_own_error() {
    let rig = MachineRig::new(|_| Ok(json!("x".repeat(300_000))));
    let machine = json!({"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "f", "End": true}}});
    let ended = rig.run(&machine, json!({})).await;
    assert_eq!(ended.error.as_deref(), Some("States.DataLimitExceeded"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_failed_is_started_again_from_where_it_failed() {
    static BROKEN: AtomicU32 = AtomicU32::new(1);
    let rig = MachineRig::new(|call| match call.resource.as_str() {
        "second" if BROKEN.load(Ordering::SeqCst) == 1 => Err(TaskFailure::new("Broken", "no")),
        _ => Ok(json!({"from": call.resource})),
    });
    let machine = json!({"StartAt": "A", "States": {
        "A": {"Type": "Task", "Resource": "first", "Next": "B"},
        "B": {"Type": "Task", "Resource": "second", "End": true}}});
    rig.put("machine", &machine).await;
    let executor = rig.executor(ExecutorOptions::default());
    let id = rig.start("machine", json!({})).await;
    assert_eq!(rig.ended(id).await.error.as_deref(), Some("Broken"));
    BROKEN.store(0, Ordering::SeqCst);
    rig.machines.redrive(id).await.unwrap();
    let ended = rig.ended(id).await;
    assert_eq!((output(&ended), ended.redrives), (json!({"from": "second"}), 1));
    let again = rig.machines.redrive(id).await.unwrap_err().to_string();
    assert!(again.contains("is SUCCEEDED"), "{again}");
    executor.stop().await;
    let calls: Vec<String> = rig.tasks.calls.lock().unwrap().iter().map(|call| call.resource.clone()).collect();
    assert_eq!(calls, ["first", "second", "second"]);
    assert!(rig.kinds(id).await.contains(&"ExecutionRedriven".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resource_that_nobody_knows_is_refused_with_the_known_ones() {
    let rig = echo();
    let machine = json!({"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "unknown", "End": true}}});
    let refused = rig.machines.put("machine", &machine.to_string(), Some(&*rig.tasks)).await.unwrap_err();
    assert_eq!(refused.to_string(), r#"state "A": there is no resource "unknown"; known are echo"#);
}
