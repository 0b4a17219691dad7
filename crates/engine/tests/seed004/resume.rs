//! Where a retry begins.

use crate::{
    examples::{again, finished},
    on_every_runner, retry_context,
    support::{Desk, Tracer, documents, input, story, with_failure},
};
use bindery_core::outcome::Step;
use bindery_engine::execution::{ExecutionContext, ProcessorInput, Silent};
use serde_json::{Value, json};

fn retry_of(run: &str) -> ExecutionContext {
    ExecutionContext { previous_run_id: Some(run.to_owned()), retry_count: 1, ..ExecutionContext::default() }
}

fn with_payload(payload: Value) -> Vec<ProcessorInput> {
    vec![documents(["a.pdf"]).remove(0).with_payload(payload)]
}

/// What the step was given when it failed.
fn state(step: Step) -> Value {
    match step {
        Step::Validation => json!({"doc": "a.pdf"}),
        Step::Processing => json!({"doc": "a.pdf", "trail": ["validated"]}),
        Step::Extraction => json!({"doc": "a.pdf", "trail": ["validated", "processed"]}),
    }
}

#[test]
fn s004_18_the_resume_table() {
    on_every_runner(|desk| {
        for (failed, steps) in [
            ("validation", "a.pdf validation processing extraction"),
            ("processing", "a.pdf processing extraction"),
            ("extraction", "a.pdf extraction"),
        ] {
            let payload = json!({"step": failed, "data": state(Step::from_name(failed).unwrap())});
            let result = desk.execution().execute(with_payload(payload), Some(retry_of("failed_run_id")));
            assert!(result.success, "{result:?}");
            assert_eq!(desk.steps(), [steps]);
        }
    });
}

#[test]
fn s004_19_without_a_usable_payload_everything_runs() {
    on_every_runner(|desk| {
        let data = state(Step::Extraction);
        for payload in [
            json!(null),
            json!("extraction"),
            json!(["extraction"]),
            json!(7),
            json!({}),
            json!({"data": data}),
            json!({"step": null, "data": data}),
            json!({"step": 3, "data": data}),
            json!({"step": "extraction"}),
        ] {
            let result = desk.execution().execute(with_payload(payload.clone()), Some(retry_of("failed_run_id")));
            assert!(result.success, "{payload}: {result:?}");
            assert_eq!(desk.steps(), ["a.pdf validation processing extraction"], "{payload}");
        }
    });
}

#[test]
fn s004_20_without_a_previous_run_nothing_is_resumed() {
    on_every_runner(|desk| {
        let payload = json!({"step": "extraction", "data": state(Step::Extraction)});
        let parent_only = ExecutionContext { parent_run_id: Some("r".to_owned()), ..ExecutionContext::default() };
        for context in [None, Some(ExecutionContext::default()), Some(parent_only)] {
            desk.execution().execute(with_payload(payload.clone()), context);
            assert_eq!(desk.steps(), ["a.pdf validation processing extraction"]);
        }
        desk.execution().execute(with_payload(payload), Some(retry_of("failed_run_id")));
        assert_eq!(desk.steps(), ["a.pdf extraction"]);
    });
}

#[test]
fn s004_21_a_success_is_not_run_again_unless_its_input_has_changed() {
    on_every_runner(|desk| {
        let inputs = with_failure(documents(["a.pdf", "b.pdf", "c.pdf"]), Step::Extraction, "torn");
        let failed = desk.execution().execute(inputs.clone(), None);
        let known = finished(desk, &failed, &inputs);
        desk.repair();
        desk.steps();
        let mut inputs = again(&failed, &inputs);
        inputs[2].data["value"] = json!({"corrected": "yes"});
        let retried = desk.execution().execute_with(
            "r".to_owned(),
            inputs.clone(),
            Some(retry_context(&failed)),
            &known,
            &mut Silent,
        );
        assert_eq!(desk.steps(), ["a.pdf extraction", "c.pdf validation processing extraction"]);
        assert_eq!(story(&retried, &inputs)[1], "Input 2: b.pdf → SKIP (already successful)");
        assert_eq!((retried.metrics.skipped, retried.metrics.succeeded), (1, 2));
        assert_eq!(retried.metrics.cost_micros, 40, "what was done before costs nothing");
    });
}

#[test]
fn s004_25_mixed_resume_points_in_one_call() {
    on_every_runner(|desk| {
        let doc3 = json!({"step": "processing", "data": {"doc": "3.pdf", "trail": ["validated"]}});
        let inputs = vec![
            input("doc1", json!({"doc": "1.pdf"})),
            input("doc2", json!({"doc": "2.pdf", "fail": {"processing": "torn"}})),
            input("doc3", json!({"doc": "3.pdf"})).with_payload(doc3),
        ];
        let result = desk.execution().execute(inputs.clone(), Some(retry_of("failed_run_id")));
        assert_eq!(
            story(&result, &inputs),
            [
                "doc1: 1.pdf → validation → processing → extraction → SUCCESS",
                "doc2: 2.pdf → validation → processing → FAIL (processing error)",
                "doc3: 3.pdf → SKIP validation → processing → extraction → SUCCESS",
            ]
        );
        assert_eq!(result.metrics.resumed, 1);
    });
}

