//! The crash suite's torture with a broker: workers are killed, the database crashes, RabbitMQ is killed, and one batch of
//! commits in ten is sent twice. The workload, the workers and the count are the engine's.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![allow(clippy::print_stdout, reason = "the summary of a torture is its result")]
#![allow(dead_code, reason = "the engine's tests need more of it")]

#[path = "../../../engine/tests/crash/audit.rs"]
mod audit;
mod carrier;
#[path = "../../../engine/tests/crash/child.rs"]
mod child;
#[path = "../../../engine/tests/crash/ledger.rs"]
mod ledger;
#[path = "../../../engine/tests/crash/site.rs"]
mod site;
#[path = "../../../engine/tests/stores/mod.rs"]
mod stores;
#[path = "../../../engine/tests/crash/torture.rs"]
mod torture;
#[path = "../../../engine/tests/crash/twice.rs"]
mod twice;
#[path = "../../../engine/tests/crash/workload.rs"]
mod workload;

use bindery_testkit::{PostgresServer, RabbitServer};
use child::Orders;
use ledger::Ledger;
use torture::{Torture, kills_wanted};

/// How often each of the servers is killed, however many workers are killed meanwhile.
const RESTARTS: usize = 3;

/// Not a test: what this binary does when it is run again as a worker.
#[test]
fn worker_process() {
    if let Some(orders) = Orders::from_environment() {
        child::work(&orders);
    }
}

#[test]
fn killed_workers_database_and_broker_lose_and_repeat_nothing() {
    let (Some(mut server), Some(broker)) = (PostgresServer::start(), RabbitServer::start()) else { return };
    stores::use_server(server.url());
    let wanted = kills_wanted(6);
    let dir = tempfile::tempdir().unwrap();
    let orders =
        Orders { lease_ms: 1_000, twice: true, broker: Some(broker.url()), ..Orders::new(dir.path(), "worker") };
    let mut torture = Torture::begin(orders, if wanted > 100 { 30 } else { 10 });
    // A broker that is killed while it makes a quorum queue may never serve that queue again: not before they are in use.
    torture.go_on();
    site::wait_until("work that goes on", || Ledger::open(dir.path()).yes("SELECT count(*) > 20 FROM outcome"));
    for round in 1..=2 * RESTARTS {
        while torture.kills < wanted * round / (2 * RESTARTS + 1) {
            torture.go_on();
        }
        if round % 2 == 0 {
            server.crash_and_restart();
        } else {
            broker.kill();
            broker.start_again();
        }
    }
    while torture.kills < wanted {
        torture.go_on();
    }
    println!("torture with RabbitMQ: {RESTARTS} crashes of the database, {RESTARTS} of the broker, {}", torture.end());
}
