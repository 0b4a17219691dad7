//! Random operations on the SQLite backend and on a model of it. `PROPTEST_CASES` sets how many sequences.

use bindery_core::{Clock, fault::NoFaults, time::ManualClock};
use bindery_store::{
    conformance::{Fixture, check_against_model, ops::ops},
    sqlite::{Options, SqliteStore},
};
use proptest::{
    prelude::*,
    test_runner::{Config, FileFailurePersistence},
};
use std::sync::Arc;

fn make_fixture() -> Fixture {
    let directory = tempfile::tempdir().expect("a directory for the database");
    let path = directory.path().join("bindery.db");
    let clock = Arc::new(ManualClock::default());
    let options = Options {
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
        faults: Arc::new(NoFaults),
        path: path.clone(),
        ..Options::at(path)
    };
    let store = SqliteStore::open(options).expect("a new database opens");
    Fixture::new(Arc::new(store), clock).keeping(directory)
}

fn config() -> Config {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(64);
    // Sequences that failed once are kept beside this file and tried first.
    let failure_persistence = Some(Box::new(FileFailurePersistence::WithSource("failures")) as _);
    Config { cases, failure_persistence, ..Config::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_store_behaves_like_its_model(ops in ops()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { check_against_model(&make_fixture(), &ops).await });
    }
}
