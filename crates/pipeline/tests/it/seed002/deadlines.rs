//! How long a request may take.

use super::{
    paper::{INVOICE, pdf},
    request::{Request, default_yaml},
};
use serde_json::json;
use std::time::Duration;

/// After how many seconds more (looked at each second) a sweep finds something.
async fn seconds_until(request: &Request, found: impl Fn(bindery_store::query::Swept) -> u64) -> Option<u64> {
    for seconds in 0..=90 {
        if found(request.desk.engine.store().sweep().await.unwrap()) > 0 {
            return Some(seconds);
        }
        request.clock.as_ref().unwrap().advance(Duration::from_secs(1));
    }
    None
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_21_warning_escalation_and_breach_count_from_reception() {
    let ago = Duration::from_secs(12);
    let request = Request::received_ago(ago, &default_yaml(), &[("a.pdf", &pdf(&[INVOICE]))]).await;
    request.pause("q.ocr").await;
    request.work().await;
    let status = request.status().await;
    assert_eq!((&status["status"], &status["error"]), (&json!("processing"), &json!(null)));

    // 70, 90 and 100 % of 60 seconds, of which 12 had gone.
    assert_eq!(seconds_until(&request, |swept| swept.deadlines_warned).await, Some(30));
    let before = request.tables().await.requests[0]["priority"].as_i64().unwrap();
    assert_eq!(seconds_until(&request, |swept| swept.deadlines_escalated).await, Some(12));
    assert!(request.tables().await.requests[0]["priority"].as_i64().unwrap() > before, "its work moves to the front");
    assert_eq!(seconds_until(&request, |swept| swept.deadlines_breached).await, Some(6));
    let status = request.status().await;
    assert_eq!((&status["status"], &status["completed_at"]), (&json!("sla_breached"), &json!(null)));
    assert!(status["error"].as_str().unwrap().starts_with("the deadline was missed at "), "{status}");
    assert_eq!(seconds_until(&request, |swept| swept.deadlines_breached).await, None, "it is said once");

    // What comes late is done all the same, and nobody forgets that it was late.
    request.resume("q.ocr").await;
    request.work().await;
    let status = request.status().await;
    assert_eq!((&status["status"], &status["sla_breached"]), (&json!("completed"), &json!(true)));
    assert_eq!(status["result"]["total_documents"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_21_a_request_that_is_done_in_time_misses_nothing() {
    let request = Request::received_ago(Duration::ZERO, &default_yaml(), &[("a.pdf", &pdf(&[INVOICE]))]).await;
    request.work().await;
    assert_eq!(seconds_until(&request, |swept| swept.deadlines_warned + swept.deadlines_breached).await, None);
    assert_eq!(request.status().await["sla_breached"], false);
}
