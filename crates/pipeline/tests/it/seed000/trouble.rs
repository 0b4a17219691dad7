//! Workers that die, workers side by side, services that hang, work that is repaired.

use super::*;
use bindery_core::{job::JobState, submission::SubmissionStatus};
use bindery_engine::{Worker, WorkerOptions, stop_pair};
use bindery_store::query::JobFilter;
use std::sync::atomic::{AtomicBool, Ordering};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_21_a_worker_killed_in_the_middle_is_replaced_without_a_trace() {
    let gate = Arc::new(azure::Gate::default());
    let held = Arc::clone(&gate);
    let azure = Azure::start(move |text, before| {
        if text.contains("Letter 3") && before == 0 {
            Plan::Hold(Arc::clone(&held))
        } else {
            Plan::Succeed { after_looks: 0 }
        }
    });
    let desk = desk_with(&azure, &[]).await;
    write_letters(&desk, 4);
    let id = desk.submit(NAME).await;
    // A runtime of its own, so that everything of this worker ends with it, down to its heartbeat.
    let doomed = tokio::runtime::Runtime::new().unwrap();
    let options = WorkerOptions { threads: 2, lease: Duration::from_millis(300), ..WorkerOptions::default() };
    let worker = Worker::new(desk.engine.clone(), options);
    let (_handle, stop) = stop_pair();
    doomed.spawn(async move { worker.run(stop).await });
    while !gate.is_reached() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    doomed.shutdown_background();
    let restarted = Desk { engine: beside(&desk, registry_at(&azure.url(), KEY)), dir: desk.dir };
    assert_eq!(restarted.finish(id).await, SubmissionStatus::Completed);
    gate.open();
    assert_eq!(counts(&restarted, id).await, (4, 4, 0, true));
    assert_eq!(fully_processed(&restarted).await.len(), 4);
    assert_eq!(events_of(&restarted, kind::DOCUMENT_PROCESSED).await.len(), 8);
    assert_eq!(events_of(&restarted, kind::SUBMISSION_DOCUMENTS_COMPLETE).await.len(), 1);
    let result = view::result(&restarted.engine, id).await.unwrap().unwrap();
    assert_eq!(result["totals"]["failed"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s000_22_two_workers_share_a_submission() {
    const FILES: usize = 40;
    let azure =
        Azure::start(|text, _| if text.contains('7') { Plan::FailAnalysis } else { Plan::Succeed { after_looks: 1 } });
    let desk = desk_with(&azure, &[]).await;
    write_letters(&desk, FILES);
    let id = desk.submit(NAME).await;
    let other = beside(&desk, registry_at(&azure.url(), KEY));
    let (handle, stop) = stop_pair();
    let options = WorkerOptions { threads: 2, name: "other".into(), ..WorkerOptions::default() };
    let beside = tokio::spawn(async move { Worker::new(other, options).run(stop).await });
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    handle.stop();
    beside.await.unwrap().unwrap();
    let mut announced = fully_processed(&desk).await;
    assert_eq!(announced.len(), FILES);
    announced.dedup();
    assert_eq!(announced.len(), FILES, "each once");
    assert_eq!(events_of(&desk, kind::SUBMISSION_DOCUMENTS_COMPLETE).await.len(), 1);
    assert_eq!(counts(&desk, id).await, (FILES as i64, FILES as i64, 0, true));
    assert_eq!(azure.posts(), FILES, "no file was analysed twice");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_23_a_service_that_never_finishes_is_given_up() {
    let azure = Azure::start(|_, _| Plan::RunForEver);
    let changes = [("timeout_seconds: 600", "timeout_seconds: 1"), ("max_attempts: 5", "max_attempts: 2")];
    let desk = desk_with(&azure, &changes).await;
    write_letters(&desk, 1);
    let id = desk.submit(NAME).await;
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed, "the other parser has read it");
    assert_eq!(events_of(&desk, kind::JOB_RETRIED).await.len(), 1, "asked again once");
    let state = &documents(&desk, id).await[0];
    let error = state["processors"]["foundry"]["error"].as_str().unwrap();
    assert!(error.contains("had not finished its analysis") || error.contains("took longer than"), "{error}");
    assert_eq!(counts(&desk, id).await, (1, 1, 0, true));
    assert_eq!(fully_processed(&desk).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_24_a_parser_that_is_repaired_clears_the_error_and_nothing_is_said_twice() {
    let repaired = Arc::new(AtomicBool::new(false));
    let works = Arc::clone(&repaired);
    let azure =
        Azure::start(
            move |_, _| {
                if works.load(Ordering::SeqCst) { Plan::Succeed { after_looks: 0 } } else { Plan::FailAnalysis }
            },
        );
    let desk = desk_with(&azure, &[]).await;
    write_letters(&desk, 2);
    let id = desk.submit(NAME).await;
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    let before = view::result(&desk.engine, id).await.unwrap().unwrap();
    assert_eq!(before["totals"]["failed"], 2);
    let announced = fully_processed(&desk).await;
    repaired.store(true, Ordering::SeqCst);
    let dead = JobFilter { states: vec![JobState::Dead], ..JobFilter::default() };
    assert_eq!(desk.engine.store().retry(dead).await.unwrap().jobs, 2);
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    let both = || ["completed".to_owned(), "completed".to_owned()];
    assert_eq!(statuses(&desk, id).await, [both(), both()]);
    assert!(documents(&desk, id).await.iter().all(|state| state["processors"]["foundry"]["error"].is_null()));
    let after = view::result(&desk.engine, id).await.unwrap().unwrap();
    assert_eq!(after["totals"]["failed"], 0, "the result was made again");
    assert_eq!(fully_processed(&desk).await, announced);
    assert_eq!(events_of(&desk, kind::SUBMISSION_DOCUMENTS_COMPLETE).await.len(), 1);
}
