//! The shipped pipeline on a real engine, from files to results: on SQLite, and on PostgreSQL where
//! `BINDERY_TEST_POSTGRES` has the URL of a server.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod desk;
mod documents;
mod external_tasks;
mod functions;
mod intake;
mod once;
mod output;
mod read;
mod reviews;
mod seed000;
mod seed002;
mod seed003;
mod service;
#[path = "../../../engine/tests/stores/mod.rs"]
mod stores;
mod typed_borders;
mod words;
