//! Seed 004: processors that run in three steps, on three runners, and resume where they failed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![allow(clippy::print_stdout, reason = "a test that fails should say on which runner")]

mod examples;
mod inputs;
mod logs;
mod resume;
#[path = "../run_all/mod.rs"]
mod run_all;
mod runners;
mod shapes;
mod support;

use bindery_engine::{
    execution::{ExecutionContext, ProcessingResult},
    runner::{ChildCommand, Processes, Runner, Sequential, Threads, processes},
};
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

/// The context of a retry of a run.
fn retry_context(failed: &ProcessingResult) -> ExecutionContext {
    failed.context.for_retry(&failed.run_id, failed.last_error_step())
}

/// Children of this test binary.
fn in_processes(workers: usize) -> Processes {
    let args = ["child_main", "--exact", "--nocapture", "--test-threads=1"];
    let command = ChildCommand { env: vec![(CHILD.into(), "1".into())], ..ChildCommand::own(args).unwrap() };
    Processes::new(command, workers)
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
