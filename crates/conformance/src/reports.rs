//! What comes from outside: reports, late reports, people's answers and new submissions, each counted once.

use super::fixture::{Fixture, arrive, arrive_failed, ending, event, text};
use bindery_core::{
    ItemId, JoinId, SubmissionId,
    item::ItemKind,
    job::{Job, NewJob},
    outcome::{Outcome, OutcomeStatus},
    review::{Decision, ReviewStatus},
    submission::NewSubmission,
};
use bindery_store::{Changes, Commit, CommitResult, Guard, JobEnd, Rejection, query::SubmissionFilter};
use std::time::Duration;

struct Awaited {
    submission: SubmissionId,
    item: ItemId,
    join: JoinId,
    job: Job,
}

async fn create_awaited(f: &Fixture) -> Awaited {
    let submission = f.submission().await;
    let item = f.item(submission, ItemKind::Page).await;
    let join = f.join(f.new_join(submission, 2, "combine").await).await;
    let job =
        NewJob { item: Some(item), join: Some(join), await_report_ms: Some(30_000), ..f.job("outside", submission) };
    let job = f.stored(f.enqueue(job).await).await;
    Awaited { submission, item, join, job }
}

impl Awaited {
    fn guard(&self) -> Guard {
        Guard::Report {
            submission: self.submission,
            item: Some(self.item),
            stage: "outside".into(),
            processor: "p".into(),
        }
    }

    fn late_guard(&self) -> Guard {
        Guard::LateReport {
            submission: self.submission,
            item: Some(self.item),
            stage: "outside".into(),
            processor: "p".into(),
        }
    }

    fn outcome(&self, f: &Fixture, status: OutcomeStatus, output: &str) -> Outcome {
        Outcome { output: text(output), ..f.outcome(&self.job, status) }
    }

    fn report(&self, f: &Fixture) -> Commit {
        let changes = Changes {
            outcomes: vec![self.outcome(f, OutcomeStatus::Completed, "reported")],
            events: vec![event("Reported", Some(self.submission))],
            join_steps: vec![arrive(self.join)],
            ..Changes::default()
        };
        Commit { guard: self.guard(), changes }
    }
}

pub async fn a_report_counts_once(f: &Fixture) {
    let awaited = create_awaited(f).await;
    let report = awaited.report(f);
    let CommitResult::Applied { joins } = f.commit(report.clone()).await else {
        panic!("the report is awaited");
    };
    assert_eq!((joins[0].received, joins[0].closed), (1, false));
    assert_eq!(f.view(awaited.job.id).await, None, "the waiting job goes with the report");
    let before = f.snapshot(awaited.submission).await;
    assert_eq!(f.commit(report.clone()).await, CommitResult::Rejected(Rejection::NotAwaited));
    let both = f.store.commit(vec![report.clone(), report]).await.unwrap();
    assert!(both.iter().all(|result| *result == CommitResult::Rejected(Rejection::NotAwaited)));
    assert_eq!(f.snapshot(awaited.submission).await, before, "a duplicate report left something behind");
    f.advance(31);
    assert_eq!(f.store.sweep().await.unwrap().reports_overdue, 0, "nothing is awaited any more");
}

pub async fn a_report_that_nobody_awaits_is_refused(f: &Fixture) {
    let awaited = create_awaited(f).await;
    let report = awaited.report(f);
    let other = f.item(awaited.submission, ItemKind::Page).await;
    let work = |submission, item, stage: &str, processor: &str| Guard::Report {
        submission,
        item,
        stage: stage.into(),
        processor: processor.into(),
    };
    let (submission, item) = (awaited.submission, Some(awaited.item));
    let elsewhere = f.submission().await;
    let before = f.snapshot(awaited.submission).await;
    for guard in [
        work(elsewhere, item, "outside", "p"),
        work(submission, Some(other), "outside", "p"),
        work(submission, None, "outside", "p"),
        work(submission, item, "ocr", "p"),
        work(submission, item, "outside", "q"),
    ] {
        let result = f.commit(Commit { guard: guard.clone(), changes: report.changes.clone() }).await;
        assert_eq!(result, CommitResult::Rejected(Rejection::NotAwaited), "{guard:?}");
    }
    assert_eq!(f.snapshot(awaited.submission).await, before);
    assert!(f.commit(report).await.is_applied(), "the right one still counts");
}

