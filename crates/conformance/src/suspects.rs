//! Suspects: what a lost worker held runs apart from other work, and only the guilty one is blamed.

use super::fixture::{Fixture, LEASE, error};
use bindery_core::{
    JobId,
    error::ErrorClass,
    job::{ClaimedJob, JobState, Limit, NewJob, WaitReason},
};
use bindery_store::{JobEnd, query::ClaimRequest};
use std::time::Duration;

/// Jobs that a lost worker held.
async fn suspects(f: &Fixture, count: usize) -> Vec<JobId> {
    let submission = f.submission().await;
    f.store.enqueue((0..count).map(|_| f.job("ocr", submission)).collect()).await.unwrap();
    let claims = f.claim(count).await;
    assert_eq!(claims.len(), count);
    assert_eq!(f.lose_workers().await, count as u64);
    claims.into_iter().map(|claim| claim.job.id).collect()
}

async fn blame(f: &Fixture, id: JobId) -> (bool, u32) {
    let job = f.stored(id).await;
    (job.suspect, job.losses)
}

pub async fn what_a_lost_worker_held_runs_apart_from_other_work(f: &Fixture) {
    let lost = suspects(f, 2).await;
    let submission = f.submission().await;
    let innocent = f.enqueue(f.job("ocr", submission)).await;
    assert_eq!(f.claim_one().await.job.id, innocent, "ordinary claims pass suspects over");
    f.assert_nothing_to_claim("what is left are suspects").await;
    let reason = f.view(lost[0]).await.unwrap().reason;
    assert_eq!(reason, WaitReason::Suspect { losses: 0 }, "people see why it waits");
    for id in lost {
        let alone = f.claim_suspects(100).await;
        assert_eq!(alone.iter().map(|claim| claim.job.id).collect::<Vec<_>>(), [id], "one at a time");
        assert_eq!((alone[0].job.attempt, alone[0].job.state), (1, JobState::Running));
        f.begin(&alone).await;
        f.done(&alone[0]).await;
    }
    assert!(f.claim_suspects(100).await.is_empty());
}

pub async fn a_death_between_claim_and_start_blames_nobody(f: &Fixture) {
    let id = suspects(f, 1).await[0];
    for _ in 0..20 {
        f.claim_suspect().await;
        assert_eq!(f.lose_workers().await, 1);
        assert_eq!(blame(f, id).await, (true, 0));
    }
    let claim = f.claim_suspect().await;
    f.store.release(vec![(id, claim.token)]).await.unwrap();
    assert_eq!(blame(f, id).await, (true, 0), "it is what it was before the claim");
}

pub async fn a_job_is_blamed_only_for_deaths_while_it_ran_alone(f: &Fixture) {
    let id = suspects(f, 1).await[0];
    assert_eq!(blame(f, id).await, (true, 0), "the first death may have been another's fault");
    for losses in 1..=3 {
        let claim = f.claim_suspect().await;
        assert_eq!(claim.job.losses, losses - 1);
        f.begin(&[claim]).await;
        assert_eq!(f.lose_workers().await, 1);
        assert_eq!(blame(f, id).await, (true, losses));
    }
    let stale = f.claim_suspect().await;
    f.lose_workers().await;
    let begun = f.store.begin_suspects(vec![(id, stale.token)]).await.unwrap();
    assert!(begun.is_empty(), "whoever lost a job cannot begin with it");
    assert_eq!(f.stored(id).await.attempt, 0);
}

pub async fn a_suspect_that_waits_for_its_next_attempt_is_claimed_when_that_is_due(f: &Fixture) {
    let id = suspects(f, 1).await[0];
    let claim = f.claim_suspect().await;
    // Its start is not marked, so its end proves nothing.
    let later =
        JobEnd::Retry { after: Duration::from_secs(5), error: error("Timeout", ErrorClass::Retry), resume: None };
    f.end(&claim, later).await;
    assert!(f.claim_suspects(1).await.is_empty(), "it is not due");
    f.advance(6);
    let again = f.claim_suspect().await;
    assert_eq!((again.job.id, again.job.attempt), (id, 2));
}

