//! Which job is claimed next, and what a dedup key does.

use super::fixture::{Fixture, LEASE, error, ids, names, text};
use bindery_core::{
    Payload, SubmissionId,
    error::ErrorClass,
    job::{JobState, Limit, NewJob, ONLY_BY_NAME},
};
use bindery_store::{
    JobEnd,
    commit::Enqueued,
    query::{ClaimRequest, IdKind},
};
use std::{collections::BTreeSet, time::Duration};

pub async fn reserved_ids_are_never_given_twice(f: &Fixture) {
    let mut seen = BTreeSet::new();
    for kind in [IdKind::Submission, IdKind::Item, IdKind::Join] {
        seen.clear();
        for count in [1, 7, 100, 1] {
            let range = f.store.reserve_ids(kind, count).await.unwrap();
            assert_eq!(range.end - range.start, i64::from(count), "as many ids as asked for");
            for id in range {
                assert!(seen.insert(id), "{} {id} was given twice: two rows would overwrite each other", kind.as_str());
            }
        }
    }
}

pub async fn the_greatest_priority_comes_first_then_the_oldest(f: &Fixture) {
    let submission = f.submission().await;
    let mut jobs = Vec::new();
    for priority in [0, 5, 0, 5, -3] {
        jobs.push(f.enqueue(NewJob { priority, ..f.job("ocr", submission) }).await);
    }
    let mut order = Vec::new();
    for _ in &jobs {
        order.push(f.claim_one().await.job.id);
    }
    assert_eq!(
        order,
        [jobs[1], jobs[3], jobs[0], jobs[2], jobs[4]],
        "urgent work first, then first come, first served"
    );
}

pub async fn the_order_holds_across_queues(f: &Fixture) {
    let submission = f.submission().await;
    let first = f.enqueue(f.job("b", submission)).await;
    let second = f.enqueue(f.job("a", submission)).await;
    let urgent = f.enqueue(NewJob { priority: 1, ..f.job("c", submission) }).await;
    let mut order = Vec::new();
    for _ in 0..3 {
        order.push(f.claim_one().await.job.id);
    }
    assert_eq!(order, [urgent, first, second], "a worker of every queue must not starve one of them");
}

pub async fn a_batch_holds_the_most_urgent_and_no_more_than_asked(f: &Fixture) {
    let submission = f.submission().await;
    let low = f.enqueue(f.job("ocr", submission)).await;
    let mut wanted = Vec::new();
    for _ in 0..3 {
        wanted.push(f.enqueue(NewJob { priority: 9, ..f.job("ocr", submission) }).await);
    }
    let claimed = f.claim(3).await;
    assert_eq!(ids(&claimed), wanted);
    assert_eq!(ids(&f.claim(3).await), [low]);
    f.assert_nothing_to_claim("everything is claimed").await;
}

pub async fn nothing_is_claimed_before_its_time(f: &Fixture) {
    let submission = f.submission().await;
    let at = f.after(60);
    let later = f.enqueue(NewJob { not_before: Some(at), priority: 9, ..f.job("ocr", submission) }).await;
    let job = f.stored(later).await;
    assert_eq!((job.state, job.run_at), (JobState::Scheduled, Some(at)));
    let now = f.enqueue(f.job("ocr", submission)).await;
    assert_eq!(ids(&f.claim(5).await), [now], "a job for later must not hold up a job for now");
    f.advance(59);
    f.assert_nothing_to_claim("its time has not come").await;
    f.advance(2);
    assert_eq!(f.claim_one().await.job.id, later, "its time has come, also if nobody swept");
}

pub async fn a_time_in_the_past_means_now(f: &Fixture) {
    let submission = f.submission().await;
    let past = f.now() - Duration::from_secs(5);
    let id = f.enqueue(NewJob { not_before: Some(past), ..f.job("ocr", submission) }).await;
    assert_eq!(f.claim_one().await.job.id, id);
}

pub async fn due_jobs_keep_their_place_by_priority(f: &Fixture) {
    let submission = f.submission().await;
    let urgent = NewJob { not_before: Some(f.after(10)), priority: 5, ..f.job("ocr", submission) };
    let urgent = f.enqueue(urgent).await;
    let plain = f.enqueue(f.job("ocr", submission)).await;
    f.advance(11);
    assert_eq!(f.claim_one().await.job.id, urgent);
    assert_eq!(f.claim_one().await.job.id, plain);
}

