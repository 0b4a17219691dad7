//! Receivers that are busy, broken, slow or gone.

use super::*;
use bindery_core::job::JobState;
use bindery_store::query::JobFilter;
use std::{
    collections::HashSet,
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// What the only dead letter says.
async fn dead_letter(desk: &Desk) -> String {
    let dead = JobFilter { states: vec![JobState::Dead], ..JobFilter::default() };
    let jobs = desk.engine.store().jobs(dead).await.unwrap();
    assert_eq!(jobs.len(), 1);
    jobs[0].job.error.clone().unwrap().message
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delivery_that_is_tried_again_has_the_same_id_and_body() {
    let service = Service::start(|number, _| match number {
        0 => Reply::new(503, "restarting"),
        1 => Reply::new(429, "").with("Retry-After", "0"),
        2 => Reply::new(408, ""),
        _ => Reply::new(200, "thank you"),
    });
    let desk = desk_to(&service.url(), &[]).await;
    let id = desk.submit("delivered").await;
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    let asked = service.asked();
    assert_eq!(asked.len(), 4);
    let ids: HashSet<&str> = asked.iter().map(|asked| asked.header("webhook-id")).collect();
    assert_eq!(ids.len(), 1);
    assert!(asked.iter().all(|one| one.header("idempotency-key") == one.header("webhook-id")));
    let jobs: HashSet<&str> = asked.iter().map(|asked| asked.header("bindery-job")).collect();
    assert!(jobs.len() == 1 && asked[0].header("bindery-job").starts_with("job_"), "{jobs:?}");
    let attempts: Vec<&str> = asked.iter().map(|asked| asked.header("bindery-attempt")).collect();
    assert_eq!(attempts, ["1", "2", "3", "4"]);
    assert!(asked.iter().all(|one| one.body == asked[0].body));
    assert!(asked.iter().all(|one| one.header("webhook-signature") == expected_signature(one)));
    // Another submission of the same files is another delivery.
    let again = desk.submit("delivered").await;
    desk.finish(again).await;
    assert_ne!(service.asked()[4].header("webhook-id"), asked[0].header("webhook-id"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_refused_is_a_dead_letter_that_can_be_sent_again() {
    let repaired = Arc::new(AtomicBool::new(false));
    let works = Arc::clone(&repaired);
    let service = Service::start(move |_, _| {
        if works.load(Ordering::SeqCst) {
            Reply::new(200, "{}")
        } else {
            Reply::new(422, "the field `submission`\nis not known")
        }
    });
    let desk = desk_to(&service.url(), &[]).await;
    let id = desk.submit("delivered").await;
    assert_eq!(desk.finish(id).await, SubmissionStatus::Failed);
    let reason = dead_letter(&desk).await.replace(&service.url(), "SERVICE");
    assert_eq!(reason, "SERVICE/ answered with status 422 Unprocessable Entity: the field `submission` is not known");
    let result = result_of(&desk, id).await;
    assert_eq!(result["totals"]["files"], 1, "the result is there although nobody took it");
    repaired.store(true, Ordering::SeqCst);
    let filter = JobFilter { submission: Some(id), ..JobFilter::default() };
    assert_eq!(desk.engine.store().retry(filter).await.unwrap().jobs, 1);
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    let asked = service.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].header("webhook-id"), asked[1].header("webhook-id"), "a receiver can tell that it is the same");
    assert_eq!(result_of(&desk, id).await, result);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_at_which_nobody_is_loses_nothing() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let desk = desk_to(&format!("http://{address}/in"), &[]).await;
    let id = desk.submit("delivered").await;
    assert_eq!(desk.finish(id).await, SubmissionStatus::Failed);
    let reason = dead_letter(&desk).await;
    assert!(reason.contains("could not be reached"), "{reason}");
    let retried = JobFilter { submission: Some(id), ..JobFilter::default() };
    let job = desk.engine.store().jobs(retried).await.unwrap().remove(0).job;
    assert_eq!(job.attempt, 12, "as often as the workflow says");
    assert_eq!(result_of(&desk, id).await["totals"]["files"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_does_not_answer_is_not_waited_for_longer_than_said() {
    // Takes the connection, and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let changes = [
        ("max_attempts: 12", "max_attempts: 1"),
        ("allow_private: true", "allow_private: true\n      timeout_seconds: 1"),
    ];
    let desk = desk_to(&format!("http://{}/in", silent.local_addr().unwrap()), &changes).await;
    let id = desk.submit("delivered").await;
    assert_eq!(desk.finish(id).await, SubmissionStatus::Failed);
    assert!(dead_letter(&desk).await.ends_with("/in took longer than 1 s"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_long_reply_the_beginning_is_kept() {
    let service = Service::start(|_, _| Reply::new(200, "x".repeat(300 * 1024)));
    let desk = desk_to(&service.url(), &[]).await;
    let id = desk.submit("delivered").await;
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    let reply: Value = serde_json::from_str(&desk.artifact(&json!(format!("output/{id}.reply.json"))).await).unwrap();
    assert_eq!(reply["reply"]["cut_after_bytes"], 256 * 1024);
    assert_eq!(reply["reply"]["body"].as_str().unwrap().len(), 256 * 1024);
}
