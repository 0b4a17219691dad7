//! Lists, single runs and figures.

use super::clerk::{Clerk, STEP_COST, inputs, quiet, rig};
use bindery_core::outcome::Step;
use bindery_engine::{
    runner::{RunnerKind, Threads},
    runs::{DataSource, InputStatus, RunFilter, RunStatus, StepState},
};
use std::{sync::Arc, time::Duration};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_are_listed_newest_first_with_their_counts() {
    let (rig, runs) = rig();
    let (clerk, other) = (Clerk::new(), Clerk::named("other"));
    clerk.fail("doc0", Step::Processing);
    let failed = runs.start(clerk.execution(), inputs(3), None, quiet).await.unwrap();
    rig.clock.advance(Duration::from_secs(1));
    runs.start(other.execution(), inputs(2), None, quiet).await.unwrap();
    clerk.heal();
    let again = |record: &_| Ok(clerk.again(record)?.with_runner(Arc::new(Threads::new(2))));
    let healed = runs.retry(&failed.run_id, again, quiet).await.unwrap();

    let all = runs.list(RunFilter::default()).await.unwrap();
    let rows: Vec<_> = all
        .iter()
        .map(|run| (run.processor.as_str(), run.status, run.inputs, run.succeeded, run.failed, run.skipped))
        .collect();
    assert_eq!(
        rows,
        [
            ("clerk", RunStatus::Succeeded, 3, 1, 0, 2),
            ("other", RunStatus::Succeeded, 2, 2, 0, 0),
            ("clerk", RunStatus::Failed, 3, 2, 1, 0),
        ]
    );
    assert_eq!((all[0].runner, all[0].retry_count), (RunnerKind::Threads, 1));
    assert_eq!(all[0].run_id, healed.run_id);
    assert_eq!(all[0].previous_run_id.as_ref(), Some(&failed.run_id));
    assert_eq!(all[0].parent_run_id.as_ref(), Some(&failed.run_id));
    assert_eq!(all[2].duration_ms, Some(0), "by the engine's clock, which stood still");
    assert_eq!(all[2].error.as_deref(), Some("InputsFailed: 1 of 3 inputs did not succeed"));

    let of = async |processor: &str, limit| {
        let filter = RunFilter { processor: Some(processor.to_owned()), limit };
        runs.list(filter).await.unwrap().into_iter().map(|run| run.run_id).collect::<Vec<_>>()
    };
    assert_eq!(of("clerk", None).await, [healed.run_id.clone(), failed.run_id.clone()]);
    assert_eq!(of("p_clerk", Some(1)).await, [healed.run_id]);
    assert_eq!(of("other", Some(5)).await.len(), 1, "runs of others do not use the limit up");
    assert!(of("nobody", None).await.is_empty());
    assert_eq!(runs.list(RunFilter { limit: Some(2), ..RunFilter::default() }).await.unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_shown_with_each_input_and_its_steps() {
    let (_rig, runs) = rig();
    let clerk = Clerk::new();
    clerk.fail("doc0", Step::Processing);
    let failed = runs.start(clerk.execution(), inputs(2), None, quiet).await.unwrap();
    let view = runs.show(&failed.run_id).await.unwrap();
    let doc0 = &view.details[0];
    assert_eq!((doc0.input_id.as_str(), doc0.status, doc0.from), ("doc0", InputStatus::Failed, Some(Step::Validation)));
    assert!(matches!(doc0.steps[0].state, StepState::Ran(_)));
    assert!(matches!(doc0.steps[1].state, StepState::Ran(_)));
    assert_eq!(doc0.steps[2].state, StepState::NotReached);
    assert_eq!(doc0.error.as_ref().unwrap().message, "doc0 is not legible");
    assert_eq!((doc0.attempts, doc0.cost_micros, doc0.data), (1, 2 * STEP_COST, DataSource::Inline));
    assert_eq!(doc0.costs.len(), 2);

    clerk.heal();
    let healed = runs.retry(&failed.run_id, |record| clerk.again(record), quiet).await.unwrap();
    let view = runs.show(&healed.run_id[..8]).await.unwrap();
    let [doc0, doc1] = &view.details[..] else { panic!("two inputs: {:?}", view.details) };
    assert_eq!((doc0.status, doc0.from, doc0.attempts), (InputStatus::Succeeded, Some(Step::Processing), 2));
    assert_eq!(doc0.steps[0].state, StepState::Skipped);
    assert!(matches!(doc0.steps[2].state, StepState::Ran(_)));
    assert_eq!((doc1.status, doc1.done_by.as_ref()), (InputStatus::Skipped, Some(&failed.run_id)));
    assert_eq!(view.lineage, [failed.run_id.clone(), healed.run_id]);
    assert_eq!(runs.show(&failed.run_id).await.unwrap().details[0].status, InputStatus::Failed, "as it was then");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn figures_are_kept_by_processor_and_runner() {
    let (rig, runs) = rig();
    let clerk = Clerk::new();
    clerk.fail("doc0", Step::Extraction);
    let failed = runs.start(clerk.execution(), inputs(4), None, quiet).await.unwrap();
    clerk.heal();
    runs.retry(&failed.run_id, |record| clerk.again(record), quiet).await.unwrap();
    let threads = clerk.execution().with_runner(Arc::new(Threads::new(2)));
    runs.start(threads, inputs(2), None, quiet).await.unwrap();
    // Somebody else's event under the same name is not a run of ours.
    let foreign = bindery_core::event::NewEvent::new("RunCompleted", None, "{}".to_owned());
    rig.engine.store().append_events(vec![foreign]).await.unwrap();

    let stats = runs.stats().await.unwrap();
    let [one_by_one, on_threads] = &stats[..] else { panic!("two rows: {stats:#?}") };
    assert_eq!((one_by_one.processor.as_str(), one_by_one.runner), ("clerk", RunnerKind::Sequential));
    assert_eq!((one_by_one.runs, one_by_one.succeeded_runs, one_by_one.inputs), (2, 1, 5));
    assert!((one_by_one.success_rate - 0.8).abs() < 1e-9, "4 of 5 succeeded");
    assert!((one_by_one.retry_rate - 0.2).abs() < 1e-9, "1 of 5 was a retry");
    let ran: Vec<_> = one_by_one.steps.iter().map(|mean| (mean.step, mean.runs)).collect();
    assert_eq!(ran, [(Step::Validation, 4), (Step::Processing, 4), (Step::Extraction, 5)]);
    assert_eq!(one_by_one.cost_micros, 13 * STEP_COST);
    assert!(one_by_one.throughput_per_second > 0.0);
    assert_eq!((on_threads.runner, on_threads.runs, on_threads.inputs), (RunnerKind::Threads, 1, 2));
}
