//! State machines without a store: checked, drawn, replayed, tried state by state.

use crate::support::{Desk, Ran};
use serde_json::{Value, json};
use std::{fs, path::PathBuf};

fn shipped(name: &str) -> String {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../machines").join(name);
    fs::read_to_string(file).unwrap()
}

/// A desk with a machine that has one of everything to draw.
fn desk() -> Desk {
    let desk = Desk::new();
    let machine = json!({"StartAt": "Look", "States": {
        "Look": {"Type": "Choice", "Choices": [
            {"Variable": "$.n", "NumericGreaterThan": 3, "Next": "Both"},
            {"And": [{"Variable": "$.who", "IsPresent": true}, {"Variable": "$.who", "StringEquals": "<me> & \"you\""}],
             "Next": "Again"},
        ], "Default": "Stop"},
        "Again": {"Type": "Wait", "SecondsPath": "$.s", "Next": "Look"},
        "Both": {"Type": "Parallel", "Next": "Done", "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Stop"}], "Branches": [
            {"StartAt": "Left", "States": {"Left": {"Type": "Task", "Resource": "work", "End": true}}},
            {"StartAt": "Right", "States": {"Right": {"Type": "Pass", "End": true}}},
        ]},
        "Done": {"Type": "Succeed"},
        "Stop": {"Type": "Fail", "Error": "Stopped"},
    }});
    desk.write("all.asl.json", machine.to_string());
    desk
}

