//! Private servers for tests and benchmarks: each in a folder of its own, on a free port of the loopback address, gone
//! when it is dropped, also by a panic. An instance that was running before is never touched. Peers from npm. And the one
//! switch for tests that lack something: [`needs`].

#![cfg(unix)]
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

pub mod model_server;
pub mod needs;
pub mod npm;
pub mod object;
pub mod postgres;
pub mod process;
pub mod proxy;
pub mod rabbitmq;

pub use needs::{SmallDisk, has, missing, shared, skip};
pub use object::ObjectServer;
pub use postgres::PostgresServer;
pub use proxy::Proxy;
pub use rabbitmq::RabbitServer;

/// Names the database server that a whole run of tests may use, each test in a schema of its own: its URL.
pub const POSTGRES_FOR_TESTS: &str = "BINDERY_TEST_POSTGRES";
