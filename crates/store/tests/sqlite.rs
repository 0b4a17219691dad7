//! The SQLite backend passes the suite that every store passes.

use bindery_conformance::{Fixture, rows::DOMAINS};
use bindery_core::{Clock, fault::NoFaults, time::ManualClock};
use bindery_store::sqlite::{Options, SqliteStore};
use std::sync::Arc;

async fn make_fixture() -> Fixture {
    let directory = tempfile::tempdir().expect("a directory for the database");
    let path = directory.path().join("bindery.db");
    let clock = Arc::new(ManualClock::default());
    let options = Options {
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
        faults: Arc::new(NoFaults),
        domains: DOMAINS,
        path: path.clone(),
        ..Options::at(path)
    };
    let store = SqliteStore::open(options).expect("a new database opens");
    Fixture::new(Arc::new(store), clock).with_guard(directory)
}

bindery_conformance::conformance_suite!(make_fixture);
