//! Random operations on the SQLite backend and on a model of it. `PROPTEST_CASES` sets how many random sequences.

use bindery_conformance::{Fixture, check_against_model, sequences::check_sequences};
use bindery_core::{Clock, fault::NoFaults, time::ManualClock};
use bindery_store::sqlite::{Options, SqliteStore};
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
    Fixture::new(Arc::new(store), clock).with_guard(directory)
}

#[test]
fn the_store_behaves_like_its_model() {
    check_sequences(file!(), |ops| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { check_against_model(&make_fixture(), ops).await });
    });
}
