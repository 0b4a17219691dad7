//! Failures: reported ones, silence until the time is over, and successes that come late.

use super::*;
use bindery_core::job::JobState;
use bindery_store::query::JobFilter;

/// The shipped workflow waits this long for a report, this many times.
const WAIT: Duration = Duration::from_secs(300);
const MAX_ATTEMPTS: usize = 3;

/// Lets the time for a report run out, once.
async fn let_one_wait_pass(rig: &Rig) -> u64 {
    rig.clock.advance(WAIT + Duration::from_millis(1));
    let swept = rig.store.sweep().await.unwrap();
    rig.drain().await;
    swept.reports_overdue
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_05_below_its_maximum_attempts_a_silent_processor_holds_the_document() {
    let rig = outside_with_manual_clock().await;
    tell(&rig, &[created(SUB, 1), completed(SUB, "doc", "markitdown")]).await;
    for attempt in 1..MAX_ATTEMPTS {
        assert_eq!(let_one_wait_pass(&rig).await, 1);
        assert!(fully_processed(&rig).await.is_empty(), "emitted after attempt {attempt}");
        assert_eq!(statuses(&rig, SUB, "doc").await, ["completed", "pending"]);
        assert_eq!(rig.events_of(kind::JOB_RETRIED).await.len(), attempt);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_06_a_reported_failure_is_final_and_the_document_is_partly_done() {
    let rig = outside().await;
    tell(&rig, &[created(SUB, 1), failed(SUB, "doc", "foundry", "no text layer")]).await;
    assert!(fully_processed(&rig).await.is_empty());
    tell(&rig, &[completed(SUB, "doc", "markitdown")]).await;
    assert_eq!(fully_processed(&rig).await, ["doc"]);
    assert_eq!(counts(&rig, SUB).await, (1, 1, 0, true), "one result is enough");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_07_both_failed_emits_the_event_and_counts_as_failed() {
    let rig = outside().await;
    tell(&rig, &[created(SUB, 1)]).await;
    tell(&rig, &BOTH.map(|processor| failed(SUB, "doc", processor, "broken"))).await;
    assert_eq!(fully_processed(&rig).await, ["doc"]);
    assert_eq!(counts(&rig, SUB).await, (1, 0, 1, true));
    assert_eq!(complete_submissions(&rig).await, [SUB]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_23_a_processor_that_never_reports_is_failed_in_the_end() {
    let rig = outside_with_manual_clock().await;
    tell(&rig, &[created(SUB, 2), completed(SUB, "a", "markitdown")]).await;
    tell(&rig, &BOTH.map(|processor| completed(SUB, "b", processor))).await;
    for _ in 0..MAX_ATTEMPTS {
        assert_eq!(let_one_wait_pass(&rig).await, 1);
    }
    assert_eq!(let_one_wait_pass(&rig).await, 0, "nothing is waited for any more");
    let state = document(&rig, SUB, "a").await;
    let foundry = &state["processors"]["foundry"];
    assert_eq!(foundry["status"], json!("failed"));
    assert_eq!(foundry["error"], json!("foundry did not report within 300 s"));
    assert_eq!(fully_processed(&rig).await, ["b", "a"]);
    assert_eq!(complete_submissions(&rig).await, [SUB]);
    assert_eq!(counts(&rig, SUB).await, (2, 2, 0, true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_23_a_report_in_a_later_wait_still_counts() {
    let rig = outside_with_manual_clock().await;
    tell(&rig, &[created(SUB, 1), completed(SUB, "doc", "markitdown")]).await;
    let_one_wait_pass(&rig).await;
    tell(&rig, &[completed(SUB, "doc", "foundry")]).await;
    assert_eq!(statuses(&rig, SUB, "doc").await, ["completed", "completed"]);
    assert_eq!(let_one_wait_pass(&rig).await, 0);
    assert_eq!(complete_submissions(&rig).await, [SUB]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_23_a_report_that_races_with_the_time_out_counts_once() {
    let rig = outside_with_manual_clock().await;
    tell(&rig, &[created(SUB, 1), completed(SUB, "doc", "markitdown")]).await;
    for _ in 1..MAX_ATTEMPTS {
        let_one_wait_pass(&rig).await;
    }
    // Found overdue for the last time, but nobody has decided yet when the report comes.
    rig.clock.advance(WAIT + Duration::from_millis(1));
    rig.store.sweep().await.unwrap();
    append(&rig, &[completed(SUB, "doc", "foundry")]).await;
    aggregator::step(&rig.engine).await.unwrap();
    rig.drain().await;
    assert_eq!(statuses(&rig, SUB, "doc").await, ["completed", "completed"]);
    assert!(rig.events_of(kind::JOB_DEAD_LETTERED).await.is_empty());
    assert_eq!((fully_processed(&rig).await.len(), complete_submissions(&rig).await.len()), (1, 1));
}

/// A success replaces a failure, and nothing is announced because of it.
async fn assert_late_success(rig: &Rig, expected_counts: (i64, i64, i64, bool)) {
    let announced = (fully_processed(rig).await, complete_submissions(rig).await);
    tell(rig, &[completed(SUB, "doc", "foundry")]).await;
    let state = document(rig, SUB, "doc").await;
    let now_completed = json!({"status": "completed", "timestamp": "2025-07-07T10:00:00.000Z", "error": null});
    assert_eq!(state["processors"]["foundry"], now_completed);
    assert_eq!((fully_processed(rig).await, complete_submissions(rig).await), announced);
    assert_eq!(counts(rig, SUB).await, expected_counts);
    let before = picture(rig, &[SUB]).await;
    replay(rig).await;
    assert_eq!(picture(rig, &[SUB]).await, before, "also after a replay");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_24_a_late_success_clears_the_error_while_the_document_is_open() {
    let rig = outside().await;
    tell(&rig, &[created(SUB, 1), failed(SUB, "doc", "foundry", "broken")]).await;
    assert_late_success(&rig, (1, 0, 0, false)).await;
    // The document is completed by that success alone.
    tell(&rig, &[failed(SUB, "doc", "markitdown", "broken")]).await;
    assert_eq!(fully_processed(&rig).await, ["doc"]);
    assert_eq!(counts(&rig, SUB).await, (1, 1, 0, true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_24_a_late_success_after_the_event_is_recorded_and_emits_nothing() {
    let rig = outside().await;
    tell(&rig, &[created(SUB, 1)]).await;
    tell(&rig, &BOTH.map(|processor| failed(SUB, "doc", processor, "broken"))).await;
    assert_eq!(counts(&rig, SUB).await, (1, 0, 1, true));
    assert_late_success(&rig, (1, 1, 0, true)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_24_a_late_success_after_the_time_out_is_recorded_and_leaves_no_dead_letter() {
    let rig = outside_with_manual_clock().await;
    tell(&rig, &[created(SUB, 1), completed(SUB, "doc", "markitdown")]).await;
    for _ in 0..MAX_ATTEMPTS {
        let_one_wait_pass(&rig).await;
    }
    assert_eq!(statuses(&rig, SUB, "doc").await, ["completed", "failed"]);
    assert_late_success(&rig, (1, 1, 0, true)).await;
    assert!(rig.jobs().await.is_empty(), "{:#?}", rig.jobs().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_24_a_failure_and_its_success_may_come_in_one_batch() {
    let rig = outside().await;
    let events = [created(SUB, 1), failed(SUB, "doc", "foundry", "broken"), completed(SUB, "doc", "foundry")];
    append(&rig, &events).await;
    rig.drain().await;
    assert_eq!(statuses(&rig, SUB, "doc").await, ["pending", "completed"]);
    tell(&rig, &[failed(SUB, "doc", "foundry", "changed my mind")]).await;
    assert_eq!(statuses(&rig, SUB, "doc").await, ["pending", "completed"], "a success is never taken back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_24_asking_again_by_hand_counts_the_document_once() {
    let rig = outside_with_manual_clock().await;
    tell(&rig, &[created(SUB, 2), completed(SUB, "doc", "markitdown")]).await;
    for _ in 0..MAX_ATTEMPTS {
        let_one_wait_pass(&rig).await;
    }
    assert_eq!(counts(&rig, SUB).await, (2, 1, 0, false));
    let dead = JobFilter { states: vec![JobState::Dead], ..JobFilter::default() };
    assert_eq!(rig.store.retry(dead).await.unwrap().jobs, 1);
    assert_eq!(statuses(&rig, SUB, "doc").await, ["completed", "pending"]);
    tell(&rig, &BOTH.map(|processor| completed(SUB, "other", processor))).await;
    assert_eq!(counts(&rig, SUB).await, (2, 1, 0, false), "the submission waits for the repair");
    tell(&rig, &[completed(SUB, "doc", "foundry")]).await;
    assert_eq!(counts(&rig, SUB).await, (2, 2, 0, true));
    assert_eq!(fully_processed(&rig).await, ["doc", "other"], "announced once, when it first ended");
    assert_eq!(complete_submissions(&rig).await, [SUB]);
}
