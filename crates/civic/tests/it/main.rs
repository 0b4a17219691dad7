//! Councils followed on a real store: on SQLite, and on PostgreSQL where `BINDERY_TEST_POSTGRES` has the URL of a server.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod export;
mod hall;
mod ics;
#[path = "../../../engine/tests/stores/mod.rs"]
mod stores;
mod sync;
