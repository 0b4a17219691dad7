//! Runs that end early: a killed process, a person who cancels, a store that stores no more.

use super::clerk::{Clerk, after, factors, inputs, output, quiet, refusal, rig, runners};
use crate::{stores, support::Rig};
use bindery_core::{
    Name,
    outcome::{OutcomeStatus, Step},
    submission::SubmissionStatus,
};
use bindery_engine::{
    EngineResult, SILENT_AFTER,
    execution::{Execution, ProcessingResult},
    runs::{RunFilter, RunProgress, RunStatus, Runs},
};
use bindery_store::retention::Reason;
use std::{sync::Arc, time::Duration};
use tokio::{sync::mpsc::UnboundedReceiver, task::JoinHandle};

type Running = JoinHandle<EngineResult<ProcessingResult>>;

/// A run in a task of its own, with what it tells.
fn spawn(runs: &Runs, execution: Execution, count: usize) -> (Running, UnboundedReceiver<RunProgress>) {
    let (told, progress) = tokio::sync::mpsc::unbounded_channel();
    let runs = runs.clone();
    let tell = move |now| drop(told.send(now));
    (tokio::spawn(async move { runs.start(execution, inputs(count), None, tell).await }), progress)
}

async fn until_stored(progress: &mut UnboundedReceiver<RunProgress>, count: usize) -> String {
    loop {
        let now = progress.recv().await.unwrap();
        if now.succeeded >= count {
            return now.run_id;
        }
    }
}

