//! States tried alone.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use bindery_states::asl::{
    definition::Definition,
    stepper::{Answer, Detail, Moment, Trial, TrialError, TrialStatus, Tried, try_state},
};
use serde_json::{Value, json};

fn definition() -> Definition {
    let task = json!({
        "Type": "Task", "Resource": "resize", "Next": "Done", "InputPath": "$.picture",
        "Parameters": {"width.$": "$.width", "by.$": "$$.Execution.Name"}, "ResultSelector": {"url.$": "$.location"},
        "ResultPath": "$.small", "OutputPath": "$.small",
        "Retry": [{"ErrorEquals": ["Busy"], "IntervalSeconds": 4, "MaxAttempts": 2}],
        "Catch": [{"ErrorEquals": ["Other"], "Next": "Done"}, {"ErrorEquals": ["Busy"], "Next": "Done", "ResultPath": "$.why"}],
    });
    let map = json!({
        "Type": "Map", "QueryLanguage": "JSONata", "Items": "{% $states.input.ids %}", "MaxConcurrency": 2,
        "ItemProcessor": {"StartAt": "One", "States": {"One": {"Type": "Pass", "End": true}}},
        "Output": "{% $sum($states.result) + $offset %}", "Assign": {"seen": "{% $count($states.result) %}"}, "End": true,
    });
    let text = json!({"StartAt": "Which", "States": {
        "Which": {"Type": "Choice", "Choices": [{"Variable": "$.kind", "StringEquals": "list", "Next": "Each"}], "Default": "Resize"},
        "Resize": task, "Each": map, "Done": {"Type": "Wait", "Seconds": 60, "Next": "Stop"},
        "Stop": {"Type": "Fail", "Error": "Stopped", "Cause": "always"},
    }})
    .to_string();
    Definition::parse(&text).unwrap_or_else(|faults| panic!("{faults}"))
}

fn tried(name: &str, trial: &Trial) -> Tried {
    let definition = definition();
    let machine = definition.machines().iter().position(|machine| machine.states.contains_key(name)).unwrap();
    try_state(&definition, machine, name, trial, Detail::Trace, Moment::new(1_794_700_800_000, 7)).unwrap()
}

fn picture() -> Value {
    json!({"picture": {"width": 80}, "id": 1})
}

fn failing(error: &str, retries: u32) -> Trial {
    let answer = Some(Answer::Error { error: Some(error.into()), cause: Some("why".into()) });
    Trial { input: picture(), answer, retries, ..Trial::default() }
}

#[test]
fn the_data_of_a_task_is_told_after_each_step() {
    let context = Some(json!({"Execution": {"Name": "night"}}));
    let answer = Some(Answer::Result(json!({"location": "a/b", "bytes": 3})));
    let tried = tried("Resize", &Trial { input: picture(), context, answer, ..Trial::default() });
    assert_eq!((tried.status, tried.next.as_deref()), (TrialStatus::Succeeded, Some("Done")));
    assert_eq!(tried.output, Some(json!({"url": "a/b"})));
    let seen = |key: &str| tried.inspection[key].clone();
    assert_eq!(seen("afterInputPath"), json!({"width": 80}));
    assert_eq!(seen("afterParameters"), json!({"width": 80, "by": "night"}));
    assert_eq!(seen("afterResultSelector"), json!({"url": "a/b"}));
    assert_eq!(seen("afterResultPath"), json!({"picture": {"width": 80}, "id": 1, "small": {"url": "a/b"}}));
    assert_eq!(seen("request")["resource"], "resize");
    let last = seen("history").as_array().unwrap().last().unwrap()["type"].clone();
    assert_eq!(last, "TaskStateExited", "the next state is not entered");
}

#[test]
fn failures_are_tried_again_caught_or_the_end() {
    let busy = tried("Resize", &failing("Busy", 1));
    assert_eq!((busy.status, busy.error.as_deref(), busy.next), (TrialStatus::Retriable, Some("Busy"), None));
    assert_eq!(busy.inspection["errorDetails"], json!({"retryIndex": 0, "retryBackoffIntervalSeconds": 8.0}));
    let used_up = tried("Resize", &failing("Busy", 2));
    assert_eq!((used_up.status, used_up.next.as_deref()), (TrialStatus::CaughtError, Some("Done")));
    assert_eq!(used_up.output.unwrap()["why"], json!({"Error": "Busy", "Cause": "why"}));
    assert_eq!(used_up.inspection["errorDetails"], json!({"catchIndex": 1}));
    let unknown = tried("Resize", &failing("Unknown", 0));
    assert_eq!((unknown.status, unknown.cause.as_deref()), (TrialStatus::Failed, Some("why")));
    let not_there = tried("Resize", &Trial { input: json!({}), ..failing("Busy", 0) });
    assert_eq!((not_there.status, not_there.error.as_deref()), (TrialStatus::Failed, Some("States.Runtime")));
}

#[test]
fn other_states_need_no_answer() {
    let choice = tried("Which", &Trial { input: json!({"kind": "list"}), ..Trial::default() });
    assert_eq!((choice.status, choice.next.as_deref()), (TrialStatus::Succeeded, Some("Each")));
    let wait = tried("Done", &Trial { input: json!(1), ..Trial::default() });
    assert_eq!((wait.output, wait.next.as_deref()), (Some(json!(1)), Some("Stop")));
    assert_eq!(wait.inspection["waitsUntil"], "2026-11-15T00:01:00.000Z");
    let fail = tried("Stop", &Trial::default());
    assert_eq!(
        (fail.status, fail.error.as_deref(), fail.cause.as_deref()),
        (TrialStatus::Failed, Some("Stopped"), Some("always"))
    );
}

#[test]
fn a_map_is_given_its_result_and_sees_the_variables() {
    let variables = json!({"offset": 100}).as_object().unwrap().clone();
    let answer = Some(Answer::Result(json!([1, 2, 3])));
    let map = tried("Each", &Trial { input: json!({"ids": [7, 8]}), variables, answer, ..Trial::default() });
    assert_eq!((map.status, map.output, map.next), (TrialStatus::Succeeded, Some(json!(106)), None));
    assert_eq!(map.inspection["afterItemsPath"], json!([7, 8]));
    assert_eq!(map.inspection["variables"], json!({"offset": 100, "seen": 3}));
    let inner = tried("One", &Trial { input: json!(5), ..Trial::default() });
    assert_eq!((inner.output, inner.next), (Some(json!(5)), None));
}

#[test]
fn answers_belong_to_states_that_ask() {
    let definition = definition();
    let fault = |name: &str, answer: Option<Answer>| {
        let trial = Trial { answer, ..Trial::default() };
        try_state(&definition, 0, name, &trial, Detail::Info, Moment::new(0, 0)).unwrap_err()
    };
    assert_eq!(fault("Resize", None), TrialError::AnswerMissing("Resize".into(), "Task"));
    assert_eq!(fault("Done", Some(Answer::Result(json!(1)))), TrialError::AnswerUnused("Done".into(), "Wait"));
    assert_eq!(fault("None", None), TrialError::NoSuchState("None".into()));
}
