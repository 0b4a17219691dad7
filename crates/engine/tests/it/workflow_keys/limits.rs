//! How much runs side by side, and how much begins in a minute.

use super::{Seen, registry, workflow};
use crate::support::{Func, Rig};
use bindery_core::job::{JobState, WaitReason};
use bindery_engine::{Extracted, Registry, WorkerOptions, intake::Intake};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

const THREADS: usize = 4;

/// `a` stays until as many as `hoped` have been there together, and a moment longer, so that one too many would show.
/// The greatest number there is noted.
fn crowding(hoped: usize) -> (Registry, Arc<AtomicUsize>) {
    let most = Arc::new(AtomicUsize::new(0));
    let (inside, noted) = (AtomicUsize::new(0), Arc::clone(&most));
    let mut registry = registry(&[]);
    registry.register(Func::new("a", move |_, input| {
        noted.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let begun = Instant::now();
        while noted.load(Ordering::SeqCst) < hoped && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(20));
        inside.fetch_sub(1, Ordering::SeqCst);
        Ok(Extracted::new(input))
    }));
    (registry, most)
}

/// The most that ran at once, of two submissions of two owners with four files each.
async fn most_at_once(stage: &str, hoped: usize) -> usize {
    let (registry, most) = crowding(hoped);
    let rig = Rig::new(registry);
    rig.workflow(&workflow(&format!("{{name: a, over: file, {stage}}}"))).await;
    for owner in ["ana", "ben"] {
        let mut intake = Intake::new("w", rig.files(4).await);
        intake.owner = Some(owner.to_owned());
        rig.submit(intake).await;
    }
    rig.drain_with(WorkerOptions { threads: THREADS, ..rig.worker_options() }).await;
    assert!(rig.jobs().await.is_empty());
    most.load(Ordering::SeqCst)
}

pub(super) async fn parallel_lets_items_run_side_by_side() {
    assert_eq!(most_at_once("parallel: true", THREADS).await, THREADS);
    // One of each submission.
    assert_eq!(most_at_once("parallel: false", 2).await, 2);
}

pub(super) async fn limits_hold_work_back() {
    assert_eq!(most_at_once("parallel: true, limits: {concurrency: 1}", 1).await, 1);
    assert_eq!(most_at_once("parallel: true", THREADS).await, THREADS);
}

pub(super) async fn concurrency_is_how_many_run_at_once() {
    assert_eq!(most_at_once("limits: {concurrency: 2}", 2).await, 2);
    assert_eq!(most_at_once("limits: {concurrency: 3}", 3).await, 3);
}

pub(super) async fn rate_is_how_many_begin_in_a_minute() {
    for rate in [2, 5] {
        let yaml = workflow(&format!("{{name: a, over: file, limits: {{rate_per_minute: {rate}}}}}"));
        let rig = Rig::with_manual_clock(registry(&[("a", super::echo)]));
        let seen = Seen::received(rig, &yaml, 12).await;
        for minute in 1..=2 {
            let enough = async || seen.completed("a").await == rate * minute;
            crate::docproc::work_until(&seen.rig, seen.rig.worker_options(), enough).await;
            let left = seen.rig.jobs().await;
            assert_eq!(left.len(), 12 - rate * minute, "the others wait for their turn");
            assert!(left.iter().all(|view| view.job.state == JobState::Ready));
            let reason = &left[0].reason;
            assert!(matches!(reason, WaitReason::LimitReached { .. }), "{reason:?}");
            seen.rig.clock.advance(Duration::from_secs(60));
        }
    }
}

pub(super) async fn per_says_who_shares_the_limit() {
    let limits = |per: &str| format!("limits: {{concurrency: 1, per: {per}}}");
    assert_eq!(most_at_once(&limits("stage"), 1).await, 1);
    assert_eq!(most_at_once(&limits("submission"), 2).await, 2);
    assert_eq!(most_at_once(&limits("owner"), 2).await, 2);
    // Two submissions of one owner share the owner's, but not the submission's.
    for (per, expected) in [("owner", 1), ("submission", 2)] {
        let (registry, most) = crowding(expected);
        let rig = Rig::new(registry);
        rig.workflow(&workflow(&format!("{{name: a, over: file, {}}}", limits(per)))).await;
        for _ in 0..2 {
            let mut intake = Intake::new("w", rig.files(3).await);
            intake.owner = Some("ana".to_owned());
            rig.submit(intake).await;
        }
        rig.drain_with(WorkerOptions { threads: THREADS, ..rig.worker_options() }).await;
        assert_eq!(most.load(Ordering::SeqCst), expected, "{per}");
    }
}
