//! The local folder: the suite that every backend passes, and what only a folder can go through.

use bindery_conformance as conformance;
use bindery_core::ContentHash;
use bindery_store::blobs::{BlobError, Blobs, BlobsExt, LocalBlobs, Removal};
use std::{
    fs::{self, File, FileTimes},
    io::Write,
    os::unix::{
        fs::{MetadataExt, PermissionsExt},
        net::UnixListener,
    },
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};
use tempfile::TempDir;

struct Fixture {
    scratch: TempDir,
    blobs: LocalBlobs,
}

impl Fixture {
    fn new() -> Self {
        let scratch = tempfile::tempdir().expect("a temporary directory");
        let blobs = LocalBlobs::open(scratch.path().join("data/blobs")).expect("open");
        Self { scratch, blobs }
    }

    fn root(&self) -> PathBuf {
        self.scratch.path().join("data/blobs")
    }

    fn path_of(&self, hash: ContentHash) -> PathBuf {
        let digits = hash.to_string();
        self.root().join("sha256").join(&digits[..2]).join(&digits[2..])
    }

    fn leftovers(&self) -> usize {
        names_in(&self.root().join("tmp")).len()
    }
}

fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("read the directory");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

#[tokio::test]
async fn the_local_folder_conforms() {
    let fixture = Fixture::new();
    let files = fixture.scratch.path().join("files");
    fs::create_dir(&files).unwrap();
    conformance::blobs::all(&fixture.blobs, &files).await;
    assert_eq!(fixture.leftovers(), 0, "a temporary file was left in the store");
    let unexpected: Vec<_> = names_in(&files).into_iter().filter(|name| name.contains(".part")).collect();
    assert!(unexpected.is_empty(), "temporary files were left beside the copies: {unexpected:?}");
}

#[tokio::test]
async fn damaged_bytes_are_never_returned_and_a_put_repairs_them() {
    type Damage = fn(&Path);
    let flip: Damage = |path| fs::write(path, b"the minutes of the 3rd session").unwrap();
    let truncate: Damage = |path| File::options().write(true).open(path).unwrap().set_len(5).unwrap();
    let empty: Damage = |path| File::options().write(true).open(path).unwrap().set_len(0).unwrap();
    let extend: Damage = |path| File::options().append(true).open(path).unwrap().write_all(b"!").unwrap();

    for damage in [flip, truncate, empty, extend] {
        let fixture = Fixture::new();
        let blobs = &fixture.blobs;
        let bytes = b"the minutes of the 2nd session".to_vec();
        let source = fixture.scratch.path().join("minutes.txt");
        let target = fixture.scratch.path().join("copy.txt");
        fs::write(&source, &bytes).unwrap();
        let hash = blobs.put(bytes.clone()).await.unwrap().hash;
        let path = fixture.path_of(hash);

        for repair_from_file in [false, true] {
            damage(&path);
            for result in [
                blobs.get(hash).await.map(drop),
                blobs.verify(hash).await.map(drop),
                blobs.fetch_to(hash, &target).await.map(drop),
            ] {
                let error = result.unwrap_err();
                assert!(matches!(error, BlobError::Corrupt { .. }), "unexpected: {error}");
                let sentence = error.to_string();
                assert!(sentence.contains(&hash.to_string()), "the hash is not named: {sentence}");
                assert!(sentence.contains(&path.display().to_string()), "the path is not named: {sentence}");
            }
            assert!(!target.exists(), "damaged bytes were copied out");
            let report = blobs.verify_all().await.unwrap();
            assert_eq!((report.sound, report.damaged.len()), (0, 1));

            let repaired = if repair_from_file {
                blobs.put_file(&source).await.unwrap()
            } else {
                blobs.put(bytes.clone()).await.unwrap()
            };
            assert!(repaired.new, "the repair was not reported as a write");
            assert_eq!(blobs.get(hash).await.unwrap(), bytes);
        }
    }
}

