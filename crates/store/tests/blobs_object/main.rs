//! Object storage on a real S3 server: the suite that every backend passes, and what only services do. Starting a
//! server takes longer than most of these tests, so that few of them stand alone.
#![cfg(feature = "object-storage")]
#![expect(clippy::unwrap_used, reason = "the parts of a test are functions of their own")]

mod faults;
mod incoming;
#[path = "../object_server/mod.rs"]
mod object_server;
mod others;
mod promises;
mod uploads;