pub async fn only_the_asked_submissions_are_claimed_from(f: &Fixture) {
    let (one, other, third) = (f.submission().await, f.submission().await, f.submission().await);
    let request = |submissions: &[SubmissionId], queues: Option<&[&str]>, max| ClaimRequest {
        worker: "worker".into(),
        queues: queues.map(names),
        submissions: Some(submissions.to_vec()),
        max,
        lease: LEASE,
        counts: true,
    };
    let claim = async |submissions: &[SubmissionId], queues: Option<&[&str]>, max| {
        ids(&f.store.claim(request(submissions, queues, max)).await.unwrap())
    };
    assert_eq!(claim(&[one], None, 5).await, []);
    let limit = Limit { key: "model".into(), running: Some(1), per_minute: None };
    let others = f.enqueue(NewJob { priority: 9, ..f.job("read", other) }).await;
    let low = f.enqueue(f.job("read", one)).await;
    let high = f.enqueue(NewJob { priority: 5, ..f.job("mail", one) }).await;
    let limited = f.enqueue(NewJob { priority: 7, limit: Some(limit.clone()), ..f.job("read", one) }).await;
    let others_limited = f.enqueue(NewJob { priority: 8, limit: Some(limit), ..f.job("read", other) }).await;
    let later = f.enqueue(NewJob { not_before: Some(f.after(60)), ..f.job("read", one) }).await;
    assert_eq!(claim(&[third], None, 5).await, [], "nothing of it waits");
    assert_eq!(claim(&[], None, 5).await, [], "of none is nothing");
    assert_eq!(claim(&[one], Some(&["mail"]), 5).await, [high]);
    let most_urgent = f.store.claim(request(&[one, third], None, 1)).await.unwrap();
    assert_eq!(ids(&most_urgent), [limited], "the most urgent of these");
    assert_eq!(claim(&[one], None, 5).await, [low]);
    f.advance(60);
    f.store.pause(&"read".into(), None).await.unwrap();
    assert_eq!(claim(&[one], None, 5).await, [], "its queue is paused");
    f.store.resume(&"read".into()).await.unwrap();
    assert_eq!(claim(&[one], None, 5).await, [later]);
    // Whoever asks for all gets the rest, and nothing twice.
    assert_eq!(ids(&f.claim(9).await), [others], "the limit of the other is reached");
    f.done(&most_urgent[0]).await;
    assert_eq!(claim(&[one], None, 5).await, []);
    assert_eq!(claim(&[other], None, 5).await, [others_limited], "one job of the limit at a time");
}

pub async fn only_the_asked_queues_are_claimed_from(f: &Fixture) {
    let submission = f.submission().await;
    let mut jobs = Vec::new();
    for queue in ["ocr", "split", "mail"] {
        jobs.push(f.enqueue(f.job(queue, submission)).await);
    }
    let request = |queues: &[&str]| ClaimRequest {
        worker: "worker".into(),
        queues: Some(names(queues)),
        submissions: None,
        max: 10,
        lease: LEASE,
        counts: true,
    };
    assert_eq!(ids(&f.store.claim(request(&["split"])).await.unwrap()), [jobs[1]]);
    assert!(f.store.claim(request(&["unknown"])).await.unwrap().is_empty());
    let rest = f.store.claim(request(&["mail", "ocr"])).await.unwrap();
    assert_eq!(ids(&rest), [jobs[0], jobs[2]]);
}

/// Also those with a limit, those of a submission that is asked for, and those whose worker died.
pub async fn some_queues_are_claimed_by_name_alone(f: &Fixture) {
    let submission = f.submission().await;
    let queue = format!("{ONLY_BY_NAME}mail");
    let plain = f.enqueue(f.job(&queue, submission)).await;
    let limit = Some(Limit { key: "host".into(), running: Some(9), per_minute: None });
    let limited = f.enqueue(NewJob { limit, ..f.job(&queue, submission) }).await;
    let request = |queues: Option<&[&str]>, submissions| ClaimRequest {
        worker: "worker".into(),
        queues: queues.map(names),
        submissions,
        max: 10,
        lease: LEASE,
        counts: true,
    };
    f.assert_nothing_to_claim("a worker of every queue cannot do this work").await;
    assert!(f.store.claim(request(None, Some(vec![submission]))).await.unwrap().is_empty());
    let named: &[&str] = &[&queue];
    assert_eq!(ids(&f.store.claim(request(Some(named), None)).await.unwrap()), [plain, limited]);
    f.lose_workers().await;
    assert!(f.claim_suspects(10).await.is_empty(), "nor when its worker has died");
    assert_eq!(ids(&f.store.claim_suspects(request(Some(named), None)).await.unwrap()), [plain]);
}

