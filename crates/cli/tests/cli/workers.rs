//! Who works on a store, and who did.

use crate::{
    postgres::desk_on,
    support::{Desk, PATIENCE, SLOW},
};
use bindery_testkit::PostgresServer;
use rustix::process::Signal;
use serde_json::Value;
use std::time::{Duration, Instant};

fn listed(desk: &Desk) -> Vec<Value> {
    let ran = desk.bindery(&["workers", "--json"]);
    // Before the first worker there is no store.
    if ran.code == Some(0) { ran.json().as_array().unwrap().clone() } else { Vec::new() }
}

fn wait_until(desk: &Desk, what: &str, holds: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    let begun = Instant::now();
    loop {
        let workers = listed(desk);
        if holds(&workers) {
            return workers;
        }
        assert!(begun.elapsed() < PATIENCE, "waited too long until {what}: {workers:#?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn workers_come_and_go(desk: &Desk) {
    desk.write("workflows/slow.yaml", SLOW.replace("delay_ms: 20", "delay_ms: 400"));
    let lines: Vec<String> = (0..40).map(|line| format!("line {line}")).collect();
    desk.write("a.txt", lines.join("\n"));
    desk.bindery(&["submit", "a.txt", "--workflow", "slow"]).ok();
    let worker = desk.start(&["worker", "--threads", "2"]);
    let seen = wait_until(desk, "it holds pages", |workers| {
        workers.iter().any(|worker| worker["holds"]["count"] != Value::Null)
    });
    let (name, pid) = (seen[0]["worker"].as_str().unwrap(), worker.0.id().to_string());
    assert_eq!(seen[0]["state"], "working");
    assert!(name.contains(&format!("-{pid}-")), "{name} does not say which process it is, {pid}");
    let shown = desk.bindery(&["workers"]).ok().out;
    assert!(shown.contains(name) && shown.contains("working"), "{shown}");
    worker.signal(Signal::TERM);
    assert_eq!(worker.wait(), Some(0));
    let after = listed(desk);
    assert_eq!((after.len(), &after[0]["state"]), (1, &Value::from("stopped")), "{after:#?}");
    assert!(after[0]["finished"].as_u64().unwrap() > 0 && after[0]["holds"].as_object().unwrap().is_empty());
    let again = desk.start(&["worker"]);
    let both = wait_until(desk, "there are two", |workers| workers.len() == 2);
    assert_ne!(both[0]["worker"], both[1]["worker"]);
    again.kill();
}

#[test]
fn workers_are_seen_coming_and_going() {
    workers_come_and_go(&Desk::new());
}

#[test]
fn workers_on_postgresql_are_seen_coming_and_going() {
    if let Some(server) = PostgresServer::start() {
        workers_come_and_go(&desk_on(&server));
    }
}

#[test]
fn a_worker_for_a_stage_leaves_the_others_alone() {
    let desk = Desk::new();
    desk.write("a.txt", "one two three");
    desk.bindery(&["submit", "--workflow", "words", "a.txt"]).ok();
    let said = "there is no stage \"cuont\"; known are ";
    let ran = desk.bindery(&["worker", "--until-idle", "--stages", "cuont"]).fails_with(2, said);
    assert!(ran.err.contains("words/consolidate, words/count, words/split"), "{ran:?}");
    desk.bindery(&["worker", "--until-idle", "--stages", "split"]).ok();
    assert_eq!(crate::support::stage(&desk.status("sub_1"), "count")["waiting"], 1);
    desk.bindery(&["worker", "--until-idle", "--stages", "words/count,consolidate"]).ok();
    assert_eq!(desk.status("sub_1")["status"], "completed");
}

/// A program of which each execution is a line of `executions`.
const RECORDER: &str = "name: recorder
version: 1
command:
  run: [python3, -S, -E, recorder.py]
  timeout_seconds: 3
";
const RECORDER_PROGRAM: &str = r#"
import json, sys, time
request = json.load(sys.stdin)
open("executions", "a").write(str(request["attempt"]) + "\n")
time.sleep(1)
print(json.dumps({"output": request["input"]}))
"#;
const RECORDED: &str = "name: recorded
version: 1
stages:
  - {name: split, component: text_splitter, over: file, parallel: true}
  - {name: record, component: recorder, over: page, parallel: true, timeout_seconds: 3}
  - name: consolidate
    component: word_consolidator
    aggregation: {collect_by: submission_id, expect_count_from: page_count}
";

#[test]
fn a_worker_that_was_frozen_gives_its_steps_the_time_that_it_was_away() {
    let desk = Desk::new();
    desk.write("workflows/recorded.yaml", RECORDED);
    desk.write("processors/recorder.yaml", RECORDER);
    desk.write("processors/recorder.py", RECORDER_PROGRAM);
    desk.write("a.txt", "one page");
    desk.bindery(&["submit", "a.txt", "--workflow", "recorded"]).ok();
    let worker = desk.start(&["worker"]);
    let begun = Instant::now();
    let executions = desk.path("processors/executions");
    while !executions.exists() {
        assert!(begun.elapsed() < PATIENCE, "the program was not started");
        std::thread::sleep(Duration::from_millis(10));
    }
    worker.signal(Signal::STOP);
    // Longer than the step and its program may take, and shorter than the lease.
    std::thread::sleep(Duration::from_secs(5));
    worker.signal(Signal::CONT);
    let status = desk.wait_for("sub_1", "it is final", crate::support::is_final);
    let log = std::fs::read_to_string(desk.path("worker.log")).unwrap();
    assert_eq!(std::fs::read_to_string(&executions).unwrap(), "1\n", "{status:#} {log}");
    assert!(!log.contains("takes too long"), "{log}");
}

/// What `bindery jobs` shows of the one job of the recorder.
fn attempt_shown(desk: &Desk) -> Option<u64> {
    let jobs = desk.bindery(&["jobs", "--stage", "record", "--json"]).ok().json();
    jobs[0]["attempt"].as_u64()
}

#[test]
fn the_attempt_that_is_shown_is_never_above_the_limit() {
    let desk = Desk::new();
    desk.write("workflows/recorded.yaml", RECORDED.replace("timeout_seconds: 3", "timeout_seconds: 60"));
    desk.write("processors/recorder.yaml", RECORDER.replace("timeout_seconds: 3", "timeout_seconds: 60"));
    desk.write("processors/recorder.py", RECORDER_PROGRAM.replace("sleep(1)", "sleep(50)"));
    desk.write("a.txt", "one page");
    desk.bindery(&["submit", "a.txt", "--workflow", "recorded"]).ok();
    let executions = || std::fs::read_to_string(desk.path("processors/executions")).unwrap_or_default();
    // More deaths than a job has attempts, and none of them is the fault of the job.
    for deaths in 1..=4 {
        let worker = desk.start(&["worker", "--lease-seconds", "1"]);
        let begun = Instant::now();
        while executions().lines().count() < deaths {
            assert!(begun.elapsed() < PATIENCE, "the program was not started for the {deaths}. time: {}", executions());
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(attempt_shown(&desk), Some(1), "while it runs, behind {} deaths", deaths - 1);
        worker.kill();
        assert!(attempt_shown(&desk) <= Some(1), "behind {deaths} deaths");
    }
    assert_eq!(executions(), "1\n1\n1\n1\n");

    // Now every attempt fails, and is counted.
    desk.write("processors/recorder.py", RECORDER_PROGRAM.replace("time.sleep(1)", "sys.exit(75)"));
    desk.bindery(&["worker", "--until-idle", "--lease-seconds", "1"]);
    assert_eq!(executions(), "1\n1\n1\n1\n1\n2\n3\n");
    let dead = desk.bindery(&["dead-letters", "--json"]).ok().json();
    assert_eq!(dead[0]["attempt"], 3, "{dead:#}");
}
