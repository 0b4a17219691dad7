//! Processors that are programs of somebody else: what went wrong is told, and a retry goes on behind what was done.

use crate::support::{Desk, PATIENCE};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::{
    fs,
    net::TcpListener,
    time::{Duration, Instant},
};

/// Answers once the file `ready` is beside it, and fails until then.
const FLAKY: &str = r#"
name: flaky
input: {type: object, required: [n]}
command:
  run: [sh, -c, 'cat > /dev/null; if [ -e ready ]; then echo "{\"output\": {\"answer\": 42}}"; else exit 3; fi']
  circuit_breaker: {failures: 2, within_seconds: 600, open_seconds: 600}
"#;

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("processors/flaky.yaml", FLAKY);
    let line = |number: u32| json!({"input_id": format!("i{number}"), "data": {"n": number}}).to_string();
    desk.write("in.jsonl", (1..=4).map(line).collect::<Vec<_>>().join("\n"));
    desk
}

fn exceptions(answer: &Value) -> Vec<&str> {
    answer["output"].as_array().unwrap().iter().map(|result| result["exception"].as_str().unwrap()).collect()
}

#[test]
fn an_open_circuit_is_told() {
    let desk = desk();
    let args = ["process", "flaky", "in.jsonl", "--runner", "sequential"];
    let ran = desk.bindery(&args).fails_with(10, "4 failed of 4 inputs");
    assert!(ran.err.contains("note: the circuit of flaky is open after 2 failures in a row: "), "{ran:?}");
    assert!(ran.err.contains("; it is tried again in "), "{ran:?}");
    let answer = desk.bindery(&[&args[..], &["--json"]].concat()).fails_with(10, "the circuit of flaky is open").json();
    let circuit = &answer["circuits"][0];
    assert_eq!((&circuit["name"], &circuit["state"]), (&json!("flaky"), &json!("open")));
    // Whoever asks later sees it, too: it is in the log.
    let listed = desk.bindery(&["processors", "--json"]).ok().json();
    let flaky = listed.as_array().unwrap().iter().find(|one| one["name"] == "flaky").unwrap();
    assert_eq!(flaky["circuit"]["open"], true, "{flaky:#}");
    let shown = desk.bindery(&["processors"]).ok().out;
    assert!(shown.contains("CIRCUIT") && shown.contains("open, "), "{shown}");
    // Those behind the second failure were not even tried.
    let exceptions = exceptions(&answer);
    assert_eq!(exceptions[0], exceptions[1]);
    assert_eq!((exceptions[2], exceptions[3]), ("CircuitOpen", "CircuitOpen"));
}

#[test]
fn a_retry_goes_on_behind_what_was_done() {
    let desk = desk();
    desk.bindery(&["process", "flaky", "in.jsonl"]).fails_with(10, "4 failed of 4 inputs");
    desk.write("processors/ready", "");
    let retried = desk.bindery(&["runs", "retry", "latest", "--json"]).ok().json();
    assert_eq!(
        (&retried["output"], &retried["context"]["last_error_step"]),
        (&json!({"answer": 42}), &json!("processing"))
    );
    assert_eq!((&retried["metrics"]["resumed"], &retried["circuits"][0]["state"]), (&json!(4), &json!("closed")));
    let shown = desk.bindery(&["runs", "show", "latest", "--steps"]).ok().out;
    assert_eq!(shown.matches("SKIP").count(), 4, "{shown}");
}

#[test]
fn who_asks_twice_to_stop_does_not_wait() {
    let desk = desk();
    // A call that is under way cannot be stopped, and nobody answers this one.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    desk.write(
        "processors/silent.yaml",
        format!("name: silent\nhttp: {{url: 'http://{address}/', timeout_seconds: 600}}\n"),
    );
    let started = desk.start(&["process", "silent", "in.jsonl", "--runner", "sequential"]);
    let _call = listener.accept().unwrap();
    let wait_for_log = |text: &str| {
        let begun = Instant::now();
        while !fs::read_to_string(desk.path("worker.log")).unwrap().contains(text) {
            assert!(begun.elapsed() < PATIENCE, "{text:?} was not said");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    started.signal(Signal::INT);
    wait_for_log("finishing what is under way; Ctrl-C again stops at once");
    started.signal(Signal::INT);
    assert_eq!(started.wait(), Some(130));
    wait_for_log("was left; what is done is kept. In 30 s `bindery runs retry ");
    assert_eq!(desk.bindery(&["runs", "--json"]).ok().json()[0]["status"], "running");
}