pub async fn a_group_that_loses_its_worker_is_divided(f: &Fixture) {
    let ids = suspects(f, 200).await;
    let group = f.claim_suspects(1_000).await;
    assert_eq!(group.len(), 25, "an eighth of what was lost together");
    f.begin(&group).await;
    // Some of them end before the worker is lost.
    for claim in &group[..5] {
        f.done(claim).await;
    }
    assert_eq!(f.lose_workers().await, 20);
    assert_eq!(blame(f, group[9].job.id).await, (true, 0), "it did not run alone");
    // The larger groups come first, and end well.
    for _ in 0..7 {
        let group = f.claim_suspects(1_000).await;
        assert_eq!(group.len(), 25);
        f.begin(&group).await;
        for claim in &group {
            f.done(claim).await;
        }
    }
    let mut left = 0;
    while let [first, second] = f.claim_suspects(1_000).await.as_slice() {
        for claim in [first, second] {
            f.done(claim).await;
            left += 1;
        }
    }
    assert_eq!(left, 20);
    let any = f.store.jobs(bindery_store::query::JobFilter { ids, ..Default::default() }).await.unwrap();
    assert!(any.is_empty(), "{any:?}");
}

pub async fn a_run_that_ends_in_any_way_ends_the_suspicion(f: &Fixture) {
    let ends: [fn(&Fixture) -> JobEnd; 4] = [
        |_| JobEnd::Retry { after: Duration::ZERO, error: error("Timeout", ErrorClass::Retry), resume: None },
        |_| JobEnd::Park { until: "x".to_owned(), after: None, error: error("NoKey", ErrorClass::Park), resume: None },
        |_| JobEnd::Await { within: Duration::from_secs(9), error: None },
        |_| JobEnd::Dead { error: error("Broken", ErrorClass::Reject), resume: None },
    ];
    for end in ends {
        let id = suspects(f, 1).await[0];
        for _ in 0..2 {
            f.begin(&[f.claim_suspect().await]).await;
            f.lose_workers().await;
        }
        assert_eq!(blame(f, id).await, (true, 2));
        let claim = f.claim_suspect().await;
        f.begin(std::slice::from_ref(&claim)).await;
        let end = end(f);
        f.end(&claim, end.clone()).await;
        assert_eq!(blame(f, id).await, (false, 0), "{end:?}");
        if let JobEnd::Retry { .. } = end {
            let again = f.claim_one().await;
            assert_eq!((again.job.id, again.job.attempt), (id, 2), "it is ordinary work again");
            f.done(&again).await;
        }
    }
}

pub async fn progress_ends_the_blame_but_not_the_run(f: &Fixture) {
    let id = suspects(f, 1).await[0];
    for end in [JobEnd::Hold { has_advanced: true }, JobEnd::Continue { cursor: 4 }] {
        f.begin(&[f.claim_suspect().await]).await;
        f.lose_workers().await;
        assert_eq!(blame(f, id).await, (true, 1));
        let claim = f.claim_suspect().await;
        f.begin(std::slice::from_ref(&claim)).await;
        f.end(&claim, end.clone()).await;
        assert_eq!(blame(f, id).await, (true, 0), "{end:?}: a job that gets on does not kill its workers");
        f.lose_workers().await;
        assert_eq!(blame(f, id).await, (true, 1), "{end:?}: it still ran alone");
        let claim = f.claim_suspect().await;
        f.begin(std::slice::from_ref(&claim)).await;
        f.end(&claim, JobEnd::Hold { has_advanced: true }).await;
        f.store.release(vec![(id, claim.token)]).await.unwrap();
    }
}

pub async fn those_with_the_fewest_losses_come_first(f: &Fixture) {
    let ids = suspects(f, 3).await;
    let guilty = f.claim_suspect().await;
    assert_eq!(guilty.job.id, ids[0]);
    f.begin(&[guilty]).await;
    f.lose_workers().await;
    let order: Vec<JobId> = [f.claim_suspect().await, f.claim_suspect().await, f.claim_suspect().await]
        .iter()
        .map(|claim| claim.job.id)
        .collect();
    assert_eq!(order, [ids[1], ids[2], ids[0]], "innocent ones do not wait behind the one that kills");
}

