//! Whatever is wrong is said in one sentence, with the exit code that the documentation promises.

use crate::support::{Desk, samples};

#[test]
fn paths_that_cannot_be_taken_in_are_named_and_nothing_is_stored() {
    let desk = Desk::new();
    desk.write("good.txt", "good");
    desk.write("empty/.hidden", "");
    desk.bindery(&["run", "good.txt", "nope.txt"]).fails_with(2, "error: there is no file or folder nope.txt");
    desk.bindery(&["run", "empty"]).fails_with(2, "the folder empty has no files to take in (1 entry was skipped)");
    desk.bindery(&["run", "-"]).fails_with(2, "standard input is empty");
    desk.bindery(&["run", "good.txt/x"]).fails_with(2, "there is no file or folder good.txt/x");
    assert_eq!(desk.bindery(&["status", "--json"]).ok().json(), serde_json::json!([]));
}

#[test]
fn wrong_flags_are_usage_errors() {
    let desk = Desk::new();
    desk.bindery(&["run"]).fails_with(2, "PATHS");
    desk.bindery(&["run", "a", "--threads", "0"]).fails_with(2, "0 is not in 1..=1024");
    desk.bindery(&["run", "a", "--meta", "novalue"]).fails_with(2, "expected key=value");
    desk.bindery(&["run", "a", "--external-id", ""]).fails_with(2, "external-id");
    desk.bindery(&["jobs", "--state", "lost"]).fails_with(2, "expected one of ready, scheduled");
    desk.bindery(&["--log", "a=b=c", "status"]).fails_with(2, "is not a filter");
    desk.bindery(&["frobnicate"]).fails_with(2, "frobnicate");
    desk.bindery(&["events", "--after", "soon"]).fails_with(2, "expected a position");
}

#[test]
fn unknown_names_list_the_known_ones() {
    let desk = Desk::new();
    desk.bindery(&["run", &samples(), "--workflow", "wrods"])
        .fails_with(
            2,
            "there is no workflow \"wrods\"; known are checklist, civic, civic-notices, default, documents, idp, parsers, parsers-foundry, process, question, read, submission-documents, words",
        )
        .fails_with(2, "hint: ");
    desk.bindery(&["run", &samples(), "--workflow", "process"]).fails_with(2, "no processor is registered under");
    desk.bindery(&["pause", "nothing"]).fails_with(2, "there is no queue \"nothing\"; known are");
    desk.bindery(&["status", "sub_99"]).fails_with(2, "there is no submission \"sub_99\"");
    desk.bindery(&["retry", "job_99"]).fails_with(2, "there is no job_99");
    desk.bindery(&["cancel", "job_99"]).fails_with(2, "there is no job_99");
    desk.bindery(&["review", "accept", "rev_1"]).fails_with(2, "there is no rev_1");
    desk.bindery(&["workflows", "show", "nothing"]).fails_with(2, "known are checklist, civic, civic-notices, default");
    let mut worker = desk.command(&["worker"]);
    let ran = worker.env("DOCPROC_COMPONENT_NAME", "orc").output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("there is no component \"orc\"; known are"), "{ran:?}");
}

#[test]
fn a_bad_workflow_is_told_with_all_its_problems() {
    let desk = Desk::new();
    desk.write("bad.yaml", "name: bad\nstages:\n  - name: a\n    paralel: true\n    timeout_seconds: soon\n");
    let checked = desk.bindery(&["workflows", "check", "bad.yaml"]).fails_with(2, "1 file cannot be used");
    assert!(checked.out.contains("bad.yaml:4:5: stages[0]: unknown key \"paralel\""), "{checked:?}");
    assert!(checked.out.contains("did you mean `parallel`?"), "{checked:?}");
    assert!(checked.out.contains("bad.yaml:5:22: stages[0].timeout_seconds"), "{checked:?}");
    desk.bindery(&["--workflows", ".", "run", "bad.yaml"]).fails_with(2, "bad.yaml:4:5");
    assert!(!desk.path("bindery-data").exists(), "a store was made although nothing could be done");
    let good = desk.bindery(&["workflows", "show", "words"]).ok().out;
    desk.write("good.yaml", &good);
    desk.bindery(&["workflows", "check", "good.yaml"]).ok();
}

#[test]
fn a_routing_key_that_leads_to_two_queues_is_refused_with_both_stages() {
    let desk = Desk::new();
    let mine = "name: mine\nstages:\n- {name: read, component: reader, routing_key: page.ocr}\n";
    desk.write("mine.yaml", mine);
    desk.write("yours.yaml", "name: yours\nstages:\n- {name: a, routing_key: own.key}\n");
    desk.write("theirs.yaml", "name: theirs\nstages:\n- {name: b, routing_key: own.key}\n");
    let checked = desk.bindery(&["workflows", "check", "mine.yaml"]).fails_with(2, "1 file cannot be used");
    let clash = "mine.yaml: the routing key \"page.ocr\" leads to the stage ocr of the workflow default (queue q.ocr) and to \
                 the stage read of the workflow mine (queue q.reader)";
    assert!(checked.out.contains(clash), "{checked:?}");
    assert!(checked.out.contains("hint: leave `routing_key` of the stage read out"), "{checked:?}");
    // Each is good alone, and the second of both is not.
    desk.bindery(&["workflows", "check", "yours.yaml"]).ok();
    desk.bindery(&["workflows", "check", "theirs.yaml"]).ok();
    let both =
        desk.bindery(&["workflows", "check", "yours.yaml", "theirs.yaml"]).fails_with(2, "1 file cannot be used");
    assert!(both.out.contains("the stage a of the workflow yours"), "{both:?}");
    assert!(both.out.contains("the stage b of the workflow theirs"), "{both:?}");
    // Another version of a workflow takes the place of the one before.
    let newer = desk.bindery(&["workflows", "show", "default"]).ok().out;
    let newer = newer.replace("version: 3", "version: 4").replace("component: ocr", "component: reader");
    desk.write("newer.yaml", newer);
    desk.bindery(&["workflows", "check", "newer.yaml"]).ok();
    assert!(!desk.path("bindery-data").exists(), "nothing was stored");
}

#[test]
fn a_changed_workflow_needs_a_new_version() {
    let desk = Desk::slow();
    desk.write("a.txt", "a");
    desk.bindery(&["run", "a.txt", "--workflow", "slow"]).ok();
    desk.write("workflows/slow.yaml", crate::support::SLOW.replace("20}", "30}"));
    desk.bindery(&["run", "a.txt", "--workflow", "slow"]).fails_with(2, "raise its `version`");
}

#[test]
fn a_bad_event_line_is_named_and_nothing_of_the_batch_is_stored() {
    let desk = Desk::new();
    let lines = "{\"eventType\": \"Something\"}\n\n{\"eventType\": \"DocumentProcessedEvent\", \"submissionId\": \"s\", \
                 \"data\": {\"documentId\": \"d\", \"processor\": \"p\", \"status\": \"done\"}}\n";
    desk.bindery_with_input(&["events", "append"], lines)
        .fails_with(
            2,
            "line 3: DocumentProcessedEvent: data.status: expected \"completed\" or \"failed\", found \"done\"",
        )
        .fails_with(2, "hint: nothing was appended");
    desk.bindery_with_input(&["events", "append"], "{\"eventType\": \"Something\"}\n{oops\n").fails_with(2, "line 2: ");
    desk.bindery_with_input(&["events", "append", "gone.ndjson"], "").fails_with(2, "gone.ndjson cannot be read");
    assert!(!desk.path("bindery-data").exists());
}
