//! A crash at every named place.

use crate::{
    audit,
    child::{Orders, Then},
    site::{self, Site, WorkerProcess},
    workload::Shape,
};
use bindery_core::fault::FaultPoint;
use std::{
    os::unix::process::ExitStatusExt,
    sync::atomic::{AtomicUsize, Ordering},
};

/// How often each case crashes before a worker is left in peace.
const CRASHES: usize = 2;

/// At how many passes of a point to crash. All of them happen in every undisturbed run.
fn hits(point: FaultPoint) -> &'static [i64] {
    match point {
        FaultPoint::BeforeCommit | FaultPoint::AfterCommitBeforeAck => &[1, 7, 20, 40],
        FaultPoint::AfterClaim | FaultPoint::AfterWorkBeforeCommit => &[1, 4, 9],
        // Between the three commits of a fan-out; at the intake, and with the result.
        FaultPoint::MidFanOut | FaultPoint::AfterBlobBeforeCommit => &[1, 2],
        // Nine files are taken in; the tenth blob is the result.
        FaultPoint::BeforeBlobSync => &[1, 9, 10],
        FaultPoint::BeforeBlobRename => &[1, 5, 9],
        FaultPoint::BeforeFeedCommit => &[1],
    }
}

const SIGABRT: i32 = 6;

#[test]
fn a_crash_at_every_named_place_loses_and_repeats_nothing() {
    let cases: Vec<(FaultPoint, i64)> =
        FaultPoint::ALL.iter().flat_map(|point| hits(*point).iter().map(|hit| (*point, *hit))).collect();
    let (next, crashes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    // A case mostly waits for leases to run out, so a few at a time.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((point, hit)) = cases.get(next.fetch_add(1, Ordering::SeqCst)) {
                    crashes.fetch_add(crash_at(*point, *hit), Ordering::SeqCst);
                }
            });
        }
    });
    println!("crash points: {} cases, {} crashes, all counts exact", cases.len(), crashes.into_inner());
}

/// Crashes at the point, again, and then works on in peace. Returns how many crashes there were.
fn crash_at(point: FaultPoint, hit: i64) -> usize {
    let case = format!("{} at pass {hit}", point.as_str());
    let dir = tempfile::tempdir().unwrap();
    let shape = if point == FaultPoint::MidFanOut { Shape::Wide } else { Shape::Torture { files: 9 } };
    let mut orders = Orders { submit: vec![("case".to_owned(), shape)], ..Orders::new(dir.path(), "crashing") };
    orders.lease_ms = 300;
    orders.fault = Some((point.as_str().to_owned(), hit, Then::Abort));
    let (site, runtime) = (Site::undisturbed(dir.path()), site::runtime());
    let mut crashes = 0;
    for _ in 0..CRASHES {
        let mut worker = WorkerProcess::start(orders.clone());
        let mut ended = None;
        site::wait_until(&case, || {
            ended = worker.ended();
            // Blobs that are there are not put again, so a later run may pass a point less often.
            ended.is_some() || runtime.block_on(site.counts()) == (1, 0)
        });
        if let Some(status) = ended {
            assert_eq!(status.signal(), Some(SIGABRT), "{case}: {status}\n{}", worker.log());
            crashes += 1;
        }
    }
    assert!(crashes > 0, "{case}: it was never passed that often");
    orders.fault = None;
    "surviving".clone_into(&mut orders.name);
    let survivor = WorkerProcess::start(orders);
    site.wait_for_all(&runtime, 1);
    site.close();
    survivor.finish();
    let id = runtime.block_on(site.submit_now("case", shape));
    audit::check(&site, &runtime, &[(id, shape)]);
    crashes
}
