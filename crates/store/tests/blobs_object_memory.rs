//! Large files pass through in pieces. Alone in its file, because it measures the memory of its whole process.
#![cfg(feature = "object-storage")]

mod object_server;

use bindery_core::hash::Hasher;
use bindery_store::blobs::{Blobs, ObjectIntake};
use object_server::Stage;
use std::{
    fs::{self, File},
    io::Write,
};

const CHUNK: usize = 1 << 20;
const CHUNKS: u64 = 192;

#[tokio::test]
async fn a_large_file_passes_through_in_little_memory() {
    let Some(stage) = Stage::new().await else { return };
    let blobs = stage.open().await;
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
    // What others put there comes in no other way.
    let intake = ObjectIntake::open_with(&format!("{}/sha256", stage.url()), stage.options()).await.unwrap();
    let offer = intake.list(None).next().await.unwrap().unwrap();
    assert_eq!(intake.fetch_to(&offer, &target).await.unwrap(), CHUNKS << 20);
    let after = peak_memory();

    assert_eq!((stored.hash, stored.size), (expected, CHUNKS << 20));
    if let (Some(before), Some(after)) = (before, after) {
        // Three parts of 5 MiB on the way, and what is between the client and the server.
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
