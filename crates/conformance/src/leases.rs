//! Leases, tokens and heartbeats: a worker that lost its job cannot change anything.

use super::fixture::{Fixture, LEASE, arrive, ending, error, event, text};
use bindery_core::{
    ContentHash, Name,
    artifact::Artifact,
    error::ErrorClass,
    item::{Item, ItemKind},
    job::{ClaimedJob, JobState, NewJob, Token},
    outcome::OutcomeStatus,
    submission::SubmissionStatus,
};
use bindery_store::{
    Changes, CommitResult, JobEnd, Rejection, SubmissionChange,
    query::{ClaimRequest, JobFilter},
};
use std::{collections::BTreeSet, sync::Arc, time::Duration};

fn lease_of(claim: &ClaimedJob) -> (bindery_core::JobId, Token) {
    (claim.job.id, claim.token)
}

pub async fn every_claim_draws_a_fresh_token(f: &Fixture) {
    let submission = f.submission().await;
    f.store.enqueue((0..5).map(|_| f.job("ocr", submission)).collect()).await.unwrap();
    let mut tokens = BTreeSet::new();
    for _ in 0..4 {
        let claims = f.claim(5).await;
        assert_eq!(claims.len(), 5);
        for claim in &claims {
            assert!(
                tokens.insert((claim.job.id, claim.token)),
                "a token was drawn twice: a fenced worker could commit"
            );
        }
        f.store.release(claims.iter().map(lease_of).collect()).await.unwrap();
    }
}

pub async fn a_claim_says_who_until_when_and_how_often(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(f.job("ocr", submission)).await;
    let claim = f.claim_as("left", 1).await.pop().unwrap();
    assert_eq!((claim.job.id, claim.job.attempt, claim.job.state), (id, 1, JobState::Running));
    assert!(!claim.report_overdue, "nobody awaits a report");
    let stored = f.stored(id).await;
    assert_eq!(stored, claim.job, "what the worker got is what people see");
    assert_eq!(stored.worker, Some("left".into()));
    assert_eq!(stored.lease_until, Some(f.now() + LEASE));
}

pub async fn a_commit_under_a_lost_lease_stores_nothing(f: &Fixture) {
    let submission = f.submission().await;
    let join = f.join(f.new_join(submission, 1, "combine").await).await;
    f.enqueue(NewJob { join: Some(join), ..f.job("ocr", submission) }).await;
    let stale = f.claim_one().await;
    f.lose_workers().await;
    let holder = f.claim_suspects_as("other", 1).await.pop().expect("the job went back to the queue");
    assert_ne!(stale.token, holder.token);

    let kept = f.item(submission, ItemKind::Page).await;
    let item = f.ids.item().await;
    let changes = Changes {
        // Rows for blobs are tested where there are some.
        blobs: Vec::new(),
        submissions: vec![f.new_submission().await],
        items: vec![Item {
            id: item,
            submission,
            parent: None,
            kind: ItemKind::Page,
            ordinal: 0,
            key: None,
            label: None,
            content: None,
            data: "{}".to_owned(),
        }],
        removed_items: vec![(submission, kept)],
        restarted_items: vec![(submission, kept)],
        artifacts: vec![Artifact {
            submission,
            item: None,
            key: "text/1.json".to_owned(),
            hash: ContentHash::of(b"x"),
            size: 1,
            media_type: "application/json".to_owned(),
        }],
        outcomes: vec![f.outcome(&stale.job, OutcomeStatus::Completed)],
        supersedes_reviews: true,
        again: None,
        reviews: vec![f.new_review(submission, "ocr")],
        jobs: vec![f.job("next", submission)],
        submission_changes: vec![SubmissionChange {
            id: submission,
            status: SubmissionStatus::Processing,
            error: None,
        }],
        events: vec![event("Noise", Some(submission))],
        joins: vec![f.new_join(submission, 2, "other").await],
        join_steps: vec![arrive(join)],
    };
    let new_submission = changes.submissions[0].id;
    let before = f.snapshot(submission).await;
    for end in [
        JobEnd::Done,
        JobEnd::Retry { after: Duration::ZERO, error: error("Timeout", ErrorClass::Retry), resume: None },
        JobEnd::Park { until: "x".to_owned(), after: None, error: error("NoKey", ErrorClass::Park), resume: None },
        JobEnd::Dead { error: error("Broken", ErrorClass::Bug), resume: None },
        JobEnd::Continue { cursor: 9 },
        JobEnd::Hold { has_advanced: false },
        JobEnd::Await { within: Duration::from_secs(5), error: None },
    ] {
        let result = f.commit(ending(&stale, end.clone(), changes.clone())).await;
        assert_eq!(result, CommitResult::Rejected(Rejection::LeaseLost), "{end:?}");
        assert_eq!(f.snapshot(submission).await, before, "a fenced worker's {end:?} left something behind");
        assert_eq!(f.store.submission(new_submission).await.unwrap(), None);
    }
    let progress = f.finish(&holder).await;
    assert!(progress[0].closed, "the worker that holds the job is not disturbed");
}

