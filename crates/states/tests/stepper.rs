//! What machines do, event by event. Every run here stores its state after each step and goes on from what was stored.

use bindery_states::asl::{
    definition::Definition,
    stepper::{Command, Event, Execution, HistoryEvent, Identity, Moment, Status, StepLimits, step},
};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// A run, with the tasks answered by a function of their resource, input and number.
struct Run {
    execution: Execution,
    history: Vec<HistoryEvent>,
    commands: Vec<Command>,
}

type Answer = fn(resource: &str, input: &Value) -> Result<Value, (&'static str, &'static str)>;

#[expect(clippy::unnecessary_wraps, reason = "an answer like others")]
fn echo(_: &str, input: &Value) -> Result<Value, (&'static str, &'static str)> {
    Ok(input.clone())
}

fn run_with(definition: &Value, input: Value, answer: Answer, limits: StepLimits) -> Run {
    let text = definition.to_string();
    let definition = Definition::parse(&text).unwrap_or_else(|faults| panic!("{faults}"));
    let identity =
        Identity { id: "arn:aws:states:eu-west-1:1:execution:m:run".into(), name: "run".into(), ..Identity::default() };
    let mut run = Run { execution: Execution::new(identity, input), history: Vec::new(), commands: Vec::new() };
    let mut events = VecDeque::from([Event::Started]);
    let mut now = 1_000_000;
    while let Some(event) = events.pop_front() {
        let stored = serde_json::to_string(&run.execution).expect("plain data");
        let mut execution: Execution = serde_json::from_str(&stored).expect("as it was stored");
        assert_eq!(execution, run.execution);
        now += 1;
        let done = step(&definition, &mut execution, event.clone(), Moment { limits, ..Moment::new(now, 7) });
        let again = step(
            &definition,
            &mut serde_json::from_str(&stored).expect("as it was stored"),
            event,
            Moment { limits, ..Moment::new(now, 7) },
        );
        assert_eq!(done, again, "the same goes in, the same comes out");
        run.execution = execution;
        for command in &done.commands {
            match command {
                Command::RunTask { task, resource, input, .. } => events.push_back(match answer(resource, input) {
                    Ok(output) => Event::TaskSucceeded { task: *task, output },
                    Err((error, cause)) => {
                        Event::TaskFailed { task: *task, error: Some(error.into()), cause: Some(cause.into()) }
                    }
                }),
                Command::StartTimer { timer, until } => {
                    now = now.max(*until);
                    events.push_back(Event::TimerFired { timer: *timer });
                }
                Command::Continue => events.push_front(Event::Continued),
                _ => {}
            }
        }
        run.history.extend(done.history);
        run.commands.extend(done.commands);
    }
    run
}

fn run(definition: &Value, input: Value, answer: Answer) -> Run {
    run_with(definition, input, answer, StepLimits::default())
}

fn output(definition: &Value, input: Value) -> Value {
    match run(definition, input, echo).execution.status() {
        Status::Succeeded { output } => output.clone(),
        status => panic!("{status:?}"),
    }
}

fn failure(run: &Run) -> (String, String) {
    match run.execution.status() {
        Status::Failed { error, cause } => (error.clone().unwrap_or_default(), cause.clone().unwrap_or_default()),
        status => panic!("{status:?}"),
    }
}

fn kinds(run: &Run) -> Vec<&'static str> {
    run.history.iter().map(|event| event.kind).collect()
}

#[test]
fn variables_are_assigned_together_and_stay_in_their_branch() {
    let machine = json!({
        "QueryLanguage": "JSONata",
        "StartAt": "Set",
        "States": {
            "Set": {"Type": "Pass", "Assign": {"a": 1, "b": 2}, "Next": "Swap"},
            "Swap": {"Type": "Pass", "Assign": {"a": "{% $b %}", "b": "{% $a %}"}, "Output": "{% $a %}", "Next": "Both"},
            "Both": {"Type": "Parallel", "Branches": [
                {"StartAt": "X", "States": {"X": {"Type": "Pass", "Assign": {"c": "{% $a * 10 %}"}, "Next": "Y"},
                    "Y": {"Type": "Pass", "Output": "{% $c + $b %}", "End": true}}},
                {"StartAt": "Z", "States": {"Z": {"Type": "Pass", "Output": "{% $exists($c) %}", "End": true}}},
            ], "Output": "{% [$states.result, $states.input, $exists($c)] %}", "End": true},
        },
    });
    assert_eq!(output(&machine, json!({})), json!([21, false, 1, false]));
}

