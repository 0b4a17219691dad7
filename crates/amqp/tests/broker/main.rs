//! Bindery on a real RabbitMQ.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[allow(dead_code, unused_imports, reason = "the engine's tests need more of it")]
#[path = "../../../engine/tests/it/docproc.rs"]
mod docproc;
mod node;
mod outage;
mod outside;
mod seed000;
mod seed002;
#[path = "../../../engine/tests/stores/mod.rs"]
mod stores;
#[allow(dead_code, unused_imports, reason = "the engine's tests need more of it")]
#[path = "../../../engine/tests/it/support.rs"]
mod support;
mod trouble;
