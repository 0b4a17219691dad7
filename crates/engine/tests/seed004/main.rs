//! Seed 004: processors that run in three steps, on three runners, and resume where they failed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod examples;
mod inputs;
mod logs;
mod resume;
mod runners;
mod shapes;
mod support;

use bindery_engine::runner::{Runner, Sequential, Threads};
use std::sync::Arc;
use support::Desk;

/// Every runner there is, each ready to work on the processors of these tests.
fn runners() -> Vec<Arc<dyn Runner>> {
    vec![Arc::new(Sequential), Arc::new(Threads::new(4))]
}

/// The same test on each runner; what fails says where.
fn on_every_runner(test: impl Fn(&Desk)) {
    for runner in runners() {
        println!("on the {} runner", runner.kind());
        test(&Desk::new(runner));
    }
}
