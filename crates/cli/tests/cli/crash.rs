//! Killed, interrupted, started again: nothing is lost, nothing counted twice, and the status is honest throughout.

use crate::support::{Desk, SLOW, Started, is_final, stage};
use rustix::process::Signal;
use serde_json::Value;

const PAGES: u64 = 120;

/// Long enough that a slow machine is still in time to interrupt the work half-way.
const PAGE_MS: &str = "delay_ms: 200";

fn desk_with_pages() -> Desk {
    let desk = Desk::new();
    desk.write("workflows/slow.yaml", SLOW.replace("delay_ms: 20", PAGE_MS));
    let lines: Vec<String> = (0..PAGES).map(|line| format!("line {line}")).collect();
    desk.write("a.txt", lines.join("\n"));
    desk
}

fn worker(desk: &Desk, threads: &str) -> Started {
    desk.start(&["worker", "--until-idle", "--threads", threads, "--lease-seconds", "1"])
}

fn done(status: &Value, name: &str) -> u64 {
    ["completed", "failed", "skipped"].iter().map(|field| stage(status, name)[field].as_u64().unwrap()).sum()
}

/// Never more than expected, and never less than before.
fn check_honest(before: &Value, now: &Value) {
    for name in ["split", "count", "consolidate"] {
        let known: u64 = ["review", "running", "waiting", "scheduled", "parked", "awaiting", "cancelled"]
            .iter()
            .map(|field| stage(now, name)[field].as_u64().unwrap())
            .sum::<u64>()
            + done(now, name);
        if let Some(expected) = stage(now, name)["expected"].as_u64() {
            assert!(known <= expected, "{name} knows {known} of {expected}: {now:#}");
        }
        assert!(done(now, name) >= done(before, name), "{name} went backwards from {before:#} to {now:#}");
    }
}

#[test]
fn a_worker_killed_half_way_loses_and_repeats_nothing() {
    let desk = desk_with_pages();
    desk.bindery(&["submit", "a.txt", "--workflow", "slow", "--external-id", "k"]).ok();
    let mut last = desk.status("k");
    for kill_at in [10, 50] {
        let started = worker(&desk, "4");
        last = desk.wait_for("k", "some pages are counted", |status| {
            check_honest(&last, status);
            done(status, "count") >= kill_at
        });
        assert!(done(&last, "count") < PAGES, "the worker was too fast to be killed half-way: {last:#}");
        started.kill();
        let after = desk.status("k");
        check_honest(&last, &after);
        assert!(!is_final(&after), "{after:#}");
        last = after;
    }
    let started = worker(&desk, "40");
    let end = desk.wait_for("k", "it is final", |status| {
        check_honest(&last, status);
        is_final(status)
    });
    assert_eq!(started.wait(), Some(0));
    assert_eq!((end["status"].as_str(), done(&end, "count")), (Some("completed"), PAGES));
    let result = desk.bindery(&["result", "k", "--json"]).ok().json();
    assert_eq!(result["totals"]["words"], 2 * PAGES);
    assert_eq!(result["index"]["line"].as_array().unwrap().len() as u64, PAGES);
    let outcomes = desk.bindery(&["events", "--kind", "OutcomeRecorded", "--json"]).ok().out;
    assert_eq!(outcomes.lines().filter(|line| line.contains("word_counter")).count() as u64, PAGES);
}

#[test]
fn an_interrupted_run_says_how_to_go_on_and_does() {
    let desk = desk_with_pages();
    let args = |threads| ["run", "a.txt", "--workflow", "slow", "--external-id", "i", "--threads", threads];
    let started = desk.start(&args("4"));
    wait_until_known(&desk, "i");
    let seen = desk.wait_for("i", "some pages are counted", |status| done(status, "count") >= 5);
    started.signal(Signal::INT);
    assert_eq!(started.wait(), Some(130));
    let log = std::fs::read_to_string(desk.path("worker.log")).unwrap();
    assert!(log.contains("what is done is kept. The same command, or `bindery worker`, goes on"), "{log}");
    let kept = desk.status("i");
    assert!(done(&kept, "count") >= done(&seen, "count"));
    assert_eq!(stage(&kept, "count")["running"], 0, "what was under way was not drained: {kept:#}");
    let again = desk.bindery(&args("40")).ok();
    assert!(again.err.contains("taken in before as sub_1"), "{again:?}");
    assert_eq!(done(&desk.status("i"), "count"), PAGES);
}

#[test]
fn a_worker_drains_when_asked_to_stop() {
    let desk = desk_with_pages();
    desk.bindery(&["submit", "a.txt", "--workflow", "slow", "--external-id", "t"]).ok();
    let started = desk.start(&["worker", "--threads", "4"]);
    desk.wait_for("t", "some pages are counted", |status| done(status, "count") >= 5);
    started.signal(Signal::TERM);
    assert_eq!(started.wait(), Some(0));
    let status = desk.status("t");
    assert_eq!(stage(&status, "count")["running"], 0, "{status:#}");
    assert!(done(&status, "count") < PAGES, "{status:#}");
}

fn wait_until_known(desk: &Desk, id: &str) {
    let begun = std::time::Instant::now();
    while desk.bindery(&["status", id, "--json"]).code != Some(0) {
        assert!(begun.elapsed() < crate::support::PATIENCE, "{id} was not taken in");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}
