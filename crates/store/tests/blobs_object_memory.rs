//! Large files pass through in pieces. Alone in its file, because it measures the memory of its whole process, the
//! server's included.
#![cfg(feature = "object-storage")]

#[path = "blobs_object/server.rs"]
#[allow(dead_code, reason = "one test needs little of it")]
mod server;

use bindery_core::hash::Hasher;
use bindery_store::blobs::{Blobs, ObjectBlobs};
use std::{
    fs::{self, File},
    io::Write,
};

const CHUNK: usize = 1 << 20;
const CHUNKS: u64 = 192;

#[tokio::test]
async fn a_large_file_passes_through_in_little_memory() {
    let server = server::Server::start().await;
    let blobs = ObjectBlobs::open("s3://papers/in", server.options()).await.unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let source = scratch.path().join("large.bin");
    let mut hasher = Hasher::default();
    let mut file = File::create(&source).unwrap();
    for number in 0..CHUNKS {
        let chunk = vec![u8::try_from(number).unwrap(); CHUNK];
        hasher.update(&chunk);
        file.write_all(&chunk).unwrap();
    }
    let expected = hasher.finish();

    let before = peak_memory();
    let stored = blobs.put_file(&source).await.unwrap();
    let target = scratch.path().join("copy.bin");
    assert_eq!(blobs.fetch_to(stored.hash, &target).await.unwrap(), CHUNKS << 20);
    assert_eq!(blobs.verify(stored.hash).await.unwrap(), CHUNKS << 20);
    let after = peak_memory();

    assert_eq!((stored.hash, stored.size), (expected, CHUNKS << 20));
    if let (Some(before), Some(after)) = (before, after) {
        // Three parts of 5 MiB on the way, and what the server holds of two of them.
        assert!(after - before < 64 << 20, "memory grew by {} bytes", after - before);
    }
}

/// The most memory this process ever had, in bytes, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}
