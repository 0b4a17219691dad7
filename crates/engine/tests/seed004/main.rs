//! Seed 004: processors that run in three steps, on three runners, and resume where they failed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![allow(clippy::print_stdout, reason = "a test that fails should say on which runner")]

mod examples;
mod inputs;
mod logs;
mod resume;
mod runners;
mod shapes;
mod support;

use bindery_engine::runner::{ChildCommand, Processes, Runner, Sequential, Threads, processes};
use std::sync::Arc;
use support::Desk;

/// Set in the environment of a child.
const CHILD: &str = "BINDERY_TEST_CHILD";

/// Not a test: what this binary does when it is run again as a child.
#[test]
fn child_main() {
    if std::env::var_os(CHILD).is_some() {
        processes::serve(&support::registry(), &processes::local_blobs).unwrap();
    }
}

/// Children of this test binary.
fn in_processes(workers: usize) -> Processes {
    let args = ["child_main", "--exact", "--nocapture", "--test-threads=1"];
    Processes::new(ChildCommand::own(args).unwrap().with_env(CHILD, "1"), workers)
}

/// Every runner there is, each ready to work on the processors of these tests.
fn runners() -> Vec<Arc<dyn Runner>> {
    vec![Arc::new(Sequential), Arc::new(Threads::new(4)), Arc::new(in_processes(2))]
}

/// The same test on each runner; what fails says where.
fn on_every_runner(test: impl Fn(&Desk)) {
    for runner in runners() {
        println!("on the {} runner", runner.kind());
        test(&Desk::new(runner));
    }
}
