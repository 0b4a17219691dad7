//! Deadlines: warned, escalated and breached, each once and each with an event.

use super::fixture::{Fixture, event};
use bindery_core::{
    SubmissionId,
    event::kind,
    job::NewJob,
    submission::{Deadline, NewSubmission, SubmissionStatus},
};
use bindery_store::{Changes, SubmissionChange, query::Swept};

/// Warned after 10 s, escalated after 20 s, breached after 30 s.
async fn due_in_thirty(f: &Fixture) -> SubmissionId {
    let deadline = Deadline {
        at: Some(f.after(30)),
        warn_at: Some(f.after(10)),
        escalate_at: Some(f.after(20)),
        breached_at: None,
    };
    let new = NewSubmission { deadline, priority: 3, ..f.new_submission().await };
    f.submit(new).await
}

async fn kinds(f: &Fixture, submission: SubmissionId) -> Vec<String> {
    let events = f.events().await;
    events.iter().filter(|event| event.submission == Some(submission)).map(|event| event.kind.to_string()).collect()
}

async fn sweep(f: &Fixture) -> (u64, u64, u64) {
    let swept = f.store.sweep().await.unwrap();
    (swept.deadlines_warned, swept.deadlines_escalated, swept.deadlines_breached)
}

pub async fn each_mark_is_passed_once(f: &Fixture) {
    let submission = due_in_thirty(f).await;
    let mut expected: Vec<&str> = Vec::new();
    assert_eq!(sweep(f).await, (0, 0, 0), "there is time");
    for (mark, counts) in [
        (kind::DEADLINE_WARNING, (1, 0, 0)),
        (kind::DEADLINE_ESCALATED, (0, 1, 0)),
        (kind::DEADLINE_BREACHED, (0, 0, 1)),
    ] {
        f.advance(11);
        assert_eq!(sweep(f).await, counts, "{mark}");
        assert_eq!(sweep(f).await, (0, 0, 0), "{mark} a second time");
        expected.push(mark);
        assert_eq!(kinds(f, submission).await, expected);
    }
    f.advance(1_000_000);
    assert_eq!(f.store.sweep().await.unwrap(), Swept::default(), "everything has been said");
    assert_eq!(kinds(f, submission).await, expected);
}

pub async fn a_breach_is_kept_with_its_time(f: &Fixture) {
    let submission = due_in_thirty(f).await;
    let deadline = f.submission_now(submission).await.deadline;
    f.advance(25);
    sweep(f).await;
    assert_eq!(f.submission_now(submission).await.deadline.breached_at, None);
    f.advance(6);
    sweep(f).await;
    let breached = f.submission_now(submission).await.deadline;
    assert!(breached.breached_at.is_some(), "nobody could tell that it was late");
    assert_eq!(breached.at, deadline.at);
    f.advance(60);
    sweep(f).await;
    assert_eq!(f.submission_now(submission).await.deadline.breached_at, breached.breached_at, "set once");
}

pub async fn an_escalation_raises_the_live_jobs(f: &Fixture) {
    let submission = due_in_thirty(f).await;
    let other = f.submission().await;
    let dead = f.enqueue(NewJob { priority: 1, ..f.job("ocr", submission) }).await;
    f.fail(&f.claim_one().await).await;
    let running = f.enqueue(NewJob { priority: 2, ..f.job("ocr", submission) }).await;
    let claim = f.claim_one().await;
    let later = NewJob { priority: 3, not_before: Some(f.after(600)), ..f.job("ocr", submission) };
    let later = f.enqueue(later).await;
    let bystander = f.enqueue(NewJob { priority: 50, ..f.job("ocr", other) }).await;
    let ready = f.enqueue(NewJob { priority: 4, ..f.job("ocr", submission) }).await;
    f.advance(21);
    assert_eq!(sweep(f).await.1, 1);
    assert_eq!(sweep(f).await.1, 0);
    for (id, priority) in [(running, 102), (later, 103), (ready, 104), (bystander, 50), (dead, 1)] {
        assert_eq!(f.stored(id).await.priority, priority, "{id}: raised by 100, once, and only where it helps");
    }
    assert_eq!(f.submission_now(submission).await.priority, 103);
    assert_eq!(f.claim_one().await.job.id, ready, "late work overtakes");
    f.done(&claim).await;
}

pub async fn a_sweep_that_comes_late_says_everything_once(f: &Fixture) {
    let submission = due_in_thirty(f).await;
    f.advance(1000);
    sweep(f).await;
    sweep(f).await;
    let mut said = kinds(f, submission).await;
    said.sort();
    assert_eq!(said, [kind::DEADLINE_BREACHED, kind::DEADLINE_ESCALATED, kind::DEADLINE_WARNING]);
    assert_eq!(f.submission_now(submission).await.priority, 103);
}

pub async fn a_final_submission_has_no_deadline_any_more(f: &Fixture) {
    for status in [SubmissionStatus::Completed, SubmissionStatus::Failed] {
        let submission = due_in_thirty(f).await;
        let submission_changes = vec![SubmissionChange { id: submission, status, error: None }];
        let events = vec![event("Ended", Some(submission))];
        f.change(Changes { submission_changes, events, ..Changes::default() }).await;
        f.advance(1000);
        assert_eq!(sweep(f).await, (0, 0, 0));
        assert_eq!(kinds(f, submission).await, ["Ended"], "a {status} submission was reported as late");
        assert_eq!(f.submission_now(submission).await.deadline.breached_at, None);
    }
    let cancelled = due_in_thirty(f).await;
    f.store.cancel_submission(cancelled).await.unwrap();
    f.advance(1000);
    assert_eq!(sweep(f).await, (0, 0, 0));
}

pub async fn no_deadline_is_never_late(f: &Fixture) {
    let submission = f.submission().await;
    let only_at = Deadline { at: Some(f.after(30)), ..Deadline::default() };
    let partly = f.submit(NewSubmission { deadline: only_at, ..f.new_submission().await }).await;
    f.advance(1_000_000);
    assert_eq!(sweep(f).await, (0, 0, 1), "only what was asked for");
    assert_eq!(kinds(f, submission).await, Vec::<String>::new());
    assert_eq!(kinds(f, partly).await, [kind::DEADLINE_BREACHED]);
}

pub async fn sweepers_at_the_same_time_say_it_once(f: &Fixture) {
    let submission = due_in_thirty(f).await;
    f.advance(11);
    let (left, right) = tokio::join!(sweep(f), sweep(f));
    assert_eq!(left.0 + right.0, 1);
    assert_eq!(kinds(f, submission).await, [kind::DEADLINE_WARNING]);
}