pub async fn a_report_for_a_job_of_our_own_is_refused(f: &Fixture) {
    let submission = f.submission().await;
    f.enqueue(f.job("ocr", submission)).await;
    let guard = Guard::Report { submission, item: None, stage: "ocr".into(), processor: "p".into() };
    let commit = || f.commit(Commit { guard: guard.clone(), changes: Changes::default() });
    assert_eq!(commit().await, CommitResult::Rejected(Rejection::NotAwaited), "it waits for a worker, not a report");
    let claim = f.claim_one().await;
    assert_eq!(commit().await, CommitResult::Rejected(Rejection::NotAwaited), "a worker has it");
    f.end(&claim, JobEnd::Await { within: Duration::from_secs(60), error: None }).await;
    assert!(commit().await.is_applied(), "now it is awaited");
}

pub async fn a_late_success_replaces_a_failure_and_counts_nothing(f: &Fixture) {
    let awaited = create_awaited(f).await;
    let failed = awaited.outcome(f, OutcomeStatus::Failed, "gave up");
    let late = Commit {
        guard: awaited.late_guard(),
        changes: Changes { outcomes: vec![awaited.outcome(f, OutcomeStatus::Completed, "late")], ..Changes::default() },
    };
    assert_eq!(f.commit(late.clone()).await, CommitResult::Rejected(Rejection::NotFailed), "nothing has failed yet");
    f.advance(31);
    f.store.sweep().await.unwrap();
    let claim = f.claim_one().await;
    let changes =
        Changes { outcomes: vec![failed], join_steps: vec![arrive_failed(awaited.join)], ..Changes::default() };
    f.apply(ending(&claim, JobEnd::Done, changes)).await;
    let join = f.join_now(awaited.join).await;
    assert_eq!((join.arrived, join.failed), (1, 1));

    assert_eq!(f.commit(late.clone()).await, CommitResult::Applied { joins: vec![] });
    let outcomes = f.store.outcomes(awaited.submission, Some(&"outside".into())).await.unwrap();
    assert_eq!(outcomes.len(), 1, "one current result");
    assert_eq!((outcomes[0].status, &outcomes[0].output), (OutcomeStatus::Completed, &text("late")));
    assert_eq!(f.join_now(awaited.join).await.arrived, join.arrived, "it was counted when it failed");
    assert_eq!(f.commit(late).await, CommitResult::Rejected(Rejection::NotFailed), "it is not failed any more");
}

pub async fn a_review_is_answered_once(f: &Fixture) {
    let submission = f.submission().await;
    let review = f.review(submission, "classify").await;
    let answer = |by: &str| Commit {
        guard: Guard::Review { review: review.id, by: Some(by.to_owned()), decision: Decision::Accepted },
        changes: Changes { events: vec![event("Answered", Some(submission))], ..Changes::default() },
    };
    f.advance(7);
    assert!(f.commit(answer("ann")).await.is_applied());
    let stored = f.store.review(review.id).await.unwrap().unwrap();
    assert_eq!((stored.status, stored.completed_at), (ReviewStatus::Completed, Some(f.now())));
    for by in ["ann", "bob"] {
        assert_eq!(f.commit(answer(by)).await, CommitResult::Rejected(Rejection::ReviewClosed));
    }
    assert_eq!(f.count_events("Answered").await, 1, "two people's answers were both counted");
}

