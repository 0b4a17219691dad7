//! What goes in and what comes out, field by field.

use crate::{
    on_every_runner,
    support::{ACCOUNT, Desk, Tracer, UNDERWRITING, documents, input, with_failure},
};
use bindery_core::{StepError, outcome::Step};
use bindery_engine::{
    Extracted, Processor,
    context::StepContext,
    execution::{Execution, ExecutionContext, ExecutionError, FactorPolicy, MergePolicy, ProcessorInput, Trigger},
    runner::{RunnerKind, Sequential},
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

#[test]
fn s004_01_a_processor_has_an_owner_and_a_runner_sequential_by_default() {
    let execution = Execution::new(Arc::new(Tracer { name: "tracer", version: 1 }), ACCOUNT, UNDERWRITING).unwrap();
    assert_eq!((execution.account_id(), execution.underwriting_id()), (ACCOUNT, UNDERWRITING));
    assert_eq!(execution.execute(Vec::new(), None).metrics.runner, RunnerKind::Sequential);
    on_every_runner(|desk| {
        assert_eq!(desk.execution().execute(Vec::new(), None).metrics.runner, desk.runner.kind());
    });
    for (account, underwriting, blank) in [(" ", UNDERWRITING, "account_id"), (ACCOUNT, "", "underwriting_id")] {
        let refused = Execution::new(Arc::new(Tracer { name: "tracer", version: 1 }), account, underwriting);
        assert_eq!(refused.unwrap_err(), ExecutionError::BlankOwner(blank));
    }
}

/// The three steps are the trait's; a processor that has only the middle one gets the others' plain forms.
struct Minimal;

impl Processor for Minimal {
    fn name(&self) -> &'static str {
        "minimal"
    }

    fn process(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
        Ok(input)
    }
}

#[test]
fn s004_02_a_name_and_three_steps() {
    let execution = Execution::new(Arc::new(Minimal), ACCOUNT, UNDERWRITING).unwrap();
    assert_eq!(execution.processor_name(), "p_minimal");
    let result = execution.execute(vec![input("a", json!({"found": "yes"}))], None);
    assert_eq!(serde_json::to_value(&result.output).unwrap(), json!({"found": "yes"}));
    assert_eq!(result.metrics.steps.keys().copied().collect::<Vec<_>>(), Step::ALL);
}

#[test]
fn s004_03_execute_takes_inputs_and_a_context_and_answers_with_a_result() {
    on_every_runner(|desk| {
        let context = ExecutionContext { trigger_type: Trigger::Manual, ..ExecutionContext::default() };
        let result = desk.execution().execute(documents(["a.pdf"]), Some(context));
        let shown = serde_json::to_value(&result).unwrap();
        let fields: Vec<&str> = shown.as_object().unwrap().keys().map(String::as_str).collect();
        for field in [
            "run_id",
            "account_id",
            "underwriting_id",
            "output",
            "success",
            "context",
            "timestamp",
            "duration",
            "error",
            "payloads",
        ] {
            assert!(fields.contains(&field), "{field} is not in {fields:?}");
        }
        assert_eq!((&shown["account_id"], &shown["underwriting_id"]), (&json!(ACCOUNT), &json!(UNDERWRITING)));
        assert_eq!(
            (&shown["success"], &shown["error"], &shown["payloads"]),
            (&json!(true), &json!(null), &json!(null))
        );
        assert_eq!(shown["context"]["trigger_type"], "manual");
        assert_eq!(result.run_id.len(), 36);
        assert_ne!(result.run_id, desk.execution().execute(Vec::new(), None).run_id);
    });
}

#[test]
fn s004_37_a_result_tells_when_why_and_how_long() {
    on_every_runner(|desk| {
        let context = ExecutionContext {
            trigger_type: Trigger::Manual,
            trigger_initiator: Some("underwriting desk".to_owned()),
            trigger_timestamp: Some("2026-01-02T03:04:05Z".to_owned()),
            ..ExecutionContext::default()
        };
        let inputs = with_failure(documents(["a.pdf"]), Step::Processing, "ApiError: no answer");
        let shown = serde_json::to_value(desk.execution().execute(inputs, Some(context))).unwrap();
        assert_eq!(shown["context"]["trigger_initiator"], "underwriting desk");
        assert_eq!(shown["context"]["trigger_timestamp"], "2026-01-02T03:04:05Z");
        assert!(shown["timestamp"].is_string() && shown["duration"].as_f64().unwrap() > 0.0, "{shown:#}");
        assert_eq!(shown["error"]["exception"], "InputsFailed");
        assert_eq!(shown["payloads"][0]["payload"]["step"], "processing");
    });
}