pub async fn who_holds_a_job_stores_bit_by_bit_until_it_is_lost(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(f.job("read", submission)).await;
    let claim = f.claim_one().await;
    let bit = |name: &str| Changes { events: vec![event(name, Some(submission))], ..Changes::default() };
    let hold = |name: &str| ending(&claim, JobEnd::Hold { has_advanced: false }, bit(name));
    // In one batch, in several, and together with the end.
    let results = f.store.commit(vec![hold("First"), hold("Second")]).await.unwrap();
    assert!(results.iter().all(CommitResult::is_applied), "{results:?}");
    let job = f.stored(id).await;
    assert_eq!((job.state, job.attempt), (JobState::Running, 1), "nothing has ended");
    // An end of the lease that nobody has noticed does no harm: the work is still ours.
    f.advance(LEASE.as_secs() + 1);
    assert!(f.commit(hold("Third")).await.is_applied());
    f.store.sweep().await.unwrap();
    assert_eq!(f.commit(hold("Fourth")).await, CommitResult::Rejected(Rejection::LeaseLost), "it was given back");
    let next = f.claim_suspects_as("another", 1).await.remove(0);
    assert_eq!(f.commit(hold("Fifth")).await, CommitResult::Rejected(Rejection::LeaseLost), "another has it");
    let results = f
        .store
        .commit(vec![
            ending(&next, JobEnd::Hold { has_advanced: false }, bit("Sixth")),
            ending(&next, JobEnd::Done, bit("Last")),
        ])
        .await
        .unwrap();
    assert!(results.iter().all(CommitResult::is_applied), "{results:?}");
    assert_eq!(next.job.attempt, 1, "a worker that is lost ends no attempt");
    let kinds: Vec<_> = f.events().await.into_iter().map(|event| event.kind).collect();
    assert_eq!(kinds, ["First", "Second", "Third", "Sixth", "Last"]);
    assert_eq!(f.view(id).await, None);
}

pub async fn attempts_are_counted_anew_when_a_part_of_the_work_is_done(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(f.job("read", submission)).await;
    for attempt in 1..=2 {
        let claim = f.claim_one().await;
        assert_eq!(claim.job.attempt, attempt);
        let error = error("Timeout", ErrorClass::Retry);
        f.end(&claim, JobEnd::Retry { after: Duration::ZERO, error, resume: None }).await;
    }
    let claim = f.claim_one().await;
    assert_eq!(claim.job.attempt, 3);
    let hold = |has_advanced| ending(&claim, JobEnd::Hold { has_advanced }, Changes::default());
    assert!(f.commit(hold(false)).await.is_applied());
    assert_eq!(f.stored(id).await.attempt, 3, "nothing is done yet");
    assert!(f.commit(hold(true)).await.is_applied());
    assert_eq!(f.stored(id).await.attempt, 1);
    f.lose_workers().await;
    assert_eq!(f.claim_suspect().await.job.attempt, 1);
    assert_eq!(f.commit(hold(true)).await, CommitResult::Rejected(Rejection::LeaseLost));
}

pub async fn a_commit_counts_once_however_often_it_is_sent(f: &Fixture) {
    let submission = f.submission().await;
    f.enqueue(f.job("ocr", submission)).await;
    let claim = f.claim_one().await;
    let changes = Changes { events: vec![event("Finished", Some(submission))], ..Changes::default() };
    let commit = ending(&claim, JobEnd::Done, changes);
    let results = f.store.commit(vec![commit.clone(), commit.clone()]).await.unwrap();
    assert!(results[0].is_applied());
    assert_eq!(results[1], CommitResult::Rejected(Rejection::LeaseLost), "twice in one batch");
    assert_eq!(f.commit(commit).await, CommitResult::Rejected(Rejection::LeaseLost), "and once more later");
    assert_eq!(f.count_events("Finished").await, 1, "an effect was counted twice");
}

pub async fn a_rejected_commit_does_not_disturb_its_neighbours(f: &Fixture) {
    let submission = f.submission().await;
    f.store.enqueue((0..3).map(|_| f.job("ocr", submission)).collect()).await.unwrap();
    let claims = f.claim(3).await;
    f.store.release(vec![lease_of(&claims[1])]).await.unwrap();
    let commits = claims
        .iter()
        .enumerate()
        .map(|(n, claim)| {
            let events = vec![event(&format!("Finished{n}"), Some(submission))];
            ending(claim, JobEnd::Done, Changes { events, ..Changes::default() })
        })
        .collect();
    let results = f.store.commit(commits).await.unwrap();
    let applied: Vec<_> = results.iter().map(CommitResult::is_applied).collect();
    assert_eq!(applied, [true, false, true]);
    let kinds: Vec<_> = f.events().await.into_iter().map(|event| event.kind).collect();
    assert_eq!(kinds, ["Finished0", "Finished2"], "good work was lost beside a rejected commit");
}