pub async fn results_come_in_the_order_of_the_jobs(f: &Fixture) {
    let submission = f.submission().await;
    let keyed = |key: &str| NewJob { dedup_key: Some(key.to_owned()), ..f.job("ocr", submission) };
    let results = f.store.enqueue(vec![keyed("a"), keyed("b"), keyed("a"), f.job("ocr", submission)]).await.unwrap();
    let [Enqueued::New(a), Enqueued::New(b), Enqueued::Merged(again), Enqueued::New(plain)] = results[..] else {
        panic!("two keys, one of them twice, and a plain job: {results:?}");
    };
    assert_eq!(again, a, "the second job of a batch merges into the first under its key");
    assert_eq!(BTreeSet::from([a, b, plain]).len(), 3);
}

fn keyed(f: &Fixture, submission: SubmissionId, payload: &str) -> NewJob {
    NewJob { dedup_key: Some("page 1".to_owned()), payload: text(payload), ..f.job("ocr", submission) }
}

pub async fn a_merge_takes_the_newest_payload_and_the_greatest_priority(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(NewJob { priority: 3, ..keyed(f, submission, "old") }).await;
    assert_eq!(f.offer(NewJob { priority: 7, ..keyed(f, submission, "newer") }).await, Enqueued::Merged(id));
    assert_eq!(f.offer(NewJob { priority: 1, ..keyed(f, submission, "newest") }).await, Enqueued::Merged(id));
    let job = f.stored(id).await;
    assert_eq!((job.priority, &job.payload), (7, &text("newest")), "an update was lost, or urgent work slowed down");
    assert_eq!(f.claim(5).await.len(), 1, "one key, one job");
}

pub async fn a_merge_takes_the_earlier_time(f: &Fixture) {
    let submission = f.submission().await;
    let at = |seconds| NewJob { not_before: Some(f.after(seconds)), ..keyed(f, submission, "x") };
    let id = f.enqueue(at(60)).await;
    assert_eq!(f.offer(at(30)).await, Enqueued::Merged(id));
    assert_eq!(f.offer(at(90)).await, Enqueued::Merged(id));
    assert_eq!(f.stored(id).await.run_at, Some(f.after(30)));
    f.advance(31);
    assert_eq!(f.claim_one().await.job.id, id, "the earlier of the times counts");
}

pub async fn a_merge_with_work_for_now_makes_it_ready(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(NewJob { not_before: Some(f.after(60)), ..keyed(f, submission, "later") }).await;
    assert_eq!(f.offer(keyed(f, submission, "now")).await, Enqueued::Merged(id));
    assert_eq!(f.stored(id).await.state, JobState::Ready);
    let later = NewJob { not_before: Some(f.after(60)), ..keyed(f, submission, "later again") };
    assert_eq!(f.offer(later).await, Enqueued::Merged(id));
    let claim = f.claim_one().await;
    assert_eq!(claim.job.id, id, "a merge never delays a job that is ready");
    assert_eq!(claim.job.payload, text("later again"));
}

pub async fn keys_do_not_disturb_each_other(f: &Fixture) {
    let submission = f.submission().await;
    f.enqueue(keyed(f, submission, "x")).await;
    f.enqueue(NewJob { dedup_key: Some("page 2".to_owned()), ..f.job("ocr", submission) }).await;
    f.enqueue(f.job("ocr", submission)).await;
    f.enqueue(f.job("ocr", submission)).await;
    assert_eq!(f.claim(10).await.len(), 4, "two keys and two jobs without one are four jobs");
}

pub async fn a_running_job_runs_once_more_with_the_newest_payload(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(keyed(f, submission, "old")).await;
    let tried = f.claim_one().await;
    let error = error("Timeout", ErrorClass::Retry);
    f.end(&tried, JobEnd::Retry { after: Duration::ZERO, error, resume: None }).await;
    let claim = f.claim_one().await;
    assert_eq!((claim.job.id, claim.job.attempt), (tried.job.id, 2));
    f.end(&claim, JobEnd::Continue { cursor: 4 }).await;
    assert_eq!(f.offer(keyed(f, submission, "newer")).await, Enqueued::MarkedDirty(id));
    let newest = NewJob { priority: 6, ..keyed(f, submission, "newest") };
    assert_eq!(f.offer(newest).await, Enqueued::MarkedDirty(id));
    f.assert_nothing_to_claim("the key has one job, and it runs").await;
    assert_eq!(claim.job.payload, text("old"), "what a worker has in hand does not change");

    f.done(&claim).await;
    let again = f.claim_one().await;
    assert_eq!(again.job.payload, text("newest"), "the update that came while it ran was lost");
    assert_eq!(again.job.attempt, 1, "new work has all its attempts");
    assert_eq!(again.job.cursor, 0, "new work begins at its first child");
    assert_eq!(again.job.priority, 6);
    assert_ne!(again.token, claim.token);
    f.done(&again).await;
    f.assert_nothing_to_claim("once more means once").await;
    assert_eq!(f.view(id).await, None, "finished jobs go away");
}

