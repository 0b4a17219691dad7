//! Limits and pauses, and the honest answer to "why does it wait?".

use super::fixture::{Fixture, error, ids};
use bindery_core::{
    JobId, SubmissionId,
    error::ErrorClass,
    job::{JobState, Limit, NewJob, WaitReason},
};
use bindery_store::JobEnd;
use std::time::Duration;

fn limited(f: &Fixture, submission: SubmissionId, key: &str, running: Option<u32>, per_minute: Option<u32>) -> NewJob {
    NewJob { limit: Some(Limit { key: key.into(), running, per_minute }), ..f.job("read", submission) }
}

async fn reason(f: &Fixture, id: JobId) -> WaitReason {
    f.view(id).await.unwrap().reason
}

pub async fn no_more_than_the_limit_run_at_once(f: &Fixture) {
    let submission = f.submission().await;
    for _ in 0..5 {
        f.enqueue(limited(f, submission, "model", Some(2), None)).await;
    }
    let first = f.claim(10).await;
    assert_eq!(first.len(), 2, "in one batch");
    f.assert_nothing_to_claim("two run already").await;
    f.done(&first[0]).await;
    assert_eq!(f.claim(10).await.len(), 1, "one has finished, so one may begin");
    f.store.release(vec![(first[1].job.id, first[1].token)]).await.unwrap();
    assert_eq!(f.claim(10).await.len(), 1, "a released job makes room");
    f.advance(61);
    f.store.sweep().await.unwrap();
    assert_eq!(f.claim(10).await.len(), 2, "lost workers make room: else the limit would close for good");
}

pub async fn every_way_to_end_makes_room(f: &Fixture) {
    let submission = f.submission().await;
    for _ in 0..6 {
        f.enqueue(limited(f, submission, "model", Some(1), None)).await;
    }
    for end in [
        JobEnd::Retry { after: Duration::from_secs(600), error: error("Timeout", ErrorClass::Retry), resume: None },
        JobEnd::Park { until: "key".to_owned(), after: None, error: error("NoKey", ErrorClass::Park), resume: None },
        JobEnd::Dead { error: error("Broken", ErrorClass::Bug), resume: None },
        JobEnd::Await { within: Duration::from_secs(600), error: None },
    ] {
        let claims = f.claim(5).await;
        assert_eq!(claims.len(), 1, "before {end:?}");
        f.end(&claims[0], end).await;
    }
    let claims = f.claim(5).await;
    assert_eq!(claims.len(), 1);
    f.end(&claims[0], JobEnd::Continue { cursor: 1 }).await;
    f.assert_nothing_to_claim("a job that goes on still runs").await;
    assert!(f.store.cancel_job(claims[0].job.id).await.unwrap());
    assert_eq!(f.claim(5).await.len(), 1, "a cancelled job makes room");
}

pub async fn keys_are_limited_independently(f: &Fixture) {
    let submission = f.submission().await;
    for key in ["left", "right", "left", "right"] {
        f.enqueue(limited(f, submission, key, Some(1), None)).await;
    }
    let claims = f.claim(10).await;
    let mut keys: Vec<_> = claims.iter().map(|claim| claim.job.limit.clone().unwrap().key).collect();
    keys.sort();
    assert_eq!(keys, ["left", "right"]);
}

pub async fn the_rate_is_a_bucket_that_refills(f: &Fixture) {
    let submission = f.submission().await;
    for _ in 0..20 {
        f.enqueue(limited(f, submission, "api", None, Some(3))).await;
    }
    assert_eq!(f.claim(10).await.len(), 3, "the bucket starts full");
    f.assert_nothing_to_claim("the bucket is empty").await;
    f.advance(10);
    f.assert_nothing_to_claim("half a token is none").await;
    f.advance(11);
    assert_eq!(f.claim(10).await.len(), 1, "one token comes every twenty seconds");
    f.assert_nothing_to_claim("and was taken").await;
    f.advance(3600);
    assert_eq!(f.claim(10).await.len(), 3, "an idle hour does not allow a burst beyond a minute's worth");
}

pub async fn both_limits_hold_together(f: &Fixture) {
    let submission = f.submission().await;
    for _ in 0..6 {
        f.enqueue(limited(f, submission, "api", Some(2), Some(3))).await;
    }
    let first = f.claim(10).await;
    assert_eq!(first.len(), 2, "two at once");
    for claim in &first {
        f.done(claim).await;
    }
    assert_eq!(f.claim(10).await.len(), 1, "three a minute");
}

pub async fn a_saturated_key_blocks_nobody_else(f: &Fixture) {
    let submission = f.submission().await;
    let crowd = (0..3000).map(|_| NewJob { priority: 5, ..limited(f, submission, "slow", Some(1), None) }).collect();
    f.store.enqueue(crowd).await.unwrap();
    let bystander = f.enqueue(f.job("read", submission)).await;
    let neighbour = f.enqueue(limited(f, submission, "other", Some(1), None)).await;
    let first = f.claim(1).await;
    assert_eq!(first[0].job.limit.as_ref().unwrap().key, "slow");
    let rest = f.claim(10).await;
    assert_eq!(ids(&rest), [bystander, neighbour], "thousands that may not run must not hide two that may");
}

pub async fn a_rate_that_is_used_up_blocks_nobody_else(f: &Fixture) {
    let submission = f.submission().await;
    let crowd = (0..2000).map(|_| NewJob { priority: 5, ..limited(f, submission, "api", None, Some(2)) }).collect();
    f.store.enqueue(crowd).await.unwrap();
    let bystander = f.enqueue(f.job("read", submission)).await;
    assert_eq!(f.claim(2).await.len(), 2);
    assert_eq!(ids(&f.claim(10).await), [bystander]);
}

