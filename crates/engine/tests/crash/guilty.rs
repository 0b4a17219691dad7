//! Pages that kill whoever reads them, among innocent ones.

use crate::{
    audit,
    child::Orders,
    ledger::Ledger,
    site::{self, Site, WorkerProcess},
    torture::kills_wanted,
    workload::{Shape, assert_shipped_limits},
};
use std::{
    os::unix::process::ExitStatusExt,
    time::{Duration, Instant},
};

const WORKERS: usize = 2;
const SIGABRT: i32 = 6;

/// How many workers die for each guilty page alone, by the limit that we ship.
const DEATHS: usize = 10;

/// No number of deaths should take this long.
const PATIENCE: Duration = Duration::from_mins(10);

#[test]
fn a_page_that_kills_its_workers_fails_alone() {
    assert_shipped_limits();
    let guilty = (kills_wanted(DEATHS) / 100).clamp(1, 10);
    let dir = tempfile::tempdir().unwrap();
    let (site, runtime) = (Site::undisturbed(dir.path()), site::runtime());
    let shapes = std::iter::repeat_n(Shape::Guilty { files: 12 }, guilty).chain([Shape::Torture { files: 12 }]);
    let submissions: Vec<_> = shapes
        .enumerate()
        .map(|(index, shape)| (runtime.block_on(site.submit_now(&format!("case-{index}"), shape)), shape))
        .collect();
    let mut started = 0;
    let mut start = || {
        started += 1;
        let name = format!("worker-{started}");
        WorkerProcess::start(Orders { lease_ms: 500, ..Orders::new(dir.path(), &name) })
    };
    let mut crew: Vec<WorkerProcess> = (0..WORKERS).map(|_| start()).collect();
    let (begun, mut deaths) = (Instant::now(), 0);
    while runtime.block_on(site.counts()) != (submissions.len(), 0) {
        assert!(begun.elapsed() < PATIENCE, "it does not come to an end after {deaths} deaths");
        for worker in &mut crew {
            if let Some(status) = worker.ended() {
                assert_eq!(status.signal(), Some(SIGABRT), "{status}\n{}", worker.log());
                deaths += 1;
                *worker = start();
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    site.close();
    for worker in crew {
        worker.finish();
    }
    // The count is exact: of each guilty submission one page more has failed than of an innocent one.
    let tally = audit::check(&site, &runtime, &submissions);
    let ledger = Ledger::open(dir.path());
    let killers = "SELECT count(*) FROM job WHERE state = 5 AND losses > 0";
    assert_eq!(usize::try_from(ledger.number(killers)).unwrap(), guilty, "who was blamed");
    let message = "SELECT count(*) FROM job WHERE state = 5 AND losses = 10 \
                   AND json_extract(error, '$.message') LIKE 'killed its worker 10 times%'";
    assert_eq!(usize::try_from(ledger.number(message)).unwrap(), guilty, "who is told why");
    let most = "SELECT count(*) FROM job WHERE attempt > 3";
    assert_eq!(ledger.number(most), 0, "more attempts than there are");
    assert!(deaths > guilty * DEATHS, "{deaths} deaths");
    println!("{guilty} guilty pages: {deaths} deaths of workers, 0 innocent pages failed, {tally}");
}
