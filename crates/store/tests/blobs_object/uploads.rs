//! Large files go up in parts, and become a blob whole or not at all.

use crate::object_server::Stage;
use bindery_core::{ContentHash, Disposition};
use bindery_store::blobs::{BlobError, Blobs};
use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

const LARGE: usize = 13 << 20;

#[tokio::test]
async fn large_files_are_stored_whole_or_not_at_all() {
    let Some(stage) = Stage::new().await else { return };
    a_large_file_goes_up_in_parts_and_once(&stage).await;
    a_source_that_changes_leaves_nothing().await;
    a_service_that_fails_in_the_middle_leaves_nothing().await;
    a_service_that_dies_in_the_middle_leaves_nothing_to_see().await;
    answers_that_are_lost_are_asked_for_again().await;
}

async fn stage() -> Stage {
    Stage::new().await.expect("the server that was there before")
}

fn large_file() -> (TempDir, PathBuf, ContentHash) {
    let bytes: Vec<u8> = (0..LARGE / 4).flat_map(|number| (number as u32).to_le_bytes()).collect();
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let source = scratch.path().join("large.bin");
    fs::write(&source, &bytes).expect("write the source");
    (scratch, source, ContentHash::of(&bytes))
}

fn aborts(requests: &[String]) -> usize {
    requests.iter().filter(|line| line.starts_with("DELETE") && line.contains("uploadId=")).count()
}

async fn a_large_file_goes_up_in_parts_and_once(stage: &Stage) {
    let blobs = stage.open().await;
    let (_scratch, source, hash) = large_file();
    stage.proxy.requests();
    let stored = blobs.put_file(&source).await.unwrap();
    assert_eq!((stored.hash, stored.size, stored.new), (hash, LARGE as u64, true));
    let parts = stage.proxy.requests().iter().filter(|line| line.contains("partNumber=")).count();
    assert_eq!(parts, 3, "13 MiB in parts of 5");
    assert_eq!(ContentHash::of(&blobs.get(stored.hash).await.unwrap()), hash, "other bytes came back");

    stage.proxy.requests();
    assert!(!blobs.put_file(&source).await.unwrap().new);
    let writes: Vec<_> = stage.proxy.requests().into_iter().filter(|line| !line.starts_with(['G', 'H'])).collect();
    assert!(writes.is_empty(), "it was written again: {writes:?}");
}

/// Uploads a large file that is interfered with when its first part arrives.
async fn upload_while(interfere: fn(&Path)) -> BlobError {
    let stage = stage().await;
    let blobs = stage.open().await;
    let (_scratch, source, _) = large_file();
    let watched = source.clone();
    stage.proxy.before_each(move |line| {
        if line.contains("partNumber=1&") || line.ends_with("partNumber=1") {
            interfere(&watched);
        }
    });
    let error = blobs.put_file(&source).await.expect_err("a file that changed was stored");
    assert!(blobs.list(None, 10).await.expect("list").is_empty(), "a file that changed was stored");
    let requests = stage.proxy.requests();
    assert_eq!(aborts(&requests), 1, "the upload was not aborted: {requests:?}");
    error
}

async fn a_source_that_changes_leaves_nothing() {
    let error = upload_while(|path| File::options().write(true).open(path).unwrap().set_len(1).unwrap()).await;
    assert!(matches!(error, BlobError::SourceChanged { .. }), "unexpected: {error}");
    let error = upload_while(|path| fs::remove_file(path).unwrap()).await;
    assert!(error.to_string().ends_with("changed while it was copied: it was removed"), "unexpected: {error}");
    let error = upload_while(|path| {
        File::options().append(true).open(path).unwrap().write_all(b"more").unwrap();
    })
    .await;
    assert!(error.to_string().contains("grew") || error.to_string().contains("modified"), "unexpected: {error}");
}

async fn a_service_that_fails_in_the_middle_leaves_nothing() {
    let stage = stage().await;
    let mut options = stage.options();
    options.retries = 0;
    let blobs = stage.open_with(options).await;
    let (_scratch, source, _) = large_file();
    stage.proxy.requests();
    stage.proxy.refuse_all_with("partNumber=2");
    let error = blobs.put_file(&source).await.unwrap_err();
    assert!(error.to_string().contains("is overloaded or out of order (503) and could not write"), "{error}");
    assert!(blobs.list(None, 10).await.unwrap().is_empty(), "part of a file was stored");
    let requests = stage.proxy.requests();
    assert_eq!(aborts(&requests), 1, "the upload was not aborted: {requests:?}");
}

async fn a_service_that_dies_in_the_middle_leaves_nothing_to_see() {
    let stage = stage().await;
    let mut options = stage.options();
    options.retries = 2;
    let blobs = stage.open_with(options).await;
    let (_scratch, source, hash) = large_file();
    stage.proxy.die_at("partNumber=2");
    let error = blobs.put_file(&source).await.unwrap_err();
    let sentence = error.to_string();
    assert!(sentence.starts_with(&format!("cannot reach {} (", stage.proxy.endpoint)), "{sentence}");
    assert!(sentence.ends_with("): check the endpoint and the network"), "{sentence}");
    assert_eq!(error.disposition(), Disposition::Retry { after: None });

    stage.proxy.revive();
    assert!(!blobs.contains(hash).await.unwrap(), "part of a file was stored");
    assert!(blobs.put_file(&source).await.unwrap().new, "what is tried again succeeds");
    assert_eq!(blobs.verify(hash).await.unwrap(), LARGE as u64);
}

async fn answers_that_are_lost_are_asked_for_again() {
    let stage = stage().await;
    let blobs = stage.open().await;
    let (scratch, source, hash) = large_file();
    // Before the head of the answer: the request may have been served, and is repeated all the same.
    stage.proxy.cut(2, 0);
    assert_eq!(blobs.put_file(&source).await.unwrap().hash, hash);
    // In the middle of the bytes: the rest is asked for.
    stage.proxy.requests();
    stage.proxy.cut(1, 1 << 20);
    let target = scratch.path().join("copy.bin");
    assert_eq!(blobs.fetch_to(hash, &target).await.unwrap(), LARGE as u64);
    assert_eq!(ContentHash::of(&fs::read(&target).unwrap()), hash);
    assert_eq!(stage.proxy.requests().len(), 2, "one more request for the rest");
}
