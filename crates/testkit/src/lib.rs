//! Private servers for tests and benchmarks: each in a folder of its own, on a free port of the loopback address, gone
//! when it is dropped, also by a panic. An instance that was running before is never touched. And peers from npm.

#![cfg(unix)]
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

pub mod model_server;
pub mod npm;
pub mod object;
pub mod postgres;
pub mod process;
pub mod proxy;
pub mod rabbitmq;

pub use object::ObjectServer;
pub use postgres::PostgresServer;
pub use proxy::Proxy;
pub use rabbitmq::RabbitServer;

/// Names the database server that a whole run of tests may use, each test in a schema of its own: its URL.
pub const POSTGRES_FOR_TESTS: &str = "BINDERY_TEST_POSTGRES";

/// Where this is set, a server that is not installed is a failure: nothing is skipped where others rely on the tests.
pub const SERVERS_REQUIRED: &str = "BINDERY_REQUIRE_SERVERS";

pub(crate) fn refuse_where_required(not_installed: &str) {
    let is_required = std::env::var_os(SERVERS_REQUIRED).is_some_and(|value| !value.is_empty());
    assert!(!is_required, "{SERVERS_REQUIRED} is set: {not_installed}");
}