pub async fn suspects_keep_to_queues_submissions_pauses_and_limits(f: &Fixture) {
    let (one, other) = (f.submission().await, f.submission().await);
    let limit = Some(Limit { key: "few".into(), running: Some(1), per_minute: Some(2) });
    let limited = f.enqueue(NewJob { limit: limit.clone(), ..f.job("left", one) }).await;
    let second = f.enqueue(NewJob { limit, ..f.job("left", one) }).await;
    let plain = f.enqueue(f.job("right", other)).await;
    // The limit lets one of its two jobs run at a time; both lose their workers.
    let claims = f.claim(9).await;
    assert_eq!(claims.len(), 2);
    f.lose_workers().await;
    assert_eq!(f.claim_one().await.job.id, second);
    f.lose_workers().await;
    f.advance(60);
    let claim = async |queues: Option<&str>, submission| {
        let request = ClaimRequest {
            worker: "worker".into(),
            queues: queues.map(|queue| vec![queue.into()]),
            submissions: submission,
            max: 9,
            lease: LEASE,
            counts: true,
        };
        f.store.claim_suspects(request).await.unwrap()
    };
    let ids = |claims: &[ClaimedJob]| claims.iter().map(|claim| claim.job.id).collect::<Vec<_>>();
    f.store.pause(&"right".into(), None).await.unwrap();
    assert!(claim(Some("right"), None).await.is_empty(), "the queue is paused");
    f.store.resume(&"right".into()).await.unwrap();
    assert_eq!(ids(&claim(Some("right"), None).await), [plain]);
    assert!(claim(None, Some(vec![other])).await.is_empty());
    assert_eq!(ids(&claim(None, Some(vec![one])).await), [limited]);
    assert!(claim(None, None).await.is_empty(), "the limit is reached");
    f.assert_nothing_to_claim("neither does another claim get past it").await;
    f.lose_workers().await;
    f.advance(60);
    // Two starts in a minute: the bucket is empty after them.
    for _ in 0..2 {
        let claims = claim(Some("left"), None).await;
        assert_eq!(claims.len(), 1);
        f.done(&claims[0]).await;
    }
    let third = f.enqueue(f.job("left", one)).await;
    assert_eq!(f.claim_one().await.job.id, third, "work without the limit goes on");
}

pub async fn what_was_given_up_for_its_losses_is_run_apart_when_somebody_retries_it(f: &Fixture) {
    let id = suspects(f, 1).await[0];
    f.begin(&[f.claim_suspect().await]).await;
    f.lose_workers().await;
    // Given up without another run.
    let claim = f.claim_suspect().await;
    f.end(&claim, JobEnd::Dead { error: error("WorkerLost", ErrorClass::Bug), resume: None }).await;
    let dead = f.stored(id).await;
    assert_eq!((dead.state, dead.losses), (JobState::Dead, 1), "people see how often");
    assert!(f.claim_suspects(9).await.is_empty());
    let filter = bindery_store::query::JobFilter { ids: vec![id], ..Default::default() };
    assert_eq!(f.store.retry(filter).await.unwrap().jobs, 1);
    f.assert_nothing_to_claim("it may still kill its worker").await;
    let again = f.claim_suspect().await;
    assert_eq!((again.job.id, again.job.losses, again.job.attempt), (id, 0, 1));
}

pub async fn what_was_only_carried_is_not_suspected(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(f.job("ocr", submission)).await;
    let request = |max| ClaimRequest {
        worker: "relay".into(),
        queues: None,
        submissions: None,
        max,
        lease: LEASE,
        counts: false,
    };
    assert_eq!(f.store.claim(request(1)).await.unwrap().len(), 1);
    assert_eq!(f.lose_workers().await, 1);
    assert_eq!(blame(f, id).await, (false, 0));
    let carried = f.store.claim(request(1)).await.unwrap().remove(0);
    let adopted = f.store.adopt(&"worker".into(), vec![(id, carried.token)], LEASE).await.unwrap();
    assert_eq!(adopted[0].job.attempt, 1);
    f.lose_workers().await;
    assert_eq!(blame(f, id).await, (true, 0), "who has adopted it may have begun");
    assert!(f.store.claim(request(9)).await.unwrap().is_empty(), "suspects are not carried around");
}

