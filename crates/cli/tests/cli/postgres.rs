//! The same commands with the state in PostgreSQL: no folder of the store is needed, and several processes share it.

use crate::support::{Desk, PATIENCE, SLOW, sample_inputs, samples, stage};
use bindery_testkit::PostgresServer;
use serde_json::{Value, json};
use std::{fs, time::Instant};

/// A desk whose commands work on a database of this server.
pub(crate) fn desk_on(server: &PostgresServer) -> Desk {
    Desk::new().with_env("BINDERY_STORE", server.url()).with_env("BINDERY_BLOBS", "shared/blobs")
}

#[test]
fn files_in_and_a_result_out() {
    let Some(server) = PostgresServer::start() else { return };
    let desk = desk_on(&server);
    for command in ["status", "jobs", "queues", "events", "dead-letters", "reviews", "runs"] {
        let ran = desk.bindery(&[command]).fails_with(20, "there is no store in postgres://127.0.0.1:");
        assert!(ran.err.contains("hint: `bindery run PATHS…` makes one"), "{ran:?}");
    }
    desk.bindery(&["workflows"]).ok();
    assert!(!desk.path("shared").exists(), "looking has made something");

    let ran = desk.bindery(&["run", "--workflow", "words", &samples(), "--json"]).ok().json();
    assert_eq!(ran["result"]["totals"]["words"], 748);
    let stored = desk.path(ran["stored"]["path"].as_str().unwrap());
    let bytes: Value = serde_json::from_slice(&fs::read(stored).unwrap()).unwrap();
    assert_eq!(bytes, ran["result"]);
    assert!(desk.bindery(&["status"]).ok().out.contains("completed"));
    assert!(desk.bindery(&["status", "sub_1"]).ok().out.contains("shared/blobs/sha256/"));
    assert_eq!(desk.bindery(&["result", "sub_1", "--json"]).ok().json(), ran["result"]);
    let events = desk.bindery(&["events", "--json"]).ok().out;
    assert!(events.lines().next().unwrap().contains("SubmissionCreated"), "{events}");
    assert!(!desk.path("bindery-data").exists(), "a folder was made that nobody needs");

    desk.bindery(&["submit", "--workflow", "words", &samples(), "--external-id", "monday"]).ok();
    desk.bindery(&["pause", "word_counter"]).ok();
    desk.bindery(&["worker", "--until-idle"]).ok();
    assert_eq!(stage(&desk.status("monday"), "count")["waiting"], 6);
    desk.bindery(&["resume", "word_counter"]).ok();
    desk.bindery(&["worker", "--until-idle"]).ok();
    assert_eq!(desk.status("monday")["status"], "completed");
}

#[test]
fn processors_run_without_a_workflow() {
    let Some(server) = PostgresServer::start() else { return };
    let desk = desk_on(&server);
    // Children open the blobs by themselves, and are told nothing of the database.
    let ran = desk.bindery(&[
        "process",
        "bank_statement",
        &sample_inputs("bank_statement"),
        "--runner",
        "processes:2",
        "--json",
    ]);
    let result = ran.json();
    assert_eq!(result["metrics"]["runner"], "processes", "{result:#}");
    let shown = desk.bindery(&["runs", "show", "latest", "--json"]).ok().json();
    assert_eq!(shown["run_id"], result["run_id"], "{shown:#}");
    let listed = desk.bindery(&["runs", "--json"]).ok().json();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    let again = desk.bindery(&["runs", "retry", "latest", "--json"]).json();
    assert_eq!(again["metrics"]["skipped"], result["metrics"]["succeeded"], "{again:#}");
}

#[test]
fn two_workers_share_one_store() {
    let Some(server) = PostgresServer::start() else { return };
    let desk = desk_on(&server);
    desk.write("workflows/slow.yaml", SLOW);
    let lines: Vec<String> = (0..60).map(|line| format!("line {line}")).collect();
    desk.write("a.txt", lines.join("\n"));
    desk.bindery(&["submit", "a.txt", "--workflow", "slow", "--external-id", "s"]).ok();
    let workers = ["one", "two"].map(|name| {
        desk.start_logging(&["worker", "--until-idle", "--threads", "2", "--name", name], &format!("{name}.log"))
    });
    for worker in workers {
        assert_eq!(worker.wait(), Some(0));
    }
    let status = desk.status("s");
    assert_eq!((&status["status"], &stage(&status, "count")["completed"]), (&json!("completed"), &json!(60)));
    let result = desk.bindery(&["result", "s", "--json"]).ok().json();
    assert_eq!(result["totals"]["words"], 120);
    let outcomes = desk.bindery(&["events", "--kind", "OutcomeRecorded", "--json"]).ok().out;
    assert_eq!(outcomes.lines().filter(|line| line.contains("word_counter")).count(), 60, "an effect counted twice");
}

#[test]
fn a_worker_waits_for_a_database_that_is_not_there_yet() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let desk = Desk::new()
        .with_env("BINDERY_STORE", format!("postgres://ann:s3cret@127.0.0.1:{port}/b"))
        .with_env("BINDERY_BLOBS", "blobs");
    let worker = desk.start(&["worker"]);
    let begun = Instant::now();
    let said = || fs::read_to_string(desk.path("worker.log")).unwrap();
    while said().matches("trying again in").count() < 2 {
        assert!(begun.elapsed() < PATIENCE, "it does not try again: {}", said());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(said().contains("nobody answers there") && !said().contains("s3cret"), "{}", said());
    worker.signal(rustix::process::Signal::TERM);
    assert_eq!(worker.wait(), Some(130));
}