/// How many inputs each run has completed.
async fn completed(rig: &Rig, run_ids: &[&str]) -> Vec<usize> {
    let mut counts = Vec::new();
    for run_id in run_ids {
        let id = rig.store().find_submission(run_id).await.unwrap().unwrap().id;
        let outcomes = rig.store().outcomes(id, Some(&Name::from("run"))).await.unwrap();
        counts.push(outcomes.iter().filter(|one| one.status == OutcomeStatus::Completed).count());
    }
    counts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_killed_in_the_middle_is_gone_on_with_and_everything_counts_once() {
    let (rig, runs) = rig();
    let clerk = Clerk::new();
    clerk.hold_from(5);
    let (running, mut progress) = spawn(&runs, clerk.execution(), 10);
    let run_id = until_stored(&mut progress, 5).await;
    clerk.is_reached().await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    clerk.open();

    let again = |record: &_| clerk.again(record);
    rig.clock.advance(Duration::from_secs(2));
    let early = refusal(runs.retry(&run_id, again, quiet).await);
    assert_eq!(early, format!("run {run_id} is still under way, seen 2 s ago"));
    let early = runs.start(clerk.execution(), inputs(10), Some(after(&run_id)), quiet).await;
    assert_eq!(refusal(early), format!("run {run_id} is still under way, seen 2 s ago"));
    assert_eq!(runs.list(RunFilter::default()).await.unwrap()[0].status, RunStatus::Running);
    rig.clock.advance(SILENT_AFTER);
    let listed = runs.list(RunFilter::default()).await.unwrap();
    assert_eq!((listed[0].status, listed[0].succeeded, listed[0].not_run), (RunStatus::Interrupted, 5, 5));

    let result = runs.retry(&run_id, again, quiet).await.unwrap();
    assert_eq!(output(&result), factors(10));
    assert_eq!((result.metrics.skipped, result.metrics.succeeded), (5, 5));
    let interrupted = rig.store().find_submission(&run_id).await.unwrap().unwrap();
    assert_eq!(interrupted.status, SubmissionStatus::Failed);
    assert_eq!(interrupted.error, Some(format!("interrupted; run {} goes on with it", result.run_id)));
    assert_eq!(completed(&rig, &[&run_id, &result.run_id]).await, [5, 5]);
    for n in [0, 1, 2, 3, 4, 6, 7, 8, 9] {
        assert_eq!(clerk.steps_of(&format!("doc{n}")), [1, 1, 1], "doc{n}");
    }
    assert_eq!(clerk.steps_of("doc5")[0], 2, "it was under way when the run was killed, and begins anew");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_killed_after_its_last_result_only_needs_its_answer() {
    let (rig, runs) = rig();
    let clerk = Clerk::new();
    let done = runs.start(clerk.execution(), inputs(3), None, quiet).await.unwrap();
    // As a crash before the last commit leaves it.
    let undo = "UPDATE submission SET status = 3, completed_at = NULL; DELETE FROM artifact";
    stores::tamper(rig.dir.path(), undo).await;
    assert_eq!(rig.store().find_submission(&done.run_id).await.unwrap().unwrap().status, SubmissionStatus::Processing);
    rig.clock.advance(SILENT_AFTER);
    clerk.forget();
    let result = runs.retry(&done.run_id, |record| clerk.again(record), quiet).await.unwrap();
    assert_eq!(clerk.steps(), [0, 0, 0]);
    assert_eq!(output(&result), factors(3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retry_that_is_killed_is_retried_itself() {
    let (rig, runs) = rig();
    let clerk = Clerk::new();
    for n in 0..4 {
        clerk.fail(&format!("doc{n}"), Step::Extraction);
    }
    let failed = runs.start(clerk.execution(), inputs(6), None, quiet).await.unwrap();
    clerk.heal();
    clerk.forget();
    // The second run's rows are there, none of its results: as if it was killed at once.
    let cancelled = |record: &_| {
        let mut execution = clerk.again(record)?;
        execution.task_mut().cancel.cancel();
        Ok(execution)
    };
    runs.retry(&failed.run_id, cancelled, quiet).await.unwrap();
    let undo = "UPDATE submission SET status = 3, completed_at = NULL WHERE id = (SELECT max(id) FROM submission)";
    stores::tamper(rig.dir.path(), undo).await;
    rig.clock.advance(SILENT_AFTER);
    let second = runs.find("latest").await.unwrap();
    assert_ne!(second.run_id, failed.run_id);
    let result = runs.retry("latest", |record| clerk.again(record), quiet).await.unwrap();
    assert_eq!(clerk.steps(), [0, 0, 4], "the resume points of the first run still count");
    assert_eq!(output(&result), factors(6));
    assert_eq!(result.context.previous_run_id, Some(second.run_id));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_killed_while_its_inputs_were_stored_says_so() {
    let (rig, runs) = rig();
    let clerk = Clerk::new();
    let done = runs.start(clerk.execution(), inputs(3), None, quiet).await.unwrap();
    let undo = "UPDATE submission SET status = 0, completed_at = NULL; DELETE FROM outcome; DELETE FROM artifact; \
                DELETE FROM item WHERE ordinal > 0";
    stores::tamper(rig.dir.path(), undo).await;
    rig.clock.advance(SILENT_AFTER);
    let refused = refusal(runs.retry(&done.run_id, |record| clerk.again(record), quiet).await);
    let expected = format!("run {} stopped before all its inputs were stored; start another one", done.run_id);
    assert_eq!(refused, expected);
    let result = runs.start(clerk.execution(), inputs(3), Some(after(&done.run_id)), quiet).await.unwrap();
    assert_eq!(output(&result), factors(3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_run_is_gone_on_with() {
    for runner in runners() {
        let (rig, runs) = rig();
        let clerk = Clerk::new();
        clerk.hold_from(3);
        let mut execution = clerk.execution().with_runner(Arc::clone(&runner));
        let cancel = execution.task_mut().cancel.clone();
        let (running, _progress) = spawn(&runs, execution, 100);
        clerk.is_reached().await;
        cancel.cancel();
        clerk.open();
        let result = running.await.unwrap().unwrap();
        assert!(result.metrics.not_run >= 94, "those that wait end, no other begins: {:?}", result.metrics);
        let stored = rig.store().find_submission(&result.run_id).await.unwrap().unwrap();
        assert_eq!(stored.status, SubmissionStatus::Failed);
        let listed = runs.list(RunFilter::default()).await.unwrap();
        assert_eq!((listed[0].status, listed[0].not_run), (RunStatus::Failed, result.metrics.not_run));
        let again = runs.retry(&result.run_id, |record| clerk.again(record), quiet).await.unwrap();
        assert_eq!(output(&again), factors(100));
        assert_eq!(clerk.steps(), [100, 100, 100], "nothing is done twice");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_cancelled_in_the_store_stays_cancelled_and_can_be_retried_once_it_has_ended() {
    let (rig, runs) = rig();
    let clerk = Clerk::new();
    clerk.hold_from(1);
    let (running, _progress) = spawn(&runs, clerk.execution(), 3);
    clerk.is_reached().await;
    let run = runs.find("latest").await.unwrap();
    assert!(rig.store.cancel_submission(run.submission).await.unwrap().changed);
    let early = refusal(runs.retry(&run.run_id, |record| clerk.again(record), quiet).await);
    assert_eq!(early, format!("run {} is still under way, seen 0 s ago", run.run_id));
    clerk.open();
    running.await.unwrap().unwrap();
    assert_eq!(rig.status(run.submission).await, SubmissionStatus::Cancelled);
    let again = runs.retry(&run.run_id, |record| clerk.again(record), quiet).await.unwrap();
    assert_eq!(output(&again), factors(3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_notices_that_somebody_has_cancelled_it_or_gone_on_with_it() {
    for overtaken in [false, true] {
        let (rig, _) = rig();
        let runs = Runs::new(rig.engine.clone(), Duration::from_millis(5));
        let clerk = Clerk::new();
        clerk.hold_from(1);
        let (running, mut progress) = spawn(&runs, clerk.execution(), 100);
        let run_id = until_stored(&mut progress, 1).await;
        clerk.is_reached().await;
        if overtaken {
            // The machine slept: nobody saw the run for a while.
            let asleep = "UPDATE worker SET seen_at = seen_at - 60000";
            let other = Clerk::new();
            let mut followed = None;
            while followed.is_none() {
                stores::tamper(rig.dir.path(), asleep).await;
                // A sign of life may come in between; then it is under way, and asked for again.
                match runs.retry(&run_id, |record| other.again(record), quiet).await {
                    Ok(result) => followed = Some(result),
                    Err(error) => assert!(error.to_string().contains("is still under way"), "{error}"),
                }
            }
            assert_eq!(output(&followed.unwrap()), factors(100));
        } else {
            let run = runs.find(&run_id).await.unwrap();
            rig.store.cancel_submission(run.submission).await.unwrap();
        }
        // Nobody opens the gate: the input in hand ends because the run is cancelled.
        let result = running.await.unwrap().unwrap();
        assert_eq!(result.metrics.not_run, 98);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_under_way_is_a_worker() {
    let (rig, runs) = rig();
    let clerk = Clerk::new();
    clerk.hold_from(0);
    let (running, mut progress) = spawn(&runs, clerk.execution(), 1);
    let run_id = progress.recv().await.unwrap().run_id;
    let workers = rig.store().workers().await.unwrap();
    let seen: Vec<_> = workers.iter().map(|view| (view.worker.to_string(), view.seen_at)).collect();
    assert_eq!(seen, [(format!("run-{run_id}"), rig.engine.clock().now())]);
    clerk.open();
    running.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lineage_without_its_first_run_says_so() {
    let (rig, runs) = rig();
    let clerk = Clerk::new();
    clerk.fail("doc0", Step::Processing);
    let first = runs.start(clerk.execution(), inputs(2), None, quiet).await.unwrap();
    rig.clock.advance(Duration::from_secs(60));
    let second = runs.retry(&first.run_id, |record| clerk.again(record), quiet).await.unwrap();
    let submission = runs.find(&first.run_id).await.unwrap().submission;
    bindery_engine::retention::delete(rig.store(), vec![submission], Reason::Asked, |_| ()).await.unwrap();
    let refused = refusal(runs.retry(&second.run_id, |record| clerk.again(record), quiet).await);
    let (first, second) = (first.run_id, second.run_id);
    assert_eq!(refused, format!("run {second} goes on where run {first} stopped, which is not stored any more"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_stores_no_more_ends_the_run_with_its_error() {
    for runner in runners() {
        let (rig, runs) = rig();
        let clerk = Clerk::new();
        let (forbid, allow) = if stores::postgres().is_some() {
            let forbid = "ALTER TABLE outcome ADD CONSTRAINT \"no more\" CHECK (false) NOT VALID";
            (forbid, "ALTER TABLE outcome DROP CONSTRAINT \"no more\"")
        } else {
            let forbid = "CREATE TRIGGER no_more BEFORE INSERT ON outcome BEGIN SELECT RAISE(ABORT, 'no more'); END";
            (forbid, "DROP TRIGGER no_more")
        };
        stores::tamper(rig.dir.path(), forbid).await;
        clerk.hold_from(2);
        let mut execution = clerk.execution().with_runner(Arc::clone(&runner));
        let cancel = execution.task_mut().cancel.clone();
        let (running, mut progress) = spawn(&runs, execution, 600);
        let run_id = progress.recv().await.unwrap().run_id;
        clerk.is_reached().await;
        // The flag is how a run is stopped; it is set as soon as the first results are refused.
        while !cancel.is_cancelled() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        clerk.open();
        let error = refusal(running.await.unwrap());
        assert!(error.contains("no more"), "{error}");
        assert_eq!(completed(&rig, &[&run_id]).await, [0], "nothing is half-counted");
        stores::tamper(rig.dir.path(), allow).await;
        rig.clock.advance(SILENT_AFTER);
        let result = runs.retry(&run_id, |record| clerk.again(record), quiet).await.unwrap();
        assert_eq!(output(&result), factors(600));
    }
}
