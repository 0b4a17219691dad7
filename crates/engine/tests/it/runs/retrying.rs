//! Retries: what is done again, and what is not.

use super::clerk::{Clerk, factors, inputs, output, quiet, refusal, rig, runners};
use bindery_core::outcome::Step;
use bindery_engine::{
    execution::{ExecutionContext, Passed, Trigger},
    runner::Threads,
    runs::{InputStatus, StepState},
};
use bindery_store::query::ItemFilter;
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s004_21_inputs_that_succeeded_are_skipped_and_their_factors_are_in_the_answer() {
    for runner in runners() {
        let (rig, runs) = rig();
        let clerk = Clerk::new();
        clerk.fail("doc1", Step::Processing);
        let execution = clerk.execution().with_runner(Arc::clone(&runner));
        let failed = runs.start(execution, inputs(4), None, quiet).await.unwrap();
        clerk.heal();
        clerk.forget();
        let again = |record: &_| Ok(clerk.again(record)?.with_runner(Arc::clone(&runner)));
        let result = runs.retry(&failed.run_id, again, quiet).await.unwrap();
        assert_eq!(output(&result), factors(4));
        assert_eq!(clerk.steps(), [0, 1, 1], "the input that failed, from the step that failed");
        let skipped: Vec<_> =
            result.inputs.iter().filter(|report| matches!(report.passed, Passed::Skipped { .. })).collect();
        assert_eq!(skipped.len(), 3);
        assert_eq!(result.metrics.cost_micros, 20, "what the first run paid for is not paid again");
        let id = rig.store().find_submission(&result.run_id).await.unwrap().unwrap().id;
        let items = rig.store().items(id, ItemFilter::default()).await.unwrap();
        let rows: Vec<_> = items.iter().map(|item| (item.key.as_deref(), item.ordinal)).collect();
        assert_eq!(rows, [(Some("doc1"), 1)], "only what is executed is stored again, in its place");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s004_28_a_lineage_over_two_retries_names_the_first_run_and_the_one_before() {
    let (_rig, runs) = rig();
    let clerk = Clerk::new();
    clerk.fail("doc0", Step::Processing);
    clerk.fail("doc2", Step::Extraction);
    let context = ExecutionContext {
        trigger_type: Trigger::Manual,
        execution_metadata: [("case".to_owned(), "7".to_owned())].into(),
        ..ExecutionContext::default()
    };
    let first = runs.start(clerk.execution(), inputs(3), Some(context), quiet).await.unwrap();
    clerk.heal();
    clerk.fail("doc0", Step::Processing);
    let second = runs.retry(&first.run_id, |record| clerk.again(record), quiet).await.unwrap();
    let told = |context: &ExecutionContext| {
        (context.parent_run_id.clone(), context.previous_run_id.clone(), context.retry_count, context.last_error_step)
    };
    let id = |run: &str| Some(run.to_owned());
    assert_eq!(told(&second.context), (id(&first.run_id), id(&first.run_id), 1, Some(Step::Extraction)));
    clerk.heal();
    let third = runs.retry(&second.run_id, |record| clerk.again(record), quiet).await.unwrap();
    assert_eq!(told(&third.context), (id(&first.run_id), id(&second.run_id), 2, Some(Step::Processing)));
    assert_eq!(third.context.execution_metadata["case"], "7");
    assert_eq!(third.context.trigger_type, Trigger::Manual);
    assert_eq!(output(&third), factors(3), "the answer is about all inputs of the lineage");
    let done_by: Vec<_> = third
        .inputs
        .iter()
        .map(|report| match &report.passed {
            Passed::Skipped { run_id, .. } => run_id.as_str(),
            _ => third.run_id.as_str(),
        })
        .collect();
    assert_eq!(done_by, [&third.run_id, &first.run_id, &second.run_id], "in the order of the first run");
    let lineage = [first.run_id, second.run_id, third.run_id];
    for run in &lineage {
        assert_eq!(runs.show(run).await.unwrap().lineage, lineage);
    }
    let attempts: Vec<_> = runs.show("latest").await.unwrap().details.iter().map(|input| input.attempts).collect();
    assert_eq!(attempts, [3, 1, 2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s004_29_a_resume_recomputes_nothing_before_its_step() {
    for runner in runners() {
        for (step, first, second) in [
            (Step::Validation, [1, 0, 0], [2, 1, 1]),
            (Step::Processing, [1, 1, 0], [1, 2, 1]),
            (Step::Extraction, [1, 1, 1], [1, 1, 2]),
        ] {
            let (_rig, runs) = rig();
            let clerk = Clerk::new();
            clerk.fail("doc0", step);
            let execution = clerk.execution().with_runner(Arc::clone(&runner));
            let failed = runs.start(execution, inputs(2), None, quiet).await.unwrap();
            assert_eq!(clerk.steps_of("doc0"), first);
            clerk.heal();
            let result = runs.retry(&failed.run_id, |record| clerk.again(record), quiet).await.unwrap();
            assert_eq!(output(&result), factors(2));
            assert_eq!(clerk.steps_of("doc0"), second);
            assert_eq!(clerk.steps_of("doc1"), [1, 1, 1]);
            let view = runs.show(&result.run_id).await.unwrap();
            assert_eq!(view.details[0].status, InputStatus::Succeeded);
            assert_eq!(view.details[0].from, Some(step));
            let skipped = view.details[0].steps.iter().filter(|one| one.state == StepState::Skipped).count();
            assert_eq!(skipped, step as usize);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s004_29_a_changed_processor_does_everything_again() {
    let (_rig, runs) = rig();
    let clerk = Clerk::new();
    clerk.fail("doc0", Step::Extraction);
    let failed = runs.start(clerk.execution(), inputs(2), None, quiet).await.unwrap();
    clerk.heal();
    clerk.forget();
    clerk.set_version(2);
    let result = runs.retry(&failed.run_id, |record| clerk.again(record), quiet).await.unwrap();
    assert_eq!(output(&result), factors(2));
    assert_eq!(clerk.steps(), [2, 2, 2], "results and resume points of the old version do not count");
    assert_eq!(result.warnings, ["input doc0 starts at validation: the processor has changed from version 1 to 2"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_inputs_and_a_retry_of_exactly_the_failed_steps() {
    let (_rig, runs) = rig();
    let clerk = Clerk::new();
    // One in a hundred fails: 34 at validation, 33 at processing, 33 at extraction.
    for (index, n) in (0..10_000).step_by(100).enumerate() {
        clerk.fail(&format!("doc{n}"), Step::ALL[index % 3]);
    }
    let execution = clerk.execution().with_runner(Arc::new(Threads::new(4)));
    let failed = runs.start(execution, inputs(10_000), None, quiet).await.unwrap();
    assert_eq!((failed.metrics.succeeded, failed.metrics.failed), (9_900, 100));
    assert_eq!(clerk.steps(), [10_000, 9_966, 9_933]);
    clerk.heal();
    clerk.forget();
    let again = |record: &_| Ok(clerk.again(record)?.with_runner(Arc::new(Threads::new(4))));
    let result = runs.retry(&failed.run_id, again, quiet).await.unwrap();
    assert_eq!(clerk.steps(), [34, 67, 100], "from the failed step on, and of the failed inputs only");
    assert_eq!((result.metrics.succeeded, result.metrics.skipped), (100, 9_900));
    assert_eq!(output(&result), factors(10_000));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_people_who_retry_the_same_run_make_one() {
    let (_rig, runs) = rig();
    let clerk = Clerk::new();
    clerk.fail("doc0", Step::Processing);
    let failed = runs.start(clerk.execution(), inputs(2), None, quiet).await.unwrap();
    clerk.forget();
    let retry = || {
        let (runs, clerk, run_id) = (runs.clone(), clerk.clone(), failed.run_id.clone());
        tokio::spawn(async move { runs.retry(&run_id, |record| clerk.again(record), quiet).await })
    };
    let (one, other) = (retry(), retry());
    let (one, other) = (one.await.unwrap(), other.await.unwrap());
    let (made, refused) = if one.is_ok() { (one, other) } else { (other, one) };
    let made = made.unwrap();
    let expected = format!("run {} has been retried already as {}; retry that one", failed.run_id, made.run_id);
    let parts: Vec<usize> = made.run_id.split('-').map(str::len).collect();
    assert_eq!(parts, [8, 4, 4, 4, 12], "made from the first one's, in the form of any other");
    assert_eq!(refusal(refused), expected);
    assert_eq!(refusal(runs.retry(&failed.run_id, |record| clerk.again(record), quiet).await), expected);
    assert_eq!(clerk.steps(), [0, 1, 0], "the step that fails ran once more");
    clerk.heal();
    let last = runs.retry(&made.run_id, |record| clerk.again(record), quiet).await.unwrap();
    assert_eq!(output(&last), factors(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_succeeded_is_not_retried() {
    let (_rig, runs) = rig();
    let clerk = Clerk::new();
    let done = runs.start(clerk.execution(), inputs(2), None, quiet).await.unwrap();
    let refused = refusal(runs.retry(&done.run_id, |record| clerk.again(record), quiet).await);
    assert_eq!(refused, format!("run {} has succeeded; there is nothing to retry", done.run_id));
}
