//! Files that are not what they should be: one clear sentence each, and nothing is changed.

use bindery_core::{Name, SubmissionId, event::NewEvent, job::NewJob};
use bindery_store::{
    Changes, Commit, Feed, Queue, Records, StoreError,
    query::JobFilter,
    sqlite::{Options, SqliteStore},
};
use rusqlite::Connection;
use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

fn open(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(Options { busy_timeout: Duration::from_millis(200), ..Options::at(path) })
}

fn job() -> NewJob {
    NewJob::new("q.test", SubmissionId::from_raw(1), "stage", "processor")
}

#[tokio::test]
async fn a_store_is_there_again_after_closing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bindery.db");
    let store = open(&path).unwrap();
    store.enqueue(vec![job()]).await.unwrap();
    drop(store);
    assert_eq!(open(&path).unwrap().jobs(JobFilter::default()).await.unwrap().len(), 1);
}

#[test]
fn a_newer_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bindery.db");
    drop(open(&path).unwrap());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(&path).unwrap();
    let error = open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
    assert!(error.to_string().contains("use the newer bindery that made it"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn another_programs_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theirs.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)").unwrap();
    let before = fs::read(&path).unwrap();
    let error = open(&path).unwrap_err();
    assert!(matches!(error, StoreError::NotOurs { .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("letter.txt");
    fs::write(&path, "Dear Sir or Madam, ".repeat(200)).unwrap();
    let error = open(&path).unwrap_err();
    assert!(error.to_string().contains("not a Bindery database"), "{error}");
}

#[test]
fn a_folder_and_a_missing_folder_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().to_owned(), folder.path().join("nowhere/bindery.db")] {
        let error = open(&path).unwrap_err();
        assert!(matches!(error, StoreError::CannotOpen { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_damaged_database_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bindery.db");
    let store = open(&path).unwrap();
    store.enqueue((0..2_000).map(|_| job()).collect()).await.unwrap();
    drop(store);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    for byte in &mut bytes[4096..middle] {
        *byte = 0xA5;
    }
    fs::write(&path, bytes).unwrap();
    let error = match open(&path) {
        Err(error) => error,
        Ok(store) => store.jobs(JobFilter::default()).await.unwrap_err(),
    };
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("restore it from a backup"), "{error}");
}

#[tokio::test]
async fn a_locked_database_says_who_is_to_blame_and_recovers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bindery.db");
    let store = open(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.enqueue(vec![job()]).await.unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error}");
    assert!(error.is_transient());
    other.execute_batch("ROLLBACK").unwrap();
    store.enqueue(vec![job()]).await.unwrap();
    assert_eq!(store.jobs(JobFilter::default()).await.unwrap().len(), 1, "the refused one was not half-stored");
}

/// A process may be stopped in the middle of a transaction, and stay so for longer than anybody waits for it.
#[tokio::test]
async fn a_database_is_looked_at_while_somebody_keeps_it_locked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bindery.db");
    let shipped = || SqliteStore::open(Options::at(&path));
    shipped().unwrap().enqueue(vec![job()]).await.unwrap();
    let stopped = Connection::open(&path).unwrap();
    stopped.execute_batch("BEGIN IMMEDIATE").unwrap();
    let begun = Instant::now();
    let store = shipped().unwrap();
    assert_eq!(store.jobs(JobFilter::default()).await.unwrap().len(), 1);
    drop(store);
    assert!(begun.elapsed() < Options::at(&path).busy_timeout / 3, "it waited for {:?}", begun.elapsed());
    stopped.execute_batch("COMMIT").unwrap();
}

#[tokio::test]
async fn two_stores_on_one_file_share_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bindery.db");
    let (one, two) = (SqliteStore::open(Options::at(&path)).unwrap(), SqliteStore::open(Options::at(&path)).unwrap());
    let mark = two.change_mark();
    tokio::join!(
        async {
            for _ in 0..50 {
                one.enqueue(vec![job()]).await.unwrap();
            }
        },
        async {
            for _ in 0..50 {
                two.enqueue(vec![job()]).await.unwrap();
            }
        },
    );
    let mut ids: Vec<_> = one.jobs(JobFilter::default()).await.unwrap().into_iter().map(|view| view.job.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 100, "ids of two processes must not collide");
    two.changed(mark, Duration::from_secs(10)).await;
    let mark = two.change_mark();
    one.enqueue(vec![job()]).await.unwrap();
    two.changed(mark, Duration::from_secs(10)).await;
    assert_ne!(two.change_mark(), mark, "the other process's work is noticed without being told");
}

#[tokio::test]
async fn a_wish_that_fails_takes_nothing_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bindery.db");
    let store = open(&path).unwrap();
    let good = |kind: &str| {
        let events = vec![NewEvent::new(kind, None, "{}".to_owned())];
        Commit::always(Changes { events, ..Changes::default() })
    };
    // A step of a join that does not exist.
    let mut bad = good("Half");
    bad.changes.join_steps.push(bindery_core::join::JoinStep {
        join: bindery_core::JoinId::from_raw(404),
        change: bindery_core::join::JoinChange::Expect(1),
    });
    let (first, failed, last) =
        tokio::join!(store.commit(vec![good("First")]), store.commit(vec![bad]), store.commit(vec![good("Last")]));
    assert!(first.unwrap()[0].is_applied() && last.unwrap()[0].is_applied());
    assert_eq!(failed.unwrap_err().to_string(), "there is no join_404");
    let kinds: Vec<Name> = store
        .read_events(bindery_core::EventSeq::START, bindery_store::query::EventFilter::default(), 10)
        .await
        .unwrap()
        .into_iter()
        .map(|event| event.kind)
        .collect();
    assert_eq!(kinds, ["First", "Last"]);
}
