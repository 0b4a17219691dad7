//! The same with processors of our own, which run as jobs.

use super::*;
use bindery_core::{StepError, job::JobState, submission::SubmissionStatus};
use bindery_engine::{
    context::StepContext,
    report::{About, Reported},
};
use bindery_store::query::JobFilter;
use std::sync::{
    Arc, Condvar, Mutex,
    atomic::{AtomicBool, Ordering},
};

/// A `foundry` that fails for documents on which `why` has something to say.
fn foundry(why: impl Fn(&StepContext, &str) -> Option<StepError> + Send + Sync + 'static) -> Func {
    Func::new("foundry", move |context, _| {
        let document = context.item()?.public_id();
        why(context, &document).map_or_else(|| Ok(Extracted::new(json!({"text": "layout"}))), Err)
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_04_our_own_processors_emit_one_event_per_document() {
    let rig = Rig::new(own_registry(foundry(|_, _| None)));
    let id = submit_own(&rig, 3).await;
    rig.drain().await;
    let mut announced = fully_processed(&rig).await;
    announced.sort();
    assert_eq!(announced, ["doc-0", "doc-1", "doc-2"]);
    assert_eq!(complete_submissions(&rig).await, [SUB]);
    assert_eq!(rig.events_of(kind::DOCUMENT_PROCESSED).await.len(), 6, "each result is an event, as from outside");
    assert_eq!(rig.status(id).await, SubmissionStatus::Completed);
    // The consumer does not take our own events for reports from outside.
    let before = picture(&rig, &[SUB]).await;
    replay(&rig).await;
    assert_eq!(picture(&rig, &[SUB]).await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_05_a_failed_attempt_is_not_the_end() {
    let fails_once = foundry(|context, _| (context.attempt() == 1).then(|| StepError::retry("the service is busy")));
    let rig = Rig::with_manual_clock(own_registry(fails_once));
    let id = submit_own(&rig, 1).await;
    rig.drain().await;
    assert_eq!(statuses(&rig, SUB, "doc-0").await, ["completed", "pending"], "attempts are internal");
    assert!(fully_processed(&rig).await.is_empty());
    assert_eq!(rig.events_of(kind::JOB_RETRIED).await.len(), 1);
    rig.clock.advance(Duration::from_secs(600));
    work_until_final(&rig, id).await;
    assert_eq!(statuses(&rig, SUB, "doc-0").await, ["completed", "completed"]);
    assert_eq!(fully_processed(&rig).await, ["doc-0"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_06_exhausted_attempts_complete_the_document_in_part() {
    let rig = Rig::with_manual_clock(own_registry(foundry(|_, _| Some(StepError::retry("the service is busy")))));
    let id = submit_own(&rig, 1).await;
    rig.drain().await;
    assert!(fully_processed(&rig).await.is_empty());
    rig.clock.advance(Duration::from_secs(600));
    work_until_final(&rig, id).await;
    let state = document(&rig, SUB, "doc-0").await;
    assert_eq!(state["processors"]["foundry"]["error"], json!("the service is busy"));
    assert_eq!(fully_processed(&rig).await, ["doc-0"]);
    assert_eq!(counts(&rig, SUB).await, (1, 1, 0, true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_07_both_of_our_own_failed() {
    let mut registry = own_registry(foundry(|_, _| Some(StepError::reject("encrypted"))));
    registry.register(Func::new("markitdown", |_, _| Err(StepError::reject("encrypted"))));
    let rig = Rig::new(registry);
    submit_own(&rig, 1).await;
    rig.drain().await;
    assert_eq!(statuses(&rig, SUB, "doc-0").await, ["failed", "failed"]);
    assert_eq!(fully_processed(&rig).await, ["doc-0"]);
    assert_eq!(counts(&rig, SUB).await, (1, 0, 1, true));
    assert_eq!(complete_submissions(&rig).await, [SUB]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_13_a_submission_without_files_is_complete_at_once() {
    let rig = Rig::new(own_registry(foundry(|_, _| None)));
    let id = submit_own(&rig, 0).await;
    rig.drain().await;
    assert_eq!(complete_submissions(&rig).await, [SUB]);
    assert_eq!(counts(&rig, SUB).await, (0, 0, 0, true));
    assert_eq!(rig.status(id).await, SubmissionStatus::Completed);
}

/// Holds whoever comes through until it is opened.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    bell: Condvar,
    reached: AtomicBool,
}

impl Gate {
    fn pass(&self) {
        self.reached.store(true, Ordering::SeqCst);
        let open = self.open.lock().unwrap();
        drop(self.bell.wait_while(open, |open| !*open).unwrap());
    }

    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.bell.notify_all();
    }

    async fn reached(&self) {
        eventually("at the gate", async || self.reached.load(Ordering::SeqCst)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_21_a_worker_killed_mid_submission_is_replaced_without_a_trace() {
    let gate = Arc::new(Gate::default());
    let held = Arc::clone(&gate);
    let stuck = foundry(move |_, document| {
        if document == "doc-2" {
            held.pass();
        }
        None
    });
    let rig = Rig::new(own_registry(stuck));
    submit_own(&rig, 4).await;
    // A runtime of its own, so that everything of this worker ends with it, down to its heartbeat.
    let doomed = tokio::runtime::Runtime::new().unwrap();
    let options = WorkerOptions { lease: Duration::from_millis(300), ..rig.worker_options() };
    let worker = Worker::new(rig.engine.clone(), options);
    let (_handle, stop) = stop_pair();
    doomed.spawn(async move { worker.run(stop).await });
    gate.reached().await;
    doomed.shutdown_background();
    let restarted = Rig::beside(&rig, own_registry(foundry(|_, _| None)));
    restarted.drain().await;
    gate.open();
    assert_eq!(counts(&restarted, SUB).await, (4, 4, 0, true), "{:#?}", restarted.jobs().await);
    let mut announced = fully_processed(&restarted).await;
    announced.sort();
    assert_eq!(announced, ["doc-0", "doc-1", "doc-2", "doc-3"]);
    assert_eq!(complete_submissions(&restarted).await, [SUB]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s000_22_two_workers_share_a_submission() {
    const FILES: usize = 200;
    let registry = || own_registry(foundry(|_, doc| doc.ends_with('7').then(|| StepError::reject("encrypted"))));
    let one = Rig::new(registry());
    let two = Rig::beside(&one, registry());
    submit_own(&one, FILES).await;
    Box::pin(drain_side_by_side(&one, &two)).await;
    let mut announced = fully_processed(&one).await;
    announced.sort();
    announced.dedup();
    assert_eq!((announced.len(), fully_processed(&one).await.len()), (FILES, FILES));
    assert_eq!(complete_submissions(&two).await, [SUB]);
    assert_eq!(counts(&two, SUB).await, (FILES as i64, FILES as i64, 0, true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_23_a_processor_of_ours_that_hangs_is_given_up() {
    let gate = Arc::new(Gate::default());
    let held = Arc::clone(&gate);
    let rig = Rig::new(own_registry(foundry(move |_, _| {
        held.pass();
        None
    })));
    let impatient = OWN.replace("max_attempts: 2", "max_attempts: 1\n    timeout_seconds: 1");
    rig.workflow(&impatient.replace("version: 1", "version: 2")).await;
    let id = submit_own(&rig, 1).await;
    rig.drain().await;
    let state = document(&rig, SUB, "doc-0").await;
    assert_eq!(state["processors"]["foundry"]["error"], json!("took longer than 1 s"));
    assert_eq!(fully_processed(&rig).await, ["doc-0"]);
    assert_eq!(rig.status(id).await, SubmissionStatus::Completed);
    gate.open();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_24_a_dead_letter_that_is_run_again_clears_the_error_and_emits_nothing() {
    let repaired = Arc::new(AtomicBool::new(false));
    let works = Arc::clone(&repaired);
    let broken = foundry(move |_, document| {
        (document == "doc-0" && !works.load(Ordering::SeqCst)).then(|| StepError::reject("no such model"))
    });
    let rig = Rig::new(own_registry(broken));
    let id = submit_own(&rig, 2).await;
    rig.drain().await;
    assert_eq!(statuses(&rig, SUB, "doc-0").await, ["completed", "failed"]);
    let announced = (fully_processed(&rig).await, complete_submissions(&rig).await);
    repaired.store(true, Ordering::SeqCst);
    let dead = JobFilter { states: vec![JobState::Dead], ..JobFilter::default() };
    assert_eq!(rig.store.retry(dead).await.unwrap().jobs, 1);
    assert_eq!(counts(&rig, SUB).await, (2, 1, 0, false), "doc-0 is open again");
    rig.drain().await;
    let state = document(&rig, SUB, "doc-0").await;
    let foundry = &state["processors"]["foundry"];
    assert_eq!((&foundry["status"], &foundry["error"]), (&json!("completed"), &json!(null)));
    assert_eq!((fully_processed(&rig).await, complete_submissions(&rig).await), announced);
    assert_eq!(counts(&rig, SUB).await, (2, 2, 0, true));
    assert_eq!(rig.status(id).await, SubmissionStatus::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_27_our_own_work_shows_its_progress() {
    let gate = Arc::new(Gate::default());
    let held = Arc::clone(&gate);
    let rig = Rig::new(own_registry(foundry(move |_, document| {
        if document == "doc-1" {
            held.pass();
        }
        None
    })));
    let id = submit_own(&rig, 2).await;
    let before = view::progress(&rig.engine, id).await.unwrap();
    assert_eq!((before.stages[0].expected, before.stages[0].percent()), (Some(4), Some(0)));
    while_working(&rig, async || {
        let parse = async || view::progress(&rig.engine, id).await.unwrap().stages.remove(0);
        eventually("three of four", async || parse().await.counts.completed == 3).await;
        assert_eq!((parse().await.counts.running, parse().await.percent()), (1, Some(75)));
        assert_eq!(statuses(&rig, SUB, "doc-1").await, ["completed", "pending"]);
        assert_eq!(counts(&rig, SUB).await, (2, 1, 0, false));
        gate.open();
    })
    .await;
    rig.drain().await;
    assert_eq!(counts(&rig, SUB).await, (2, 2, 0, true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_01_a_report_by_call_is_written_to_the_log_as_an_event() {
    let rig = outside().await;
    let mut intake = Intake::new("submission-documents", rig.files(1).await);
    intake.external_id = Some(SUB.to_owned());
    let id = rig.submit(intake).await;
    let file = rig.store().items(id, bindery_store::query::ItemFilter::default()).await.unwrap().remove(0);
    for processor in BOTH {
        let about =
            About { submission: id, item: Some(file.id), stage: Name::from("parse"), processor: Name::from(processor) };
        let output = json!({"documentRecordId": "record"});
        let reported = Reported::Completed { output, confidence: None };
        assert!(rig.engine.report(&about, reported.clone()).await.unwrap());
        assert!(!rig.engine.report(&about, reported).await.unwrap(), "a second report finds nothing waiting");
    }
    rig.drain().await;
    let reports: Vec<_> = rig.events_of(kind::DOCUMENT_PROCESSED).await.iter().map(|e| e.envelope().data).collect();
    let processors: Vec<_> = reports.iter().map(|data| data["processor"].clone()).collect();
    assert_eq!(processors, BOTH);
    assert_eq!(complete_submissions(&rig).await, [SUB]);
}
