//! How many children there are, and when they end.

use crate::child::{deeds, is_alive, number_in, output, processes, signal, tried, units, wait_until};
use crate::run_all::run_all;
use bindery_engine::runner::Unit;
use rustix::process::Signal;
use serde_json::json;
use std::collections::BTreeSet;

fn pids_that_worked(runner: &bindery_engine::runner::Processes, inputs: usize) -> BTreeSet<u64> {
    let (results, _) = run_all(runner, &deeds(), units((0..inputs).map(|_| json!({"do": "pid"}))));
    results.into_iter().map(|ran| output(ran.unwrap()).as_u64().unwrap()).collect()
}

#[test]
fn children_are_used_again_and_never_more_than_asked_for() {
    let runner = processes(3);
    assert!(runner.pids().is_empty());
    let mut all = pids_that_worked(&runner, 300);
    all.extend(pids_that_worked(&runner.clone(), 300));
    let known: BTreeSet<u64> = runner.pids().into_iter().map(u64::from).collect();
    assert!(all.is_subset(&known), "{all:?} {known:?}");
    assert!(known.len() <= 3);
}

#[test]
fn many_threads_share_the_children() {
    let runner = processes(2);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for number in 0..25 {
                    let input = json!({"do": "nothing", "number": number});
                    assert_eq!(output(runner.run_one(&deeds(), Unit::new(input.clone()))), input);
                }
            });
        }
    });
    assert!(runner.pids().len() <= 2);
}

#[test]
fn no_child_is_left_when_the_last_clone_is_dropped() {
    let runner = processes(2);
    pids_that_worked(&runner, 100);
    let (pids, clone) = (runner.pids(), runner.clone());
    drop(runner);
    assert!(!pids.is_empty() && pids.iter().all(|pid| is_alive(*pid)));
    drop(clone);
    assert!(!pids.iter().any(|pid| is_alive(*pid)));
}

#[test]
fn a_frozen_child_is_not_left_either() {
    let runner = processes(1);
    pids_that_worked(&runner, 1);
    let pid = runner.pids()[0];
    signal(pid, Signal::STOP);
    drop(runner);
    assert!(!is_alive(pid));
}

#[test]
fn a_child_that_ended_while_idle_is_nobodys_fault() {
    let runner = tried(1, 1);
    pids_that_worked(&runner, 1);
    let pid = runner.pids()[0];
    signal(pid, Signal::KILL);
    wait_until("the end of the child", || !is_alive(pid));
    assert_ne!(output(runner.run_one(&deeds(), Unit::new(json!({"do": "pid"})))), json!(pid));
}

#[test]
fn what_a_step_has_started_ends_with_its_child() {
    for then in ["return", "exit"] {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("pid");
        let runner = tried(1, 1);
        let ran = runner.run_one(&deeds(), Unit::new(json!({"do": "start another", "then": then, "file": file})));
        assert_eq!(ran.result.is_ok(), then == "return");
        let grandchild = number_in(&file);
        if then == "return" {
            assert!(is_alive(grandchild));
            drop(runner);
        }
        wait_until("the end of the grandchild", || !is_alive(grandchild));
    }
}

/// The parent here is a process between: when it is killed, it can do nothing for its children.
#[test]
fn a_child_ends_with_its_parent_even_while_a_step_runs() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pid");
    let mut between = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["life::parent_to_be_killed", "--exact", "--nocapture"])
        .env(BETWEEN, &file)
        .spawn()
        .unwrap();
    let pid = number_in(&file);
    between.kill().unwrap();
    between.wait().unwrap();
    wait_until("the end of the child", || !is_alive(pid));
}

const BETWEEN: &str = "BINDERY_TEST_PARENT";

/// Not a test: the parent that is killed.
#[test]
fn parent_to_be_killed() {
    if let Some(file) = std::env::var_os(BETWEEN) {
        let file = std::path::PathBuf::from(file);
        processes(1).run_one(&deeds(), Unit::new(json!({"do": "hold", "file": file})));
    }
}
