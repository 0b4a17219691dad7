//! Large files pass through in pieces. Alone in its file, because it measures the memory of its whole process.

use bindery_core::hash::Hasher;
use bindery_store::blobs::{Blobs, LocalBlobs};
use std::{
    fs::{self, File},
    io::Write,
};

#[tokio::test]
async fn a_large_file_passes_through_in_little_memory() {
    const CHUNK: usize = 1 << 20;
    let scratch = tempfile::tempdir().unwrap();
    let blobs = LocalBlobs::open(scratch.path().join("blobs")).unwrap();
    let source = scratch.path().join("large.bin");
    let mut hasher = Hasher::default();
    let mut file = File::create(&source).unwrap();
    for number in 0..64_u8 {
        let chunk = vec![number; CHUNK];
        hasher.update(&chunk);
        file.write_all(&chunk).unwrap();
    }
    let expected = hasher.finish();

    let before = peak_memory();
    let stored = blobs.put_file(&source).await.unwrap();
    let target = scratch.path().join("copy.bin");
    assert_eq!(blobs.fetch_to(stored.hash, &target).await.unwrap(), 64 << 20);
    assert_eq!(blobs.verify(stored.hash).await.unwrap(), 64 << 20);
    let after = peak_memory();

    assert_eq!((stored.hash, stored.size), (expected, 64 << 20));
    if let (Some(before), Some(after)) = (before, after) {
        assert!(after - before < 16 << 20, "memory grew by {} bytes", after - before);
    }
}

/// The most memory this process ever had, in bytes, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}
