//! What people do: cancel, assign, store workflows. Doing it twice does it once.

use super::fixture::{Fixture, ending, ids};
use bindery_core::{
    error::ErrorClass,
    event::kind,
    job::{JobState, NewJob},
    outcome::OutcomeStatus,
    review::{Decision, ReviewStatus},
    submission::SubmissionStatus,
};
use bindery_store::{Changes, Commit, CommitResult, Guard, JobEnd, Rejection, StoreError};
use std::collections::BTreeSet;

pub async fn a_cancelled_submission_stops_at_once(f: &Fixture) {
    let submission = f.submission().await;
    let bystander = f.submission().await;
    let running = f.enqueue(f.job("ocr", submission)).await;
    let claim = f.claim_one().await;
    let ready = f.enqueue(f.job("ocr", submission)).await;
    let later = f.enqueue(NewJob { not_before: Some(f.after(60)), ..f.job("ocr", submission) }).await;
    let awaiting = f.enqueue(NewJob { await_report_ms: Some(60_000), ..f.job("ocr", submission) }).await;
    let other = f.enqueue(f.job("ocr", bystander)).await;
    let review = f.review(submission, "classify").await;

    let cancelled = f.store.cancel_submission(submission).await.unwrap();
    assert_eq!((cancelled.jobs, cancelled.reviews, cancelled.changed), (4, 1, true));
    let again = f.store.cancel_submission(submission).await.unwrap();
    assert_eq!((again.jobs, again.reviews, again.changed), (0, 0, false), "a second click does nothing");
    assert_eq!(f.submission_now(submission).await.status, SubmissionStatus::Cancelled);
    assert_eq!(f.count_events(kind::SUBMISSION_CANCELLED).await, 1);
    for id in [running, ready, later, awaiting] {
        assert_eq!(f.stored(id).await.state, JobState::Cancelled, "the row is kept so that it can be taken up again");
    }
    assert_eq!(f.store.review(review.id).await.unwrap().unwrap().status, ReviewStatus::Cancelled);
    let late = f.commit(ending(&claim, JobEnd::Done, Changes::default())).await;
    assert_eq!(late, CommitResult::Rejected(Rejection::LeaseLost), "a cancelled submission went on changing");
    let answer = Commit {
        guard: Guard::Review { review: review.id, by: Some("ann".to_owned()), decision: Decision::Accepted },
        changes: Changes::default(),
    };
    assert_eq!(f.commit(answer).await, CommitResult::Rejected(Rejection::ReviewClosed));
    f.advance(120);
    f.store.sweep().await.unwrap();
    assert_eq!(ids(&f.claim(10).await), [other], "other submissions go on, this one does not");
}

pub async fn a_final_submission_is_not_cancelled(f: &Fixture) {
    let submission = f.submission().await;
    f.set_status(submission, SubmissionStatus::Completed).await;
    assert!(!f.store.cancel_submission(submission).await.unwrap().changed);
    assert_eq!(f.submission_now(submission).await.status, SubmissionStatus::Completed);
    assert_eq!(f.count_events(kind::SUBMISSION_CANCELLED).await, 0);
}

pub async fn what_waits_becomes_more_urgent_and_is_claimed_first(f: &Fixture) {
    let submission = f.submission().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(f.enqueue(f.job("ocr", submission)).await);
    }
    let running = f.claim_one().await.job;
    assert_eq!(running.id, ids[0]);
    assert_eq!(f.store.raise_priorities(vec![(ids[2], 7), (ids[1], -3), (running.id, 9)]).await.unwrap(), 1);
    assert_eq!(f.store.raise_priorities(vec![(ids[2], 7)]).await.unwrap(), 0, "it is so urgent already");
    let next = f.claim_one().await.job;
    assert_eq!((next.id, next.priority), (ids[2], 7));
    assert_eq!((f.stored(ids[1]).await.priority, f.stored(running.id).await.priority), (0, 0));
}