fn case(name: &str, output: &str) -> Value {
    json!({
        "name": name, "needs": [], "input": "{\"a\": 1}",
        "definition": {"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}},
        "events": [
            {"id": 1, "previousEventId": 0, "type": "ExecutionStarted", "timestamp": "timestamp",
             "executionStartedEventDetails": {"input": "{\"a\": 1}", "inputDetails": {"truncated": false}, "roleArn": "snf_role_arn"}},
            {"id": 2, "previousEventId": 0, "type": "PassStateEntered", "timestamp": "timestamp",
             "stateEnteredEventDetails": {"name": "A", "input": "{\"a\": 1}", "inputDetails": {"truncated": false}}},
            {"id": 3, "previousEventId": 2, "type": "PassStateExited", "timestamp": "timestamp",
             "stateExitedEventDetails": {"name": "A", "output": output, "outputDetails": {"truncated": false}}},
            {"id": 4, "previousEventId": 3, "type": "ExecutionSucceeded", "timestamp": "timestamp",
             "executionSucceededEventDetails": {"output": output, "outputDetails": {"truncated": false}}},
        ],
    })
}

#[test]
fn the_machines_that_ship_are_good_and_the_seeds_condition_is_warned_of() {
    let desk = Desk::new();
    desk.write("machines/file_ingestion.asl.json", shipped("file_ingestion.asl.json"));
    desk.write("machines/ingestion.asl.json", shipped("ingestion.asl.json"));
    desk.write("machines/notes.json", "not looked at");
    let checked = desk.bindery(&["machine", "check", "machines"]).ok();
    assert!(checked.out.contains("machines/file_ingestion.asl.json: good, 8 states"), "{checked:?}");
    assert!(checked.out.contains("machines/ingestion.asl.json: good, 1 state\n"), "{checked:?}");
    assert!(checked.out.contains("$.States.Choice.Choices[2].Condition: warning: "), "{checked:?}");
    assert!(!checked.out.contains("notes.json") && !desk.path("bindery-data").exists());
}

#[test]
fn every_fault_is_told_with_its_file_line_column_path_and_hint() {
    let desk = Desk::new();
    desk.write("bad.asl.json", "{\n  \"StartAt\": \"Frist\",\n  \"States\": {\n    \"First\": {\"Type\": \"Pass\", \"Next\": \"Gone\"}\n  }\n}");
    desk.write("bad.asl.yaml", "StartAt: First\nStates:\n  First:\n    Type: Wait\n    Seconds: soon\n    Edn: true\n");
    let checked = desk.bindery(&["machine", "check", "bad.asl.json", "bad.asl.yaml"]);
    let checked = checked.fails_with(2, "2 definitions cannot be used");
    for expected in
        ["bad.asl.json:2:14: $.StartAt", "did you mean `First`?", "bad.asl.json:4:", "`Gone`", "bad.asl.yaml:6:5: "]
    {
        assert!(checked.out.contains(expected), "{expected} is not in {checked:?}");
    }
    let as_json = desk.bindery(&["machine", "check", "--json", "bad.asl.json", "bad.asl.yaml"]);
    let listed = as_json.fails_with(2, "2 definitions").json();
    assert_eq!((&listed[0]["ok"], &listed[1]["states"]), (&json!(false), &json!(null)));
    let fault = &listed[0]["faults"][0];
    assert_eq!((&fault["line"], &fault["column"]), (&json!(2), &json!(14)));
    assert!(fault["message"].is_string() && fault["hint"].is_string());
}

#[test]
fn yaml_and_json_mean_the_same() {
    let desk = Desk::new();
    desk.write("a.asl.yaml", "StartAt: A\nStates:\n  A: {Type: Wait, Seconds: 3, Next: B}\n  B: {Type: Succeed}\n");
    desk.write(
        "a.asl.json",
        r#"{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 3, "Next": "B"}, "B": {"Type": "Succeed"}}}"#,
    );
    let drawn = |name: &str| desk.bindery(&["machine", "graph", name]).ok().out;
    assert_eq!(drawn("a.asl.yaml"), drawn("a.asl.json"));
    assert_eq!(desk.bindery(&["machine", "check", "a.asl.yaml"]).ok().out, "a.asl.yaml: good, 2 states\n");
}

#[test]
fn what_is_not_a_definition_is_told_in_one_sentence() {
    let desk = desk();
    let check = |file: &str| desk.bindery(&["machine", "check", file]).fails_with(2, "1 definition cannot be used").out;
    assert!(check("gone.asl.json").contains("gone.asl.json cannot be read"));
    desk.write("cut.asl.json", "{\"StartAt\": \"A\",\n  \"States\": {");
    assert!(check("cut.asl.json").contains("cut.asl.json:2:14: $: "), "{}", check("cut.asl.json"));
    desk.write("latin.asl.json", b"{\"Comment\": \"caf\xe9\"}");
    assert!(check("latin.asl.json").contains("latin.asl.json:1: not UTF-8 text"));
    desk.write("tabs.asl.yaml", "StartAt: A\nStates:\n\tA: 1\n");
    assert!(check("tabs.asl.yaml").contains("tabs.asl.yaml:3:"), "{}", check("tabs.asl.yaml"));
    desk.write("list.asl.json", "[]");
    assert!(check("list.asl.json").contains("list.asl.json:1:1: $: this is a list, not an object"));
    desk.write("numbers.asl.yaml", "1: 2\n");
    assert!(
        check("numbers.asl.yaml").contains("numbers.asl.yaml:1:1: $: expected a text as a key, found the number 1")
    );
    desk.write("empty/readme.txt", "");
    desk.bindery(&["machine", "check", "empty"]).fails_with(2, "the folder empty has no definitions");
    desk.bindery(&["machine", "graph", "list.asl.json"]).fails_with(2, "list.asl.json is not a state machine");
}

#[test]
fn a_machine_is_drawn_in_every_format() {
    let desk = desk();
    let mermaid = desk.bindery(&["machine", "graph", "all.asl.json"]).ok().out;
    for expected in
        ["flowchart TD", "subgraph", "-.->|\"any error\"|", "-->|\"$.n #gt; 3\"|", "finish(((\" \")))", "otherwise"]
    {
        assert!(mermaid.contains(expected), "{expected} is not in {mermaid}");
    }
    let svg = desk.bindery(&["machine", "graph", "all.asl.json", "--format", "svg"]).ok().out;
    for expected in ["<svg ", "stroke-dasharray", ">Parallel<", "$.s s", "&lt;me&gt; &amp;"] {
        assert!(svg.contains(expected), "{expected} is not in {svg}");
    }
    let dot = desk.bindery(&["machine", "graph", "all.asl.json", "--format", "dot"]).ok().out;
    assert!(dot.starts_with("digraph") && dot.contains("style=dashed") && dot.contains("subgraph cluster_"), "{dot}");
    desk.bindery(&["machine", "graph", "all.asl.json", "--out", "all.png"]).ok();
    let png = fs::read(desk.path("all.png")).unwrap();
    let side = |place: usize| u32::from_be_bytes(png[place..place + 4].try_into().unwrap());
    assert!(png.starts_with(b"\x89PNG") && side(16) > 500 && side(20) > 500, "{} x {}", side(16), side(20));
    desk.bindery(&["machine", "graph", "all.asl.json", "--out", "all.pdf"]).ok();
    assert!(fs::read(desk.path("all.pdf")).unwrap().starts_with(b"%PDF-"));
    desk.bindery(&["machine", "graph", "all.asl.json", "--out", "all.xyz"]).fails_with(2, "not clear from the name");
    desk.bindery(&["machine", "graph", "all.asl.json", "--out", "no/where.svg"]).fails_with(2, "cannot be written");
}

#[test]
fn the_way_that_an_execution_took_is_shown() {
    let desk = desk();
    let entered = |id: u64, previous: u64, kind: &str, name: &str| json!({"id": id, "previousEventId": previous, "type": format!("{kind}StateEntered"), "stateEnteredEventDetails": {"name": name}});
    let exited = |id: u64, kind: &str, name: &str| json!({"id": id, "previousEventId": id - 1, "type": format!("{kind}StateExited"), "stateExitedEventDetails": {"name": name}});
    let events = json!([
        {"id": 1, "previousEventId": 0, "type": "ExecutionStarted"},
        entered(2, 0, "Choice", "Look"), exited(3, "Choice", "Look"), entered(4, 3, "Wait", "Again"), exited(5, "Wait", "Again"),
        entered(6, 5, "Choice", "Look"), exited(7, "Choice", "Look"), entered(8, 7, "Fail", "Stop"),
        {"id": 9, "previousEventId": 8, "type": "ExecutionFailed"},
    ]);
    desk.write("events.json", json!({"events": events}).to_string());
    let drawn = desk.bindery(&["machine", "graph", "all.asl.json", "--history", "events.json"]).ok().out;
    for expected in ["Look (2×)", "classDef failed", "classDef skipped", "classDef visited", "linkStyle"] {
        assert!(drawn.contains(expected), "{expected} is not in {drawn}");
    }
    let graph = |history: &str| desk.bindery(&["machine", "graph", "all.asl.json", "--history", history]);
    desk.write("bad.json", "{\"events\": 3}");
    graph("bad.json").fails_with(2, "bad.json: a history is a list of events");
    desk.write("worse.json", "{");
    graph("worse.json").fails_with(2, "worse.json is not JSON");
    graph("gone.json").fails_with(2, "gone.json cannot be read");
}

#[test]
fn recorded_cases_are_replayed_and_compared() {
    let desk = Desk::new();
    let mut with_service = case("calls a service", "{\"a\":1}");
    with_service["needs"] = json!(["lambda"]);
    let mut made_up = case("made up", "{}");
    made_up["definition"]["States"]["A"] = json!({"Type": "Task", "Resource": "__MOCK__", "End": true});
    let good = [case("one", "{\"a\":1}"), with_service, made_up].map(|case| case.to_string()).join("\n");
    desk.write("good.jsonl", &good);
    let replayed = desk.bindery(&["machine", "replay", "good.jsonl"]).ok().out;
    let rows: Vec<Vec<&str>> = replayed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["CASES", "OUTCOME", "ORDER", "DETAILS", "CAUSES"]);
    assert_eq!(rows[1], ["without", "services", "1", "1", "1", "1", "1"]);
    assert_eq!(rows[2], ["with", "services", "1", "1", "1", "1", "1"]);
    assert!(rows[3].starts_with(&["skipped", "1", "case:"]), "{replayed}");

    desk.write("mixed.jsonl", format!("{good}\n\n{}\n", case("differs", "{\"a\":2}")));
    let differs = desk.bindery(&["machine", "replay", "mixed.jsonl"]).fails_with(1, "1 case does not end as recorded");
    assert!(differs.out.contains("differs\n  tier 1, outcome: the output is "), "{differs:?}");
    let listed = desk.bindery(&["machine", "replay", "mixed.jsonl", "--json", "--tier", "1"]);
    let listed = listed.fails_with(1, "1 case").json();
    assert_eq!(listed["withoutServices"], json!({"cases": 2, "skipped": 1, "reached": {"outcome": 1}}));
    assert_eq!(
        (&listed["differences"][0]["name"], &listed["skipped"][0]["name"]),
        (&json!("differs"), &json!("made up"))
    );
    desk.bindery(&["machine", "replay", "mixed.jsonl", "--case", "one"]).ok();
}

