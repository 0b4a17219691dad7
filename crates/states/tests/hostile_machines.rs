//! Whatever is given, reading and stepping return: they do not panic, and they come to an end.

use bindery_states::asl::{
    definition::Definition,
    jsonpath::PathExpression,
    stepper::{Command, Event, Execution, Identity, Moment, StepLimits, step},
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Values that fields of a state may be given, fitting or not.
fn value() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(2.5),
        json!(1e300),
        json!("A"),
        json!("B"),
        json!(""),
        json!("$"),
        json!("$.a"),
        json!("$.a[*].b"),
        json!("$$.Execution.Id"),
        json!("$x"),
        json!("{% $states.input %}"),
        json!("{% $x.a[0] %}"),
        json!("{% ("),
        json!("States.Format('{}', $.a)"),
        json!("States.ArrayRange(0, 9, 1)"),
        json!([]),
        json!({}),
        json!([{"ErrorEquals": ["States.ALL"], "Next": "B"}]),
        json!([{"ErrorEquals": ["States.ALL"], "MaxAttempts": 2}]),
        json!({"a.$": "$.a", "b": [1, {"c.$": "$$"}]}),
        json!({"a": "{% $states.input.a %}"}),
        json!([{"Variable": "$.a", "NumericEquals": 1, "Next": "B"}]),
        json!([{"Condition": "{% true %}", "Next": "B"}]),
        json!({"StartAt": "I", "States": {"I": {"Type": "Pass", "End": true}}}),
        json!([{"StartAt": "P", "States": {"P": {"Type": "Task", "Resource": "r", "End": true}}}]),
        json!({"StartAt": "D", "States": {"D": {"Type": "Fail", "Error": "E"}}, "ProcessorConfig": {"Mode": "DISTRIBUTED"}}),
        json!({"MaxItemsPerBatch": 2}),
        json!("2026-11-15T00:00:00Z"),
    ])
}

fn field() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "Next",
        "End",
        "Result",
        "Parameters",
        "Arguments",
        "ResultPath",
        "OutputPath",
        "InputPath",
        "Output",
        "Assign",
        "Resource",
        "Retry",
        "Catch",
        "Choices",
        "Default",
        "Seconds",
        "SecondsPath",
        "Timestamp",
        "TimestampPath",
        "Branches",
        "ItemProcessor",
        "Iterator",
        "Items",
        "ItemsPath",
        "ItemSelector",
        "ItemBatcher",
        "MaxConcurrency",
        "MaxConcurrencyPath",
        "ToleratedFailureCount",
        "TimeoutSeconds",
        "TimeoutSecondsPath",
        "ErrorPath",
        "Cause",
        "QueryLanguage",
        "ResultSelector",
        "Credentials",
        "Nonsense",
    ])
}

fn state() -> impl Strategy<Value = Value> {
    let kinds = vec!["Pass", "Task", "Choice", "Wait", "Succeed", "Fail", "Parallel", "Map", "Nothing"];
    let fields = prop::collection::vec((field(), value()), 0..6);
    (prop::sample::select(kinds), fields, any::<bool>(), any::<bool>()).prop_map(|(kind, fields, jsonata, ends)| {
        let mut state = json!({"Type": kind});
        // Mostly right, so that something runs.
        if ends && !matches!(kind, "Choice" | "Succeed" | "Fail") {
            state["End"] = json!(true);
        }
        if jsonata {
            state["QueryLanguage"] = json!("JSONata");
        }
        match kind {
            "Task" => state["Resource"] = json!("work"),
            "Map" => {
                state["ItemProcessor"] =
                    json!({"StartAt": "I", "States": {"I": {"Type": "Task", "Resource": "r", "End": true}}});
            }
            "Wait" => state["Seconds"] = json!(1),
            _ => {}
        }
        for (field, value) in fields {
            state[field] = value;
        }
        state
    })
}

fn drive(definition: &Definition, input: Value, fails: bool) {
    let mut execution = Execution::new(Identity::default(), input);
    let mut events = vec![Event::Started];
    let limits = StepLimits { history: 300, transitions: 50, ..StepLimits::default() };
    for number in 0..500 {
        let Some(event) = events.pop() else { return };
        let done = step(definition, &mut execution, event, Moment { limits, ..Moment::new(i64::from(number), 3) });
        for command in done.commands {
            events.extend(match command {
                Command::RunTask { task, .. } if fails => Some(Event::TaskFailed { task, error: None, cause: None }),
                Command::RunTask { task, input, .. } | Command::WriteResults { task, arguments: input, .. } => {
                    Some(Event::TaskSucceeded { task, output: input })
                }
                Command::ReadItems { task, .. } => Some(Event::ItemsRead { task, items: vec![json!(1), json!(2)] }),
                Command::StartTimer { timer, .. } => Some(Event::TimerFired { timer }),
                Command::Continue => Some(Event::Continued),
                _ => None,
            });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,80}") {
        let _ = Definition::parse(&text);
        let _ = PathExpression::parse(&text);
        let _ = PathExpression::parse(&format!("$.{text}"));
        let _ = PathExpression::parse(&format!("States.Format({text}"));
    }

    #[test]
    fn any_machine_is_refused_or_comes_to_an_end(first in state(), second in state(), input in value(), fails in any::<bool>()) {
        let machine = json!({"StartAt": "A", "States": {"A": first, "B": second}});
        if let Ok(definition) = Definition::from_value(&machine) {
            drive(&definition, input, fails);
        } else if let Ok(definition) = Definition::from_value(&json!({"StartAt": "A", "States": {"A": machine["States"]["A"]}})) {
            drive(&definition, input, fails);
        }
    }
}