pub async fn a_paused_queue_gives_nothing_out(f: &Fixture) {
    let submission = f.submission().await;
    let first = f.enqueue(f.job("ocr", submission)).await;
    let running = f.claim_one().await;
    let waiting = f.enqueue(f.job("ocr", submission)).await;
    let other = f.enqueue(f.job("mail", submission)).await;
    assert!(f.store.pause(&"ocr".into(), Some("the scanner is off".to_owned())).await.unwrap());
    assert!(!f.store.pause(&"ocr".into(), None).await.unwrap(), "paused already");
    assert_eq!(ids(&f.claim(10).await), [other], "other queues go on");
    assert_eq!(reason(f, waiting).await, WaitReason::QueuePaused { queue: "ocr".into() });
    let queues = f.store.queues().await.unwrap();
    let view = queues.iter().find(|view| view.queue == "ocr").expect("the paused queue is listed");
    assert!(view.paused);
    assert!(view.paused_because.is_some(), "the reason is shown");
    assert_eq!((view.running, view.ready), (1, 1));
    assert_eq!(running.job.id, first);
    f.done(&running).await;

    assert!(f.store.resume(&"ocr".into()).await.unwrap());
    assert!(!f.store.resume(&"ocr".into()).await.unwrap(), "not paused any more");
    assert_eq!(ids(&f.claim(10).await), [waiting]);
    let queues = f.store.queues().await.unwrap();
    assert!(queues.iter().all(|view| !view.paused));
}

pub async fn a_queue_may_be_paused_before_its_first_job(f: &Fixture) {
    let submission = f.submission().await;
    assert!(f.store.pause(&"ocr".into(), None).await.unwrap());
    f.enqueue(f.job("ocr", submission)).await;
    f.assert_nothing_to_claim("the queue is paused").await;
    assert!(f.store.resume(&"ocr".into()).await.unwrap());
    assert_eq!(f.claim(5).await.len(), 1);
}

pub async fn every_waiting_job_says_why(f: &Fixture) {
    let submission = f.submission().await;
    let awaiting = f.enqueue(NewJob { await_report_ms: Some(9_000), ..f.job("read", submission) }).await;
    assert_eq!(reason(f, awaiting).await, WaitReason::Report { until: Some(f.after(9)) });

    let dead = f.enqueue(f.job("read", submission)).await;
    let end = JobEnd::Dead { error: error("Encrypted", ErrorClass::Reject), resume: None };
    f.end(&f.claim_one().await, end).await;
    let WaitReason::Dead { because } = reason(f, dead).await else { panic!("it is dead") };
    assert!(because.contains("the work met Encrypted"), "{because}");

    let parked = f.enqueue(f.job("read", submission)).await;
    let end = JobEnd::Park {
        until: "model key".to_owned(),
        after: None,
        error: error("NoKey", ErrorClass::Park),
        resume: None,
    };
    f.end(&f.claim_one().await, end).await;
    let WaitReason::Parked { because, at: None } = reason(f, parked).await else { panic!("it is parked") };
    assert!(because.contains("model key") || because.contains("the work met NoKey"), "{because}");

    let retried = f.enqueue(f.job("read", submission)).await;
    let end =
        JobEnd::Retry { after: Duration::from_secs(70), error: error("Timeout", ErrorClass::Retry), resume: None };
    f.end(&f.claim_one().await, end).await;
    let WaitReason::Later { at, because } = reason(f, retried).await else { panic!("it waits for its next try") };
    assert_eq!(at, Some(f.after(70)));
    assert!(because.is_some_and(|because| because.contains("the work met Timeout")), "after what it waits");

    let later = f.enqueue(NewJob { not_before: Some(f.after(80)), ..f.job("read", submission) }).await;
    assert_eq!(reason(f, later).await, WaitReason::Later { at: Some(f.after(80)), because: None });

    let running = f.enqueue(limited(f, submission, "model", Some(1), None)).await;
    assert_eq!(f.claim_as("left", 1).await.len(), 1);
    assert_eq!(reason(f, running).await, WaitReason::Running { worker: Some("left".into()) });
    let held = f.enqueue(limited(f, submission, "model", Some(1), None)).await;
    assert_eq!(reason(f, held).await, WaitReason::LimitReached { key: "model".into(), running: 1 });

    let other = f.submission().await;
    let stopped = f.enqueue(f.job("read", other)).await;
    f.store.cancel_submission(other).await.unwrap();
    assert_eq!(f.stored(stopped).await.state, JobState::Cancelled);
    assert_eq!(reason(f, stopped).await, WaitReason::Cancelled);
}

pub async fn a_ready_job_says_how_many_are_ahead(f: &Fixture) {
    let submission = f.submission().await;
    let mut jobs = Vec::new();
    for priority in [0, 0, 5] {
        jobs.push(f.enqueue(NewJob { priority, ..f.job("ocr", submission) }).await);
    }
    for (id, ahead) in [(jobs[2], 0), (jobs[0], 1), (jobs[1], 2)] {
        assert_eq!(reason(f, id).await, WaitReason::NoWorkerYet { ahead });
    }
}

pub async fn a_used_up_rate_is_a_reason(f: &Fixture) {
    let submission = f.submission().await;
    f.enqueue(limited(f, submission, "api", None, Some(1))).await;
    let waiting = f.enqueue(limited(f, submission, "api", None, Some(1))).await;
    assert_eq!(f.claim(5).await.len(), 1);
    let why = reason(f, waiting).await;
    assert!(matches!(&why, WaitReason::LimitReached { key, .. } if key == "api"), "{why:?}");
}
