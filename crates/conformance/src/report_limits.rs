//! Work outside: its time counts from the delivery of its message, as far as a broker can tell.

use super::fixture::Fixture;
use bindery_core::{
    JobId, SubmissionId, Timestamp,
    job::{JobState, NewJob},
};
use bindery_store::{
    JobEnd,
    query::{AnnounceRequest, Undelivered},
};
use std::time::Duration;

const PUBLISHING: Duration = Duration::from_secs(30);
const AGAIN: Duration = Duration::from_secs(300);
const HOLD: Duration = Duration::from_secs(60);

impl Fixture {
    /// A job that waits 20 seconds for a report, announced.
    async fn announced_job(&self, submission: SubmissionId, queue: &str) -> JobId {
        let new = NewJob { queue: queue.into(), await_report_ms: Some(20_000), ..self.job("outside", submission) };
        let id = self.enqueue(new).await;
        let request = AnnounceRequest { queues: Some(vec![queue.into()]), max: 100, again_after: PUBLISHING };
        assert_eq!(self.store.announce(request).await.unwrap()[0].id, id);
        self.store.announced(vec![id], AGAIN).await.unwrap();
        self.advance(1);
        id
    }

    async fn last(&self, queue: &str) -> Timestamp {
        self.store.last_announced(&queue.into()).await.unwrap().unwrap()
    }

    /// The broker says how many messages of a queue nobody has taken.
    async fn ready(&self, queue: &str, ready: u64, until: Timestamp) -> u64 {
        let said = Undelivered { queue: queue.into(), ready, until, publishing: PUBLISHING, hold: HOLD };
        self.store.hold_reports(said).await.unwrap()
    }

    async fn sweeps(&self) -> u64 {
        self.store.sweep().await.unwrap().reports_overdue
    }
}

pub async fn a_time_limit_begins_when_the_message_is_delivered(f: &Fixture) {
    let submission = f.submission().await;
    let first = f.announced_job(submission, "q.a").await;
    let second = f.announced_job(submission, "q.a").await;
    for _ in 0..10 {
        f.advance(15);
        assert_eq!(f.ready("q.a", 2, f.last("q.a").await).await, 0);
        assert_eq!(f.sweeps().await, 0, "nobody has taken either");
    }
    assert_eq!(f.ready("q.a", 1, f.last("q.a").await).await, 1, "they are taken in their order");
    f.advance(19);
    assert_eq!(f.ready("q.a", 1, f.last("q.a").await).await, 0, "its time goes on, and does not begin again");
    assert_eq!(f.sweeps().await, 0);
    f.advance(2);
    assert_eq!(f.sweeps().await, 1);
    assert_eq!(f.stored(first).await.state, JobState::Ready, "21 seconds after the delivery, of 20");
    assert_eq!(f.stored(second).await.state, JobState::Awaiting);
    // Whoever asked the broker is gone: what is not delivered is not held for ever.
    f.advance(81);
    assert_eq!(f.sweeps().await, 1);
}

pub async fn what_is_delivered_is_not_announced_again_before_its_time_is_over(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(NewJob { await_report_ms: Some(600_000), ..f.job("outside", submission) }).await;
    let queue = f.stored(id).await.queue;
    let announce = async || {
        let request = AnnounceRequest { queues: None, max: 100, again_after: PUBLISHING };
        f.store.announce(request).await.unwrap().len()
    };
    assert_eq!(announce().await, 1);
    f.store.announced(vec![id], AGAIN).await.unwrap();
    assert_eq!(f.ready(&queue, 0, f.last(&queue).await).await, 1);
    assert_eq!(f.store.last_announced(&queue).await.unwrap(), None, "nothing is left to judge");
    f.advance(400);
    assert_eq!(announce().await, 0, "somebody works on it");
    f.advance(201);
    assert_eq!(f.sweeps().await, 1);
    let claim = f.claim_one().await;
    f.end(&claim, JobEnd::Await { within: Duration::from_secs(60), error: None }).await;
    assert_eq!(announce().await, 1, "awaited anew, announced anew");
}

pub async fn what_was_announced_after_the_broker_was_asked_is_not_judged(f: &Fixture) {
    let submission = f.submission().await;
    f.announced_job(submission, "q.a").await;
    let until = f.last("q.a").await;
    // The broker counts one message; before that is stored, a second one is published.
    f.announced_job(submission, "q.a").await;
    assert_eq!(f.ready("q.a", 1, until).await, 0, "the first one still lies there");
    // Being published: neither counted nor taken.
    let new = NewJob { queue: "q.a".into(), await_report_ms: Some(20_000), ..f.job("outside", submission) };
    f.enqueue(new).await;
    let request = AnnounceRequest { queues: None, max: 100, again_after: PUBLISHING };
    assert_eq!(f.store.announce(request).await.unwrap().len(), 1);
    assert_eq!(f.ready("q.a", 2, f.last("q.a").await).await, 0);
}

pub async fn queues_are_judged_one_by_one(f: &Fixture) {
    let submission = f.submission().await;
    let left = f.announced_job(submission, "q.left").await;
    let right = f.announced_job(submission, "q.right").await;
    f.enqueue(f.job("ocr", submission)).await;
    assert_eq!(f.store.last_announced(&"q.nobody".into()).await.unwrap(), None);
    assert_eq!(f.ready("q.left", 1, f.last("q.left").await).await, 0);
    assert_eq!(f.ready("q.right", 0, f.last("q.right").await).await, 1);
    f.advance(21);
    assert_eq!(f.sweeps().await, 1);
    assert_eq!((f.stored(left).await.state, f.stored(right).await.state), (JobState::Awaiting, JobState::Ready));
}