pub async fn a_wrong_token_is_no_claim(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(f.job("ocr", submission)).await;
    let claim = f.claim_one().await;
    let forged = ClaimedJob { token: Token(claim.token.0 + 1), ..claim.clone() };
    let result = f.commit(ending(&forged, JobEnd::Done, Changes::default())).await;
    assert_eq!(result, CommitResult::Rejected(Rejection::LeaseLost));
    f.store.release(vec![lease_of(&forged)]).await.unwrap();
    assert_eq!(f.stored(id).await.state, JobState::Running, "somebody else's job was given back");
    f.done(&claim).await;
}

pub async fn a_heartbeat_keeps_the_lease(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(f.job("ocr", submission)).await;
    let claim = f.claim_one().await;
    for _ in 0..3 {
        f.advance(50);
        let lost = f.store.heartbeat(&"worker".into(), vec![lease_of(&claim)], LEASE, 0).await.unwrap();
        assert_eq!(lost, [], "the worker holds its job");
        assert_eq!(f.stored(id).await.lease_until, Some(f.now() + LEASE));
        assert_eq!(f.store.sweep().await.unwrap().leases_expired, 0, "a living worker's job was taken away");
    }
    f.done(&claim).await;
}

pub async fn a_heartbeat_keeps_a_lease_whose_job_stood_in_an_older_claim(f: &Fixture) {
    let submission = f.submission().await;
    let kept = f.enqueue(f.job("ocr", submission)).await;
    let older = f.claim_one().await;
    let again = JobEnd::Retry { after: Duration::ZERO, error: error("Timeout", ErrorClass::Retry), resume: None };
    f.end(&older, again).await;
    let forgotten = f.enqueue(f.job("ocr", submission)).await;
    let claims = f.claim(2).await;
    assert_eq!(claims.len(), 2);
    f.advance(LEASE.as_secs() + 1);
    let held = claims.iter().find(|claim| claim.job.id == kept).unwrap();
    let lost = f.store.heartbeat(&"worker".into(), vec![lease_of(held)], LEASE, 0).await.unwrap();
    assert!(lost.is_empty());
    assert_eq!(f.store.sweep().await.unwrap().leases_expired, 1);
    assert_eq!(f.stored(kept).await.state, JobState::Running);
    assert_eq!(f.stored(forgotten).await.state, JobState::Ready);
    f.done(held).await;
}

pub async fn a_heartbeat_names_the_jobs_that_are_lost(f: &Fixture) {
    let submission = f.submission().await;
    f.store.enqueue((0..4).map(|_| f.job("ocr", submission)).collect()).await.unwrap();
    let claims = f.claim(4).await;
    let leases: Vec<_> = claims.iter().map(lease_of).collect();
    f.done(&claims[0]).await;
    f.store.release(vec![leases[1]]).await.unwrap();
    f.store.cancel_job(claims[2].job.id).await.unwrap();
    let taken = f.claim_as("other", 1).await;
    assert_eq!(taken[0].job.id, claims[1].job.id);
    let lost = f.store.heartbeat(&"worker".into(), leases, LEASE, 1).await.unwrap();
    let lost: BTreeSet<_> = lost.into_iter().collect();
    let expected: BTreeSet<_> = [0, 1, 2].map(|n| claims[n].job.id).into();
    assert_eq!(lost, expected, "a worker must hear which work to stop: finished, taken over and cancelled");
    assert_eq!(f.stored(claims[1].job.id).await.worker, Some("other".into()), "another's lease is not touched");
}

pub async fn an_expired_lease_goes_back_without_using_up_an_attempt(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(NewJob { payload: text("work"), ..f.job("ocr", submission) }).await;
    f.claim_one().await;
    f.advance(59);
    assert_eq!(f.store.sweep().await.unwrap().leases_expired, 0, "the lease has a second left");
    f.assert_nothing_to_claim("it is leased").await;
    f.advance(2);
    assert_eq!(f.store.sweep().await.unwrap().leases_expired, 1);
    assert_eq!(f.store.sweep().await.unwrap().leases_expired, 0, "given back once");
    let job = f.stored(id).await;
    assert_eq!((job.state, job.attempt), (JobState::Ready, 0), "nobody knows whether it had begun");
    assert_eq!((job.suspect, job.losses), (true, 0));
    assert_eq!((job.lease_until, job.worker), (None, None));
    let error = job.error.expect("people see why it runs again");
    assert_eq!((error.kind.as_str(), error.class), ("WorkerLost", ErrorClass::Retry));
    f.assert_nothing_to_claim("it runs apart from other work").await;
    let again = f.claim_suspect().await;
    assert_eq!((again.job.attempt, again.job.payload), (1, text("work")));
}