#[test]
fn a_file_of_cases_that_is_not_one_is_told_with_its_line() {
    let desk = Desk::new();
    let replay = |file: &str| desk.bindery(&["machine", "replay", file]);
    desk.write("cut.jsonl", format!("{}\n\n{{\"name\": \"x\",\n", case("one", "{}")));
    replay("cut.jsonl").fails_with(2, "cut.jsonl: line 3, column 13: EOF while parsing");
    desk.write("other.jsonl", "{\"name\": \"x\"}\n");
    replay("other.jsonl").fails_with(2, "other.jsonl: line 1, column 13: missing field `definition`");
    desk.write("empty.jsonl", "\n");
    replay("empty.jsonl").fails_with(2, "empty.jsonl holds no cases");
    replay("gone.jsonl").fails_with(2, "gone.jsonl cannot be read");
    desk.write("good.jsonl", case("one", "{\"a\":1}").to_string());
    desk.bindery(&["machine", "replay", "good.jsonl", "--case", "two"]).fails_with(2, "has \"two\" in its name");
    desk.bindery(&["machine", "replay", "good.jsonl", "--tier", "5"]).fails_with(2, "5 is not in 1..=4");
}

fn tested(desk: &Desk, args: &[&str]) -> Ran {
    desk.bindery(&[&["machine", "test-state"], args].concat())
}

