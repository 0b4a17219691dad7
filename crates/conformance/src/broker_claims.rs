//! Jobs that a broker carries: a message may be lost, late or sent twice; the work is begun once.

use super::fixture::{Fixture, LEASE, ending};
use bindery_core::{
    JobId, SubmissionId,
    job::{ClaimedJob, JobState, NewJob, Token},
};
use bindery_store::{
    Changes, CommitResult, JobEnd,
    query::{AnnounceRequest, ClaimRequest},
};
use std::time::Duration;

const AGAIN: Duration = Duration::from_secs(30);

fn lease_of(claim: &ClaimedJob) -> (JobId, Token) {
    (claim.job.id, claim.token)
}

impl Fixture {
    /// Claims as a relay does.
    async fn carry(&self, max: usize) -> Vec<ClaimedJob> {
        let request =
            ClaimRequest { worker: "relay".into(), queues: None, submissions: None, max, lease: LEASE, counts: false };
        self.store.claim(request).await.unwrap()
    }

    async fn adopt(&self, leases: Vec<(JobId, Token)>) -> Vec<ClaimedJob> {
        self.store.adopt(&"worker".into(), leases, LEASE).await.unwrap()
    }

    async fn announce(&self) -> Vec<JobId> {
        let request = AnnounceRequest { queues: None, max: 100, again_after: AGAIN };
        self.store.announce(request).await.unwrap().into_iter().map(|job| job.id).collect()
    }

    fn awaiting_job(&self, submission: SubmissionId) -> NewJob {
        NewJob { await_report_ms: Some(600_000), ..self.job("outside", submission) }
    }
}

pub async fn the_attempt_begins_when_a_job_is_adopted(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(f.job("ocr", submission)).await;
    let carried = f.carry(1).await.pop().unwrap();
    assert_eq!((carried.job.id, carried.job.attempt, carried.job.state), (id, 0, JobState::Running));
    assert_eq!(f.stored(id).await, carried.job, "what the relay got is what people see");
    f.assert_nothing_to_claim("it is on its way to somebody").await;

    let adopted = f.adopt(vec![lease_of(&carried)]).await.pop().unwrap();
    assert_eq!((adopted.job.id, adopted.job.attempt), (id, 1));
    assert_ne!(adopted.token, carried.token);
    let stored = f.stored(id).await;
    assert_eq!(stored, adopted.job);
    assert_eq!((stored.worker, stored.lease_until), (Some("worker".into()), Some(f.now() + LEASE)));
    f.done(&adopted).await;
}

pub async fn a_message_that_comes_twice_is_adopted_once(f: &Fixture) {
    let submission = f.submission().await;
    f.store.enqueue((0..3).map(|_| f.job("ocr", submission)).collect()).await.unwrap();
    let leases: Vec<_> = f.carry(3).await.iter().map(lease_of).collect();
    let twice = [&leases[..], &leases[..1]].concat();
    assert_eq!(f.adopt(twice).await.len(), 3, "each once, also within one call");
    assert!(f.adopt(leases).await.is_empty());
}

pub async fn of_two_that_adopt_at_once_one_has_the_job(f: &Fixture) {
    let submission = f.submission().await;
    f.store.enqueue((0..20).map(|_| f.job("ocr", submission)).collect()).await.unwrap();
    let mut leases: Vec<_> = f.carry(20).await.iter().map(lease_of).collect();
    let forwards = f.adopt(leases.clone());
    leases.reverse();
    let (left, right) = tokio::join!(forwards, f.adopt(leases));
    assert_eq!(left.len() + right.len(), 20);
}

pub async fn who_carried_a_job_does_not_hold_it_after_its_adoption(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(f.job("ocr", submission)).await;
    let carried = f.carry(1).await.pop().unwrap();
    let adopted = f.adopt(vec![lease_of(&carried)]).await.pop().unwrap();
    let lost = f.store.heartbeat(&"relay".into(), vec![lease_of(&carried)], LEASE, 0).await.unwrap();
    assert_eq!(lost, [id]);
    f.store.release(vec![lease_of(&carried)]).await.unwrap();
    assert_eq!(f.stored(id).await.state, JobState::Running, "the relay cannot take it back");
    let late = f.commit(ending(&carried, JobEnd::Done, Changes::default())).await;
    assert!(matches!(late, CommitResult::Rejected(_)));
    f.done(&adopted).await;
}

