//! Runs that a caller starts after another one, with inputs of its own.

use super::clerk::{ACCOUNT, Clerk, UNDERWRITING, after, factors, input, inputs, output, quiet, refusal, rig};
use bindery_core::outcome::Step;
use bindery_engine::execution::{Execution, ExecutionContext};
use serde_json::{Value, json};
use std::sync::Arc;

/// What processing returns.
fn processed(id: &str, n: i64) -> Value {
    json!({"id": id, "n": n, "processed": true})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s004_20_resume_points_count_only_after_a_previous_run() {
    let (_rig, runs) = rig();
    let clerk = Clerk::new();
    clerk.fail("doc0", Step::Extraction);
    let failed = runs.start(clerk.execution(), inputs(2), None, quiet).await.unwrap();
    clerk.heal();
    clerk.forget();
    let handed_over = failed.payloads.clone().unwrap();
    assert!(handed_over[0].payload.is_some());
    let full = runs.start(clerk.execution(), handed_over.clone(), None, quiet).await.unwrap();
    assert_eq!(clerk.steps(), [1, 1, 1], "without a previous run everything is done");
    assert_eq!(output(&full), factors(1));
    clerk.forget();
    let context = Some(failed.context.for_retry(&failed.run_id, failed.last_error_step()));
    let resumed = runs.start(clerk.execution(), handed_over, context, quiet).await.unwrap();
    assert_eq!(clerk.steps(), [0, 0, 1], "with one, its resume points are used");
    assert_eq!(output(&resumed), factors(2), "and what it has done is in the answer");
    assert_eq!(resumed.context, failed.context.for_retry(&failed.run_id, failed.last_error_step()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s004_20_inputs_without_payloads_resume_from_the_store() {
    let (_rig, runs) = rig();
    let clerk = Clerk::new();
    clerk.fail("doc0", Step::Extraction);
    clerk.fail("doc1", Step::Processing);
    let failed = runs.start(clerk.execution(), inputs(4), None, quiet).await.unwrap();
    clerk.heal();
    clerk.forget();
    let mut given = inputs(5);
    given[2] = input("doc2", 200);
    let result = runs.start(clerk.execution(), given, Some(after(&failed.run_id)), quiet).await.unwrap();
    let steps: Vec<_> = (0..5).map(|n| clerk.steps_of(&format!("doc{n}"))).collect();
    assert_eq!(
        steps,
        [[0, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 0], [1, 1, 1]],
        "failed ones resume, the changed one is done again, the same one is skipped, the new one is done"
    );
    assert_eq!(output(&result), json!({"doc0": 0, "doc1": 1, "doc2": 200, "doc3": 3, "doc4": 4}));
    assert_eq!(result.context.parent_run_id.as_ref(), Some(&failed.run_id));
    assert_eq!((result.context.retry_count, result.context.last_error_step), (1, Some(Step::Processing)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s004_20_a_changed_input_does_not_resume() {
    let (_rig, runs) = rig();
    let clerk = Clerk::new();
    clerk.fail("doc0", Step::Extraction);
    let failed = runs.start(clerk.execution(), inputs(1), None, quiet).await.unwrap();
    clerk.heal();
    clerk.forget();
    let changed = vec![input("doc0", 99)];
    let result = runs.start(clerk.execution(), changed, Some(after(&failed.run_id)), quiet).await.unwrap();
    assert_eq!(clerk.steps(), [1, 1, 1]);
    assert_eq!(output(&result), json!({"doc0": 99}));
    assert_eq!(result.warnings, ["input doc0 starts at validation: the input has changed"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s004_20_a_payload_that_a_run_never_came_to_is_kept_for_its_retry() {
    let (_rig, runs) = rig();
    let clerk = Clerk::new();
    clerk.fail("doc0", Step::Processing);
    let given = || input("doc1", 1).with_payload(json!({"step": "extraction", "data": processed("doc1", 10)}));
    let cancelled = || {
        let mut execution = clerk.execution();
        execution.task_mut().cancel.cancel();
        execution
    };
    // In a first run a payload counts for nothing, then or later.
    let first = runs.start(cancelled(), vec![given()], None, quiet).await.unwrap();
    let second = runs.retry(&first.run_id, |record| clerk.again(record), quiet).await.unwrap();
    assert_eq!((clerk.steps_of("doc1"), output(&second)), ([1, 1, 1], json!({"doc1": 1})));
    // In a run after another one it does, also where that run did not come to it.
    let first = runs.start(clerk.execution(), inputs(1), None, quiet).await.unwrap();
    clerk.heal();
    clerk.forget();
    let second = runs.start(cancelled(), vec![given()], Some(after(&first.run_id)), quiet).await.unwrap();
    let third = runs.retry(&second.run_id, |record| clerk.again(record), quiet).await.unwrap();
    assert_eq!((clerk.steps_of("doc0"), clerk.steps_of("doc1")), ([0, 1, 1], [0, 0, 1]));
    assert_eq!(output(&third), json!({"doc0": 0, "doc1": 10}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_left_of_the_lineage_is_done_with_what_is_given() {
    let (_rig, runs) = rig();
    let clerk = Clerk::new();
    clerk.fail("doc0", Step::Processing);
    clerk.fail("doc1", Step::Processing);
    let failed = runs.start(clerk.execution(), inputs(3), None, quiet).await.unwrap();
    clerk.heal();
    clerk.fail("doc1", Step::Processing);
    let second =
        runs.start(clerk.execution(), vec![input("doc9", 9)], Some(after(&failed.run_id)), quiet).await.unwrap();
    assert_eq!((second.metrics.inputs, second.metrics.failed), (4, 1));
    clerk.heal();
    clerk.forget();
    let third = runs.retry(&second.run_id, |record| clerk.again(record), quiet).await.unwrap();
    assert_eq!(clerk.steps(), [0, 1, 1]);
    assert_eq!(output(&third), json!({"doc0": 0, "doc1": 1, "doc2": 2, "doc9": 9}));
    let order: Vec<_> = third.inputs.iter().map(|report| report.input_id.as_str()).collect();
    assert_eq!(order, ["doc0", "doc1", "doc2", "doc9"], "new ones come behind those of the first run");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_previous_run_must_be_of_the_same_processor_and_owner() {
    let (rig, runs) = rig();
    let clerk = Clerk::new();
    clerk.fail("doc0", Step::Processing);
    let failed = runs.start(clerk.execution(), inputs(1), None, quiet).await.unwrap();
    let id = &failed.run_id;
    let of = |processor: &Clerk, account: &str, underwriting: &str| {
        Execution::new(Arc::new(processor.clone()), account, underwriting).unwrap()
    };
    let other = Clerk::named("other");
    for (execution, expected) in [
        (of(&other, ACCOUNT, UNDERWRITING), format!("run {id} is of the processor clerk, not other")),
        (of(&clerk, "acc_9", UNDERWRITING), format!("run {id} is of the account acc_123, not acc_9")),
        (of(&clerk, ACCOUNT, "uw_9"), format!("run {id} is of the underwriting uw_456, not uw_9")),
    ] {
        let started = runs.start(execution.clone(), Vec::new(), Some(after(id)), quiet).await;
        assert_eq!(refusal(started), expected);
        assert_eq!(refusal(runs.retry(id, |_| Ok(execution), quiet).await), expected);
    }
    let foreign = ExecutionContext { parent_run_id: Some("elsewhere".to_owned()), ..after(id) };
    let refused = refusal(runs.start(clerk.execution(), inputs(1), Some(foreign), quiet).await);
    assert_eq!(refused, format!("parent_run_id elsewhere: the lineage of run {id} began with {id}"));
    let unknown = refusal(runs.start(clerk.execution(), inputs(1), Some(after("0123456789")), quiet).await);
    assert_eq!(unknown, "there is no run 0123456789");
    assert_eq!(rig.events_of("RunStarted").await.len(), 1, "nothing of what was refused is stored");
}
