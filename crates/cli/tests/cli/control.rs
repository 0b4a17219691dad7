//! Pause, cancel, retry and review, each with its way back.

use crate::support::{Desk, stage};
use serde_json::json;

#[test]
fn a_paused_queue_says_so_and_goes_on_when_resumed() {
    let desk = Desk::new();
    desk.write("a.txt", "one two three");
    desk.bindery(&["submit", "--workflow", "words", "a.txt", "--external-id", "a"]).ok();
    desk.bindery(&["pause", "word_counter", "--because", "lunch"]).ok();
    assert!(desk.bindery(&["queues"]).ok().out.contains("paused: lunch"));
    let ran = desk.bindery(&["run", "--workflow", "words", "a.txt", "--external-id", "a"]);
    ran.fails_with(12, "queue q.word_counter is paused; `bindery resume q.word_counter` goes on");
    assert!(desk.bindery(&["status", "a"]).ok().out.contains("queue q.word_counter is paused"));
    desk.bindery(&["resume", "q.word_counter"]).ok();
    let ran = desk.bindery(&["run", "--workflow", "words", "a.txt", "--external-id", "a"]).ok();
    assert!(ran.err.contains("sub_1 completed"), "{ran:?}");
    assert!(desk.bindery(&["resume", "word_counter"]).ok().err.contains("was not paused"));
}

#[test]
fn what_was_cancelled_is_taken_up_again() {
    let desk = Desk::new();
    desk.write("a.txt", "one two three");
    desk.bindery(&["submit", "--workflow", "words", "a.txt", "--external-id", "a"]).ok();
    let cancelled = desk.bindery(&["cancel", "a"]).ok();
    assert_eq!((&*cancelled.out, &*cancelled.err), ("cancelled sub_1: 1 job stopped\n", "undo: bindery retry sub_1\n"));
    assert_eq!(desk.status("a")["status"], "cancelled");
    desk.bindery(&["run", "--workflow", "words", "a.txt", "--external-id", "a"])
        .fails_with(10, "`bindery retry sub_1` takes it up again");
    assert!(desk.bindery(&["cancel", "sub_1"]).ok().err.contains("nothing was changed"));
    desk.bindery(&["retry", "job_1"]).fails_with(2, "hint: `bindery retry sub_1` takes it up again");
    desk.bindery(&["retry", "sub_1"]).ok();
    desk.bindery(&["worker", "--until-idle"]).ok();
    assert_eq!(desk.status("a")["status"], "completed");
}

#[test]
fn one_job_given_up_does_not_stop_the_others() {
    let desk = Desk::new();
    desk.write("a.txt", "one");
    desk.write("b.txt", "two three");
    desk.bindery(&["submit", "--workflow", "words", "a.txt", "b.txt"]).ok();
    let jobs = desk.bindery(&["jobs", "--json"]).ok().json();
    let job = jobs[0]["id"].as_str().unwrap().to_owned();
    desk.bindery(&["cancel", &job]).ok();
    desk.bindery(&["worker", "--until-idle"]).ok();
    let result = desk.bindery(&["result", "sub_1", "--json"]).ok().json();
    assert_eq!(result["failed"], json!([{"file": "a.txt", "reason": "cancelled by hand"}]));
    desk.bindery(&["retry", &job]).ok();
    desk.bindery(&["worker", "--until-idle"]).ok();
    let result = desk.bindery(&["result", "sub_1", "--json"]).ok().json();
    assert_eq!((&result["failed"], &result["totals"]["words"]), (&json!([]), &json!(3)));
}

#[test]
fn a_dead_letter_has_its_reason_and_can_be_retried() {
    let desk = Desk::new();
    desk.write("in/good.txt", "one two");
    desk.write("in/photo.png", b"\x89PNG\0");
    let ran = desk.bindery(&["run", "--workflow", "words", "in"]).ok();
    let why = "binary data: byte 5 is NUL, which no text has";
    assert!(ran.err.contains(&format!("failed: photo.png at stage split: {why}")), "{ran:?}");
    let dead = desk.bindery(&["dead-letters"]).ok();
    assert!(dead.out.contains("photo.png") && dead.out.contains(why), "{dead:?}");
    let listed = desk.bindery(&["dead-letters", "list", "--json"]).ok().json();
    assert_eq!(listed[0]["reason"], json!({"why": "dead", "because": why}));
    let job = listed[0]["id"].as_str().unwrap();
    let retried = desk.bindery(&["retry", job]).ok();
    assert_eq!(retried.out, "made 1 job ready and took up 1 submission again\n");
    desk.bindery(&["worker", "--until-idle"]).ok();
    assert_eq!(desk.status("sub_1")["status"], "completed");
    assert_eq!(desk.bindery(&["retry", "--all", "--stage", "split"]).ok().out, retried.out);
    assert!(desk.bindery(&["retry", "--all", "--stage", "count"]).ok().err.contains("nothing to run again"));
}