#[tokio::test]
async fn a_sound_blob_is_touched_and_not_written_again() {
    let fixture = Fixture::new();
    let hash = fixture.blobs.put(b"once".to_vec()).await.unwrap().hash;
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let file = File::options().write(true).open(fixture.path_of(hash)).unwrap();
    file.set_times(FileTimes::new().set_modified(long_ago)).unwrap();
    let before = fs::metadata(fixture.path_of(hash)).unwrap();
    assert!(!fixture.blobs.put(b"once".to_vec()).await.unwrap().new);
    let after = fs::metadata(fixture.path_of(hash)).unwrap();
    assert_eq!(before.ino(), after.ino(), "it is the same file");
    assert!(after.modified().unwrap() > long_ago, "a sweep would take it for unused");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_was_touched_lately_is_not_removed() {
    let fixture = Fixture::new();
    let blobs = &fixture.blobs;
    let hash = blobs.put(b"needed".to_vec()).await.unwrap().hash;
    let long_ago = SystemTime::now() - Duration::from_secs(10_000);
    assert_eq!(blobs.remove_unused(hash, long_ago).await.unwrap(), Removal::InUse);
    let file = File::options().write(true).open(fixture.path_of(hash)).unwrap();
    file.set_times(FileTimes::new().set_modified(long_ago - Duration::from_secs(1))).unwrap();
    assert!(blobs.touch(hash).await.unwrap());
    assert_eq!(blobs.remove_unused(hash, long_ago).await.unwrap(), Removal::InUse);
    file.set_times(FileTimes::new().set_modified(long_ago - Duration::from_secs(1))).unwrap();
    assert_eq!(blobs.remove_unused(hash, long_ago).await.unwrap(), Removal::Removed(6));
    assert_eq!(blobs.remove_unused(hash, long_ago).await.unwrap(), Removal::Missing);
    assert!(!blobs.touch(hash).await.unwrap());
}

/// The same bytes are put and removed at the same moment: whoever has put them finds them.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn putting_and_removing_at_the_same_time_loses_nothing() {
    let fixture = Fixture::new();
    let blobs = fixture.blobs.clone();
    let bytes = b"the same bytes".to_vec();
    let hash = blobs.put(bytes.clone()).await.unwrap().hash;
    let (since, mut rounds) = tokio::sync::mpsc::channel(1);
    let (looked, mut has_looked) = tokio::sync::mpsc::channel(1);
    let remover = tokio::spawn(async move {
        let (blobs, mut removed) = (fixture.blobs.clone(), 0);
        while let Some(since) = rounds.recv().await {
            removed += u32::from(matches!(blobs.remove_unused(hash, since).await.unwrap(), Removal::Removed(_)));
            looked.send(()).await.unwrap();
        }
        (removed, fixture)
    });
    for _ in 0..60 {
        // What was put before is old by then; what is put from now on is not, however coarse the clock of files is.
        tokio::time::sleep(Duration::from_millis(80)).await;
        since.send(blobs.now().await.unwrap()).await.unwrap();
        blobs.put(bytes.clone()).await.unwrap();
        // While the remover looks at a file that was touched meanwhile, its name is away for a moment.
        has_looked.recv().await.unwrap();
        assert!(blobs.contains(hash).await.unwrap(), "it was removed although it had just been put");
    }
    drop(since);
    let (removed, fixture) = remover.await.unwrap();
    assert!(removed > 0, "nothing was ever removed");
    assert_eq!(fixture.leftovers(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixteen_tasks_put_the_same_bytes() {
    let fixture = Fixture::new();
    let bytes: Vec<u8> = (0..500_000_u32).flat_map(u32::to_le_bytes).collect();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let (blobs, bytes) = (fixture.blobs.clone(), bytes.clone());
        tasks.spawn(async move { blobs.put(bytes).await });
    }
    let all_stored = tasks.join_all().await;
    let hash = ContentHash::of(&bytes);
    for stored in &all_stored {
        assert_eq!(stored.as_ref().unwrap().hash, hash);
    }
    assert!(all_stored.iter().flatten().any(|stored| stored.new), "nobody wrote it");
    assert!(fixture.blobs.get(hash).await.unwrap() == bytes);
    assert_eq!(fixture.blobs.list(None, 10).await.unwrap().len(), 1);
    assert_eq!(fixture.leftovers(), 0);
}

#[tokio::test]
async fn drafts_are_in_their_place_when_they_are_kept_and_not_before() {
    let fixture = Fixture::new();
    let blobs = &fixture.blobs;
    let known = blobs.put(b"page 0".to_vec()).await.unwrap().hash;
    let pages: Vec<Vec<u8>> = (0..40).map(|page| format!("page {page}").into_bytes()).collect();
    let mut drafts = Vec::new();
    for page in &pages {
        drafts.push(blobs.draft(page.clone()).await.unwrap());
    }
    // Twice the same bytes: whoever names them must be able to rely on them.
    drafts.push(blobs.draft(pages[7].clone()).await.unwrap());
    let hashes: Vec<ContentHash> = pages.iter().map(|page| ContentHash::of(page)).collect();
    assert!(drafts.iter().zip(&hashes).all(|(draft, hash)| draft.stored().hash == *hash));
    assert_eq!(drafts.iter().filter(|draft| !draft.stored().new).count(), 1, "one of them was known");
    let listed: Vec<_> = blobs.list(None, 100).await.unwrap().iter().map(|listed| listed.hash).collect();
    assert_eq!(listed, [known], "a draft has the name of a blob before it is durable");

    blobs.keep(drafts).await.unwrap();
    for (hash, page) in hashes.iter().zip(&pages) {
        assert_eq!(blobs.get(*hash).await.unwrap(), *page);
    }
    assert_eq!(blobs.list(None, 100).await.unwrap().len(), pages.len());
    assert_eq!(fixture.leftovers(), 0);
}

#[tokio::test]
async fn a_draft_that_nobody_keeps_never_was() {
    let fixture = Fixture::new();
    let draft = fixture.blobs.draft(b"given up".to_vec()).await.unwrap();
    let hash = draft.stored().hash;
    assert_eq!(fixture.leftovers(), 1);
    drop(draft);
    assert_eq!(fixture.leftovers(), 0);
    assert!(!fixture.blobs.contains(hash).await.unwrap());
}

#[tokio::test]
async fn a_draft_replaces_damaged_bytes() {
    let fixture = Fixture::new();
    let hash = fixture.blobs.put(b"the minutes".to_vec()).await.unwrap().hash;
    fs::write(fixture.path_of(hash), b"the minutez").unwrap();
    let draft = fixture.blobs.draft(b"the minutes".to_vec()).await.unwrap();
    assert!(draft.stored().new, "damaged bytes were taken for the right ones");
    fixture.blobs.keep(vec![draft]).await.unwrap();
    assert_eq!(fixture.blobs.get(hash).await.unwrap(), b"the minutes");
}

#[tokio::test]
async fn only_old_leftovers_of_our_own_are_removed() {
    let fixture = Fixture::new();
    let temporary = fixture.root().join("tmp");
    let an_hour_ago = SystemTime::now() - Duration::from_secs(61 * 60);
    for (name, is_old) in [("old.part", true), ("young.part", false), ("notes.txt", true)] {
        let file = File::create(temporary.join(name)).unwrap();
        if is_old {
            file.set_times(FileTimes::new().set_modified(an_hour_ago)).unwrap();
        }
    }
    let hash = fixture.blobs.put(b"kept".to_vec()).await.unwrap().hash;

    let reopened = LocalBlobs::open(fixture.root()).unwrap();
    let mut left = names_in(&temporary);
    left.sort();
    assert_eq!(left, ["notes.txt", "young.part"]);
    assert_eq!(reopened.get(hash).await.unwrap(), b"kept");
}

#[tokio::test]
async fn a_directory_that_was_tidied_away_comes_back() {
    let fixture = Fixture::new();
    let hash = fixture.blobs.put(b"still here".to_vec()).await.unwrap().hash;
    assert!(fixture.blobs.delete(hash).await.unwrap());
    fs::remove_dir(fixture.path_of(hash).parent().unwrap()).unwrap();
    assert!(fixture.blobs.list(None, 10).await.unwrap().is_empty());
    let hash = fixture.blobs.put(b"still here".to_vec()).await.unwrap().hash;
    assert_eq!(fixture.blobs.get(hash).await.unwrap(), b"still here");
}

#[tokio::test]
async fn other_peoples_files_are_not_listed() {
    let fixture = Fixture::new();
    let hash = fixture.blobs.put(b"ours".to_vec()).await.unwrap().hash;
    let shard = fixture.path_of(hash).parent().unwrap().to_owned();
    fs::write(shard.join(".DS_Store"), b"").unwrap();
    fs::write(shard.join("A".repeat(62)), b"").unwrap();
    let listed: Vec<_> = fixture.blobs.list(None, 10).await.unwrap().iter().map(|listed| listed.hash).collect();
    assert_eq!(listed, [hash]);
}

#[tokio::test]
async fn sockets_and_devices_are_refused_without_waiting() {
    let fixture = Fixture::new();
    let socket = fixture.scratch.path().join("socket");
    let _listener = UnixListener::bind(&socket).unwrap();
    let error = fixture.blobs.put_file(&socket).await.unwrap_err();
    assert_eq!(error.to_string(), format!("{} is a socket, expected a file", socket.display()));
    let error = fixture.blobs.put_file(Path::new("/dev/zero")).await.unwrap_err();
    assert_eq!(error.to_string(), "/dev/zero is a device, expected a file");
    assert_eq!(fixture.leftovers(), 0);
}

#[tokio::test]
async fn a_root_that_is_a_file_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().join("blobs");
    fs::write(&root, b"").unwrap();
    let error = LocalBlobs::open(&root).unwrap_err();
    assert!(error.to_string().contains(&root.display().to_string()), "the path is not named: {error}");
}

#[tokio::test]
async fn a_copy_into_a_place_that_is_not_there_is_refused() {
    let fixture = Fixture::new();
    let hash = fixture.blobs.put(b"out".to_vec()).await.unwrap().hash;
    for target in ["no/such/place.txt", "data"] {
        let target = fixture.scratch.path().join(target);
        let error = fixture.blobs.fetch_to(hash, &target).await.unwrap_err();
        assert!(matches!(error, BlobError::Io { .. }), "unexpected: {error}");
    }
    assert_eq!(names_in(fixture.scratch.path()), ["data"], "a temporary file was left");
}

#[tokio::test]
async fn a_lack_of_permission_is_named() {
    if rustix::process::geteuid().is_root() {
        bindery_testkit::skip("root may read and write everything");
        return;
    }
    let fixture = Fixture::new();
    let secret = fixture.scratch.path().join("secret.pdf");
    fs::write(&secret, b"secret").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    let error = fixture.blobs.put_file(&secret).await.unwrap_err();
    assert_eq!(error.to_string(), format!("no permission to read {}", secret.display()));

    let temporary = fixture.root().join("tmp");
    fs::set_permissions(&temporary, fs::Permissions::from_mode(0o500)).unwrap();
    let error = fixture.blobs.put(b"bytes".to_vec()).await.unwrap_err();
    fs::set_permissions(&temporary, fs::Permissions::from_mode(0o700)).unwrap();
    assert!(matches!(error, BlobError::Denied { .. }), "unexpected: {error}");
}
