//! Retention: what workflows and defaults let go, and a blob sweep that takes nothing from running work.

use crate::support::{Func, Rig};
use bindery_core::{ContentHash, SubmissionId, event::kind, submission::SubmissionStatus};
use bindery_engine::{
    Registry,
    intake::Intake,
    retention::{Others, age_out, apply_policies, delete, due, sweep_candidates, sweep_orphans},
};
use bindery_store::{
    query::EventFilter,
    retention::{Reason, RetentionFilter},
};
use rusqlite::Connection;
use std::{
    fs::{self, File},
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::sync::RwLock;

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn registry() -> Registry {
    let mut registry = Registry::with_builtin();
    registry.register(Func::echo("a"));
    registry
}

async fn submitted(rig: &Rig, text: &str) -> SubmissionId {
    let file = rig.file("a.txt", text).await;
    rig.engine.submit(Intake::new("w", vec![file])).await.unwrap().id()
}

/// Makes all blobs as old as if they had last been touched this long ago.
fn age_all(rig: &Rig, age: Duration) {
    let touched = SystemTime::now() - age;
    age_files(&rig.dir.path().join("blobs/sha256"), touched);
    let database = rig.dir.path().join("bindery.db");
    if database.is_file() {
        let db = Connection::open(database).unwrap();
        db.busy_timeout(Duration::from_secs(30)).unwrap();
        let touched = touched.duration_since(UNIX_EPOCH).unwrap().as_millis() as i64;
        db.execute("UPDATE small_blob SET touched = ?1", [touched]).unwrap();
    }
}

fn age_files(folder: &Path, touched: SystemTime) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            age_files(&entry.path(), touched);
        } else if let Ok(file) = File::open(entry.path()) {
            file.set_modified(touched).unwrap();
        }
    }
}

/// One takes the same bytes in, over and over; another deletes the submissions that have ended, and sweeps. Whenever a
/// submission is there, its bytes are.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_intake_of_the_same_bytes_never_loses_them_to_a_sweep() {
    let rig = Arc::new(Rig::new(registry()));
    rig.workflow("{name: w, stages: [{name: a, over: file, processors: [a]}]}").await;
    let hash = ContentHash::of(b"the same bytes");
    // Held by whoever is between its put and its commit: bytes become old only when nobody is.
    let between = Arc::new(RwLock::new(()));
    let mut takers = Vec::new();
    for _ in 0..2 {
        let (rig, between) = (Arc::clone(&rig), Arc::clone(&between));
        takers.push(tokio::spawn(async move {
            for _ in 0..40 {
                let turn = between.read().await;
                let id = submitted(&rig, "the same bytes").await;
                drop(turn);
                let there = rig.engine.blobs().contains(hash).await.unwrap();
                assert!(there, "{id} names bytes that a sweep has removed");
                rig.store().cancel_submission(id).await.unwrap();
            }
        }));
    }
    let sweeper = {
        let (rig, between) = (Arc::clone(&rig), Arc::clone(&between));
        tokio::spawn(async move {
            let mut removed = 0;
            loop {
                // The last round finds everything at rest, and has to remove what is left.
                let is_last = Arc::strong_count(&between) == 2;
                let turn = between.write().await;
                age_all(&rig, 2 * HOUR);
                drop(turn);
                let ended =
                    RetentionFilter { ended_before: Some(rig.store().clock().now()), ..RetentionFilter::default() };
                let ended = due(rig.store(), ended).await.unwrap();
                delete(rig.store(), ended.submissions, Reason::Pruned, |_| ()).await.unwrap();
                let swept = sweep_candidates(rig.store(), rig.engine.blobs(), Others::MayWork, false).await.unwrap();
                removed += swept.removed;
                tokio::task::yield_now().await;
                if is_last {
                    return removed;
                }
            }
        })
    };
    for taker in takers {
        taker.await.unwrap();
    }
    assert!(sweeper.await.unwrap() > 0, "nothing was ever removed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_nothing_has_ever_named_go_after_a_day() {
    let rig = Rig::new(registry());
    rig.workflow("{name: w, stages: [{name: a, over: file, processors: [a]}]}").await;
    let id = submitted(&rig, "named").await;
    let orphan = rig.engine.blobs().put(b"orphan".to_vec()).await.unwrap().hash;
    age_all(&rig, 2 * HOUR);
    assert_eq!(
        sweep_orphans(rig.store(), rig.engine.blobs()).await.unwrap().removed,
        0,
        "two hours are not long enough"
    );
    age_all(&rig, 2 * DAY);
    assert_eq!(sweep_orphans(rig.store(), rig.engine.blobs()).await.unwrap().removed, 1);
    assert!(!rig.engine.blobs().contains(orphan).await.unwrap());
    assert!(rig.engine.blobs().contains(ContentHash::of(b"named")).await.unwrap(), "{id} names it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_newest_version_of_a_workflow_says_how_long_submissions_are_kept() {
    let rig = Rig::with_manual_clock(registry());
    rig.workflow("{name: w, stages: [{name: a, over: file, processors: [a]}]}").await;
    let id = submitted(&rig, "raw").await;
    rig.store().cancel_submission(id).await.unwrap();
    rig.clock.advance(40 * DAY);
    assert_eq!(apply_policies(rig.store()).await.unwrap().rows, 0, "without a policy everything is kept");
    let second = "{name: w, version: 2, retention: {raw_files_days: 30, results_days: 90}, \
                  stages: [{name: a, over: file, processors: [a]}]}";
    rig.workflow(second).await;
    assert!(apply_policies(rig.store()).await.unwrap().rows > 0);
    assert_eq!(apply_policies(rig.store()).await.unwrap().rows, 0, "once");
    let items = rig.store().items(id, bindery_store::query::ItemFilter::default()).await.unwrap();
    assert_eq!((items.len(), items[0].content), (1, None), "the bytes go, what is known of them stays");
    rig.clock.advance(60 * DAY);
    rig.store().hold(vec![id], "case 12").await.unwrap();
    assert_eq!(apply_policies(rig.store()).await.unwrap().submissions, 0, "it is on hold");
    rig.store().release_hold(vec![id]).await.unwrap();
    assert_eq!(apply_policies(rig.store()).await.unwrap().submissions, 1);
    assert_eq!(rig.store().submission(id).await.unwrap(), None);
    let filter = EventFilter { submission: Some(id), ..EventFilter::default() };
    let told = rig.store().read_events(bindery_core::EventSeq::START, filter, 100).await.unwrap();
    let told: Vec<_> = told.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(told, [kind::SUBMISSION_DELETED]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nobody_asked_to_keep_ages_out() {
    let rig = Rig::with_manual_clock(registry());
    rig.workflow("{name: w, stages: [{name: a, over: file, processors: [a]}]}").await;
    let id = submitted(&rig, "kept").await;
    rig.store().arrive(&"gone".into()).await.unwrap();
    assert_eq!(age_out(rig.store()).await.unwrap().rows(), 0);
    rig.clock.advance(8 * DAY);
    assert_eq!(age_out(rig.store()).await.unwrap().workers, 1);
    rig.clock.advance(1_000 * DAY);
    assert_eq!(age_out(rig.store()).await.unwrap().rows(), 0, "nothing else is ours to delete");
    assert_eq!(rig.store().submission(id).await.unwrap().map(|it| it.status), Some(SubmissionStatus::Routing));
}