pub async fn what_a_worker_held_that_is_known_to_be_dead_goes_back_at_once(f: &Fixture) {
    let submission = f.submission().await;
    f.store.enqueue((0..3).map(|_| f.job("ocr", submission)).collect()).await.unwrap();
    let (dead, alive) = (f.claim_as("dead", 2).await, f.claim_as("alive", 1).await.pop().unwrap());
    let release = |workers: &[&str]| f.store.release_dead_workers(workers.iter().map(|name| (*name).into()).collect());
    assert_eq!(release(&["dead", "unheard-of"]).await.unwrap(), 2);
    assert_eq!(release(&["dead"]).await.unwrap(), 0, "given back once");
    assert_eq!(release(&[]).await.unwrap(), 0);
    let job = f.stored(dead[0].job.id).await;
    assert_eq!((job.state, job.attempt, job.suspect, job.worker), (JobState::Ready, 0, true, None));
    assert_eq!(job.error.expect("people see why it runs again").kind, "WorkerLost");
    assert_eq!(f.stored(alive.job.id).await.worker, Some("alive".into()), "another's lease is not touched");
    // One that lives after all has lost its job.
    let late = f.store.commit(vec![ending(&dead[1], JobEnd::Done, Changes::default())]).await.unwrap();
    assert!(!late[0].is_applied(), "{late:?}");
    assert_eq!([f.claim_suspects(5).await.len(), f.claim_suspects(5).await.len()], [1, 1], "each runs alone");
    f.advance(61);
    assert_eq!(f.store.sweep().await.unwrap().leases_expired, 3, "the new leases end as others do");
}

pub async fn released_jobs_go_back_without_counting(f: &Fixture) {
    let submission = f.submission().await;
    let id = f.enqueue(f.job("ocr", submission)).await;
    let claim = f.claim_one().await;
    f.store.release(vec![lease_of(&claim)]).await.unwrap();
    let job = f.stored(id).await;
    assert_eq!((job.state, job.attempt), (JobState::Ready, 0), "a worker that stops politely costs no attempt");
    let again = f.claim_one().await;
    assert_eq!(again.job.attempt, 1);
    f.store.release(vec![lease_of(&claim)]).await.unwrap();
    assert_eq!(f.stored(id).await.state, JobState::Running, "an old release must not take the job from its new holder");
    f.done(&again).await;
}

pub async fn two_claimers_never_share_a_job(f: &Fixture) {
    let submission = f.submission().await;
    f.store.enqueue((0..200).map(|_| f.job("ocr", submission)).collect()).await.unwrap();
    let mut claimers = Vec::new();
    for n in 0..8 {
        let store = Arc::clone(&f.store);
        claimers.push(tokio::spawn(async move {
            let mut claimed = Vec::new();
            loop {
                let worker = Name::from(format!("worker-{n}"));
                let request =
                    ClaimRequest { worker, queues: None, submissions: None, max: 7, lease: LEASE, counts: true };
                let batch = store.claim(request).await.unwrap();
                if batch.is_empty() {
                    return claimed;
                }
                claimed.extend(batch);
            }
        }));
    }
    let mut jobs = BTreeSet::new();
    let mut tokens = BTreeSet::new();
    for claimer in claimers {
        for claim in claimer.await.unwrap() {
            assert!(jobs.insert(claim.job.id), "{} was given to two workers", claim.job.id);
            assert!(tokens.insert((claim.job.id, claim.token)), "two claims have the same token");
        }
    }
    assert_eq!(jobs.len(), 200, "every job is claimed by somebody");
    let running = JobFilter { states: vec![JobState::Running], ..JobFilter::default() };
    assert_eq!(f.jobs(running).await.len(), 200);
}

pub async fn of_two_commits_at_once_one_is_stored(f: &Fixture) {
    let submission = f.submission().await;
    for _ in 0..10 {
        f.enqueue(f.job("ocr", submission)).await;
        let claim = f.claim_one().await;
        let changes = Changes { events: vec![event("Finished", Some(submission))], ..Changes::default() };
        let commit = || f.commit(ending(&claim, JobEnd::Done, changes.clone()));
        let (left, right) = tokio::join!(commit(), commit());
        assert_ne!(left.is_applied(), right.is_applied(), "exactly one of {left:?} and {right:?}");
    }
    assert_eq!(f.count_events("Finished").await, 10);
}