#[test]
fn s004_04_an_input_has_five_fields() {
    let written = json!({"input_id": "doc_1", "account_id": ACCOUNT, "underwriting_id": UNDERWRITING, "data": [1],
        "payload": {"step": "processing"}});
    let read = ProcessorInput::from_json(written.clone(), None, None).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), written);
    let bare = json!({"input_id": "doc_1", "data": null});
    let read = ProcessorInput::from_json(bare, Some(ACCOUNT), Some(UNDERWRITING)).unwrap();
    assert_eq!(read, input("doc_1", Value::Null));
    for (bad, sentence) in [
        (json!([]), "expected an object with input_id, account_id, underwriting_id and data, found a list"),
        (json!({"data": 1}), "`input_id` is missing"),
        (json!({"input_id": "a"}), "`account_id` is missing"),
        (json!({"input_id": "a", "account_id": "b"}), "`underwriting_id` is missing"),
        (json!({"input_id": "a", "account_id": "b", "underwriting_id": "c"}), "`data` is missing"),
        (json!({"input_id": 7}), "`input_id`: expected a text that is not blank, found 7"),
        (json!({"input_id": " "}), "`input_id`: expected a text that is not blank, found \" \""),
        (
            json!({"input": 7}),
            "unknown field `input`; an input has input_id, account_id, underwriting_id, data and payload",
        ),
    ] {
        assert_eq!(ProcessorInput::from_json(bad, None, None).unwrap_err().to_string(), sentence);
    }
}

#[test]
fn s004_10_one_failure_keeps_every_result_apart() {
    on_every_runner(|desk| {
        let inputs = vec![
            input("doc1", json!({"doc": "1.pdf"})),
            input("doc2", json!({"doc": "2.pdf", "fail": {"processing": "ApiError: no answer"}})),
            input("doc3", json!({"doc": "3.pdf"})),
        ];
        let result = desk.execution().execute(inputs, None);
        let trail = json!({"trail": ["validated", "processed"]});
        let data = json!({"doc": "2.pdf", "fail": {"processing": "ApiError: no answer"}, "trail": ["validated"]});
        assert!(!result.success);
        assert_eq!(
            serde_json::to_value(&result.output).unwrap(),
            json!([
                {"input_id": "doc1", "success": true, "output": {"1": trail}},
                {"input_id": "doc2", "success": false, "step": "processing", "exception": "ApiError",
                    "message": "no answer",
                    "payload": {"step": "processing", "exception": "ApiError", "message": "no answer", "data": data}},
                {"input_id": "doc3", "success": true, "output": {"3": trail}},
            ])
        );
        let payloads = result.payloads.unwrap();
        assert_eq!(payloads.len(), 1, "only what failed is to be retried: {payloads:?}");
        assert_eq!((payloads[0].input_id.as_str(), &payloads[0].payload.as_ref().unwrap()["data"]), ("doc2", &data));
        assert_eq!(result.error.unwrap().message, "1 of 3 inputs did not succeed");
    });
}

#[test]
fn s004_16_a_failure_has_the_fields_of_the_seed() {
    on_every_runner(|desk| {
        let inputs = vec![input(
            "doc_123",
            json!({"doc": "a.pdf", "fail": {"extraction": "ValidationError: Invalid document format"}}),
        )];
        let result = desk.execution().execute(inputs, None);
        let shown = serde_json::to_value(&result.output).unwrap();
        let data = json!({"doc": "a.pdf", "fail": {"extraction": "ValidationError: Invalid document format"},
            "trail": ["validated", "processed"]});
        assert_eq!(
            shown[0],
            json!({
                "input_id": "doc_123",
                "success": false,
                "step": "extraction",
                "exception": "ValidationError",
                "message": "Invalid document format",
                "payload": {
                    "step": "extraction",
                    "exception": "ValidationError",
                    "message": "Invalid document format",
                    "data": data
                }
            })
        );
    });
}

#[test]
fn s004_26_the_context_has_the_fields_and_defaults_of_the_seed() {
    let context = serde_json::to_value(ExecutionContext::default()).unwrap();
    for field in ["parent_run_id", "previous_run_id", "last_error_step"] {
        assert_eq!(context[field], Value::Null, "{field}");
    }
    assert_eq!((&context["retry_count"], &context["execution_metadata"]), (&json!(0), &json!({})));
    let written = json!({"parent_run_id": "original_run_id", "previous_run_id": "failed_run_id",
        "last_error_step": "extraction", "retry_count": 1});
    let read: ExecutionContext = serde_json::from_value(written).unwrap();
    assert_eq!((read.last_error_step, read.retry_count), (Some(Step::Extraction), 1));
    assert!(serde_json::from_value::<ExecutionContext>(json!({"last_error_step": "thinking"})).is_err());
}