pub async fn a_cancelled_job_arrives_as_failed(f: &Fixture) {
    let submission = f.submission().await;
    let join = f.join(f.new_join(submission, 2, "combine").await).await;
    f.store.enqueue((0..2).map(|_| NewJob { join: Some(join), ..f.job("ocr", submission) }).collect()).await.unwrap();
    let running = f.claim_one().await;
    assert!(f.store.cancel_job(running.job.id).await.unwrap());
    assert!(!f.store.cancel_job(running.job.id).await.unwrap(), "a second click does nothing");
    let job = f.stored(running.job.id).await;
    assert_eq!(job.state, JobState::Dead, "it stays among the dead letters");
    assert_eq!(job.error.map(|error| (error.kind, error.class)), Some(("Cancelled".to_owned(), ErrorClass::Reject)));
    let late = f.commit(ending(&running, JobEnd::Done, Changes::default())).await;
    assert_eq!(late, CommitResult::Rejected(Rejection::LeaseLost));
    let outcomes = f.store.outcomes(submission, None).await.unwrap();
    assert_eq!(outcomes.len(), 1);
    assert_eq!(outcomes[0].status, OutcomeStatus::Failed);
    assert_eq!(outcomes[0].error.as_ref().map(|error| error.kind.as_str()), Some("Cancelled"));
    assert_eq!(f.count_events(kind::JOB_DEAD_LETTERED).await, 1);
    let open = f.join_now(join).await;
    assert_eq!((open.arrived, open.failed, open.closed_at), (1, 1, None));

    let other = f.claim_one().await;
    f.store.release(vec![(other.job.id, other.token)]).await.unwrap();
    assert!(f.store.cancel_job(other.job.id).await.unwrap(), "a waiting job can be given up too");
    assert!(f.join_now(join).await.closed_at.is_some(), "the stage goes on without the jobs that were given up");
    assert_eq!(f.claim_one().await.job.queue, "combine");
}

pub async fn a_finished_job_cannot_be_cancelled(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(f.job("ocr", submission)).await;
    f.finish(&f.claim_one().await).await;
    let before = f.snapshot(submission).await;
    assert!(!f.store.cancel_job(id).await.unwrap());
    assert_eq!(f.snapshot(submission).await, before, "a finished result was thrown away");
}

pub async fn a_review_is_assigned_once(f: &Fixture) {
    let submission = f.submission().await;
    let review = f.review(submission, "classify").await;
    assert_eq!(review.status, ReviewStatus::Pending);
    assert!(f.store.assign_review(review.id, "ann").await.unwrap());
    assert!(!f.store.assign_review(review.id, "bob").await.unwrap(), "two people would do the same work");
    let stored = f.store.review(review.id).await.unwrap().unwrap();
    assert_eq!((stored.status, stored.assigned_to.as_deref()), (ReviewStatus::Assigned, Some("ann")));
}

pub async fn a_workflow_version_never_changes(f: &Fixture) {
    let name = "invoices".into();
    f.store.put_workflow(&name, 1, "stages: [a]").await.unwrap();
    f.advance(5);
    f.store.put_workflow(&name, 1, "stages: [a]").await.expect("the same text again is fine");
    let refused = f.store.put_workflow(&name, 1, "stages: [b]").await;
    assert!(matches!(refused, Err(StoreError::Invalid(_))), "submissions are pinned to it: {refused:?}");
    let stored = f.store.workflow(&name, Some(1)).await.unwrap().unwrap();
    assert_eq!((stored.text.as_str(), stored.version), ("stages: [a]", 1));
    assert!(stored.stored_at < f.now(), "storing it again changes nothing");
    f.store.put_workflow(&name, 2, "stages: [b]").await.expect("another version is another text");
    f.store.put_workflow(&"mail".into(), 7, "stages: []").await.unwrap();
    assert_eq!(f.store.workflow(&name, None).await.unwrap().map(|newest| newest.version), Some(2));
    assert_eq!(f.store.workflow(&name, Some(3)).await.unwrap(), None);
    assert_eq!(f.store.workflow(&"unknown".into(), None).await.unwrap(), None);
    let newest = f.store.workflows().await.unwrap();
    let newest: BTreeSet<_> = newest.iter().map(|workflow| (workflow.name.as_str(), workflow.version)).collect();
    assert_eq!(newest, BTreeSet::from([("invoices", 2), ("mail", 7)]));
}