pub async fn a_review_is_answered_by_its_assignee(f: &Fixture) {
    let submission = f.submission().await;
    let review = f.review(submission, "classify").await;
    assert!(f.store.assign_review(review.id, "ann").await.unwrap());
    let answer = |by: Option<&str>| Commit {
        guard: Guard::Review { review: review.id, by: by.map(str::to_owned), decision: Decision::Accepted },
        changes: Changes { jobs: vec![f.job("next", submission)], ..Changes::default() },
    };
    assert_eq!(f.commit(answer(Some("bob"))).await, CommitResult::Rejected(Rejection::ReviewClosed));
    f.assert_nothing_to_claim("a rejected answer starts nothing").await;
    assert_eq!(f.store.review(review.id).await.unwrap().unwrap().status, ReviewStatus::Assigned);
    assert!(f.commit(answer(Some("ann"))).await.is_applied());
    assert_eq!(f.claim(5).await.len(), 1);
}

pub async fn an_unassigned_review_may_be_answered_without_a_name(f: &Fixture) {
    let submission = f.submission().await;
    let review = f.review(submission, "classify").await;
    let guard = Guard::Review { review: review.id, by: None, decision: Decision::Accepted };
    let answer = Commit { guard, changes: Changes::default() };
    assert!(f.commit(answer.clone()).await.is_applied());
    assert_eq!(f.commit(answer).await, CommitResult::Rejected(Rejection::ReviewClosed));
}

pub async fn a_submission_is_taken_in_once(f: &Fixture) {
    let intake = |new: NewSubmission| {
        let jobs = vec![f.job("split", new.id)];
        let changes = Changes { submissions: vec![new], jobs, ..Changes::default() };
        Commit { guard: Guard::NewSubmission, changes }
    };
    let named = |new: NewSubmission| NewSubmission { external_id: Some("case 7".to_owned()), ..new };
    let first = named(f.new_submission().await);
    let second = named(f.new_submission().await);
    let third = named(f.new_submission().await);
    let id = first.id;
    let known = CommitResult::Rejected(Rejection::AlreadyExists(id));
    let results = f.store.commit(vec![intake(first.clone()), intake(second.clone())]).await.unwrap();
    assert!(results[0].is_applied());
    assert_eq!(results[1], known, "the same intake twice in one batch");
    assert_eq!(f.commit(intake(third)).await, known, "and once more later");
    assert_eq!(f.store.submissions(SubmissionFilter::default()).await.unwrap().len(), 1);
    assert_eq!(f.store.submission(second.id).await.unwrap(), None);
    assert_eq!(f.claim(5).await.len(), 1, "a duplicate intake started work");

    let other = NewSubmission { external_id: Some("case 8".to_owned()), ..f.new_submission().await };
    assert!(f.commit(intake(other)).await.is_applied(), "another id is another submission");
    for _ in 0..2 {
        let unnamed = f.new_submission().await;
        assert!(f.commit(intake(unnamed)).await.is_applied(), "no id, no duplicate");
    }
}

pub async fn of_two_intakes_at_once_one_is_stored(f: &Fixture) {
    for round in 0..10 {
        let external_id = Some(format!("case {round}"));
        let left = NewSubmission { external_id: external_id.clone(), ..f.new_submission().await };
        let right = NewSubmission { external_id, ..f.new_submission().await };
        let intake = |new: NewSubmission| {
            f.commit(Commit {
                guard: Guard::NewSubmission,
                changes: Changes { submissions: vec![new], ..Changes::default() },
            })
        };
        let ids = (left.id, right.id);
        match tokio::join!(intake(left), intake(right)) {
            (CommitResult::Applied { .. }, CommitResult::Rejected(Rejection::AlreadyExists(id))) => {
                assert_eq!(id, ids.0);
            }
            (CommitResult::Rejected(Rejection::AlreadyExists(id)), CommitResult::Applied { .. }) => {
                assert_eq!(id, ids.1);
            }
            other => panic!("one of them is the submission, the other hears its id: {other:?}"),
        }
    }
}
