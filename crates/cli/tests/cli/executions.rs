//! State machines on a store: run, started for workers, looked at, stopped, redriven, killed.

use crate::support::Desk;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const HELLO: &str = r#"{"StartAt": "Greet", "QueryLanguage": "JSONata", "States": {
    "Greet": {"Type": "Pass", "Output": {"hello": "{% $states.input.name %}"}, "End": true}}}"#;

/// Asks somebody, and waits for the answer.
const ASK: &str = r#"{"StartAt": "Ask", "States": {"Ask": {"Type": "Task", "End": true,
    "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
    "Parameters": {"FunctionName": "search", "Payload": {"query.$": "$$.Task.Token"}}}}}"#;

fn wait_for(desk: &Desk, id: &str, status: &str) -> Value {
    let begun = Instant::now();
    loop {
        let said = desk.bindery(&["machine", "status", id, "--json"]).ok().json();
        if said["status"] == status {
            return said;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{id} is {}", said["status"]);
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_machine_runs_here_and_tells_what_it_did() {
    let desk = Desk::new();
    let file = desk.write("hello.asl.json", HELLO);
    let file = file.to_str().unwrap();
    let ran = desk.bindery(&["machine", "run", file, "--input", r#"{"name": "harbour"}"#, "--name", "one"]).ok();
    assert_eq!(ran.json(), json!({"hello": "harbour"}));
    let listed = desk.bindery(&["machine", "list"]).ok();
    assert!(listed.out.contains("exec_1") && listed.out.contains("SUCCEEDED"), "{}", listed.out);
    let history = desk.bindery(&["machine", "history", "hello:one", "--json"]).ok().json();
    assert_eq!(history["events"].as_array().unwrap().len(), 4);
    let told = desk.bindery(&["machine", "history", "exec_1"]).ok();
    assert!(told.out.contains("PassStateExited") && told.out.contains(r#"Greet {"hello":"harbour"}"#), "{}", told.out);
    let picture = desk.bindery(&["machine", "graph", "--execution", "exec_1"]).ok();
    assert!(picture.out.contains("Greet"), "{}", picture.out);
    // Under the same name it is there already.
    desk.bindery(&["machine", "run", "hello", "--input", r#"{"name": "harbour"}"#, "--name", "one"]).ok();
    desk.bindery(&["machine", "run", "hello", "--input", r#"{"name": "quay"}"#, "--name", "one"])
        .fails_with(2, "ExecutionAlreadyExists");
    assert_eq!(desk.bindery(&["machine", "prune", "--days", "1"]).ok().out.trim(), "deleted 0 executions");
}

#[test]
fn a_failed_machine_says_why_and_can_be_started_again() {
    let desk = Desk::new();
    let wanted = desk.path("later.json");
    let machine = json!({"StartAt": "Read", "States": {
        "Read": {"Type": "Task", "Resource": "read_file", "End": true}}});
    let file = desk.write("read.asl.json", machine.to_string());
    let input = json!({"file": wanted}).to_string();
    let failed = desk.bindery(&["machine", "run", file.to_str().unwrap(), "--input", &input]);
    let failed = failed.fails_with(10, "exec_1 is FAILED: NotFound");
    assert!(failed.err.contains("machine redrive exec_1"), "{}", failed.err);
    desk.write("later.json", r#"{"there": true}"#);
    desk.bindery(&["machine", "redrive", "exec_1"]).ok();
    let worker = desk.start(&["worker"]);
    let ended = wait_for(&desk, "exec_1", "SUCCEEDED");
    worker.kill();
    assert_eq!((&ended["output"], &ended["redriveCount"]), (&json!(r#"{"there":true}"#), &json!(1)));
}

#[test]
fn a_worker_that_is_killed_loses_no_execution() {
    let desk = Desk::new();
    let machine = json!({"StartAt": "Wait", "States": {
        "Wait": {"Type": "Wait", "Seconds": 1, "Next": "Done"}, "Done": {"Type": "Pass", "End": true}}});
    let file = desk.write("wait.asl.json", machine.to_string());
    desk.bindery(&["machine", "start", file.to_str().unwrap(), "--input", "[7]"]).ok();
    let worker = desk.start(&["worker"]);
    while desk.bindery(&["machine", "status", "exec_1", "--json"]).ok().json()["events"] == json!(0) {
        std::thread::sleep(Duration::from_millis(5));
    }
    worker.kill();
    let heir = desk.start(&["worker"]);
    let ended = wait_for(&desk, "exec_1", "SUCCEEDED");
    heir.kill();
    assert_eq!((&ended["output"], &ended["events"]), (&json!("[7]"), &json!(6)));
}

#[test]
fn a_token_is_reported_and_an_execution_is_stopped() {
    let desk = Desk::new();
    let file = desk.write("ask.asl.json", ASK);
    desk.bindery(&["machine", "put", file.to_str().unwrap()]).ok();
    for _ in 0..2 {
        desk.bindery(&["machine", "start", "ask", "--json"]).ok();
    }
    let worker = desk.start(&["worker"]);
    let token = loop {
        let events = desk.bindery(&["machine", "history", "exec_1", "--json"]).ok().json();
        let scheduled = events["events"].as_array().unwrap().iter().find(|event| event["type"] == "TaskSubmitted");
        if scheduled.is_some() {
            let asked = events["events"][2]["taskScheduledEventDetails"]["parameters"].as_str().unwrap();
            let asked: Value = serde_json::from_str(asked).unwrap();
            break asked["Payload"]["query"].as_str().unwrap().to_owned();
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    desk.bindery(&["machine", "report", &token, "--heartbeat"]).ok();
    desk.bindery(&["machine", "report", &token, "--success", r#"{"approved": true}"#]).ok();
    assert_eq!(wait_for(&desk, "exec_1", "SUCCEEDED")["output"], r#"{"approved":true}"#);
    desk.bindery(&["machine", "report", &token, "--success", "1"]).fails_with(2, "it may have ended");
    desk.bindery(&["machine", "stop", "exec_2", "--cause", "asked twice"]).ok();
    assert_eq!(wait_for(&desk, "exec_2", "ABORTED")["cause"], "asked twice");
    worker.kill();
}

#[test]
fn a_person_answers_what_a_machine_asks() {
    let desk = Desk::new();
    let machine = json!({"StartAt": "Approve", "QueryLanguage": "JSONata", "States": {
        "Approve": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
            "Arguments": {"FunctionName": "review", "Payload": {"question": "May this order be paid?",
                                                                 "value": "{% $states.input %}"}}, "End": true}}});
    let file = desk.write("approve.asl.json", machine.to_string());
    desk.bindery(&["machine", "put", file.to_str().unwrap()]).ok();
    for number in ["7", "8"] {
        desk.bindery(&["machine", "start", "approve", "--input", &format!("{{\"order\": {number}}}")]).ok();
    }
    // Nothing goes on by itself once the questions are asked.
    desk.bindery(&["worker", "--until-idle"]).ok();
    let listed = desk.bindery(&["review", "list", "--queue", "task.question", "--json"]).ok().json();
    assert_eq!(listed.as_array().unwrap().len(), 2);
    let open = desk.bindery(&["review"]).ok().out;
    assert!(open.contains("question.json") && open.contains("May this order be paid?"), "{open}");
    let review_of = |execution: &str| {
        let reviews = listed.as_array().unwrap().iter().map(|review| review["id"].as_str().unwrap());
        let mut shown = reviews.map(|id| (id, desk.bindery(&["review", "show", id]).ok().out));
        let (id, _) = shown.find(|(_, shown)| shown.contains(&format!("\"{execution}\""))).unwrap();
        id
    };
    let (first, second) = (review_of("exec_1"), review_of("exec_2"));
    // With --work the answer is reported before the command ends; else a worker reports it.
    desk.bindery(&["review", "correct", first, "order=9", "--by", "clerk", "--work"]).ok();
    desk.bindery(&["review", "reject", second, "--reason", "paid last week"]).ok();
    desk.bindery(&["worker", "--until-idle"]).ok();
    let ended = desk.bindery(&["machine", "status", "exec_1", "--json"]).ok().json();
    let output: Value = serde_json::from_str(ended["output"].as_str().unwrap()).unwrap();
    assert_eq!((&output["verdict"], &output["by"]), (&json!("corrected"), &json!("clerk")));
    assert_eq!(output["value"], json!({"order": 9}));
    let ended = desk.bindery(&["machine", "status", "exec_2", "--json"]).ok().json();
    assert_eq!((&ended["error"], &ended["cause"]), (&json!("Review.Rejected"), &json!("paid last week")));
}

#[test]
fn a_task_on_a_queue_is_seen_with_its_token_and_reported() {
    let desk = Desk::new();
    desk.write("bindery.toml", "[machines.functions]\nresize = { queue = \"q.resize\" }\n");
    let file = desk.write("resize.asl.json", ASK.replace("\"search\"", "\"resize\""));
    desk.bindery(&["machine", "start", file.to_str().unwrap()]).ok();
    desk.bindery(&["worker", "--until-idle"]).ok();
    let jobs = desk.bindery(&["jobs", "--queue", "q.resize", "--state", "awaiting", "--json"]).ok().json();
    let payload: Value = serde_json::from_str(jobs[0]["payload"]["inline"].as_str().unwrap()).unwrap();
    let token = payload["task_token"].as_str().unwrap();
    assert_eq!(payload["input"], json!({"query": token}), "what the state says, and the token in any case");
    desk.bindery(&["machine", "report", token, "--failure", "TooLarge", "--cause", "40 MB"]).ok();
    desk.bindery(&["worker", "--until-idle"]).ok();
    let ended = desk.bindery(&["machine", "status", "exec_1", "--json"]).ok().json();
    assert_eq!((&ended["error"], &ended["cause"]), (&json!("TooLarge"), &json!("40 MB")));
    let left = desk.bindery(&["jobs", "--queue", "q.resize", "--state", "awaiting", "--json"]).ok().json();
    assert_eq!(left, json!([]), "nobody is to take it any more");
}

#[test]
fn what_cannot_be_run_is_one_sentence() {
    let desk = Desk::new();
    let unknown = json!({"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "resize", "End": true}}});
    let file = desk.write("unknown.asl.json", unknown.to_string());
    let refused = desk.bindery(&["machine", "put", file.to_str().unwrap()]);
    refused.fails_with(2, r#"state "A": there is no resource "resize"; known are"#);
    // The configuration can say what it stands for.
    desk.write("bindery.toml", "[machines.functions]\nresize = \"read_file\"\n");
    desk.bindery(&["machine", "put", file.to_str().unwrap()]).ok();
    desk.bindery(&["machine", "start", "unknown", "--input", "{"]).fails_with(2, "--input is not JSON");
    desk.bindery(&["machine", "start", "nothing"]).fails_with(2, r#"there is no machine "nothing""#);
    desk.bindery(&["machine", "status", "exec_9"]).fails_with(2, r#"there is no execution "exec_9""#);
    desk.bindery(&["machine", "list", "--status", "tired"]).fails_with(2, "--status \"tired\" is none");
    desk.bindery(&["machine", "report", "t"]).fails_with(2, "--success");
}