#[test]
fn s004_28_each_retry_names_the_first_and_the_last_run() {
    on_every_runner(|desk| {
        let inputs = with_failure(documents(["a.pdf"]), Step::Processing, "torn");
        let first = desk.execution().execute(inputs, None);
        let second = desk.execution().execute(first.payloads.clone().unwrap(), Some(retry_context(&first)));
        let third = desk.execution().execute(second.payloads.clone().unwrap(), Some(retry_context(&second)));
        let lineage = |context: &ExecutionContext| (context.parent_run_id.clone(), context.previous_run_id.clone());
        assert_eq!(lineage(&second.context), (Some(first.run_id.clone()), Some(first.run_id.clone())));
        assert_eq!(lineage(&third.context), (Some(first.run_id.clone()), Some(second.run_id.clone())));
        assert_eq!((third.context.retry_count, third.context.last_error_step), (2, Some(Step::Processing)));
        assert_eq!(desk.steps(), ["a.pdf validation processing processing processing"]);
    });
}

#[test]
fn s004_29_a_resume_recomputes_nothing_before_it() {
    on_every_runner(|desk| {
        for step in Step::ALL {
            let desk = Desk::new(std::sync::Arc::clone(&desk.runner));
            let inputs = with_failure(documents(["a.pdf"]), step, "retry: try again later");
            let failed = desk.execution().execute(inputs, None);
            desk.repair();
            let retried = desk.execution().execute(failed.payloads.clone().unwrap(), Some(retry_context(&failed)));
            assert!(retried.success, "{retried:?}");
            let mut expected = vec!["a.pdf"];
            for other in Step::ALL {
                expected.extend(vec![other.as_str(); if other == step { 2 } else { 1 }]);
            }
            assert_eq!(desk.steps(), [expected.join(" ")]);
        }
    });
}

#[test]
fn s004_38_every_attempt_has_its_cost_and_what_was_done_before_is_free() {
    on_every_runner(|desk| {
        let inputs = with_failure(documents(["a.pdf", "b.pdf"]), Step::Processing, "retry: try again later");
        let failed = desk.execution().execute(inputs.clone(), None);
        // Each step costs 10, also the one that fails: two of a.pdf, three of b.pdf.
        assert_eq!(failed.metrics.cost_micros, 50);
        let entries: Vec<&str> = failed.inputs[0].costs.iter().map(|cost| cost.operation.as_str()).collect();
        assert_eq!(entries, ["validation", "processing"]);
        desk.repair();
        let known = finished(desk, &failed, &inputs);
        let (inputs, context) = (again(&failed, &inputs), Some(retry_context(&failed)));
        let retried = desk.execution().execute_with("r".to_owned(), inputs, context, &known, &mut Silent);
        assert_eq!(retried.metrics.cost_micros, 20, "processing and extraction of a.pdf");
        assert_eq!(retried.inputs[1].costs, [], "b.pdf was done before");
    });
}

#[test]
fn s004_34_what_has_changed_starts_at_validation() {
    on_every_runner(|desk| {
        let inputs = with_failure(documents(["a.pdf"]), Step::Extraction, "torn");
        let failed = desk.execution().execute(inputs, None);
        let left = failed.payloads.clone().unwrap();
        let everything = ["a.pdf validation processing extraction"];
        desk.repair();
        desk.steps();

        let mut changed = left.clone();
        changed[0].data["value"] = json!({"corrected": "yes"});
        let result = desk.execution().execute(changed, Some(retry_context(&failed)));
        assert_eq!(desk.steps(), everything);
        assert_eq!(result.warnings, ["input Input 1 starts at validation: the input has changed"]);

        let newer = desk.execution_of(Tracer { name: "tracer", version: 2 });
        let result = newer.execute(left.clone(), Some(retry_context(&failed)));
        if result.metrics.runner != bindery_engine::runner::RunnerKind::Processes {
            assert_eq!(desk.steps(), everything);
        }
        let said = "input Input 1 starts at validation: the processor has changed from version 1 to 2";
        assert_eq!(result.warnings, [said]);
        desk.steps();

        let other = desk.execution_of(Tracer { name: "other", version: 1 });
        let inputs = vec![left[0].clone(), documents(["x.pdf", "b.pdf"]).remove(1)];
        let result = other.execute(inputs, Some(retry_context(&failed)));
        let shown = serde_json::to_value(&result.output).unwrap();
        assert_eq!(shown[0]["exception"], "ForeignResume");
        assert_eq!(shown[0]["message"], "the payload was left by the processor tracer, not by other");
        assert_eq!(shown[1]["success"], true, "the others are done");
        assert_eq!(desk.steps(), ["b.pdf validation processing extraction"]);
    });
}
