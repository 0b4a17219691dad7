//! Whatever is wrong with inputs is said in one sentence; one bad input does not stop the others.

use crate::{process::page, support::Desk};
use serde_json::{Value, json};

#[test]
fn what_cannot_be_run_at_all_is_told_before_a_store_is_made() {
    let desk = Desk::new();
    desk.write("good.json", r#"{"text": "one"}"#);
    desk.write("empty/notes.txt", "");
    desk.write("nothing.jsonl", "\n");
    let fails = |args: &[&str], sentence: &str| {
        desk.bindery(&[&["process"], args].concat()).fails_with(2, sentence);
    };
    fails(&["", "good.json"], "the processor's name is blank");
    fails(&["wrod_counter", "good.json"], "there is no processor \"wrod_counter\"; known are application_form,");
    fails(&["wrod_counter", "good.json"], "hint: did you mean `word_counter`?");
    fails(&["something", "good.json"], "hint: BINDERY_PROCESSORS or --processors names a folder");
    fails(&["word_counter"], "INPUTS");
    fails(&["word_counter", "good.json", "gone.json"], "there is no file or folder gone.json");
    fails(&["word_counter", "empty"], "the folder empty has no files that end with .json or .jsonl");
    fails(&["word_counter", "nothing.jsonl"], "there are no inputs in nothing.jsonl");
    fails(&["word_counter", "-", "-"], "standard input (-) is given twice");
    fails(&["word_counter", "good.json", "--runner", "fork"], "\"fork\" is not a runner: expected auto, sequential");
    fails(&["word_counter", "good.json", "--runner", "threads:0"], "N from 1 to 1024");
    fails(&["word_counter", "good.json", "--timeout", "0"], "expected a number of seconds");
    fails(&["word_counter", "good.json", "--timeout", "soon"], "expected a number of seconds");
    fails(&["word_counter", "good.json", "--memory", "0"], "0 is not in 1..=1000000");
    fails(&["word_counter", "good.json", "--account", " "], "it is blank");
    fails(&["word_counter", "good.json", "--duplicates", "both"], "expected last or refuse");
    fails(&["word_counter", "good.json", "--merge", "some"], "expected last, first or all");
    fails(&["word_counter", "good.json", "--merge-factor", "words"], "expected FACTOR=last");
    fails(&["word_counter", "good.json", "--set", "delay_ms"], "expected key=value");
    fails(&["word_counter", "good.json", "--set", "a=1", "--set", "a=2"], "--set: \"a\" is given twice");
    let followed = desk.bindery(&["process", "word_counter", "good.json", "--previous", "abcdef"]);
    followed.fails_with(20, "there is no store in bindery-data");
    desk.write("own/bad.yaml", "name: bad\n");
    fails(&["word_counter", "good.json", "--processors", "own"], "own/bad.yaml:1:1: nothing says how the work is done");
    assert!(!desk.path("bindery-data").exists());
}

#[test]
fn inputs_of_two_owners_are_refused_and_nothing_runs() {
    let desk = Desk::new();
    desk.write("in.jsonl", format!("{}\n{}", page("a", "x"), page("b", "y").replace("\"acc\"", "\"other\"")));
    let refused = desk.bindery(&["process", "word_counter", "in.jsonl"]).fails_with(
        10,
        "was refused, nothing was run: PrevalidationError: Input data is not for the same account: \
         input b has account_id \"other\", expected \"acc\"",
    );
    assert!(!refused.err.contains("runs retry"), "there is nothing to retry: {refused:?}");
    let answer = desk.bindery(&["process", "word_counter", "in.jsonl", "--account", "other", "--json"]);
    let answer = answer.fails_with(10, "input a has account_id \"acc\"").json();
    assert_eq!((&answer["error"]["exception"], &answer["output"]), (&json!("PrevalidationError"), &json!([])));
    desk.write("uw.json", page("c", "x"));
    desk.bindery(&["process", "word_counter", "uw.json", "--underwriting", "another"])
        .fails_with(10, "Input data is not for the same underwriting");
    // What is wrong otherwise does not hide whose it is.
    desk.write("bad.json", format!("[{}, {{\"input_id\": \"d\", \"account_id\": \"other\"}}]", page("a", "x")));
    desk.bindery(&["process", "word_counter", "bad.json"]).fails_with(10, "input d has account_id \"other\"");
    assert_eq!(desk.bindery(&["runs", "stats", "--json"]).ok().json()[0]["inputs"], 0);
}

#[test]
fn of_two_inputs_with_one_id_the_last_counts_or_both_are_refused() {
    let desk = Desk::new();
    desk.write("in.jsonl", [page("a", "one"), page("b", "one"), page("a", "one two")].join("\n"));
    let args = ["process", "word_counter", "in.jsonl", "--merge", "all"];
    let last = desk.bindery(&args).ok();
    assert!(last.err.contains("warning: input a is given 2 times; the last one counts"), "{last:?}");
    assert_eq!(last.json()["words"], json!([2, 1]));
    let refused = desk.bindery(&[&args[..], &["--duplicates", "refuse"]].concat());
    let refused = refused.fails_with(10, "DuplicateInput: the input id a is given 2 times, expected once");
    assert!(refused.err.contains("1 succeeded, 1 failed of 2 inputs"), "{refused:?}");
    // A retry is asked the same question and gives the same answer.
    desk.bindery(&["runs", "retry", "latest"]).fails_with(10, "DuplicateInput: the input id a is given 2 times");
    desk.write("a.json", page("a", "x y z"));
    let fixed = desk.bindery(&["process", "word_counter", "a.json", "--previous", "latest", "--merge", "all"]).ok();
    assert_eq!(fixed.json()["words"], json!([3, 1]));
}

#[test]
fn what_is_no_input_fails_with_its_place_and_the_rest_is_done() {
    let desk = Desk::new();
    desk.write("in/broken.json", "{\n  \"text\": \n}");
    desk.write("in/empty.json", "");
    desk.write("in/latin.json", b"{\"text\": \"caf\xe9\"}");
    desk.write("in/list.json", format!("[{}, {{\"input_id\": \"half\"}}]", page("whole", "one")));
    desk.write("in/lines.jsonl", format!("{}\nnonsense\n{{\"data\": 1}}\n", page("first", "one two")));
    let ran = desk.bindery(&["process", "word_counter", "in", "--json"]).fails_with(10, "2 succeeded, 6 failed of 8");
    let answer = ran.json();
    let results = answer["output"].as_array().unwrap();
    let told = |id: &str| {
        let found: &Value = results.iter().find(|result| result["input_id"] == id).unwrap();
        assert_eq!((&found["step"], &found["exception"]), (&json!("validation"), &json!("InvalidInput")), "{found:#}");
        assert_eq!(found["payload"]["step"], "validation");
        found["message"].as_str().unwrap().to_owned()
    };
    assert_eq!(told("broken.json"), "in/broken.json, line 3, column 1: not JSON: expected value");
    assert_eq!(told("empty.json"), "in/empty.json is empty, expected JSON");
    assert_eq!(told("latin.json"), "in/latin.json: byte 14 is not UTF-8, expected JSON");
    assert_eq!(told("half"), "in/list.json, input 2: `data` is missing");
    assert_eq!(told("lines.jsonl:2"), "in/lines.jsonl, line 2, column 2: not JSON: expected ident");
    assert_eq!(told("lines.jsonl:3"), "in/lines.jsonl, line 3: `input_id` is missing");
    assert!(ran.err.contains("repair it and give it to `bindery process` with --previous "), "{ran:?}");
    // It stays what it is until somebody brings something better under its id.
    desk.bindery(&["runs", "retry", "latest"]).fails_with(10, "6 failed, 2 skipped of 8");
    desk.write("in/broken.json", r#"{"text": "now it is good"}"#);
    let better = desk.bindery(&["process", "word_counter", "in/broken.json", "--previous", "latest"]);
    better.fails_with(10, "1 succeeded, 5 failed, 2 skipped of 8");
}

#[test]
fn data_of_the_wrong_shape_fails_at_validation() {
    let desk = Desk::new();
    desk.write("numbers.json", "[1, 2, 3]");
    desk.bindery(&["process", "application_form", "numbers.json"]).fails_with(
        10,
        "ValidationError: the input is not as expected: the input: the value is not of type \"object\"",
    );
}

#[test]
fn a_payload_that_names_no_step_starts_at_validation_and_says_so() {
    let desk = Desk::new();
    let payload = |payload: Value| {
        let mut input: Value = serde_json::from_str(&page("a", "one two")).unwrap();
        input["payload"] = payload;
        input.to_string()
    };
    desk.write("bad.json", r#"{"input_id": "a", "account_id": "acc", "underwriting_id": "uw", "data": {"txet": ""}}"#);
    desk.bindery(&["process", "word_counter", "bad.json"]).fails_with(10, "1 failed of 1 input");
    desk.write("a.json", payload(json!({"step": "polishing", "data": {"text": "one"}})));
    let ran = desk.bindery(&["process", "word_counter", "a.json", "--previous", "latest"]).ok();
    assert!(
        ran.err.contains(
            "warning: input a starts at validation: the payload names the step \"polishing\", which does not exist"
        ),
        "{ran:?}"
    );
    // Without a run before it, a payload is not looked at.
    desk.write("b.json", payload(json!({"step": "extraction", "data": {"words": 100, "index": {}}})));
    assert_eq!(desk.bindery(&["process", "word_counter", "b.json"]).ok().json()["words"], 2);
}

#[test]
fn a_run_goes_on_only_with_the_same_work() {
    let desk = Desk::new();
    desk.write("bad.json", r#"{"txet": "one"}"#);
    desk.bindery(&["process", "word_counter", "bad.json"]).fails_with(10, "failed at validation");
    desk.bindery(&["process", "application_form", "bad.json", "--previous", "latest"])
        .fails_with(2, "is of the processor word_counter, not application_form");
    desk.bindery(&["process", "word_counter", "bad.json", "--previous", "latest", "--account", "other"])
        .fails_with(2, "is of the account local, not other");
    desk.bindery(&["process", "word_counter", "bad.json", "--previous", "abcdef12"])
        .fails_with(2, "there is no run abcdef12");
    assert_eq!(desk.bindery(&["runs", "--json"]).ok().json().as_array().unwrap().len(), 1);
}
