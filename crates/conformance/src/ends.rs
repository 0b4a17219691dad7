//! The ways in which a claimed job ends, and what is kept of it.

use super::fixture::{Fixture, LEASE, ending, error, event, ids, text};
use bindery_core::{
    ContentHash,
    error::ErrorClass,
    job::{ErrorRecord, JobState, NewJob, WaitReason},
    outcome::{ResumePoint, Step},
};
use bindery_store::{Changes, CommitResult, JobEnd, Rejection, query::JobFilter};
use std::time::Duration;

fn resume_point() -> ResumePoint {
    ResumePoint {
        step: Step::Extraction,
        input: text("what extraction was given"),
        input_hash: ContentHash::of(b"the whole input"),
        processor_version: 3,
    }
}

fn full_error(kind: &str, class: ErrorClass) -> ErrorRecord {
    ErrorRecord { step: Some(Step::Extraction), ..error(kind, class) }
}

pub async fn done_removes_the_job(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(f.job("ocr", submission)).await;
    f.done(&f.claim_one().await).await;
    assert_eq!(f.view(id).await, None);
    f.assert_nothing_to_claim("finished work is never run again").await;
}

pub async fn what_follows_is_enqueued_by_the_same_commit(f: &Fixture) {
    let submission = f.submission().await;
    f.enqueue(f.job("split", submission)).await;
    let claim = f.claim_one().await;
    let jobs = vec![f.job("ocr", submission), NewJob { priority: 4, ..f.job("classify", submission) }];
    f.apply(ending(&claim, JobEnd::Done, Changes { jobs, ..Changes::default() })).await;
    let next = f.claim(5).await;
    let queues: Vec<_> = next.iter().map(|claim| claim.job.queue.as_str()).collect();
    assert_eq!(queues.len(), 2, "one finished job made two: {queues:?}");
    assert!(queues.contains(&"ocr") && queues.contains(&"classify"));
}

pub async fn retry_waits_for_its_time_and_keeps_why_and_where(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(NewJob { payload: text("input"), ..f.job("ocr", submission) }).await;
    let claim = f.claim_one().await;
    let (at, why) = (f.after(30), full_error("Timeout", ErrorClass::Retry));
    f.end(&claim, JobEnd::Retry { after: Duration::from_secs(30), error: why.clone(), resume: Some(resume_point()) })
        .await;

    let job = f.stored(id).await;
    assert_eq!((job.state, job.run_at, job.attempt), (JobState::Scheduled, Some(at), 1));
    assert_eq!((job.error.as_ref(), job.resume.as_ref()), (Some(&why), Some(&resume_point())));
    assert_eq!((job.lease_until, job.worker), (None, None), "nobody holds it");
    f.advance(29);
    f.assert_nothing_to_claim("the back-off is not over").await;
    f.advance(2);
    let again = f.claim_one().await;
    assert_eq!((again.job.id, again.job.attempt), (id, 2));
    assert_eq!(again.job.resume, Some(resume_point()), "finished steps would be paid for again");
    assert_eq!(again.job.payload, text("input"));
    let old = f.commit(ending(&claim, JobEnd::Done, Changes::default())).await;
    assert_eq!(old, CommitResult::Rejected(Rejection::LeaseLost), "the first claim ended with the retry");
}

pub async fn a_parked_job_waits_for_its_dependency(f: &Fixture) {
    let submission = f.submission().await;
    let mut parked = Vec::new();
    for until in ["language model key", "language model key", "ocr service"] {
        parked.push(f.enqueue(f.job("read", submission)).await);
        let why = full_error("Unavailable", ErrorClass::Park);
        let resume = Some(resume_point());
        f.end(&f.claim_one().await, JobEnd::Park { until: until.to_owned(), after: None, error: why, resume }).await;
    }
    let job = f.stored(parked[0]).await;
    assert_eq!((job.state, job.attempt), (JobState::Parked, 0), "waiting for a key must not burn attempts");
    assert_eq!(job.error, Some(full_error("Unavailable", ErrorClass::Park)));
    assert_eq!(job.resume, Some(resume_point()));
    f.advance(1_000_000);
    f.store.sweep().await.unwrap();
    f.assert_nothing_to_claim("only the dependency wakes it, no time does").await;

    assert_eq!(f.store.unpark("another key").await.unwrap(), 0);
    assert_eq!(f.store.unpark("language model key").await.unwrap(), 2);
    assert_eq!(f.store.unpark("language model key").await.unwrap(), 0, "woken once");
    let woken = f.claim(5).await;
    assert_eq!(ids(&woken), parked[..2]);
    assert_eq!(woken[0].job.attempt, 1);
    assert_eq!(woken[0].job.resume, Some(resume_point()));
    assert_eq!(f.stored(parked[2]).await.state, JobState::Parked, "it waits for something else");
}

