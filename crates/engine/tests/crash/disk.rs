//! A disk that is full for a while.

use crate::{
    audit,
    ledger::Ledger,
    site::{self, Site},
    stores,
    workload::Shape,
};
use bindery_core::job::JobState;
use bindery_engine::EngineError;
use bindery_store::{StoreError, blobs::BlobError, query::JobFilter};
use bindery_testkit::SmallDisk;
use std::{fs::File, io::Write, path::PathBuf};

/// Fills a disk to the last byte. Returns what it is filled with.
fn fill(disk: &SmallDisk) -> PathBuf {
    let path = disk.path().join("ballast");
    let mut ballast = File::options().create(true).append(true).open(&path).unwrap();
    for size in [1 << 16, 1 << 12, 1 << 8, 1] {
        while ballast.write_all(&vec![0; size]).is_ok() {}
    }
    path
}

#[test]
fn a_full_disk_stops_nothing_for_good() {
    if stores::postgres().is_some() {
        bindery_testkit::skip("the disk is the server's");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(&dir.path().join("disk")).unwrap() else { return };
    let (site, runtime) = (Site::undisturbed(disk.path()), site::runtime());
    let shape = Shape::Torture { files: 20 };
    let id = runtime.block_on(site.submit_now("before", shape));
    let mut worker = site.start("worker");
    let begun = "SELECT count(*) > 20 FROM outcome";
    site::wait_until("a worker that has begun", || Ledger::open(disk.path()).yes(begun));
    let ballast = fill(&disk);

    let mut refusals = 0;
    site::wait_until("a clear refusal", || {
        match runtime.block_on(site.submit("during", shape)) {
            Err(EngineError::Store(error @ StoreError::Full { .. })) => {
                assert!(
                    error.to_string().ends_with("no space left on the disk; nothing of the last change was stored")
                );
                refusals += 1;
            }
            // The bytes come first; they say it as clearly.
            Err(EngineError::Blob(error @ BlobError::NoSpace { .. })) => {
                assert!(error.to_string().starts_with("no space left to write "), "{error}");
                refusals += 1;
            }
            // A little space was given back by somebody else's file.
            Ok(_) => drop(fill(&disk)),
            Err(other) => panic!("not a clear refusal: {other}"),
        }
        refusals >= 20
    });
    assert!(worker.is_alive(), "the worker died of it:\n{}", worker.log());
    std::fs::remove_file(ballast).unwrap();

    let during = runtime.block_on(site.submit_now("during", shape));
    site::wait_until("submissions that become final", || {
        // What was parked for want of space waits for the person who has made some.
        let parked = JobFilter { states: vec![JobState::Parked], ..JobFilter::default() };
        runtime.block_on(site.store.retry(parked)).unwrap();
        runtime.block_on(site.counts()) == (2, 0)
    });
    assert!(worker.is_alive(), "the worker died of it:\n{}", worker.log());
    site.close();
    worker.finish();
    println!("full disk: {refusals} refusals, {}", audit::check(&site, &runtime, &[(id, shape), (during, shape)]));
}
