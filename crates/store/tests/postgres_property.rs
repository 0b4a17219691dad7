//! Random operations on the PostgreSQL backend and on a model of it. `PROPTEST_CASES` sets how many sequences.

mod postgres_server;

use bindery_store::conformance::{check_against_model, ops::ops};
use postgres_server::Server;
use proptest::test_runner::{Config, FileFailurePersistence, TestRunner};

#[test]
fn the_store_behaves_like_its_model() {
    let Some(server) = Server::start() else { return };
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(64);
    // Sequences that failed once are kept beside this file and tried first.
    let failure_persistence = Some(Box::new(FileFailurePersistence::WithSource("failures")) as _);
    let source_file = Some(file!());
    let config = Config { cases, failure_persistence, source_file, ..Config::default() };
    let checked = TestRunner::new(config).run(&ops(), |ops| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { check_against_model(&server.fixture().await, &ops).await });
        Ok(())
    });
    if let Err(error) = checked {
        panic!("{error}");
    }
}
