//! Children that want too much.

use crate::child::{deeds, error, output, processes, units};
use crate::run_all::run_all;
use bindery_core::error::ErrorClass;
use bindery_engine::runner::{Task, Unit};
use serde_json::{Value, json};

const LIMIT: u64 = 200 << 20;

fn limited() -> Task {
    let mut task = deeds();
    task.limits.memory = Some(LIMIT);
    task
}

/// Fails alone, and says why.
fn refused(bad: &Value) -> String {
    let pile = [json!({"do": "nothing"}), bad.clone(), json!({"do": "nothing"})];
    let (results, report) = run_all(&processes(1), &limited(), units(pile));
    let mut results = results.into_iter().map(Option::unwrap);
    output(results.next().unwrap());
    let bad = results.next().unwrap();
    output(results.next().unwrap());
    assert_eq!(report.replaced, 2);
    let error = error(bad);
    assert_eq!((error.kind.as_str(), error.class()), ("MemoryLimit", ErrorClass::Reject), "{error}");
    error.message
}

#[test]
fn a_huge_allocation_ends_the_child_and_not_the_machine() {
    let message = refused(&json!({"do": "want", "bytes": 2_u64 << 30}));
    assert_eq!(message, "asked for 2048.0 MiB of memory at once and could not have it; its limit is 200.0 MiB");
}

#[test]
fn a_child_that_swells_is_killed() {
    let message = refused(&json!({"do": "swell"}));
    assert!(message.contains("limit of 200.0 MiB") || message.contains("limit is 200.0 MiB"), "{message}");
}

#[test]
fn what_fits_is_done_and_measured() {
    let runner = processes(1);
    let want = |bytes: u64| Unit::new(json!({"do": "want", "bytes": bytes}));
    let ran = runner.run_one(&limited(), want(100 << 20));
    assert!(ran.peak_memory.unwrap() > 100 << 20);
    assert_eq!(output(ran), json!({"last": 1}));
    // Another task, another limit, the same child.
    let pids = runner.pids();
    assert_eq!(output(runner.run_one(&deeds(), want(300 << 20))), json!({"last": 1}));
    assert_eq!(runner.pids(), pids);
}