#[test]
fn a_submission_of_which_nothing_could_be_read_has_failed() {
    let desk = Desk::new();
    desk.write("photo.png", b"\0");
    desk.bindery(&["run", "--workflow", "words", "photo.png", "--external-id", "p"])
        .fails_with(10, "the only file could not be read");
    desk.bindery(&["result", "p"]).fails_with(10, "sub_1 has no result: it is failed");
    // Both the file and what came after it are dead letters; running them again must not bind before it has split.
    for _ in 0..3 {
        desk.bindery(&["retry", "p"]).ok();
        desk.bindery(&["worker", "--until-idle"]).ok();
        let status = desk.status("p");
        assert_eq!((&status["status"], &stage(&status, "consolidate")["failed"]), (&json!("failed"), &json!(1)));
        assert_eq!(desk.bindery(&["dead-letters", "--json"]).ok().json().as_array().unwrap().len(), 2);
        let first = desk.bindery(&["dead-letters", "--limit", "1", "--json"]).ok();
        assert_eq!(first.json().as_array().unwrap().len(), 1);
        assert!(first.err.contains("the first 1; --limit shows more"), "{first:?}");
    }
}

#[test]
fn a_processor_that_states_no_confidence_does_not_reach_a_threshold() {
    let desk = Desk::new();
    desk.write("processors/plain.yaml", "name: plain\ndeclare:\n  transform: '{\"seen\": true}'\n");
    desk.write(
        "workflows/plain.yaml",
        "name: plain\nstages:\n\
         \x20 - {name: look, component: plain, over: file, confidence_threshold: 0.5, backoffice_queue: task.look}\n",
    );
    desk.write("a.txt", "anything");
    let ran = desk.bindery(&["run", "a.txt", "--workflow", "plain", "--processors", "processors"]);
    ran.fails_with(11, "waits for a person");
    let asked = desk.bindery(&["review", "--json"]).ok();
    assert!(asked.out.contains("plain states no confidence, and 0.5 is asked for"), "{asked:?}");
}

#[test]
fn a_person_decides_what_the_counter_doubts() {
    let desk = Desk::new();
    desk.write(
        "workflows/doubt.yaml",
        "name: doubt\nstages:\n\
         \x20 - {name: split, component: text_splitter, over: file, parallel: true}\n\
         \x20 - {name: count, component: word_counter, over: page, parallel: true, confidence_threshold: 0.9, backoffice_queue: task.words}\n\
         \x20 - {name: bind, component: word_consolidator, aggregation: {expect_count_from: page_count}}\n",
    );
    desk.write("latin.txt", b"caf\xe9 au lait");
    let ran = desk.bindery(&["run", "latin.txt", "--workflow", "doubt", "--external-id", "l"]);
    ran.fails_with(11, "waits for a person");
    let listed = desk.bindery(&["review"]).ok();
    let before = desk.bindery(&["reviews", "--json"]).ok().json();
    assert_eq!(before, desk.bindery(&["review", "list", "--json"]).ok().json(), "the name from before");
    assert!(listed.out.contains("latin.txt, page 1") && listed.out.contains("task.words"), "{listed:?}");
    desk.bindery(&["review", "correct", "rev_1", "--json-value", "{oops"]).fails_with(2, "--json-value: expected JSON");
    desk.bindery(&["review", "correct", "rev_1"]).fails_with(2, "say which fields are to be corrected");
    desk.bindery(&["review", "claim", "rev_1", "--by", "marta"]).ok();
    desk.bindery(&["review", "claim", "rev_1", "--by", "noor"]).fails_with(2, "rev_1 is assigned to marta");
    desk.bindery(&["review", "accept", "rev_1"]).fails_with(2, "rev_1 is assigned to marta");
    let decided = desk.bindery(&["review", "correct", "rev_1", "words=4", "--by", "marta"]).ok();
    assert!(decided.err.contains("`bindery worker` goes on with it"), "{decided:?}");
    desk.bindery(&["review", "accept", "rev_1"]).fails_with(2, "rev_1 is completed already: corrected by marta");
    let ran = desk.bindery(&["run", "--workflow", "words", "latin.txt", "--external-id", "l", "--json"]).ok().json();
    assert_eq!(ran["result"]["totals"]["words"], 4);
}