pub async fn a_message_after_its_lease_ended_adopts_nothing(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(f.job("ocr", submission)).await;
    let lost = f.carry(1).await.pop().unwrap();
    f.advance(61);
    assert_eq!(f.store.sweep().await.unwrap().leases_expired, 1);
    assert_eq!(f.stored(id).await.attempt, 0, "nobody has begun it");
    let again = f.carry(1).await.pop().unwrap();
    assert!(f.adopt(vec![lease_of(&lost)]).await.is_empty());
    assert_eq!(f.adopt(vec![lease_of(&again)]).await[0].job.attempt, 1);
}

pub async fn a_carried_job_that_is_given_back_was_not_tried(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(f.job("ocr", submission)).await;
    let carried = f.carry(1).await.pop().unwrap();
    f.store.release(vec![lease_of(&carried)]).await.unwrap();
    let job = f.stored(id).await;
    assert_eq!((job.state, job.attempt), (JobState::Ready, 0));
    assert!(f.adopt(vec![lease_of(&carried)]).await.is_empty());

    let adopted = f.adopt(vec![lease_of(&f.carry(1).await[0])]).await.pop().unwrap();
    f.store.release(vec![lease_of(&adopted)]).await.unwrap();
    assert_eq!(f.stored(id).await.attempt, 0, "adopted but not begun does not count either");
}

pub async fn a_worker_s_own_job_cannot_be_adopted(f: &Fixture) {
    let submission = f.submission().await;
    f.enqueue(f.job("ocr", submission)).await;
    let claim = f.claim_one().await;
    assert!(f.adopt(vec![lease_of(&claim)]).await.is_empty());
    f.done(&claim).await;
}

pub async fn awaited_work_is_announced_until_somebody_listened(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(f.awaiting_job(submission)).await;
    f.enqueue(f.job("ocr", submission)).await;
    assert_eq!(f.announce().await, [id], "what our own workers do is nobody else's business");
    assert!(f.announce().await.is_empty(), "one relay at a time");
    f.advance(31);
    assert_eq!(f.announce().await, [id], "nobody said that it got through");
    f.store.announced(vec![id], Duration::from_secs(300)).await.unwrap();
    f.advance(299);
    assert!(f.announce().await.is_empty());
    f.advance(2);
    assert_eq!(f.announce().await, [id], "the message may have been lost");
    assert_eq!(f.stored(id).await.state, JobState::Awaiting, "an announcement changes nothing else");
}

pub async fn work_that_is_awaited_anew_is_announced_anew(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(NewJob { await_report_ms: Some(10_000), ..f.job("outside", submission) }).await;
    assert_eq!(f.announce().await, [id]);
    f.store.announced(vec![id], Duration::from_secs(3_600)).await.unwrap();
    f.advance(11);
    f.store.sweep().await.unwrap();
    assert!(f.announce().await.is_empty(), "it is somebody's decision now");
    let claim = f.claim_one().await;
    f.end(&claim, JobEnd::Await { within: Duration::from_secs(60), error: None }).await;
    assert_eq!(f.announce().await, [id]);
}

pub async fn announcements_come_from_the_asked_queues_that_are_not_paused(f: &Fixture) {
    let submission = f.submission().await;
    let left = f.enqueue(NewJob { queue: "q.left".into(), ..f.awaiting_job(submission) }).await;
    let right = f.enqueue(NewJob { queue: "q.right".into(), ..f.awaiting_job(submission) }).await;
    let request = |queue: &str| AnnounceRequest { queues: Some(vec![queue.into()]), max: 100, again_after: AGAIN };
    assert_eq!(f.store.announce(request("q.right")).await.unwrap()[0].id, right);
    f.store.pause(&"q.left".into(), None).await.unwrap();
    assert!(f.announce().await.is_empty());
    f.store.resume(&"q.left".into()).await.unwrap();
    assert_eq!(f.announce().await, [left]);
}
