//! Small blobs in the rows of a database: the suite that every backend passes, and what only rows can go through.

use bindery_conformance as conformance;
use bindery_core::ContentHash;
use bindery_store::{
    Changes, Commit, Guard, JobEnd, Queue as _, Store,
    blobs::{BlobError, Blobs, BlobsExt, BlobsPlace, Draft, LayeredBlobs, LocalBlobs, Removal},
    sqlite::{Options, SqliteStore},
};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tempfile::TempDir;

/// The first size that is a file.
const LARGE: usize = 256 * 1024 + 1;

struct Fixture {
    scratch: TempDir,
    store: Arc<SqliteStore>,
    blobs: Arc<dyn Blobs>,
}

impl Fixture {
    fn new() -> Self {
        let scratch = tempfile::tempdir().expect("a folder");
        let (store, blobs) = open(scratch.path());
        Self { scratch, store, blobs }
    }

    fn database(&self) -> PathBuf {
        self.scratch.path().join("bindery.db")
    }

    /// As after a restart.
    fn reopen(self) -> Self {
        let Self { scratch, store, blobs } = self;
        drop((store, blobs));
        let (store, blobs) = open(scratch.path());
        Self { scratch, store, blobs }
    }

    fn files(&self) -> usize {
        let shards = fs::read_dir(self.scratch.path().join("blobs/sha256")).expect("read the folder");
        shards.map(|shard| fs::read_dir(shard.expect("an entry").path()).expect("read a shard").count()).sum()
    }
}

fn open(root: &Path) -> (Arc<SqliteStore>, Arc<dyn Blobs>) {
    let store = Arc::new(SqliteStore::open(Options::at(root.join("bindery.db"))).expect("open"));
    let files = Arc::new(LocalBlobs::open(root.join("blobs")).expect("open"));
    let blobs = LayeredBlobs::of_store(&(Arc::clone(&store) as Arc<dyn Store>), files);
    (store, blobs)
}

fn commit_of(blobs: Vec<bindery_store::blobs::HashedBytes>) -> Commit {
    Commit::always(Changes { blobs, ..Changes::default() })
}

#[tokio::test]
async fn rows_in_front_of_a_folder_conform() {
    let fixture = Fixture::new();
    let files = fixture.scratch.path().join("files");
    fs::create_dir(&files).unwrap();
    conformance::blobs::all(&*fixture.blobs, &files).await;
}

#[tokio::test]
async fn small_blobs_are_rows_and_large_ones_are_files() {
    let fixture = Fixture::new();
    let small = fixture.blobs.put(vec![1; LARGE - 1]).await.unwrap();
    assert_eq!(fixture.files(), 0);
    let large = fixture.blobs.put(vec![2; LARGE]).await.unwrap();
    assert_eq!(fixture.files(), 1);
    let fixture = fixture.reopen();
    assert_eq!(fixture.blobs.get(small.hash).await.unwrap(), vec![1; LARGE - 1]);
    assert_eq!(fixture.blobs.get(large.hash).await.unwrap(), vec![2; LARGE]);
    let all = fixture.blobs.verify_all().await.unwrap();
    assert_eq!((all.sound, all.damaged.len()), (2, 0));
}

#[tokio::test]
async fn what_others_open_by_its_location_is_a_file_however_small() {
    let fixture = Fixture::new();
    let stored = fixture.blobs.place().put(b"a result".to_vec()).await.unwrap();
    assert_eq!(fixture.files(), 1);
    assert_eq!(fixture.blobs.get(stored.hash).await.unwrap(), b"a result");
    // As a row, too, it is still one blob.
    fixture.blobs.put(b"a result".to_vec()).await.unwrap();
    let listed: Vec<ContentHash> =
        fixture.blobs.list(None, 10).await.unwrap().into_iter().map(|listed| listed.hash).collect();
    assert_eq!(listed, [stored.hash]);
    assert!(fixture.blobs.delete(stored.hash).await.unwrap());
    assert!(!fixture.blobs.contains(stored.hash).await.unwrap());
}

#[tokio::test]
async fn a_draft_is_stored_by_the_commit_that_takes_it_and_by_no_other() {
    let fixture = Fixture::new();
    let draft = fixture.blobs.draft(b"of a page".to_vec()).await.unwrap();
    let hash = draft.stored().hash;
    let small = Draft::take_small(&mut vec![draft]);
    assert!(matches!(fixture.blobs.get(hash).await, Err(BlobError::Missing { .. })), "nothing was committed yet");
    // A result that came too late leaves nothing behind.
    let lost = bindery_core::JobId::from_raw(77);
    let guard = Guard::Claim { job: lost, token: bindery_core::job::Token(1), end: JobEnd::Done };
    let late = Commit { guard, changes: commit_of(small.clone()).changes };
    let results = fixture.store.commit(vec![late]).await.unwrap();
    assert!(!results[0].is_applied());
    assert!(!fixture.blobs.contains(hash).await.unwrap());
    fixture.store.commit(vec![commit_of(small)]).await.unwrap();
    let fixture = fixture.reopen();
    assert_eq!(fixture.blobs.get(hash).await.unwrap(), b"of a page");
}

#[tokio::test]
async fn what_is_touched_stays_and_what_is_not_goes() {
    let fixture = Fixture::new();
    let hash = fixture.blobs.put(b"once named".to_vec()).await.unwrap().hash;
    let before = fixture.blobs.now().await.unwrap() - Duration::from_secs(60);
    assert_eq!(fixture.blobs.remove_unused(hash, before).await.unwrap(), Removal::InUse);
    let later = fixture.blobs.now().await.unwrap() + Duration::from_secs(60);
    assert!(fixture.blobs.touch(hash).await.unwrap());
    assert_eq!(fixture.blobs.remove_unused(hash, later).await.unwrap(), Removal::Removed(10));
    assert_eq!(fixture.blobs.remove_unused(hash, later).await.unwrap(), Removal::Missing);
    assert!(!fixture.blobs.touch(hash).await.unwrap());
}

#[tokio::test]
async fn damaged_rows_are_told_and_repaired_by_the_next_put() {
    let fixture = Fixture::new();
    let hash = fixture.blobs.put(b"sound".to_vec()).await.unwrap().hash;
    let other = rusqlite::Connection::open(fixture.database()).unwrap();
    other.execute("UPDATE small_blob SET bytes = ?1", [b"wrong".as_slice()]).unwrap();
    let error = fixture.blobs.get(hash).await.unwrap_err();
    assert!(matches!(&error, BlobError::Corrupt { location, .. } if location.ends_with("bindery.db")), "{error}");
    fixture.blobs.put(b"sound".to_vec()).await.unwrap();
    assert_eq!(fixture.blobs.get(hash).await.unwrap(), b"sound");
}

#[tokio::test]
async fn a_child_reads_rows_and_writes_files() {
    let fixture = Fixture::new();
    let hash = fixture.blobs.put(b"for a child".to_vec()).await.unwrap().hash;
    let folder = fixture.scratch.path().join("blobs");
    let place = BlobsPlace { place: folder.clone(), rows: Some(fixture.database()) };
    let child = place.with_rows(Arc::new(LocalBlobs::open(folder).unwrap()));
    assert_eq!(child.get(hash).await.unwrap(), b"for a child");
    let made = child.put(b"by a child".to_vec()).await.unwrap();
    assert_eq!(fixture.files(), 1);
    assert_eq!(fixture.blobs.get(made.hash).await.unwrap(), b"by a child");
}
