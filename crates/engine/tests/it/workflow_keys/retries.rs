//! How long an attempt may take, how many there are, and how long to wait between them.

use super::{Seen, echo, fails, registry, workflow};
use crate::support::{Func, Rig};
use bindery_core::{Clock as _, job::JobState, outcome::OutcomeStatus, submission::SubmissionStatus};
use bindery_engine::{
    Extracted, Registry, WorkerOptions,
    report::{About, Reported},
};
use bindery_store::query::ClaimRequest;
use serde_json::json;
use std::{
    sync::{Arc, Condvar, Mutex},
    time::{Duration, Instant},
};

/// Where hanging attempts wait. The test lets them go.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<u32>, Condvar)>);

impl Gate {
    /// Waits until so many have been let through.
    fn wait_for(&self, number: u32) {
        let (opened, bell) = &*self.0;
        drop(bell.wait_while(opened.lock().unwrap(), |opened| *opened < number).unwrap());
    }

    fn open(&self) {
        let (opened, bell) = &*self.0;
        *opened.lock().unwrap() += 1;
        bell.notify_all();
    }
}

/// `a` hangs at its first attempt on the first file, until its second attempt has begun.
fn hanging(returned: &Gate) -> Registry {
    let (second_has_begun, returned) = (Gate::default(), returned.clone());
    let mut registry = registry(&[]);
    registry.register(Func::new("a", move |context, input| {
        if input["name"] == "file-0.txt" {
            if context.attempt() == 1 {
                second_has_begun.wait_for(1);
                returned.open();
            } else {
                second_has_begun.open();
                returned.wait_for(1);
                // The attempt that was given up is on its way out: what it returns must not touch this one.
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        Ok(Extracted::new(json!({"attempt": context.attempt()})))
    }));
    registry
}

fn quick(rig: &Rig) -> WorkerOptions {
    WorkerOptions { lease: Duration::from_secs(20), ..rig.worker_options() }
}

pub(super) async fn timeout_gives_up_what_hangs() {
    let stage = |seconds: u32| {
        workflow(&format!(
            "{{name: a, over: file, parallel: true, timeout_seconds: {seconds}, retry: {{initial_seconds: 0}}}}"
        ))
    };
    let seen = Seen::received(Rig::new(hanging(&Gate::default())), &stage(1), 3).await;
    seen.rig.drain_with(quick(&seen.rig)).await;
    let outcomes = seen.outcomes("a").await;
    assert_eq!(outcomes.iter().map(|outcome| outcome.attempts).collect::<Vec<_>>(), [2, 1, 1]);
    let given_up = seen.rig.events_of(bindery_core::event::kind::JOB_RETRIED).await;
    assert_eq!(given_up.len(), 1, "given up once, and the next attempt counted");
    assert!(given_up[0].data.contains("took longer than 1 s"), "{}", given_up[0].data);

    // With more time the same processor is let be.
    let slow: super::Work = |context, input| {
        let (begun, short) = (Instant::now(), context.stage()?.timeout == Duration::from_secs(1));
        let needed = Duration::from_millis(if short { 20_000 } else { 1_300 });
        while begun.elapsed() < needed && !context.is_cancelled() {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(Extracted::new(input))
    };
    for (seconds, status) in [(1, OutcomeStatus::Failed), (30, OutcomeStatus::Completed)] {
        let yaml = workflow(&format!("{{name: a, timeout_seconds: {seconds}, max_attempts: 1}}"));
        let seen = Seen::run(registry(&[("a", slow)]), &yaml, 1).await;
        assert_eq!(seen.outcomes("a").await[0].status, status);
    }
}

pub(super) async fn max_attempts_is_how_often_it_is_tried() {
    for attempts in [1, 4] {
        let yaml = workflow(&format!("{{name: a, max_attempts: {attempts}, retry: {{initial_seconds: 0}}}}"));
        let seen = Seen::run(registry(&[("a", fails)]), &yaml, 1).await;
        let dead = seen.jobs(JobState::Dead).await;
        assert_eq!((dead.len(), dead[0].attempt), (1, attempts));
        assert_eq!(dead[0].error.as_ref().unwrap().message, format!("attempt {attempts}"));
        assert_eq!(seen.status().await, SubmissionStatus::Failed);
    }
}

/// A worker claims the one job and dies. Where it ran alone, it had said so before.
async fn lose_a_worker(seen: &Seen, ran_alone: bool) {
    const LEASE: Duration = Duration::from_secs(30);
    let request = ClaimRequest {
        worker: "mortal".into(),
        queues: Some(vec!["q.a".into()]),
        submissions: None,
        max: 1,
        lease: LEASE,
        counts: true,
    };
    let store = seen.rig.store();
    if ran_alone {
        let claimed = store.claim_suspects(request).await.unwrap();
        store.begin_suspects(claimed.iter().map(|claim| (claim.job.id, claim.token)).collect()).await.unwrap();
    } else {
        assert_eq!(store.claim(request).await.unwrap().len(), 1);
    }
    seen.rig.clock.advance(LEASE + Duration::from_secs(1));
    assert_eq!(store.sweep().await.unwrap().leases_expired, 1);
}

pub(super) async fn max_worker_losses_is_how_many_workers_may_die_of_it() {
    for (limit, deaths, survives) in [("", 9, true), ("", 10, false), (", max_worker_losses: 2", 2, false)] {
        let yaml = workflow(&format!("{{name: a{limit}}}"));
        let seen = Seen::received(Rig::with_manual_clock(registry(&[("a", echo)])), &yaml, 1).await;
        // Nobody knows whether it was the reason of the first one.
        lose_a_worker(&seen, false).await;
        for _ in 0..deaths {
            lose_a_worker(&seen, true).await;
        }
        seen.rig.drain().await;
        let dead = seen.jobs(JobState::Dead).await;
        assert_eq!(dead.is_empty(), survives, "{limit}, {deaths} deaths");
        if let Some(dead) = dead.first() {
            let error = dead.error.as_ref().unwrap();
            let expected = format!("killed its worker {deaths} times while nothing else ran");
            assert!(error.message.starts_with(&expected), "{error:?}");
            assert_eq!((dead.attempt, dead.losses), (1, deaths), "no attempt is shown that was not made");
        }
        let attempts: Vec<u32> = seen.outcomes("a").await.iter().map(|outcome| outcome.attempts).collect();
        assert_eq!(attempts, [1]);
    }
}

/// How long after its start an outside processor that never reports is given up.
async fn seconds_until_given_up(stage: &str) -> u64 {
    let seen = Seen::received(Rig::with_manual_clock(registry(&[])), &workflow(stage), 1).await;
    for seconds in 0..100 {
        // A worker sweeps when it begins; what it finds overdue is settled before it ends.
        seen.rig.store().sweep().await.unwrap();
        seen.rig.drain().await;
        if !seen.jobs(JobState::Dead).await.is_empty() {
            return seconds;
        }
        seen.rig.clock.advance(Duration::from_secs(1));
    }
    panic!("still waiting: {:#?}", seen.rig.jobs().await);
}

pub(super) async fn processor_timeout_wins() {
    let stage = |own: &str| {
        format!(
            "{{name: a, over: file, timeout_seconds: 9, max_attempts: 1, processors: [{{name: p, external: true{own}}}]}}"
        )
    };
    let (stages, own) =
        (seconds_until_given_up(&stage("")).await, seconds_until_given_up(&stage(", timeout_seconds: 3")).await);
    assert_eq!((stages, own), (10, 4), "given up as soon as the time is over");
}

pub(super) async fn processor_max_attempts_wins() {
    for (own, expected) in [("", 3), (", max_attempts: 2", 2)] {
        let yaml = workflow(&format!(
            "{{name: a, max_attempts: 3, retry: {{initial_seconds: 0}}, processors: [{{name: p{own}}}]}}"
        ));
        let seen = Seen::run(registry(&[("p", fails)]), &yaml, 1).await;
        assert_eq!(seen.jobs(JobState::Dead).await[0].attempt, expected);
    }
    // Waiting once more for a report is an attempt, too.
    let stage = |own: &str| {
        format!(
            "{{name: a, over: file, timeout_seconds: 2, max_attempts: 1, processors: [{{name: p, external: true{own}}}]}}"
        )
    };
    let (once, twice) =
        (seconds_until_given_up(&stage("")).await, seconds_until_given_up(&stage(", max_attempts: 2")).await);
    assert!(twice > once + 1, "{once} and {twice}");
}

/// The waits that are stored after each failed attempt, in milliseconds.
async fn waits(retry: &str, attempts: usize) -> Vec<u64> {
    let yaml = workflow(&format!("{{name: a, max_attempts: 99{retry}}}"));
    let seen = Seen::received(Rig::with_manual_clock(registry(&[("a", fails)])), &yaml, 1).await;
    let mut waits = Vec::new();
    for _ in 0..attempts {
        seen.rig.drain().await;
        let scheduled = seen.jobs(JobState::Scheduled).await;
        assert_eq!(scheduled.len(), 1, "{:#?}", seen.rig.jobs().await);
        let wait = scheduled[0].run_at.unwrap().since(seen.rig.clock.now());
        waits.push(wait.as_millis() as u64);
        seen.rig.clock.advance(wait);
    }
    waits
}

pub(super) async fn retry_says_how_long_to_wait() {
    let default = waits("", 1).await[0];
    assert!((500..=1_000).contains(&default), "{default}");
    assert_eq!(waits(", retry: {initial_seconds: 30, jitter: 0}", 1).await, [30_000]);
}

pub(super) async fn initial_seconds_is_the_first_wait() {
    for (written, millis) in [("0.25", 250), ("5", 5_000)] {
        assert_eq!(waits(&format!(", retry: {{initial_seconds: {written}, jitter: 0}}"), 1).await, [millis]);
    }
}

pub(super) async fn factor_makes_waits_grow() {
    for (factor, expected) in [(1, [4_000, 4_000, 4_000]), (3, [4_000, 12_000, 36_000])] {
        let retry = format!(", retry: {{initial_seconds: 4, factor: {factor}, jitter: 0}}");
        assert_eq!(waits(&retry, 3).await, expected);
    }
}

pub(super) async fn max_seconds_ends_the_growth() {
    for (longest, expected) in [(5, [4_000, 5_000, 5_000]), (60, [4_000, 8_000, 16_000])] {
        let retry = format!(", retry: {{initial_seconds: 4, max_seconds: {longest}, jitter: 0}}");
        assert_eq!(waits(&retry, 3).await, expected);
    }
}

pub(super) async fn jitter_spreads_the_waits() {
    let many = |jitter: &'static str| async move {
        let yaml = workflow(&format!(
            "{{name: a, over: file, parallel: true, retry: {{initial_seconds: 8, jitter: {jitter}}}}}"
        ));
        let rig = Rig::with_manual_clock(registry(&[("a", fails)]));
        let seen = Seen::received(rig, &yaml, 20).await;
        seen.rig.drain().await;
        let now = seen.rig.clock.now();
        let scheduled = seen.jobs(JobState::Scheduled).await;
        scheduled.iter().map(|job| job.run_at.unwrap().since(now).as_millis()).collect::<Vec<_>>()
    };
    let (exact, spread) = (many("0").await, many("0.5").await);
    assert_eq!(exact, [8_000; 20]);
    assert!(spread.iter().all(|wait| (4_000..=8_000).contains(wait)), "{spread:?}");
    let mut different = spread.clone();
    different.sort_unstable();
    different.dedup();
    assert!(different.len() > 10, "{spread:?}");
}

/// A report that comes while another attempt is waited for still counts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_in_the_second_wait_counts() {
    let yaml = workflow(
        "{name: a, over: file, timeout_seconds: 2, max_attempts: 2, processors: [{name: p, external: true}]}, {name: b, over: file}",
    );
    let seen = Seen::received(Rig::with_manual_clock(registry(&[("b", echo)])), &yaml, 1).await;
    seen.rig.clock.advance(Duration::from_secs(3));
    seen.rig.store().sweep().await.unwrap();
    seen.rig.drain().await;
    let job = seen.jobs(JobState::Awaiting).await.remove(0);
    assert_eq!(job.error.unwrap().message, "p did not report within 2 s");
    let about = About { submission: seen.id, item: job.item, stage: "a".into(), processor: "p".into() };
    let report = Reported::Completed { output: json!(1), confidence: None };
    assert!(seen.rig.engine.report(&about, report).await.unwrap());
    seen.rig.drain().await;
    assert_eq!(seen.completed("b").await, 1);
}
