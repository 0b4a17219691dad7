//! How long a submission may take, and what happens when it takes longer.

use super::{Seen, echo, registry};
use crate::support::Rig;
use bindery_core::{Clock as _, Name, event::kind, job::JobState};
use bindery_engine::{intake::Intake, view};
use std::time::Duration;

/// A submission that was received `ago` seconds ago, and does not move.
async fn stuck(sla: &str, ago: u64) -> Seen {
    let rig = Rig::with_manual_clock(registry(&[("a", echo)]));
    rig.workflow(&format!("name: w\n{sla}stages: [{{name: a, over: file, parallel: true}}]\n")).await;
    rig.store.pause(&Name::from("q.a"), None).await.unwrap();
    let mut intake = Intake::new("w", rig.files(1).await);
    intake.received_at = Some(rig.clock.now() - Duration::from_secs(ago));
    let id = rig.submit(intake).await;
    Seen { rig, id }
}

fn sla(keys: &str) -> String {
    format!("sla: {{{keys}}}\n")
}

/// After how many seconds (looked at each second) an event comes.
async fn seconds_until(seen: &Seen, event: &str) -> Option<u64> {
    for seconds in 0..=120 {
        seen.rig.store.sweep().await.unwrap();
        if !seen.rig.events_of(event).await.is_empty() {
            return Some(seconds);
        }
        seen.rig.clock.advance(Duration::from_secs(1));
    }
    None
}

pub(super) async fn sla_gives_a_submission_a_deadline() {
    let without = stuck("", 0).await;
    assert_eq!(seconds_until(&without, kind::DEADLINE_BREACHED).await, None);
    let with = stuck(&sla("deadline_seconds: 60"), 0).await;
    assert_eq!(seconds_until(&with, kind::DEADLINE_BREACHED).await, Some(60));
    for (seen, expected) in [(&without, None), (&with, Some(Duration::from_secs(60)))] {
        let progress = view::progress(&seen.rig.engine, seen.id).await.unwrap();
        assert_eq!(progress.deadline_at.map(|at| at.since(progress.received_at)), expected);
        assert_eq!(progress.sla_breached, expected.is_some());
    }
}

pub(super) async fn deadline_counts_from_reception() {
    for (deadline, ago, left) in [(60, 0, 60), (60, 45, 15), (90, 45, 45), (30, 45, 0)] {
        let seen = stuck(&sla(&format!("deadline_seconds: {deadline}")), ago).await;
        assert_eq!(seconds_until(&seen, kind::DEADLINE_BREACHED).await, Some(left));
        let status = view::request_status(&seen.rig.engine, seen.id).await.unwrap();
        assert_eq!((&status["status"], &status["sla_breached"]), (&"sla_breached".into(), &true.into()));
        // Said once, and work that comes late is still done.
        assert_eq!(seconds_until(&seen, "no such event").await, None);
        assert_eq!(seen.rig.events_of(kind::DEADLINE_BREACHED).await.len(), 1);
        assert!(seen.rig.store.resume(&Name::from("q.a")).await.unwrap());
        seen.rig.drain().await;
        let status = view::request_status(&seen.rig.engine, seen.id).await.unwrap();
        assert_eq!((&status["status"], &status["sla_breached"]), (&"completed".into(), &true.into()));
    }
}

pub(super) async fn warn_threshold_is_when_a_warning_comes() {
    for (percent, seconds) in [(70, 42), (50, 30)] {
        let seen = stuck(&sla(&format!("deadline_seconds: 60, warn_threshold_pct: {percent}")), 0).await;
        assert_eq!(seconds_until(&seen, kind::DEADLINE_WARNING).await, Some(seconds));
        assert!(seen.rig.events_of(kind::DEADLINE_ESCALATED).await.is_empty(), "only a warning");
    }
}

pub(super) async fn escalation_moves_work_to_the_front() {
    for (percent, seconds) in [(90, 54), (80, 48)] {
        let seen = stuck(&sla(&format!("deadline_seconds: 60, escalation_threshold_pct: {percent}")), 0).await;
        // Another with more time left, which was more important at first.
        let mut other = Intake::new("w", seen.rig.files(1).await);
        other.priority = 5;
        other.received_at = Some(seen.rig.clock.now() + Duration::from_secs(500));
        let other = seen.rig.submit(other).await;
        let order = async || {
            let mut jobs = seen.jobs(JobState::Ready).await;
            jobs.sort_by_key(|job| std::cmp::Reverse(job.priority));
            jobs.iter().map(|job| job.submission).collect::<Vec<_>>()
        };
        assert_eq!(order().await, [other, seen.id]);
        assert_eq!(seconds_until(&seen, kind::DEADLINE_ESCALATED).await, Some(seconds));
        assert_eq!(order().await, [seen.id, other]);
        assert!(seen.rig.store.submission(seen.id).await.unwrap().unwrap().priority > 5);
    }
}
