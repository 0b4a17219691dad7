//! Stored runs: listed, shown, gone on with. Nothing that is done is done again.

use crate::{
    process::page,
    support::{Desk, PATIENCE, Started, sample_inputs},
};
use bindery_core::SubmissionId;
use bindery_store::{
    Changes, Commit, Guard, Store,
    query::SubmissionFilter,
    sqlite::{Options, SqliteStore},
};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::{
    fs,
    time::{Duration, Instant},
};

const PAGES: usize = 60;

/// Long enough that a slow machine is still in time to interrupt the work half-way.
const SLOW: &str = "delay_ms=200";

fn desk_with_pages() -> Desk {
    let desk = Desk::new();
    let lines: Vec<String> = (0..PAGES).map(|number| page(&format!("page-{number}"), "one two")).collect();
    desk.write("pages.jsonl", lines.join("\n"));
    desk
}

fn latest(desk: &Desk) -> Value {
    desk.bindery(&["runs", "show", "latest", "--json"]).ok().json()
}

fn start_and_wait_for_some(desk: &Desk) -> Started {
    let started = desk.start(&["process", "word_counter", "pages.jsonl", "--set", SLOW, "--runner", "threads:4"]);
    let begun = Instant::now();
    loop {
        let ran = desk.bindery(&["runs", "--json"]);
        // There is no store at first, and then no run.
        let done = if ran.code == Some(0) { ran.json()[0]["succeeded"].as_u64().unwrap_or(0) } else { 0 };
        if done >= 4 {
            return started;
        }
        assert!(begun.elapsed() < PATIENCE, "no input was done: {ran:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_interrupted_run_is_completed_without_repeating_anything() {
    let desk = desk_with_pages();
    let started = start_and_wait_for_some(&desk);
    started.signal(Signal::INT);
    assert_eq!(started.wait(), Some(130));
    let first = latest(&desk);
    let id = first["run_id"].as_str().unwrap();
    let log = fs::read_to_string(desk.path("worker.log")).unwrap();
    assert!(log.contains("finishing what is under way; Ctrl-C again stops at once"), "{log}");
    let how = format!("interrupted; what is done is kept. `bindery runs retry {}` goes on with the rest", &id[..8]);
    assert!(log.contains(&how), "{log}");
    let done = first["succeeded"].as_u64().unwrap();
    assert!((4..PAGES as u64).contains(&done), "{done} of {PAGES} were done: the run was not interrupted half-way");
    assert!(first["not_run"].as_u64().unwrap() > 0, "{first:#}");
    let retried = desk.bindery(&["runs", "retry", &id[..8], "--runner", "threads:40", "--json"]).ok().json();
    let figures = &retried["metrics"];
    assert_eq!((&figures["skipped"], &figures["succeeded"]), (&json!(done), &json!(PAGES as u64 - done)));
    assert_eq!((&retried["context"]["previous_run_id"], &retried["context"]["retry_count"]), (&json!(id), &json!(1)));
    assert_eq!(retried["output"]["words"], 2);
    // The one that stopped is not gone on with twice, and the one that succeeded not at all.
    desk.bindery(&["runs", "retry", id]).fails_with(2, "has been retried already as ");
    desk.bindery(&["runs", "retry", "latest"]).fails_with(2, "has succeeded; there is nothing to retry");
}

#[test]
fn a_killed_run_is_shown_as_it_is() {
    let desk = desk_with_pages();
    start_and_wait_for_some(&desk).kill();
    let shown = desk.bindery(&["runs", "show", "latest"]).ok().out;
    // For a while nobody can know that its process is gone.
    assert!(shown.contains(": running, processor word_counter version 1"), "{shown}");
    assert!(shown.contains("last sign of life: ") && shown.contains(" to do"), "{shown}");
    assert!(desk.bindery(&["runs"]).ok().out.contains("seen "));
    desk.bindery(&["runs", "retry", "latest"]).fails_with(2, "is still under way, seen ");
    desk.bindery(&["runs", "show", "latest", "--result"]).fails_with(12, "has no result: it has not ended");
}

#[test]
fn steps_that_are_done_are_skipped() {
    let desk = Desk::new();
    desk.bindery(&["process", "bank_statement", &sample_inputs("bank_statement")]).fails_with(10, "2 failed");
    let first = desk.bindery(&["runs", "show", "latest", "--steps"]).ok();
    assert!(first.err.contains("`bindery runs retry "), "{first:?}");
    desk.bindery(&["runs", "retry", "latest", "--runner", "processes"]).fails_with(10, "2 failed, 2 skipped of 4");
    let shown = desk.bindery(&["runs", "show", "latest", "--steps"]).ok().out;
    let cells = |id: &str| {
        let row = shown.lines().find(|line| line.starts_with(id)).unwrap();
        let words: Vec<String> = row.split_whitespace().skip(1).map(str::to_owned).collect();
        words.join(" ")
    };
    assert!(shown.contains("VALIDATION  PROCESSING  EXTRACTION") && shown.contains("retry 1, lineage "), "{shown}");
    assert!(cells("statement_1").starts_with("skipped 1 SKIP SKIP SKIP done by run "), "{shown}");
    assert!(cells("statement_3").starts_with("failed at processing 2 SKIP "), "{shown}");
    assert!(cells("statement_4").contains(" ms – – ValidationError: "), "{shown}");
    let view = latest(&desk);
    assert_eq!((&view["runner"], view["lineage"].as_array().unwrap().len()), (&json!("processes"), 2));
    let result = desk.bindery(&["runs", "show", "latest", "--result"]).ok().json();
    assert_eq!((&result["run_id"], &result["success"]), (&view["run_id"], &json!(false)));
}

#[test]
fn a_repaired_input_completes_the_run() {
    let desk = Desk::new();
    let folder = sample_inputs("bank_statement");
    desk.bindery(&["process", "bank_statement", &format!("{folder}/bad_sum.json"), &format!("{folder}/quiet.json")])
        .fails_with(10, "1 succeeded, 1 failed of 2 inputs");
    let mut input: Value = serde_json::from_slice(&fs::read(format!("{folder}/bad_sum.json")).unwrap()).unwrap();
    let lines: f64 =
        input["data"]["transactions"].as_array().unwrap().iter().map(|one| one["amount"].as_f64().unwrap()).sum();
    input["data"]["closing_balance"] = json!(input["data"]["opening_balance"].as_f64().unwrap() + lines);
    desk.write("fixed.json", input.to_string());
    let ran = desk.bindery(&["process", "bank_statement", "fixed.json", "--previous", "latest"]).ok();
    assert!(ran.err.contains("1 succeeded, 1 skipped of 2 inputs"), "{ran:?}");
    assert!(ran.json()["closing_balance"].is_number());
}

#[test]
fn runs_are_listed_newest_first() {
    let desk = Desk::new();
    desk.bindery(&["runs"]).fails_with(20, "there is no store");
    desk.write("a.json", r#"{"text": "one"}"#);
    desk.write("plain.txt", "one");
    desk.bindery(&["run", "--workflow", "words", "plain.txt"]).ok();
    assert!(desk.bindery(&["runs"]).ok().err.contains("there are no such runs"));
    assert!(desk.bindery(&["runs", "stats"]).ok().err.contains("no run has ended yet"));
    desk.bindery(&["runs", "show", "latest"]).fails_with(2, "there is no run yet");
    desk.bindery(&["process", "word_counter", "a.json"]).ok();
    desk.bindery(&["process", "application_form", "a.json"]).fails_with(10, "failed at validation");
    let names = |args: &[&str]| {
        let listed = desk.bindery(&[&["runs"], args, &["--json"]].concat()).ok().json();
        let listed = listed.as_array().unwrap().iter();
        listed
            .map(|run| format!("{} {}", run["processor"].as_str().unwrap(), run["status"].as_str().unwrap()))
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&[]), ["application_form failed", "word_counter succeeded"]);
    assert_eq!(names(&["list", "--limit", "1"]), ["application_form failed"]);
    assert_eq!(names(&["list", "--processor", "p_word_counter"]), ["word_counter succeeded"]);
    let table = desk.bindery(&["runs", "--limit", "1"]).ok();
    assert!(table.out.contains("application_form 1  failed") && table.out.contains(" ago"), "{table:?}");
    assert!(table.err.contains("the newest 1; --limit shows more"), "{table:?}");
}

#[test]
fn figures_are_kept_by_processor_and_runner() {
    let desk = Desk::new();
    let statements = sample_inputs("bank_statement");
    desk.bindery(&["process", "bank_statement", &statements]).fails_with(10, "2 failed");
    desk.bindery(&["runs", "retry", "latest"]).fails_with(10, "2 failed");
    desk.bindery(&["process", "bank_statement", &statements, "--runner", "threads"]).fails_with(10, "2 failed");
    let stats = desk.bindery(&["runs", "stats", "--json"]).ok().json();
    let (alone, threads) = (&stats[0], &stats[1]);
    assert_eq!((&alone["runner"], &alone["runs"], &alone["inputs"]), (&json!("sequential"), &json!(2), &json!(6)));
    assert_eq!((&threads["runner"], &threads["success_rate"]), (&json!("threads"), &json!(0.5)));
    assert!((alone["retry_rate"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-9, "{alone:#}");
    let table = desk.bindery(&["runs", "stats"]).ok().out;
    assert!(table.contains("bank_statement  sequential     2       6  33.3 %   33.3 %"), "{table}");
}

#[test]
fn a_run_is_named_by_enough_of_its_id() {
    let desk = Desk::new();
    desk.write("a.json", r#"{"text": "one"}"#);
    desk.bindery(&["process", "word_counter", "a.json"]).ok();
    desk.bindery(&["runs", "show", "ab"]).fails_with(2, "give at least 6 characters of its id, or \"latest\"");
    desk.bindery(&["runs", "show", "not-a-run"])
        .fails_with(2, "there is no run not-a-run")
        .fails_with(2, "hint: `bindery runs` lists the runs");
    desk.bindery(&["runs", "retry", "sub_1"]).fails_with(2, "sub_1");
    // Where it is taken for a submission like others, the right command is told.
    for command in ["retry", "result"] {
        desk.bindery(&[command, "sub_1"]).fails_with(2, "of a processor").fails_with(2, "hint: `bindery runs show ");
    }
    store_twins(&desk);
    for command in ["show", "retry"] {
        desk.bindery(&["runs", command, "aaaaaaaa"])
            .fails_with(2, "run aaaaaaaa may be any of aaaaaaaa-0002, aaaaaaaa-0001");
    }
    desk.bindery(&["runs", "show", "aaaaaaaa-0001"]).ok();
}

/// Two runs whose ids begin alike: chance would take long to make them.
fn store_twins(desk: &Desk) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let store: Box<dyn Store> = Box::new(SqliteStore::open(Options::at(desk.path("bindery-data/bindery.db"))).unwrap());
    runtime.block_on(async {
        let real = store.submissions(SubmissionFilter::default()).await.unwrap().remove(0);
        for (number, id) in [(1_000_001, "aaaaaaaa-0001"), (1_000_002, "aaaaaaaa-0002")] {
            let twin = bindery_core::submission::NewSubmission {
                id: SubmissionId::from_raw(number),
                external_id: Some(id.to_owned()),
                owner: real.owner.clone(),
                channel: real.channel.clone(),
                workflow: real.workflow.clone(),
                workflow_version: real.workflow_version,
                priority: 0,
                received_at: real.received_at,
                deadline: real.deadline,
                metadata: real.metadata.clone(),
            };
            let changes = Changes { submissions: vec![twin], ..Changes::default() };
            store.commit(vec![Commit { guard: Guard::NewSubmission, changes }]).await.unwrap();
        }
    });
}
