//! Random operations on the PostgreSQL backend and on a model of it. `PROPTEST_CASES` sets how many random sequences.

mod postgres_server;

use bindery_conformance::{check_against_model, sequences::check_sequences};
use postgres_server::Server;

#[test]
fn the_store_behaves_like_its_model() {
    let Some(server) = Server::start() else { return };
    check_sequences(file!(), |ops| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { check_against_model(&server.fixture().await, ops).await });
    });
}