pub async fn a_parked_job_with_a_time_wakes_by_itself(f: &Fixture) {
    let submission = f.submission().await;
    let park = |seconds| JobEnd::Park {
        until: "language model service".to_owned(),
        after: Some(Duration::from_secs(seconds)),
        error: full_error("RateLimited", ErrorClass::Park),
        resume: Some(resume_point()),
    };
    let id = f.enqueue(f.job("read", submission)).await;
    let later = f.after(40);
    f.end(&f.claim_one().await, park(40)).await;
    let view = f.view(id).await.unwrap();
    assert_eq!((view.job.state, view.job.attempt, view.job.run_at), (JobState::Parked, 0, Some(later)));
    assert_eq!(view.job.lease_until, None);
    assert!(view.reason.to_string().starts_with(&format!("parked until {later}: ")), "{}", view.reason);
    f.advance(39);
    assert_eq!(f.store.sweep().await.unwrap().parked_woken, 0);
    f.assert_nothing_to_claim("its time has not come").await;
    f.advance(1);
    assert_eq!(f.store.sweep().await.unwrap().parked_woken, 1, "whoever sweeps wakes it");
    assert_eq!(f.store.sweep().await.unwrap().parked_woken, 0, "once");
    let woken = f.claim_one().await;
    assert_eq!((woken.job.id, woken.job.attempt, woken.job.run_at), (id, 1, None));
    assert_eq!(woken.job.resume, Some(resume_point()));

    // What it waits for may also be there before its time.
    f.end(&woken, park(3_600)).await;
    assert_eq!(f.store.unpark("language model service").await.unwrap(), 1);
    let job = f.stored(id).await;
    assert_eq!((job.state, job.run_at), (JobState::Ready, None));
    let woken = f.claim_one().await;
    f.end(&woken, park(3_600)).await;
    assert_eq!(f.store.retry(JobFilter { ids: vec![id], ..JobFilter::default() }).await.unwrap().jobs, 1);
    f.advance(7_200);
    assert_eq!(f.store.sweep().await.unwrap().parked_woken, 0, "it does not wait any more");
    f.done(&f.claim_one().await).await;
}

/// The time of a parked job is kept with it, so the process that parked it may be gone.
pub async fn a_service_away_for_ten_minutes_makes_no_dead_letter(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(f.job("read", submission)).await;
    let back_at = f.after(600);
    let mut tries = 0;
    loop {
        let claim = f.claim_one().await;
        assert_eq!((claim.job.id, claim.job.attempt), (id, 1), "no wait counts as an attempt");
        if f.now() >= back_at {
            f.done(&claim).await;
            break;
        }
        tries += 1;
        let end = JobEnd::Park {
            until: "language model service".to_owned(),
            after: Some(Duration::from_secs(30)),
            error: full_error("CircuitOpen", ErrorClass::Park),
            resume: None,
        };
        f.end(&claim, end).await;
        f.advance(30);
        assert_eq!(f.store.sweep().await.unwrap().parked_woken, 1);
    }
    assert_eq!(tries, 20);
    assert_eq!(f.view(id).await, None, "it is done");
}

pub async fn a_dead_job_is_kept_with_its_reason(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(NewJob { payload: text("input"), ..f.job("ocr", submission) }).await;
    let why = full_error("Encrypted", ErrorClass::Reject);
    f.end(&f.claim_one().await, JobEnd::Dead { error: why.clone(), resume: Some(resume_point()) }).await;
    f.advance(1_000_000);
    f.store.sweep().await.unwrap();
    f.assert_nothing_to_claim("only a person runs a dead letter again").await;

    let dead = f.jobs(JobFilter { states: vec![JobState::Dead], ..JobFilter::default() }).await;
    assert_eq!(dead.len(), 1, "the dead letter is not listed: nobody would learn of it");
    let job = &dead[0];
    assert_eq!((job.id, job.attempt, &job.payload), (id, 1, &text("input")));
    assert_eq!((job.error.as_ref(), job.resume.as_ref()), (Some(&why), Some(&resume_point())));
    let queues = f.store.queues().await.unwrap();
    assert_eq!(queues.iter().find(|view| view.queue == "ocr").map(|view| view.dead), Some(1));
}

