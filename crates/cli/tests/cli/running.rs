//! Files in, a result out.

use crate::support::{Desk, samples, stage};
use serde_json::json;

#[test]
fn the_samples_give_their_totals() {
    let desk = Desk::new();
    let ran = desk.bindery(&["run", "--workflow", "words", &samples()]).ok();
    assert!(ran.out.contains("5 files          6    748"), "{ran:?}");
    assert!(ran.err.contains("sub_1 completed"), "{ran:?}");
    let result = desk.bindery(&["result", "sub_1", "--json"]).ok().json();
    let names: Vec<_> = result["files"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["invoice.txt", "letter.txt", "minutes.txt", "notes.md", "report.txt"]);
    assert_eq!(result["index"]["invoice"], json!([[1, 1], [4, 1]]));
}

#[test]
fn json_says_everything_and_nothing_else_is_on_stdout() {
    let desk = Desk::new();
    let answer = desk
        .bindery(&["run", "--workflow", "words", &samples(), "--json", "--meta", "a=b", "--owner", "marta"])
        .ok()
        .json();
    assert_eq!((&answer["submission"], &answer["status"]), (&json!("sub_1"), &json!("completed")));
    assert_eq!(answer["result"]["totals"]["words"], 748);
    assert_eq!((&answer["failed"], &answer["waiting"]), (&json!([]), &json!([])));
    assert_eq!(stage(&answer["progress"], "count")["expected"], 6);
    let stored = desk.path(answer["stored"]["path"].as_str().unwrap());
    let bytes: serde_json::Value = serde_json::from_slice(&std::fs::read(stored).unwrap()).unwrap();
    assert_eq!(bytes, answer["result"]);
}

#[test]
fn one_external_id_is_one_submission() {
    let desk = Desk::new();
    desk.write("a.txt", "one two three");
    let first = desk.bindery(&["run", "--workflow", "words", "a.txt", "--external-id", "monday", "--json"]).ok().json();
    let again = desk.bindery(&["run", "--workflow", "words", "a.txt", "--external-id", "monday", "--json"]).ok();
    assert!(again.err.contains("taken in before as sub_1"), "{again:?}");
    assert_eq!(again.json()["result"], first["result"]);
    assert_eq!(desk.bindery(&["status", "--json"]).ok().json().as_array().unwrap().len(), 1);
    assert_eq!(desk.bindery(&["status", "monday", "--json"]).ok().json()["submission"], "sub_1");
}

#[test]
fn standard_input_is_a_file_like_others() {
    let desk = Desk::new();
    let ran = desk.bindery_with_input(&["run", "--workflow", "words", "-", "--json"], "four words in here").ok();
    assert_eq!(ran.json()["result"]["files"], json!([{"name": "stdin", "pages": 1, "words": 4}]));
}

#[test]
fn submit_leaves_the_work_to_a_worker() {
    let desk = Desk::new();
    desk.write("in/a.txt", "one two three");
    let submitted = desk.bindery(&["submit", "--workflow", "words", "in"]).ok();
    assert_eq!(submitted.out, "sub_1\n");
    let jobs = desk.bindery(&["jobs"]).ok();
    assert!(jobs.out.contains("next in line, waits for a free worker"), "{jobs:?}");
    desk.bindery(&["worker", "--until-idle"]).ok();
    assert_eq!(desk.status("sub_1")["status"], "completed");
    assert_eq!(desk.bindery(&["result", "sub_1", "--json"]).ok().json()["totals"]["words"], 3);
}

#[test]
fn a_worker_for_one_component_leaves_the_others_alone() {
    let desk = Desk::new();
    desk.write("a.txt", "one two three");
    desk.bindery(&["submit", "--workflow", "words", "a.txt"]).ok();
    let mut splitter = desk.command(&["worker", "--until-idle"]);
    assert!(splitter.env("DOCPROC_COMPONENT_NAME", "text_splitter").status().unwrap().success());
    let status = desk.status("sub_1");
    assert_eq!((&stage(&status, "split")["completed"], &stage(&status, "count")["waiting"]), (&json!(1), &json!(1)));
    desk.bindery(&["worker", "--until-idle", "--queues", "word_counter,q.word_consolidator"]).ok();
    assert_eq!(desk.status("sub_1")["status"], "completed");
}

