//! The suites that every backend must pass, written once.
//!
//! Each function takes a backend through its trait and panics with a sentence when a promise is not kept. They leave
//! behind what they stored, and do not mind what is there already, so they can run against a shared bucket too.

pub mod blobs;
