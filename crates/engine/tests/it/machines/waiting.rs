//! Timers, time-outs, task tokens, nested executions, and being stopped.

use super::machine_rig::{MachineRig, output};
use bindery_core::{Clock as _, Name};
use bindery_engine::machines::{Answer, ExecutorOptions, StartRequest};
use bindery_store::executions::{ExecutionFilter, ExecutionStatus};
use serde_json::json;
use std::time::Duration;

fn echo() -> MachineRig {
    MachineRig::new(|call| Ok(call.input.clone()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_wait_rests_in_the_store_and_goes_on_when_it_is_over() {
    let rig = MachineRig::with_manual_clock(|call| Ok(call.input.clone()));
    let machine = json!({"StartAt": "Wait", "States": {
        "Wait": {"Type": "Wait", "Seconds": 200, "Next": "Done"}, "Done": {"Type": "Succeed"}}});
    rig.put("machine", &machine).await;
    let executor = rig.executor(ExecutorOptions::default());
    let id = rig.start("machine", json!({})).await;
    rig.until(id, "WaitStateEntered").await;
    executor.stop().await;
    // Nobody holds it, and nobody has to.
    rig.rig.clock.advance(Duration::from_secs(199));
    let executor = rig.executor(ExecutorOptions::default());
    assert_eq!(rig.machines.wait(id, Duration::from_millis(50)).await.unwrap(), None);
    rig.rig.clock.advance(Duration::from_secs(2));
    let ended = rig.ended(id).await;
    executor.stop().await;
    assert_eq!(output(&ended), json!({}));
    assert!(ended.ended_at.unwrap() >= ended.started_at + Duration::from_secs(200));
    assert!(ended.ended_at.unwrap() <= rig.rig.clock.now());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_never_answers_times_out() {
    let rig = echo();
    let machine = json!({"StartAt": "A", "States": {
        "A": {"Type": "Task", "Resource": "never", "TimeoutSeconds": 1, "End": true,
              "Catch": [{"ErrorEquals": ["States.Timeout"], "Next": "Late"}]},
        "Late": {"Type": "Pass", "Result": "late", "End": true}}});
    let ended = rig.run(&machine, json!({})).await;
    assert_eq!(output(&ended), json!("late"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_takes_too_long_times_out() {
    let rig = echo();
    let machine = json!({"StartAt": "A", "TimeoutSeconds": 1, "States": {
        "A": {"Type": "Task", "Resource": "never", "End": true}}});
    let ended = rig.run(&machine, json!({})).await;
    assert_eq!((ended.status, ended.error.as_deref()), (ExecutionStatus::TimedOut, Some("States.Timeout")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_with_a_token_waits_for_its_report() {
    let rig = MachineRig::new(|_| Ok(json!({"taken": true})));
    let machine = json!({"StartAt": "Ask", "States": {"Ask": {"Type": "Task", "End": true,
        "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
        "Parameters": {"FunctionName": "ask", "Payload": {"token.$": "$$.Task.Token"}}}}});
    rig.put("machine", &machine).await;
    let executor = rig.executor(ExecutorOptions::default());
    let (first, second) = (rig.start("machine", json!({})).await, rig.start("machine", json!({})).await);
    rig.until(first, "TaskSubmitted").await;
    rig.until(second, "TaskSubmitted").await;
    let token = |id| {
        let calls = rig.tasks.calls.lock().unwrap();
        let call = calls.iter().find(|call| call.execution == id).unwrap();
        assert_eq!(call.input["Payload"]["token"].as_str(), call.token.as_deref());
        call.token.clone().unwrap()
    };
    let (first_token, second_token) = (token(first), token(second));
    rig.machines.report(&first_token, Answer::Heartbeat).await.unwrap();
    rig.machines.report(&first_token, Answer::Succeeded(json!({"approved": true}))).await.unwrap();
    assert_eq!(output(&rig.ended(first).await), json!({"approved": true}));
    let twice = rig.machines.report(&first_token, Answer::Succeeded(json!(1))).await.unwrap_err().to_string();
    assert!(twice.contains("it may have ended"), "{twice}");
    let refused = Answer::Failed { error: Some("Refused".to_owned()), cause: Some("not ours".to_owned()) };
    rig.machines.report(&second_token, refused).await.unwrap();
    let ended = rig.ended(second).await;
    assert_eq!((ended.error.as_deref(), ended.cause.as_deref()), (Some("Refused"), Some("not ours")));
    executor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_without_a_sign_of_life_is_given_up() {
    let rig = MachineRig::new(|_| Ok(json!({})));
    let machine = json!({"StartAt": "Ask", "States": {
        "Ask": {"Type": "Task", "End": true, "HeartbeatSeconds": 1, "TimeoutSeconds": 600,
                "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
                "Parameters": {"FunctionName": "ask", "Payload": {"token.$": "$$.Task.Token"}},
                "Catch": [{"ErrorEquals": ["States.HeartbeatTimeout"], "Next": "Silent"}]},
        "Silent": {"Type": "Pass", "Result": "silent", "End": true}}});
    let ended = rig.run(&machine, json!({})).await;
    assert_eq!(output(&ended), json!("silent"));
    let token = rig.tasks.calls.lock().unwrap()[0].token.clone().unwrap();
    assert!(rig.machines.report(&token, Answer::Heartbeat).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_nested_execution_is_waited_for_and_its_output_handed_on() {
    let rig = echo();
    let child = json!({"StartAt": "A", "QueryLanguage": "JSONata", "States": {
        "A": {"Type": "Task", "Resource": "echo", "Arguments": "{% $states.input %}", "Next": "Check"},
        "Check": {"Type": "Choice", "Choices": [{"Condition": "{% $exists($states.input.fail) %}", "Next": "No"}], "Default": "Yes"},
        "No": {"Type": "Fail", "Error": "ChildBroken", "Cause": "as asked"},
        "Yes": {"Type": "Pass", "Output": {"n": "{% $states.input.n * 2 %}"}, "End": true}}});
    rig.put("child", &child).await;
    let parent = |resource: &str| {
        json!({"StartAt": "Sub", "QueryLanguage": "JSONata", "States": {
            "Sub": {"Type": "Task", "Resource": format!("arn:aws:states:::states:startExecution{resource}"),
                    "Arguments": {"StateMachineArn": "child", "Input": "{% $states.input %}"}, "End": true}}})
    };
    let ended = rig.run(&parent(".sync:2"), json!({"n": 21})).await;
    let as_json = output(&ended);
    assert_eq!((&as_json["Status"], &as_json["Output"]), (&json!("SUCCEEDED"), &json!({"n": 42})));
    let ended = rig.run(&parent(".sync"), json!({"n": 21})).await;
    assert_eq!(output(&ended)["Output"], json!("{\"n\":42}"), "as text");
    let ended = rig.run(&parent(""), json!({"n": 21})).await;
    assert!(output(&ended)["ExecutionArn"].as_str().unwrap().contains(":execution:child:"));
    let ended = rig.run(&parent(".sync"), json!({"n": 1, "fail": true})).await;
    assert_eq!(ended.error.as_deref(), Some("States.TaskFailed"));
    assert!(ended.cause.unwrap().contains("ChildBroken"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_does_not_exist_fails_the_task_alone() {
    let rig = echo();
    let parent = json!({"StartAt": "Sub", "States": {"Sub": {"Type": "Task", "End": true,
        "Resource": "arn:aws:states:::states:startExecution.sync", "Parameters": {"StateMachineArn": "none"}}}});
    let ended = rig.run(&parent, json!({})).await;
    assert_eq!(ended.error.as_deref(), Some("StepFunctions.StateMachineDoesNotExistException"));
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_ends_an_execution_and_what_it_started() {
    let rig = echo();
    rig.put("child", &json!({"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "never", "End": true}}}))
        .await;
    let parent = json!({"StartAt": "Sub", "States": {"Sub": {"Type": "Task", "End": true,
        "Resource": "arn:aws:states:::states:startExecution.sync",
        "Parameters": {"StateMachineArn": "child", "Name": "nested", "Input": {}}}}});
    rig.put("parent", &parent).await;
    let executor = rig.executor(ExecutorOptions { drain: Duration::ZERO, ..ExecutorOptions::default() });
    let id = rig.start("parent", json!({})).await;
    rig.until(id, "TaskSubmitted").await;
    let child = rig.machines.find("child:nested").await.unwrap();
    assert!(rig.machines.stop(id, Some("Enough".to_owned()), None).await.unwrap());
    let ended = rig.ended(id).await;
    assert_eq!((ended.status, ended.error.as_deref()), (ExecutionStatus::Aborted, Some("Enough")));
    assert_eq!(rig.ended(child.id).await.status, ExecutionStatus::Aborted);
    assert!(!rig.machines.stop(id, None, None).await.unwrap(), "it has ended");
    executor.stop().await;
    let all = rig.machines.executions(ExecutionFilter::default()).await.unwrap();
    assert_eq!(all.len(), 2);
    let again =
        StartRequest { machine: "child".to_owned(), name: Some("nested".to_owned()), input: json!({}), owner: None };
    assert_eq!(rig.machines.start(again).await.unwrap(), (child.id, false));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_that_cannot_be_read_goes_away_and_harms_nobody() {
    let rig = MachineRig::new(|_| Ok(json!({})));
    let machine = json!({"StartAt": "Ask", "States": {"Ask": {"Type": "Task", "End": true,
        "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
        "Parameters": {"FunctionName": "ask", "Payload": {}}}}});
    rig.put("machine", &machine).await;
    let executor = rig.executor(ExecutorOptions::default());
    let id = rig.start("machine", json!({})).await;
    rig.until(id, "TaskSubmitted").await;
    assert!(rig.rig.store.send_signal(id, "not what anybody writes", None).await.unwrap());
    let reader = Name::from("reader");
    // Whoever has nothing to read rests again: then another one can hold it, and finds no letter.
    let deadline = std::time::Instant::now() + Duration::from_secs(30);
    while rig.rig.store.execution(id).await.unwrap().unwrap().due_at.is_some() {
        assert!(std::time::Instant::now() < deadline, "it does not rest");
        let mark = rig.rig.store.change_mark();
        rig.rig.store.changed(mark, Duration::from_millis(10)).await;
    }
    executor.stop().await;
    let token = rig.tasks.calls.lock().unwrap()[0].token.clone().unwrap();
    assert!(rig.rig.store.send_signal(id, "\"another\"", None).await.unwrap());
    let held = rig.rig.store.hold_executions(&reader, 10, Duration::from_millis(1)).await.unwrap();
    assert_eq!(held.len(), 1);
    let signals = rig.rig.store.signals(&reader).await.unwrap();
    assert_eq!(signals.iter().map(|letter| letter.text.as_str()).collect::<Vec<_>>(), ["\"another\""]);
    let executor = rig.executor(ExecutorOptions::default());
    rig.machines.report(&token, Answer::Succeeded(json!("well"))).await.unwrap();
    assert_eq!(output(&rig.ended(id).await), json!("well"));
    executor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_waits_for_nothing_that_has_been_answered() {
    let rig = MachineRig::new(|_| Ok(json!({})));
    let ask = json!({"StartAt": "Ask", "States": {"Ask": {"Type": "Task", "End": true,
        "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
        "Parameters": {"FunctionName": "ask", "Payload": {}}}}});
    // Short waits, so that it does not rest while its tasks are submitted and answers come during its steps.
    let machine = json!({"StartAt": "Both", "States": {"Both": {"Type": "Parallel", "End": true, "Branches": [
        {"StartAt": "All", "States": {"All": {"Type": "Map", "ItemsPath": "$", "ItemProcessor": ask, "End": true}}},
        {"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 1, "Next": "Wait2"},
                                       "Wait2": {"Type": "Wait", "Seconds": 1, "Next": "Wait"}}}]}}});
    rig.put("machine", &machine).await;
    let executor = rig.executor(ExecutorOptions { drain: Duration::from_secs(3_600), ..ExecutorOptions::default() });
    let id = rig.start("machine", json!(vec![0; 40])).await;
    let submitted = async || rig.kinds(id).await.iter().filter(|kind| *kind == "TaskSubmitted").count();
    while submitted().await < 40 {
        let mark = rig.rig.store.change_mark();
        rig.rig.store.changed(mark, Duration::from_millis(20)).await;
    }
    tokio::time::timeout(Duration::from_secs(60), executor.stop()).await.expect("it stops soon");
}
