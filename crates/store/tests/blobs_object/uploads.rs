//! Large files go up in parts, and become a blob whole or not at all.

use crate::server::Server;
use bindery_core::ContentHash;
use bindery_store::blobs::{BlobError, Blobs, ObjectBlobs};
use std::{
    fs::{self, File},
    io::Write,
    path::Path,
};

const LARGE: usize = 13 << 20;

fn large_bytes() -> Vec<u8> {
    (0..LARGE / 4).flat_map(|number| (number as u32).to_le_bytes()).collect()
}

#[tokio::test]
async fn a_large_file_goes_up_in_parts_and_once() {
    let server = Server::start().await;
    let blobs = ObjectBlobs::open("s3://papers", server.options()).await.unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let source = scratch.path().join("large.bin");
    let bytes = large_bytes();
    fs::write(&source, &bytes).unwrap();
    server.requests();
    let stored = blobs.put_file(&source).await.unwrap();
    assert_eq!((stored.hash, stored.size, stored.new), (ContentHash::of(&bytes), LARGE as u64, true));
    let parts = server.requests().iter().filter(|line| line.contains("partNumber=")).count();
    assert_eq!(parts, 3, "13 MiB in parts of 5");
    assert!(blobs.get(stored.hash).await.unwrap() == bytes, "other bytes came back");

    server.requests();
    assert!(!blobs.put_file(&source).await.unwrap().new);
    let writes: Vec<_> = server.requests().into_iter().filter(|line| !line.starts_with(['G', 'H'])).collect();
    assert!(writes.is_empty(), "it was written again: {writes:?}");
}

/// Uploads a large file that is interfered with when its first part arrives.
async fn upload_while(interfere: fn(&Path)) -> BlobError {
    let server = Server::start().await;
    let blobs = ObjectBlobs::open("s3://papers", server.options()).await.expect("open");
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let source = scratch.path().join("large.bin");
    fs::write(&source, large_bytes()).expect("write the source");
    let watched = source.clone();
    server.before_each(move |line| {
        if line.contains("partNumber=1&") || line.ends_with("partNumber=1") {
            interfere(&watched);
        }
    });
    let error = blobs.put_file(&source).await.expect_err("a file that changed was stored");
    assert!(blobs.list(None, 10).await.expect("list").is_empty(), "a file that changed was stored");
    let requests = server.requests();
    let aborts = requests.iter().filter(|line| line.starts_with("DELETE") && line.contains("uploadId=")).count();
    assert_eq!(aborts, 1, "the upload was not aborted: {requests:?}");
    error
}

#[tokio::test]
async fn a_source_that_fails_leaves_nothing() {
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

#[tokio::test]
async fn a_service_that_fails_in_the_middle_leaves_nothing() {
    let server = Server::start().await;
    let mut options = server.options();
    options.retries = 0;
    let blobs = ObjectBlobs::open("s3://papers", options).await.unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let source = scratch.path().join("large.bin");
    fs::write(&source, large_bytes()).unwrap();
    server.requests();
    server.refuse_all_with("partNumber=2");
    let error = blobs.put_file(&source).await.unwrap_err();
    assert!(error.to_string().contains("is overloaded or out of order (503) and could not write"), "{error}");
    assert!(blobs.list(None, 10).await.unwrap().is_empty(), "part of a file was stored");
    let requests = server.requests();
    let aborts = requests.iter().filter(|line| line.starts_with("DELETE") && line.contains("uploadId=")).count();
    assert_eq!(aborts, 1, "the upload was not aborted: {requests:?}");
}