pub async fn a_fan_out_goes_on_in_several_commits(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(f.job("split", submission)).await;
    let claim = f.claim_one().await;
    for cursor in [100, 200] {
        let jobs = vec![f.job("ocr", submission)];
        f.apply(ending(&claim, JobEnd::Continue { cursor }, Changes { jobs, ..Changes::default() })).await;
        let job = f.stored(id).await;
        assert_eq!((job.state, job.cursor, job.attempt), (JobState::Running, cursor, 1), "the claim goes on");
    }
    let repeated = Changes { jobs: vec![f.job("ocr", submission)], ..Changes::default() };
    let repeated = f.commit(ending(&claim, JobEnd::Continue { cursor: 200 }, repeated)).await;
    assert_eq!(repeated, CommitResult::Rejected(Rejection::LeaseLost), "sent twice because the answer was lost");
    f.advance(61);
    f.store.sweep().await.unwrap();
    assert_eq!(f.claim(5).await.len(), 2, "its children go on");
    let again = &f.claim_suspect().await;
    assert_eq!(again.job.id, id, "the worker died in the middle");
    assert_eq!(again.job.cursor, 200, "a fan-out that goes on must not make its first children twice");
    let late = f.commit(ending(&claim, JobEnd::Continue { cursor: 300 }, Changes::default())).await;
    assert_eq!(late, CommitResult::Rejected(Rejection::LeaseLost));
    assert_eq!(f.stored(id).await.cursor, 200);
    assert_eq!(f.jobs_on("ocr").await.len(), 2, "each commit's children are there");
}

pub async fn work_done_outside_is_awaited_from_the_start(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(NewJob { await_report_ms: Some(30_000), ..f.job("outside", submission) }).await;
    let view = f.view(id).await.unwrap();
    assert_eq!((view.job.state, view.job.lease_until), (JobState::Awaiting, Some(f.after(30))));
    assert_eq!(view.reason, WaitReason::Report { until: Some(f.after(30)) });
    f.assert_nothing_to_claim("a program outside has the work").await;
    f.advance(29);
    assert_eq!(f.store.sweep().await.unwrap().reports_overdue, 0);
    f.assert_nothing_to_claim("the report may still come").await;
}

pub async fn an_overdue_report_wakes_its_job_once(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(NewJob { await_report_ms: Some(30_000), ..f.job("outside", submission) }).await;
    f.advance(31);
    assert_eq!(f.store.sweep().await.unwrap().reports_overdue, 1);
    assert_eq!(f.store.sweep().await.unwrap().reports_overdue, 0, "woken once");
    let claim = f.claim_one().await;
    assert_eq!(claim.job.id, id);
    assert!(claim.report_overdue, "the claimer must know that it is not to do the work itself");

    let why = full_error("NoReport", ErrorClass::Retry);
    f.end(&claim, JobEnd::Await { within: Duration::from_secs(60), error: Some(why.clone()) }).await;
    let job = f.stored(id).await;
    assert_eq!((job.state, job.lease_until, job.error), (JobState::Awaiting, Some(f.after(60)), Some(why)));
    assert_eq!(job.worker, None);
    f.advance(59);
    assert_eq!(f.store.sweep().await.unwrap().reports_overdue, 0, "it was given more time");
    f.assert_nothing_to_claim("it was given more time").await;
    f.advance(2);
    assert_eq!(f.store.sweep().await.unwrap().reports_overdue, 1);
    let again = f.claim_one().await;
    assert!(again.report_overdue);
    assert_eq!(again.job.attempt, 2, "each missed report counts");
}

pub async fn an_overdue_report_stays_overdue_until_somebody_decided(f: &Fixture) {
    let submission = f.submission().await;
    f.enqueue(NewJob { await_report_ms: Some(30_000), ..f.job("outside", submission) }).await;
    f.advance(31);
    f.store.sweep().await.unwrap();
    let claim = f.claim_one().await;
    f.store.release(vec![(claim.job.id, claim.token)]).await.unwrap();
    let claim = f.claim_one().await;
    assert!(claim.report_overdue, "a released claim was not decided");
    f.advance(61);
    f.store.sweep().await.unwrap();
    assert!(f.claim_suspect().await.report_overdue, "a lost worker did not decide");
}

pub async fn a_claimed_job_may_be_handed_outside(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(f.job("ocr", submission)).await;
    let claim = f.claim_one().await;
    let events = vec![event("HandedOut", Some(submission))];
    let end = JobEnd::Await { within: Duration::from_secs(20), error: None };
    f.apply(ending(&claim, end, Changes { events, ..Changes::default() })).await;
    let job = f.stored(id).await;
    assert_eq!((job.state, job.lease_until), (JobState::Awaiting, Some(f.after(20))));
    let lost = f.store.heartbeat(&"worker".into(), vec![(id, claim.token)], LEASE, 0).await.unwrap();
    assert_eq!(lost, [id], "the worker does not hold it any more");
    assert_eq!(f.stored(id).await.lease_until, Some(f.after(20)), "its heartbeat does not prolong the wait");
}
