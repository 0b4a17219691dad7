//! Several workers on one store: sharing, a frozen one, clocks that differ.

use crate::{
    audit,
    child::{Orders, Then},
    ledger::Ledger,
    site::{self, Site, WorkerProcess},
    stores,
    workload::Shape,
};
use bindery_core::fault::FaultPoint;
use bindery_testkit::{PostgresServer, Proxy};
use std::path::Path;

#[test]
fn two_processes_share_one_store_under_load() {
    let dir = tempfile::tempdir().unwrap();
    let (site, runtime) = (Site::undisturbed(dir.path()), site::runtime());
    let shape = Shape::Torture { files: 20 };
    let workers = [site.start("one"), site.start("two")];
    // Taken in while both are at work, however long one of them takes to start.
    site::wait_until("two workers", || runtime.block_on(site.store.workers()).unwrap().len() == workers.len());
    let submissions: Vec<_> =
        (0..4).map(|index| (runtime.block_on(site.submit_now(&format!("case-{index}"), shape)), shape)).collect();
    site.wait_for_all(&runtime, submissions.len());
    site.close();
    let finished = workers.map(WorkerProcess::finish);
    assert!(finished.iter().all(|finished| *finished > 0), "one of them did nothing: {finished:?}");
    println!("two processes: {}", audit::check(&site, &runtime, &submissions));
}

/// A frozen process keeps the locks it has; a test that waits for others must not freeze it inside a transaction.
fn freeze_outside_of_transactions(worker: &WorkerProcess, root: &Path) {
    site::wait_until("a moment without a transaction", || {
        worker.freeze();
        let free = Ledger::nobody_writes(root);
        if !free {
            worker.thaw();
        }
        free
    });
}

#[test]
fn a_worker_frozen_past_its_lease_cannot_commit() {
    let dir = tempfile::tempdir().unwrap();
    let (site, runtime) = (Site::undisturbed(dir.path()), site::runtime());
    let shape = Shape::Torture { files: 1 };
    let id = runtime.block_on(site.submit_now("case", shape));
    // It has done the work of the only job, and is about to commit it.
    let mut orders = Orders::new(dir.path(), "frozen");
    orders.fault = Some((FaultPoint::AfterWorkBeforeCommit.as_str().to_owned(), 1, Then::Hold));
    let frozen = WorkerProcess::start(orders);
    site::wait_until("a worker that has done its work", || frozen.orders.holding().exists());
    freeze_outside_of_transactions(&frozen, dir.path());
    let other = site.start("other");
    site.wait_for_all(&runtime, 1);
    std::fs::write(frozen.orders.go_on(), "").unwrap();
    frozen.thaw();
    site.close();
    assert_eq!(frozen.finish(), 0, "the late commit was taken");
    assert!(other.finish() > 0);
    println!("frozen past the lease: {}", audit::check(&site, &runtime, &[(id, shape)]));
}

#[test]
fn clocks_that_differ_by_two_hours_change_no_count() {
    const HOUR_MS: i64 = 60 * 60 * 1000;
    let dir = tempfile::tempdir().unwrap();
    let (site, runtime) = (Site::undisturbed(dir.path()), site::runtime());
    let shape = Shape::Torture { files: 20 };
    let start =
        |name: &str, clock_ahead_ms| WorkerProcess::start(Orders { clock_ahead_ms, ..Orders::new(dir.path(), name) });
    let workers = [start("ahead", HOUR_MS), start("behind", -HOUR_MS)];
    let submissions: Vec<_> =
        (0..2).map(|index| (runtime.block_on(site.submit_now(&format!("case-{index}"), shape)), shape)).collect();
    site.wait_for_all(&runtime, submissions.len());
    site.close();
    for worker in workers {
        worker.finish();
    }
    println!("clocks two hours apart: {}", audit::check(&site, &runtime, &submissions));
}

#[test]
fn of_three_workers_on_one_submission_one_that_is_cut_off_is_fenced() {
    let Some(server) = PostgresServer::start() else { return };
    stores::use_server(server.url());
    let dir = tempfile::tempdir().unwrap();
    let (site, runtime) = (Site::undisturbed(dir.path()), site::runtime());
    let shape = Shape::Torture { files: 40 };
    let id = runtime.block_on(site.submit_now("case", shape));
    // Its own cable to the server. It has done some work, and is about to commit it.
    let cable = Proxy::to(server.port());
    let mut orders = Orders::new(dir.path(), "cut-off");
    orders.server = Some(server.url().replace(&format!(":{}/", server.port()), &format!(":{}/", cable.port())));
    orders.fault = Some((FaultPoint::AfterWorkBeforeCommit.as_str().to_owned(), 3, Then::Hold));
    let cut_off = WorkerProcess::start(orders);
    site::wait_until("a worker that has done some work", || cut_off.orders.holding().exists());
    cable.cut();
    std::fs::write(cut_off.orders.go_on(), "").unwrap();
    let others = [site.start("one"), site.start("two")];
    site.wait_for_all(&runtime, 1);
    // The submission is complete without it. What it wants to commit now arrives late.
    cable.mend();
    site.close();
    assert!(others.map(WorkerProcess::finish).iter().all(|finished| *finished > 0), "both took part");
    let before = cut_off.finish();
    println!("one of three cut off after {before} jobs: {}", audit::check(&site, &runtime, &[(id, shape)]));
}