pub async fn no_number_of_lost_workers_uses_up_an_attempt(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(f.job("ocr", submission)).await;
    let mut claim = f.claim_one().await;
    for _ in 0..50 {
        f.lose_workers().await;
        claim = f.claim_suspect().await;
        assert_eq!(claim.job.attempt, 1);
    }
    f.end(&claim, JobEnd::Dead { error: error("Broken", ErrorClass::Bug), resume: None }).await;
    assert_eq!(f.stored(id).await.attempt, 1, "people see the attempts that were made");
}

/// Ten years ahead.
const AHEAD: u64 = 10 * 365 * 24 * 3_600;

pub async fn a_lease_of_a_clock_that_was_ahead_expires(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(f.job("ocr", submission)).await;
    f.advance(AHEAD);
    f.claim_one().await;
    // The clock is set right, and the worker is gone.
    f.clock.shift(-1_000 * AHEAD as i64);
    assert_eq!(f.store.sweep().await.unwrap().leases_expired, 0, "it may be alive, with a wrong clock");
    f.advance(LEASE.as_secs() - 1);
    assert_eq!(f.store.sweep().await.unwrap().leases_expired, 0);
    f.advance(2);
    assert_eq!(f.store.sweep().await.unwrap().leases_expired, 1, "nobody waits for ten years");
    assert_eq!(f.claim_suspect().await.job.id, id);
    assert_eq!(f.store.sweep().await.unwrap().leases_expired, 0, "the new lease goes by the right time");
}

pub async fn a_worker_with_a_clock_that_is_ahead_keeps_what_it_extends(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(f.job("ocr", submission)).await;
    let claim = f.claim_one().await;
    for _ in 0..9 {
        // Its heartbeats go by its clock, the sweeps of others by theirs.
        f.advance(AHEAD);
        let lost = f.store.heartbeat(&"worker".into(), vec![(id, claim.token)], LEASE, 0).await.unwrap();
        assert_eq!(lost, []);
        f.clock.shift(-1_000 * AHEAD as i64);
        f.advance(20);
        assert_eq!(f.store.sweep().await.unwrap().leases_expired, 0);
    }
    f.done(&claim).await;
}

/// A retry that was stored by a process in 2036 is not waited for until then.
pub async fn a_wait_of_a_clock_that_was_ahead_is_as_long_as_it_should_be(f: &Fixture) {
    let submission = f.submission().await;
    let wait = Duration::from_secs(30);
    let retry = JobEnd::Retry { after: wait, error: error("Timeout", ErrorClass::Retry), resume: None };
    let (until, why) = ("a service".to_owned(), error("Away", ErrorClass::Park));
    let park = JobEnd::Park { until, after: Some(wait), error: why, resume: None };
    for end in [retry, park] {
        let id = f.enqueue(f.job("ocr", submission)).await;
        let claim = f.claim_one().await;
        f.advance(AHEAD);
        f.end(&claim, end).await;
        f.clock.shift(-1_000 * AHEAD as i64);
        f.store.sweep().await.unwrap();
        f.assert_nothing_to_claim("it waits for its time").await;
        f.advance(31);
        f.store.sweep().await.unwrap();
        let again = f.claim_one().await;
        assert_eq!(again.job.id, id, "nobody waits for ten years");
        f.done(&again).await;
    }
    // What was asked for at a moment far away stays there.
    let later = f.after(AHEAD);
    let id = f.enqueue(NewJob { not_before: Some(later), ..f.job("ocr", submission) }).await;
    f.store.sweep().await.unwrap();
    assert_eq!(f.stored(id).await.run_at, Some(later));
}