#[test]
fn a_seed_like_machine_polls_and_starts_another() {
    let machine = json!({
        "QueryLanguage": "JSONata",
        "StartAt": "Status",
        "States": {
            "Status": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke",
                "Arguments": {"FunctionName": "status", "Payload": "{% $states.input %}"},
                "Output": "{% $merge([$states.input, {'n': $states.input.n + 1, 'status': $states.input.n >= 2 ? 'COMPLETE' : 'PROCESSING'}]) %}",
                "Next": "Done?"},
            "Done?": {"Type": "Choice", "Default": "Start", "Choices": [
                {"Condition": "{% not(($states.input.status) = ('COMPLETE')) %}", "Next": "Wait"}]},
            "Wait": {"Type": "Wait", "Seconds": 200, "Next": "Status"},
            "Start": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync",
                "Arguments": {"StateMachineArn": "ingestion", "Input": {"id": "{% $states.input.id %}"}}, "End": true},
        },
    });
    let run = run(&machine, json!({"id": "d1", "n": 0}), echo);
    assert!(matches!(run.execution.status(), Status::Succeeded { .. }), "{:?}", run.execution.status());
    assert_eq!(kinds(&run).iter().filter(|kind| **kind == "WaitStateEntered").count(), 2);
    let nested = run.commands.iter().find_map(|command| match command {
        Command::RunTask { nested: Some(nested), .. } => Some(nested),
        _ => None,
    });
    let nested = nested.expect("the other machine is started");
    assert_eq!((nested.machine.as_str(), &nested.input, nested.waits), ("ingestion", &json!({"id": "d1"}), true));
}