pub async fn a_finished_job_frees_its_key(f: &Fixture) {
    let submission = f.submission().await;
    let first = f.enqueue(keyed(f, submission, "one")).await;
    f.done(&f.claim_one().await).await;
    let second = f.enqueue(keyed(f, submission, "two")).await;
    assert_ne!(first, second, "an id is never used again");
    assert_eq!(f.claim_one().await.job.payload, text("two"));
}

pub async fn dead_and_cancelled_jobs_do_not_hold_their_key(f: &Fixture) {
    let submission = f.submission().await;
    let dead = f.enqueue(keyed(f, submission, "dies")).await;
    f.fail(&f.claim_one().await).await;
    let other = f.submission().await;
    let cancelled = f.enqueue(keyed(f, other, "stopped")).await;
    assert_ne!(dead, cancelled, "a dead letter must not swallow new work");
    f.store.cancel_submission(other).await.unwrap();
    assert_eq!(f.stored(cancelled).await.state, JobState::Cancelled);
    let third = f.submission().await;
    f.enqueue(keyed(f, third, "runs")).await;
    assert_eq!(f.claim_one().await.job.payload, text("runs"));
}

pub async fn a_waiting_job_holds_its_key(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(keyed(f, submission, "old")).await;
    let parked =
        JobEnd::Park { until: "a key".to_owned(), after: None, error: error("NoKey", ErrorClass::Park), resume: None };
    f.end(&f.claim_one().await, parked).await;
    assert_eq!(f.offer(keyed(f, submission, "newer")).await, Enqueued::Merged(id));
    let job = f.stored(id).await;
    assert_eq!(job.state, JobState::Parked, "new work does not bring the dependency back");
    assert_eq!(job.payload, text("newer"));
}

/// Whatever becomes of the run that was under way, what was enqueued meanwhile is run.
pub async fn work_enqueued_during_a_run_is_never_lost(f: &Fixture) {
    let submission = f.submission().await;
    let done = ["done", "held, then done", "advanced, then done", "continued, then done"];
    for how in done.into_iter().chain(["retried", "parked", "awaited", "dead", "released", "worker lost"]) {
        let id = f.enqueue(keyed(f, submission, "old")).await;
        let claim = f.claim_one().await;
        f.offer(keyed(f, submission, "newer")).await;
        match how {
            "held, then done" => f.end(&claim, JobEnd::Hold { has_advanced: false }).await,
            "advanced, then done" => f.end(&claim, JobEnd::Hold { has_advanced: true }).await,
            "continued, then done" => f.end(&claim, JobEnd::Continue { cursor: 3 }).await,
            _ => {}
        }
        if how != "done" && done.contains(&how) {
            assert_eq!(f.stored(id).await.payload, text("old"), "{how}: the run goes on with what it has begun");
        }
        match how {
            _ if done.contains(&how) => f.done(&claim).await,
            "parked" => {
                let error = error("NoKey", ErrorClass::Park);
                f.end(&claim, JobEnd::Park { until: "a key".to_owned(), after: None, error, resume: None }).await;
                f.store.unpark("a key").await.unwrap();
            }
            "awaited" => {
                f.end(&claim, JobEnd::Await { within: Duration::from_secs(5), error: None }).await;
                assert_eq!(f.stored(id).await.payload, text("newer"), "a program outside is told of the newer one");
                f.advance(6);
                f.store.sweep().await.unwrap();
            }
            "retried" => {
                let error = error("Timeout", ErrorClass::Retry);
                f.end(&claim, JobEnd::Retry { after: Duration::ZERO, error, resume: None }).await;
            }
            "dead" => drop(f.fail(&claim).await),
            "released" => f.store.release(vec![(claim.job.id, claim.token)]).await.unwrap(),
            _ => {
                f.advance(61);
                f.store.sweep().await.unwrap();
            }
        }
        let mut last = Payload::null();
        for _ in 0..5 {
            let next = f.claim(1).await.pop();
            let Some(next) = (if next.is_some() { next } else { f.claim_suspects(1).await.pop() }) else { break };
            last = next.job.payload.clone();
            f.done(&next).await;
        }
        assert_eq!(last, text("newer"), "the run was {how}: the update that came meanwhile was lost");
        f.assert_nothing_to_claim("the key's work is done").await;
    }
}