#[test]
fn s004_27_a_given_context_is_shown_and_does_not_stay() {
    on_every_runner(|desk| {
        let execution = desk.execution();
        let given = ExecutionContext {
            parent_run_id: Some("original_run_id".to_owned()),
            retry_count: 2,
            execution_metadata: BTreeMap::from([("reason".to_owned(), "b".to_owned())]),
            ..ExecutionContext::default()
        };
        let shown = execution.execute(documents(["a.pdf"]), Some(given.clone())).context;
        assert_eq!(shown, given);
        let next = execution.execute(documents(["a.pdf"]), None).context;
        assert_eq!(next, ExecutionContext::default(), "nothing leaks into the next call");
    });
}

/// Returns whatever its input holds under `factors`.
struct Echo;

impl Processor for Echo {
    fn name(&self) -> &'static str {
        "echo"
    }

    fn process(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
        Ok(input)
    }

    fn extract(&self, _context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        Ok(Extracted::new(processed["factors"].clone()))
    }
}

#[test]
fn s004_07_extraction_returns_a_map_of_factors() {
    let execution = Execution::new(Arc::new(Echo), ACCOUNT, UNDERWRITING).unwrap().with_runner(Arc::new(Sequential));
    let run = |factors: Value| execution.execute(vec![input("a", json!({"factors": factors}))], None);
    let factors = json!({"text": "a", "list": ["a", 1], "map": {"a": {"b": null}}});
    assert_eq!(serde_json::to_value(run(factors.clone()).output).unwrap(), factors);
    for (bad, found) in [(json!("text"), "a text"), (json!([1]), "a list"), (json!(7), "a number")] {
        let result = serde_json::to_value(run(bad).output).unwrap();
        assert_eq!(result[0]["step"], "extraction");
        assert_eq!(result[0]["message"], format!("extraction must return a map of factors, and returned {found}"));
        assert_eq!(result[0]["payload"]["step"], "validation", "what extraction was given is gone");
    }
}

#[test]
fn s004_09_factors_that_differ_are_reported_and_merged_as_asked() {
    let inputs = || {
        ["1", "2", "1"].iter().enumerate().map(|(place, name)| {
            input(
                &format!("doc_{place}"),
                json!({"factors": {"name": name, "shared": "same", (format!("own_{place}")): place}}),
            )
        })
    };
    let merged = |policy: FactorPolicy| {
        let merge = MergePolicy { factors: BTreeMap::from([("name".to_owned(), policy)]), ..MergePolicy::default() };
        let execution = Execution::new(Arc::new(Echo), ACCOUNT, UNDERWRITING).unwrap().with_merge(merge);
        execution.execute(inputs().collect(), None)
    };
    let result = merged(FactorPolicy::Last);
    assert_eq!(
        serde_json::to_value(&result.output).unwrap(),
        json!({"name": "1", "shared": "same", "own_0": 0, "own_1": 1, "own_2": 2})
    );
    assert_eq!(
        serde_json::to_value(&result.conflicts).unwrap(),
        json!([{"factor": "name", "policy": "last", "found": [
            {"input_id": "doc_0", "value": "1"}, {"input_id": "doc_1", "value": "2"}, {"input_id": "doc_2", "value": "1"}
        ]}])
    );
    let all = serde_json::to_value(merged(FactorPolicy::All).output).unwrap();
    assert_eq!(all["name"], json!(["1", "2", "1"]));
    let first = merged(FactorPolicy::First);
    assert_eq!((first.conflicts.len(), serde_json::to_value(first.output).unwrap()["name"].clone()), (1, json!("1")));
}

#[test]
fn s004_17_the_payload_holds_the_state_at_the_point_of_failure() {
    on_every_runner(|desk: &Desk| {
        for (step, trail) in [
            (Step::Validation, json!(null)),
            (Step::Processing, json!(["validated"])),
            (Step::Extraction, json!(["validated", "processed"])),
        ] {
            let inputs = with_failure(documents(["a.pdf"]), step, "it is torn");
            let result = desk.execution().execute(inputs, None);
            let payload = result.payloads.unwrap()[0].payload.clone().unwrap();
            assert_eq!((payload["step"].as_str(), &payload["data"]["trail"]), (Some(step.as_str()), &trail));
        }
    });
}