#[test]
fn what_happened_can_be_read_from_any_position() {
    let desk = Desk::new();
    desk.bindery(&["run", "--workflow", "words", &samples()]).ok();
    let all = desk.bindery(&["events", "--json"]).ok().out;
    let first: serde_json::Value = serde_json::from_str(all.lines().next().unwrap()).unwrap();
    assert_eq!(first["eventType"], "SubmissionCreated");
    let position = first["position"].to_string();
    let rest = desk.bindery(&["events", "--json", "--after", &position]).ok().out;
    assert_eq!(rest.lines().count(), all.lines().count() - 1);
    let closed = desk.bindery(&["events", "--kind", "StageClosed", "--submission", "sub_1"]).ok().out;
    assert_eq!(closed.lines().count(), 1, "{closed}");
}

#[test]
fn events_are_shown_up_to_a_limit_and_go_on_behind_it() {
    let desk = Desk::new();
    let lines: String = (0..1_200).map(|_| "{\"eventType\": \"Counted\"}\n").collect();
    desk.bindery_with_input(&["events", "append"], &lines).ok();
    let shown = desk.bindery(&["events", "--json"]).ok();
    assert_eq!(shown.out.lines().count(), 1_000);
    let last: serde_json::Value = serde_json::from_str(shown.out.lines().last().unwrap()).unwrap();
    let position = last["position"].to_string();
    assert!(shown.err.contains(&format!("`--after {position}` goes on from here")), "{}", shown.err);
    let rest = desk.bindery(&["events", "--json", "--after", &position]).ok();
    assert_eq!((rest.out.lines().count(), rest.err.as_str()), (200, ""));
    for (limit, count) in [("7", 7), ("1000", 1_000), ("1200", 1_200), ("2500", 1_200), ("0", 1_200)] {
        let shown = desk.bindery(&["events", "--limit", limit]).ok();
        assert_eq!(shown.out.lines().count(), count, "--limit {limit}");
        assert_eq!(shown.err.contains("there are more"), count < 1_200, "--limit {limit}: {}", shown.err);
    }
}

#[test]
fn a_status_has_the_whole_result_as_json() {
    let desk = Desk::new();
    desk.bindery(&["run", "--workflow", "words", &samples()]).ok();
    let result = desk.bindery(&["result", "sub_1", "--json"]).ok();
    let status = desk.bindery(&["status", "sub_1", "--json"]).ok();
    assert_eq!(status.json()["result"], result.json());
    assert_eq!(status.out, serde_json::to_string_pretty(&status.json()).unwrap() + "\n");
    desk.bindery(&["result", "sub_1", "--output", "all.json"]).ok();
    assert_eq!(std::fs::read_to_string(desk.path("all.json")).unwrap(), result.out);
    let states = desk.bindery(&["status", "sub_1", "--documents"]).ok().json();
    assert_eq!(states["documents"].as_array().unwrap().len() as u64, states["submission"]["totalDocuments"]);
}

#[test]
fn outside_processors_report_through_events() {
    let desk = Desk::new();
    let created = r#"{"eventType": "SubmissionCreated", "submissionId": "s-1", "data": {"totalDocuments": 1}}"#;
    let done = |processor: &str| {
        format!(
            r#"{{"id": "{processor}", "eventType": "DocumentProcessedEvent", "submissionId": "s-1",
                "data": {{"documentId": "d-1", "processor": "{processor}", "status": "completed"}}}}"#
        )
        .replace('\n', " ")
    };
    let lines = format!("{created}\n{}\n", done("foundry"));
    assert_eq!(desk.bindery_with_input(&["events", "append"], &lines).ok().out, "appended 2 events\n");
    desk.bindery(&["worker", "--until-idle"]).ok();
    let waiting = desk.bindery(&["status", "s-1"]).ok().out;
    assert!(waiting.contains("waits for an outside processor to report"), "{waiting}");
    let array = format!("[{}, {}]", done("foundry"), done("markitdown"));
    let appended = desk.bindery_with_input(&["events", "append", "-"], &array).ok().out;
    assert_eq!(appended, "appended 1 event; 1 was known already\n");
    desk.bindery(&["worker", "--until-idle"]).ok();
    let states = desk.bindery(&["status", "s-1", "--documents"]).ok().json();
    assert_eq!(states["submission"]["completedDocuments"], 1);
    assert_eq!(states["documents"][0]["allProcessorsComplete"], true);
    let rows = desk.bindery(&["status", "s-1", "--aggregation"]).ok().json();
    assert_eq!((&rows[0]["received_count"], &rows[0]["is_complete"]), (&json!(1), &json!(true)));
}

#[test]
fn whoever_reads_only_the_first_line_is_no_error() {
    let desk = Desk::new();
    desk.bindery(&["run", "--workflow", "words", &samples()]).ok();
    let mut events = desk.command(&["events"]);
    let mut child = events.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success() && ended.stderr.is_empty(), "{ended:?}");
}
