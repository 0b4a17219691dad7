//! Councils followed on a real store: on SQLite, and on PostgreSQL where `BINDERY_TEST_POSTGRES` has the URL of a server.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod analyst;
#[path = "../cities/mod.rs"]
mod cities;
mod conductor;
mod conductor_follows;
mod conductor_troubles;
mod export;
mod hall;
mod ics;
mod notices;
mod notices_sent;
mod office;
mod processing;
mod processing_matters;
mod processing_packets;
mod processing_run;
mod queue;
mod search;
#[allow(dead_code, reason = "these tests use a part of it")]
#[path = "../fetching/server.rs"]
mod server;
#[path = "../../../engine/tests/stores/mod.rs"]
mod stores;
#[allow(dead_code, reason = "these tests use a part of it")]
#[path = "../../../engine/tests/it/support.rs"]
mod support;
mod sync;
mod town;
#[allow(dead_code, reason = "these tests use a part of it")]
#[path = "../fetching/vendor.rs"]
mod vendor;