#[test]
fn failures_are_retried_then_caught_then_final() {
    let machine = |catch: Value| {
        json!({"StartAt": "T", "States": {
            "T": {"Type": "Task", "Resource": "broken", "Catch": catch, "Next": "Ok",
                "Retry": [{"ErrorEquals": ["Busy"], "IntervalSeconds": 2, "MaxAttempts": 2, "BackoffRate": 3}]},
            "Ok": {"Type": "Succeed"},
        }})
    };
    let busy: Answer = |_, _| Err(("Busy", "come later"));
    let run_caught = run(
        &machine(json!([{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Ok"}])),
        json!({"a": 1}),
        busy,
    );
    let Status::Succeeded { output } = run_caught.execution.status() else { panic!() };
    assert_eq!(output, &json!({"a": 1, "error": {"Error": "Busy", "Cause": "come later"}}));
    assert_eq!(kinds(&run_caught).iter().filter(|kind| **kind == "LambdaFunctionFailed").count(), 3);
    let waits: Vec<i64> = run_caught
        .commands
        .iter()
        .filter_map(|command| if let Command::StartTimer { until, .. } = command { Some(*until) } else { None })
        .collect();
    assert_eq!(waits.len(), 2);
    assert!(waits[1] - waits[0] >= 6_000);
    assert_eq!(failure(&run(&machine(json!([])), json!({}), busy)).0, "Busy");
}

#[test]
fn a_map_keeps_its_order_and_its_limit() {
    let machine = json!({"StartAt": "M", "States": {"M": {
        "Type": "Map", "ItemsPath": "$.items", "MaxConcurrency": 2, "End": true,
        "ItemSelector": {"n.$": "$$.Map.Item.Value", "i.$": "$$.Map.Item.Index", "all.$": "States.ArrayLength($.items)"},
        "ItemProcessor": {"StartAt": "W", "States": {
            "W": {"Type": "Task", "Resource": "work", "Parameters": {"n.$": "$.n", "from.$": "$$.Map.Item.Value"}, "ResultPath": "$.done", "End": true}}},
    }}});
    let run = run(&machine, json!({"items": [5, 6, 7]}), echo);
    let Status::Succeeded { output } = run.execution.status() else { panic!("{:?}", run.execution.status()) };
    assert_eq!(output[2], json!({"n": 7, "i": 2, "all": 3, "done": {"n": 7, "from": 7}}));
    let first_two = kinds(&run).iter().position(|kind| *kind == "LambdaFunctionSucceeded").unwrap();
    assert_eq!(kinds(&run)[..first_two].iter().filter(|kind| **kind == "MapIterationStarted").count(), 2);
}

#[test]
fn a_selector_in_jsonata_sees_the_input_and_the_item() {
    let machine = json!({"QueryLanguage": "JSONata", "StartAt": "M", "States": {"M": {
        "Type": "Map", "Items": "{% $states.input.items %}", "End": true,
        "ItemSelector": {"n": "{% $states.context.Map.Item.Value * $states.input.factor %}", "of": "{% $count($states.input.items) %}",
            "first": "{% $states.context.Execution.Input.items[0] %}"},
        "ItemProcessor": {"StartAt": "P", "States": {"P": {"Type": "Pass", "Output": "{% [$states.input.n, $states.input.of, $states.input.first] %}", "End": true}}},
    }}});
    assert_eq!(output(&machine, json!({"items": [4, 5], "factor": 10})), json!([[40, 2, 4], [50, 2, 4]]));
}

#[test]
fn a_distributed_map_batches_and_tolerates() {
    let machine = |tolerated: u64| {
        json!({"StartAt": "M", "States": {"M": {
            "Type": "Map", "ItemsPath": "$.items", "ToleratedFailureCount": tolerated, "End": true,
            "ItemBatcher": {"MaxItemsPerBatch": 2, "BatchInput": {"shared.$": "$.shared"}},
            "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "W", "States": {
                "W": {"Type": "Task", "Resource": "work", "End": true}}},
        }}})
    };
    let input = json!({"items": [1, 2, 3, 4, 5], "shared": "s"});
    let picky: Answer =
        |_, input| if input["Items"][0] == 3 { Err(("Odd", "three")) } else { Ok(input["Items"].clone()) };
    let run_tolerant = run(&machine(1), input.clone(), picky);
    let Status::Succeeded { output } = run_tolerant.execution.status() else {
        panic!("{:?}", run_tolerant.execution.status())
    };
    assert_eq!(output, &json!([[1, 2], [5]]));
    assert_eq!(
        kinds(&run_tolerant),
        [
            "ExecutionStarted",
            "MapStateEntered",
            "MapStateStarted",
            "MapRunStarted",
            "MapRunSucceeded",
            "MapStateSucceeded",
            "MapStateExited",
            "ExecutionSucceeded"
        ]
    );
    assert_eq!(failure(&run(&machine(0), input, picky)).0, "States.ExceedToleratedFailureThreshold");
}

#[test]
fn a_failing_branch_ends_the_others() {
    let machine = json!({"StartAt": "P", "States": {
        "P": {"Type": "Parallel", "End": true, "Branches": [
            {"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 60, "End": true}}},
            {"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "E", "Cause": "c"}}}]}}});
    let run = run(&machine, json!({}), echo);
    assert_eq!(failure(&run), ("E".to_owned(), "c".to_owned()));
    assert!(run.commands.iter().any(|command| matches!(command, Command::CancelTimer { .. })));
    assert!(kinds(&run).contains(&"WaitStateAborted"));
}

#[test]
fn what_is_wrong_has_the_names_of_the_service() {
    let state = |state: Value| json!({"StartAt": "A", "States": {"A": state}});
    let jsonata = |state: Value| json!({"QueryLanguage": "JSONata", "StartAt": "A", "States": {"A": state}});
    let error = |machine: &Value, input: Value| failure(&run(machine, input, echo));
    let (name, cause) = error(
        &jsonata(json!({"Type": "Pass", "Output": {"a": {"b": ["{% $states.input.no %}"]}}, "End": true})),
        json!({}),
    );
    assert_eq!(name, "States.QueryEvaluationError");
    assert_eq!(
        cause,
        "An error occurred while executing the state 'A' (entered at the event id #2). The JSONata expression '$states.input.no' specified for the field 'Output/a/b[0]' returned nothing (undefined)."
    );
    let large = json!("x".repeat(300_000));
    assert_eq!(
        error(&state(json!({"Type": "Pass", "Result": large, "End": true})), json!({})).0,
        "States.DataLimitExceeded"
    );
    assert_eq!(
        error(
            &state(json!({"Type": "Pass", "Parameters": {"a.$": "States.ArrayGetItem($.l, 9)"}, "End": true})),
            json!({"l": []})
        )
        .0,
        "States.IntrinsicFailure"
    );
    assert_eq!(
        error(&state(json!({"Type": "Pass", "Result": 1, "ResultPath": "$.a.b", "End": true})), json!({"a": 1})).0,
        "States.ResultPathMatchFailure"
    );
    let choice = state(json!({"Type": "Choice", "Choices": [{"Variable": "$.a", "NumericEquals": 1, "Next": "A"}]}));
    assert_eq!(error(&choice, json!({"a": 2})).0, "States.NoChoiceMatched");
    assert_eq!(error(&choice, json!({})).0, "States.Runtime");
    assert_eq!(
        error(&choice, json!({"a": 1})),
        ("States.Runtime".to_owned(), "The execution reached the maximum number of history events (25000).".to_owned())
    );
}

#[test]
fn long_chains_are_cut_into_steps() {
    let machine = json!({"QueryLanguage": "JSONata", "StartAt": "N", "States": {
        "N": {"Type": "Pass", "Output": "{% $states.input + 1 %}", "Next": "C"},
        "C": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input < 500 %}", "Next": "N"}], "Default": "E"},
        "E": {"Type": "Succeed"}}});
    let limits = StepLimits { transitions: 100, ..StepLimits::default() };
    let run = run_with(&machine, json!(0), echo, limits);
    assert_eq!(run.execution.status(), &Status::Succeeded { output: json!(500) });
    assert_eq!(run.commands.iter().filter(|command| **command == Command::Continue).count(), 10);
    assert!(run.history.iter().zip(1..).all(|(event, number)| event.id == number));
}

#[test]
fn executions_are_stopped_and_driven_again() {
    let machine = json!({"StartAt": "A", "States": {
        "A": {"Type": "Pass", "Result": {"a": 1}, "Next": "T"},
        "T": {"Type": "Task", "Resource": "work", "TimeoutSeconds": 9, "End": true}}});
    let definition = Definition::parse(&machine.to_string()).unwrap();
    let mut execution = Execution::new(Identity::default(), json!({}));
    let mut handle = |event: Event| step(&definition, &mut execution, event, Moment::new(5, 5));
    let started = handle(Event::Started);
    let [Command::RunTask { task, timeout_seconds: Some(9), .. }] = started.commands[..] else { panic!("{started:?}") };
    let stopped = handle(Event::Stopped { error: Some("Enough".into()), cause: None });
    assert_eq!(stopped.history.last().map(|event| event.kind), Some("ExecutionAborted"));
    assert!(handle(Event::TaskSucceeded { task, output: json!(1) }).history.is_empty(), "nobody waits any more");
    let again = handle(Event::Redriven);
    let [Command::RunTask { task, ref input, .. }] = again.commands[..] else { panic!("{again:?}") };
    assert_eq!(input, &json!({"a": 1}));
    let timed_out = handle(Event::HeartbeatMissed { task });
    assert_eq!(
        timed_out.history.iter().map(|event| event.kind).collect::<Vec<_>>(),
        ["LambdaFunctionTimedOut", "ExecutionFailed"]
    );
    assert_eq!(execution.status(), &Status::Failed { error: Some("States.Timeout".into()), cause: None });
}

#[test]
fn time_and_chance_come_from_outside() {
    let machine = json!({"QueryLanguage": "JSONata", "StartAt": "A", "States": {"A": {"Type": "Pass", "End": true, "Output": {
        "now": "{% $now() %}", "day": "{% $now('[D01]/[M01]/[Y0001]') %}", "millis": "{% $millis() %}", "uuid": "{% $uuid() %}",
        "random": "{% $random() < 1 %}", "seeded": "{% $random(7) = $random(7) %}", "parts": "{% $partition([1,2,3], 2) %}",
        "range": "{% $range(0, 6, 3) %}", "hash": "{% $hash('abc', 'MD5') %}", "parsed": "{% $parse('{\"a\": -0}').a %}"}}}});
    let output = output(&machine, json!({}));
    assert_eq!(output["now"], json!("1970-01-01T00:16:40.001Z"));
    assert_eq!(output["day"], json!("01/01/1970"));
    assert_eq!(output["millis"], json!(1_000_001));
    assert_eq!(output["uuid"].as_str().map(str::len), Some(36));
    assert_eq!((&output["random"], &output["seeded"]), (&json!(true), &json!(true)));
    assert_eq!(output["parts"], json!([[1, 2], [3]]));
    assert_eq!(output["range"], json!([0, 3, 6]));
    assert_eq!(output["hash"], json!("900150983cd24fb0d6963f7d28e17f72"));
    assert_eq!(output["parsed"], json!(0));
}

#[test]
fn tokens_are_in_the_context_and_in_the_command() {
    let machine = json!({"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
        "Parameters": {"token.$": "$$.Task.Token"}, "HeartbeatSecondsPath": "$.beat", "End": true}}});
    let run = run(&machine, json!({"beat": 5}), echo);
    let [Command::RunTask { token: Some(token), input, heartbeat_seconds, .. }, ..] = &run.commands[..] else {
        panic!()
    };
    assert_eq!((&input["token"], heartbeat_seconds), (&json!(token), &Some(5)));
}