#[test]
fn s003_08_the_condition_decides_as_the_seed_says() {
    let desk = Desk::new();
    desk.write("m.asl.json", shipped("file_ingestion.asl.json"));
    let variables = r#"{"StatusPolls": 1, "MaxStatusPolls": 9, "StatusPollSeconds": 200}"#;
    let next = |status: &str, variables: &str| {
        let input = json!({"body": {"fileupload_status": status}}).to_string();
        let args = ["m.asl.json", "--state", "Choice", "--input", &input, "--variables", variables];
        tested(&desk, &args).ok().json()["nextState"].clone()
    };
    assert_eq!(next("PENDING", variables), "Wait");
    assert_eq!(next("COMPLETE", variables), "start_ingestion");
    assert_eq!(next("FAILED", variables), "FileFailed");
    assert_eq!(next("PENDING", &variables.replace("1,", "9,")), "StatusPollsExhausted");
}

#[test]
fn a_task_is_tried_with_an_answer_made_up() {
    let desk = Desk::new();
    let state = json!({
        "Type": "Task", "QueryLanguage": "JSONata", "Resource": "arn:aws:states:::lambda:invoke", "Next": "After",
        "Arguments": {"FunctionName": "f", "Payload": "{% $states.context.Execution.Name %}"},
        "Output": "{% $states.result.Payload.n + $more %}",
        "Retry": [{"ErrorEquals": ["Busy"], "MaxAttempts": 1}], "Catch": [{"ErrorEquals": ["Busy"], "Next": "Sorry"}],
    });
    desk.write("task.json", state.to_string());
    let usual = ["task.json", "--variables", "{\"more\": 5}", "--context", r#"{"Execution": {"Name": "night"}}"#];
    let result = ["--result", r#"{"Payload": {"n": 1}}"#, "--inspection-level", "debug"];
    let done = tested(&desk, &[&usual[..], &result].concat()).ok().json();
    assert_eq!(
        (&done["status"], &done["output"], &done["nextState"]),
        (&json!("SUCCEEDED"), &json!(6), &json!("After"))
    );
    assert_eq!(done["inspectionData"]["afterArguments"], json!({"FunctionName": "f", "Payload": "night"}));
    let error = ["--error", "Busy", "--cause", "too much"];
    let again = tested(&desk, &[&usual[..], &error].concat()).ok().json();
    assert_eq!(again, json!({"status": "RETRIABLE", "error": "Busy", "cause": "too much"}));
    let caught = tested(&desk, &[&usual[..], &error, &["--retry-count", "1"]].concat()).ok().json();
    assert_eq!((&caught["status"], &caught["nextState"]), (&json!("CAUGHT_ERROR"), &json!("Sorry")));
    let failed = tested(&desk, &[&usual[..], &["--error", "Other"]].concat());
    assert_eq!((failed.code, &failed.json()["status"]), (Some(10), &json!("FAILED")));
    let traced = tested(&desk, &[&usual[..], &error, &["--inspection-level", "TRACE"]].concat()).ok().json();
    assert_eq!(traced["inspectionData"]["request"]["resource"], "arn:aws:states:::lambda:invoke");
    assert!(traced["inspectionData"]["history"].as_array().unwrap().len() >= 3);
}

#[test]
fn what_cannot_be_tried_is_told() {
    let desk = desk();
    tested(&desk, &["all.asl.json"])
        .fails_with(2, "say which one with --state")
        .fails_with(2, "known here: Again, Both");
    tested(&desk, &["all.asl.json", "--state", "Lok"]).fails_with(2, "there is no state \"Lok\"");
    tested(&desk, &["all.asl.json", "--state", "Left"])
        .fails_with(2, "`Left` is a Task: what it comes to has to be given");
    tested(&desk, &["all.asl.json", "--state", "Done", "--result", "1"])
        .fails_with(2, "`Done` is a Succeed, which asks nobody");
    tested(&desk, &["all.asl.json", "--state", "Done", "--input", "{"]).fails_with(2, "--input is not JSON");
    tested(&desk, &["all.asl.json", "--state", "Done", "--variables", "[]"])
        .fails_with(2, "--variables has to be an object");
    tested(&desk, &["all.asl.json", "--state", "Left", "--result", "1", "--error", "E"])
        .fails_with(2, "cannot be used with");
    desk.write("state.json", "{\"Type\": \"Pas\", \"End\": true}");
    tested(&desk, &["state.json"]).fails_with(2, "state.json:1:10: ");
}
