//! One processor on inputs of one's own: factors out, whatever the form of the inputs and whoever runs them.

use crate::support::{Desk, Ran, sample_inputs};
use serde_json::{Value, json};

/// An input of `word_counter`, as a line.
pub(crate) fn page(id: &str, text: &str) -> String {
    json!({"input_id": id, "account_id": "acc", "underwriting_id": "uw", "data": {"text": text}}).to_string()
}

fn words(ran: &Ran) -> Value {
    ran.json()["words"].clone()
}

#[test]
fn a_file_is_the_data_of_an_input_called_like_it() {
    let desk = Desk::new();
    desk.write("in/letter.json", r#"{"text": "one two three"}"#);
    let ran = desk.bindery(&["process", "word_counter", "in/letter.json"]).ok();
    assert_eq!(words(&ran), 3, "the factors are on stdout");
    assert!(ran.err.contains("letter.json  success"), "{ran:?}");
    assert!(ran.err.contains("succeeded in ") && ran.err.contains("1 succeeded of 1 input, "), "{ran:?}");
    let answer = desk.bindery(&["process", "p_word_counter", "in/letter.json", "--json"]).ok().json();
    assert_eq!((&answer["account_id"], &answer["underwriting_id"]), (&json!("local"), &json!("local")));
    assert_eq!((&answer["processor_name"], &answer["success"]), (&json!("p_word_counter"), &json!(true)));
    assert_eq!((&answer["output"]["words"], &answer["circuits"]), (&json!(3), &json!([])));
    assert_eq!(answer["context"]["trigger_type"], "manual");
}

#[test]
fn s004_26_the_context_of_a_run_can_be_given() {
    let desk = Desk::new();
    let input = desk.write("in.json", page("a", "one two"));
    let input = input.to_str().unwrap();
    let given = ["--parent", "nightly-7", "--meta", "batch=12", "--meta", "note=a=b", "--trigger", "automatic"];
    let more = ["--trigger-by", "cron", "--trigger-at", "2026-11-16T09:30:00Z", "--json"];
    let args = [&["process", "word_counter", input][..], &given, &more].concat();
    let context = desk.bindery(&args).ok().json()["context"].clone();
    let expected = json!({
        "parent_run_id": "nightly-7", "previous_run_id": null, "last_error_step": null, "retry_count": 0,
        "execution_metadata": {"batch": "12", "note": "a=b"}, "trigger_type": "automatic", "trigger_initiator": "cron",
        "trigger_timestamp": "2026-11-16T09:30:00Z",
    });
    assert_eq!(context, expected);
    for (flags, sentence) in [
        (["--meta", "batch"], "expected key=value"),
        (["--trigger", "cron"], "expected manual or automatic"),
        (["--trigger-at", "yesterday"], "expected a time such as"),
        (["--parent", " "], "it is blank"),
    ] {
        desk.bindery(&[&["process", "word_counter", input][..], &flags].concat()).fails_with(2, sentence);
    }
    let twice = ["process", "word_counter", input, "--meta", "a=1", "--meta", "a=2"];
    desk.bindery(&twice).fails_with(2, "--meta: \"a\" is given twice");
}

#[test]
fn s004_27_what_is_given_is_kept_with_the_run_and_goes_on_in_its_lineage() {
    let desk = Desk::new();
    desk.write(
        "in.jsonl",
        format!(
            "{}\n{{\"input_id\": \"b\", \"account_id\": \"acc\", \"underwriting_id\": \"uw\", \"data\": 7}}\n",
            page("a", "one")
        ),
    );
    let first =
        desk.bindery(&["process", "word_counter", "in.jsonl", "--parent", "root-1", "--meta", "batch=12", "--json"]);
    assert_ne!(first.code, Some(0), "one input is no text: {first:?}");
    let first = first.json();
    let run = first["run_id"].as_str().unwrap().to_owned();
    assert_eq!(first["context"]["parent_run_id"], "root-1");
    let fixed = desk.write("fixed.json", page("b", "one two"));
    let again = |flags: &[&str]| {
        let args = ["process", "word_counter", fixed.to_str().unwrap(), "--previous", &run, "--json"];
        desk.bindery(&[&args[..], flags].concat())
    };
    again(&["--parent", "root-2"]).fails_with(2, "began with root-1");
    let second = again(&["--meta", "by=ann"]).ok().json()["context"].clone();
    assert_eq!((&second["parent_run_id"], &second["previous_run_id"]), (&json!("root-1"), &json!(run)));
    assert_eq!(second["execution_metadata"], json!({"batch": "12", "by": "ann"}), "added to what the run before had");
    assert_eq!(second["retry_count"], 1);
}

#[test]
fn inputs_come_in_files_lists_lines_folders_and_through_a_pipe() {
    let desk = Desk::new();
    desk.write("in/list.json", format!("[{}, {}]", page("a", "one"), page("b", "one two")));
    desk.write("in/deep/lines.jsonl", format!("{}\n\n{}\n", page("c", "1 2 3"), page("d", "1 2 3 4")));
    desk.write("in/one.json", page("e", "1 2 3 4 5"));
    desk.write("in/notes.txt", "not looked at");
    let merged = ["--merge-factor", "words=all", "--no-progress"];
    let ran = desk.bindery(&[&["process", "word_counter", "in"][..], &merged].concat()).ok();
    // In the order of the names: deep/lines.jsonl, list.json, one.json.
    assert_eq!(words(&ran), json!([3, 4, 1, 2, 5]));
    assert!(!ran.err.contains("0/5"), "no progress was wanted: {ran:?}");
    let piped = |text: &str| {
        let ran = desk.bindery_with_input(&[&["process", "word_counter", "-", "--json"][..], &merged].concat(), text);
        ran.ok().json()
    };
    assert_eq!(piped(&format!("{}\n{}", page("x", "1"), page("y", "1 2")))["output"]["words"], json!([1, 2]));
    let stdin = piped(r#"{"text": "four words in here"}"#);
    assert_eq!((&stdin["output"]["words"], &stdin["metrics"]["inputs"]), (&json!(4), &json!(1)));
    assert!(desk.bindery(&["runs", "show", "latest"]).ok().out.contains("stdin  success"));
}

#[test]
fn files_of_one_name_in_two_folders_are_two_inputs() {
    let desk = Desk::new();
    desk.write("2025/form.json", r#"{"text": "one"}"#);
    desk.write("2026/form.json", r#"{"text": "one two"}"#);
    let ran = desk.bindery(&["process", "word_counter", "2025", "2026/form.json", "--merge", "all"]).ok();
    assert_eq!(words(&ran), json!([1, 2]));
    assert!(ran.err.contains("2025/form.json  success") && !ran.err.contains("warning"), "{ran:?}");
}

#[test]
fn every_runner_gives_the_same_factors() {
    let desk = Desk::new();
    let licences = [sample_inputs("drivers_licence/valid.json"), sample_inputs("drivers_licence/expired.json")];
    let mut outputs = Vec::new();
    for (runner, kind) in [
        ("auto", "sequential"),
        ("sequential", "sequential"),
        ("threads", "threads"),
        ("threads:2", "threads"),
        ("processes:2", "processes"),
    ] {
        let args = ["process", "drivers_licence", &licences[0], &licences[1], "--json", "--runner", runner];
        let answer = desk.bindery(&args).ok().json();
        assert_eq!(answer["metrics"]["runner"], kind, "{runner}");
        outputs.push(answer["output"].clone());
    }
    assert!(outputs.iter().all(|output| *output == outputs[0]), "{outputs:#?}");
    assert_eq!(outputs[0]["full_name"], "Test Example");
}

#[test]
fn children_have_the_users_processors_too() {
    let desk = Desk::new();
    desk.write("own/double.yaml", "name: double\ndeclare: {transform: '{\"twice\": n * 2}'}\n");
    desk.write("n.json", r#"{"n": 21}"#);
    let args = ["--processors", "own", "process", "double", "n.json", "--runner", "processes", "--memory", "500"];
    assert_eq!(desk.bindery(&args).ok().json(), json!({"twice": 42}));
}

#[test]
fn limits_are_kept() {
    let desk = Desk::new();
    desk.write("slow.jsonl", [page("a", "one"), page("b", "two")].join("\n"));
    let slow = |more: &[&str]| {
        let args = ["process", "word_counter", "slow.jsonl", "--set", "delay_ms=60000", "--json", "--timeout", "0.3"];
        let ran = desk.bindery(&[&args[..], more].concat()).fails_with(10, "2 failed of 2 inputs");
        let answer = ran.json();
        // Whoever notices first: the one who watches, or the step itself.
        let exception = answer["output"][0]["exception"].as_str().unwrap();
        assert!(["Timeout", "Stopped"].contains(&exception), "{answer:#}");
        answer["metrics"]["runner"].clone()
    };
    assert_eq!(slow(&["--runner", "threads:2"]), "threads");
    // Nobody said who: somebody who can enforce it.
    assert_eq!(slow(&[]), "processes");
    desk.bindery(&["process", "word_counter", "slow.jsonl", "--memory", "100", "--runner", "threads"])
        .fails_with(2, "--memory: the runner threads cannot keep a limit on memory, which needs processes");
}

#[test]
fn settings_and_owners_come_from_flags() {
    let desk = Desk::new();
    desk.write("a.json", r#"{"text": "one"}"#);
    let args = ["process", "word_counter", "a.json", "--account", "acc", "--underwriting", "uw", "--set", "delay_ms=1"];
    desk.bindery(&args).ok();
    let shown = desk.bindery(&["runs", "show", "latest"]).ok().out;
    assert!(shown.contains("account acc, underwriting uw, sequential runner"), "{shown}");
    desk.bindery(&["process", "word_counter", "a.json", "--set", "delay_ms=soon"]).fails_with(10, "delay_ms");
    // What the first input says counts for those that say nothing.
    desk.write("b.jsonl", format!("{}\n{}", page("b", "x"), r#"{"input_id": "c", "data": {"text": "y"}}"#));
    let answer = desk.bindery(&["process", "word_counter", "b.jsonl", "a.json", "--json"]).ok().json();
    assert_eq!((&answer["account_id"], &answer["metrics"]["inputs"]), (&json!("acc"), &json!(3)));
}

#[test]
fn disagreements_are_told_and_settled_as_wanted() {
    let desk = Desk::new();
    desk.write("in.jsonl", [page("a", "one"), page("b", "one two")].join("\n"));
    let merged = |more: &[&str]| desk.bindery(&[&["process", "word_counter", "in.jsonl"][..], more].concat()).ok();
    let last = merged(&[]);
    assert_eq!(words(&last), 2);
    assert!(
        last.err.contains("note: inputs disagree about words: a says 1, b says 2; the last one counts"),
        "{last:?}"
    );
    assert_eq!(words(&merged(&["--merge", "first"])), 1);
    assert_eq!(words(&merged(&["--merge", "all"])), json!([1, 2]));
    assert_eq!(words(&merged(&["--merge", "first", "--merge-factor", "words=last"])), 2);
}

#[test]
fn a_failed_input_is_told_with_its_step_and_the_others_are_done() {
    let desk = Desk::new();
    let ran = desk.bindery(&["process", "bank_statement", &sample_inputs("bank_statement")]);
    let ran = ran.fails_with(10, "2 succeeded, 2 failed of 4 inputs");
    assert_eq!(ran.out, "", "there are no factors where something failed");
    assert!(ran.err.contains("statement_3  failed at processing"), "{ran:?}");
    assert!(ran.err.contains("TransformationError: the opening balance and the transactions do not add up"), "{ran:?}");
    assert!(ran.err.contains("statement_1  success"), "{ran:?}");
    let latest = desk.bindery(&["runs", "--json"]).ok().json()[0]["run_id"].as_str().unwrap().to_owned();
    assert!(ran.err.contains(&format!("run {latest} failed in ")), "{ran:?}");
    assert!(ran.err.contains(&format!("`bindery runs retry {}` tries again", &latest[..8])), "{ran:?}");
}

#[test]
fn a_large_run_lists_only_what_needs_attention() {
    let desk = Desk::new();
    let mut lines: Vec<String> = (0..60).map(|number| page(&format!("good-{number}"), "one")).collect();
    lines.push(page("bad", "one").replace("\"text\"", "\"txet\""));
    desk.write("in.jsonl", lines.join("\n"));
    let ran = desk.bindery(&["process", "word_counter", "in.jsonl", "--runner", "threads"]);
    let ran = ran.fails_with(10, "60 succeeded, 1 failed of 61 inputs");
    assert!(ran.err.contains("\nbad    failed at validation") && !ran.err.contains("good-1"), "{ran:?}");
}
