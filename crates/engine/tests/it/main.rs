//! The engine's tests: real store, real files, real workers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod seed000;
mod smoke;
mod support;
