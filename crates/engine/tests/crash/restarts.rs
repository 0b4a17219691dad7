//! A server that crashes while its workers are killed, and one acknowledgement in ten is sent twice.

use crate::{
    child::Orders,
    stores,
    torture::{Torture, kills_wanted},
};
use bindery_testkit::PostgresServer;

/// How often the server crashes, however many workers are killed meanwhile.
const RESTARTS: usize = 4;

#[test]
fn a_server_that_crashes_under_dying_workers_loses_and_repeats_nothing() {
    let Some(mut server) = PostgresServer::start() else { return };
    stores::use_server(server.url());
    let wanted = kills_wanted(8);
    let dir = tempfile::tempdir().unwrap();
    let orders = Orders { lease_ms: 500, twice: true, ..Orders::new(dir.path(), "worker") };
    let mut torture = Torture::begin(orders, if wanted > 100 { 60 } else { 20 });
    for crash in 1..=RESTARTS {
        while torture.kills < wanted * crash / (RESTARTS + 1) {
            torture.go_on();
        }
        server.crash_and_restart();
    }
    while torture.kills < wanted {
        torture.go_on();
    }
    println!("torture on PostgreSQL: {RESTARTS} crashes of the server, {}", torture.end());
}
