//! `bindery delete`, `prune`, `hold`: what is deleted leaves no trace, and what must stay does.

use crate::{
    buckets, postgres,
    support::{Desk, PATIENCE, files_below},
};
use bindery_testkit::{ObjectServer, PostgresServer};
use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

/// In every document of hers, and nowhere else.
const MARKER: &str = "Zyxwvutmarker";
/// In her file's name and in her name.
const OWNER: &str = "annzyxowner";

/// Several pages, one of which is so long that its result does not fit into a row.
fn letter(name: &str) -> String {
    let long = (0..3_000).map(|word| format!("{name}{word}")).collect::<Vec<_>>().join(" ");
    format!("<h1>A letter of {name}</h1><p>{name} wrote this.</p><p>{long}</p>")
}

/// Two owners whose letters were read and can be found.
fn two_owners(desk: &Desk) {
    for (owner, marker) in [(OWNER, MARKER), ("bob", "Bobmarker")] {
        desk.write(&format!("in/{owner}.html"), letter(marker));
        let file = format!("in/{owner}.html");
        desk.bindery(&["run", "--workflow", "read", "--owner", owner, &file, "--meta", &format!("from={marker}")]).ok();
    }
    desk.bindery(&["search", "--add", "sub_1"]).ok();
    desk.bindery(&["search", "--add", "sub_2"]).ok();
    fs::remove_dir_all(desk.path("in")).unwrap();
}

/// The files in which one of her words is, whatever else they are.
fn with_traces(folder: &Path) -> Vec<PathBuf> {
    let words = [MARKER, OWNER, &MARKER.to_lowercase()];
    let has = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap_or_default();
        words.iter().any(|word| bytes.windows(word.len()).any(|found| found == word.as_bytes()))
    };
    files_below(folder).into_iter().filter(has).collect()
}

fn assert_only_bob_is_left(desk: &Desk) {
    desk.bindery(&["status", "sub_1"]).fails_with(2, "there is no submission");
    assert_eq!(desk.status("sub_2")["status"], "completed");
    assert!(desk.bindery(&["result", "sub_2", "--json"]).ok().out.contains("bob"));
    assert_eq!(desk.bindery(&["search", MARKER, "--json"]).ok().out.trim(), "[]");
    assert_eq!(desk.bindery(&["search", "Bobmarker", "--json"]).ok().json().as_array().unwrap().len(), 1);
    let events = desk.bindery(&["events", "--json"]).ok().out;
    assert!(events.contains("SubmissionDeleted") && !events.contains(OWNER), "{events}");
}

#[test]
fn after_an_owner_is_deleted_no_byte_of_theirs_is_left() {
    let desk = Desk::new();
    two_owners(&desk);
    let store = desk.path("bindery-data");
    let before = with_traces(&store);
    assert!(before.iter().any(|path| path.ends_with("bindery.db")), "{before:?}");
    assert!(before.iter().any(|path| path.to_string_lossy().contains("/blobs/")), "{before:?}");
    let would = desk.bindery(&["delete", "--owner", OWNER, "--dry-run", "--json"]).ok().json();
    assert_eq!((&would["submissions"], &would["dry_run"]), (&1.into(), &true.into()), "{would}");
    assert!(would["rows"].as_u64() > Some(3) && would["bytes"].as_u64() > Some(1_000), "{would}");
    assert_eq!(with_traces(&store), before, "a dry run has deleted something");

    let deleted = desk.bindery(&["delete", "--owner", OWNER, "--yes", "--json"]).ok().json();
    assert_eq!((&deleted["submissions"], &deleted["files_waiting"]), (&1.into(), &0.into()), "{deleted}");
    assert_eq!(with_traces(&store), Vec::<PathBuf>::new(), "{deleted}");
    assert_only_bob_is_left(&desk);
}

/// Makes the server write its pages to its files, and remove the files of tables that were rewritten.
fn checkpoint(url: &str) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
        let driver = tokio::spawn(connection);
        client.batch_execute("CHECKPOINT").await.unwrap();
        drop(client);
        driver.await.unwrap().unwrap();
    });
}

#[test]
fn on_postgresql_no_row_and_after_compacting_no_file_has_a_trace() {
    let Some(server) = PostgresServer::start() else { return };
    let desk = postgres::desk_on(&server);
    two_owners(&desk);
    assert!(!with_traces(&desk.path("shared/blobs")).is_empty());
    let relations = server.data().join("base");
    checkpoint(&server.url());
    assert!(!with_traces(&relations).is_empty(), "what is looked for has to be there before");
    let deleted = desk.bindery(&["delete", "--owner", OWNER, "--yes", "--json"]).ok().json();
    assert_eq!((&deleted["submissions"], &deleted["files_waiting"]), (&1.into(), &0.into()), "{deleted}");
    assert_eq!(with_traces(&desk.path("shared/blobs")), Vec::<PathBuf>::new());
    assert_only_bob_is_left(&desk);
    // Every row of every table, as it is exported.
    desk.bindery(&["store", "export", "all.tar"]).ok();
    let archive = fs::read(desk.path("all.tar")).unwrap();
    for word in [MARKER, OWNER, &MARKER.to_lowercase()] {
        let found = archive.windows(word.len()).any(|found| found == word.as_bytes());
        assert!(!found, "{word} is in a row");
    }
    desk.bindery(&["prune", "--compact"]).ok();
    checkpoint(&server.url());
    assert_eq!(with_traces(&relations), Vec::<PathBuf>::new());
}

/// Takes her letter in, and has a machine of its own look at what it was given.
const TAKE_IN: &str = r#"{"StartAt": "Submit", "States": {
    "Submit": {"Type": "Task", "Resource": "submit", "ResultPath": "$.taken", "Next": "Look"},
    "Look": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync", "End": true,
        "Parameters": {"StateMachineArn": "look", "Input.$": "$"}}}}"#;

const LOOK: &str = r#"{"StartAt": "Look", "States": {"Look": {"Type": "Pass", "End": true}}}"#;

/// Asks a person, and waits for the answer.
const ASK: &str = r#"{"StartAt": "Ask", "States": {"Ask": {"Type": "Task", "End": true,
    "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken", "Parameters": {"FunctionName": "review",
        "Payload": {"question.$": "$.question", "value.$": "$"}}}}}"#;

/// Executions of hers: two that have ended, one of them started by the other, with a letter that was read; and one that waits.
/// Another one is nobody's.
fn executions_of_hers(desk: &Desk) {
    for (name, text) in [("look", LOOK), ("take_in", TAKE_IN), ("ask", ASK)] {
        let file = desk.write(&format!("{name}.asl.json"), text);
        desk.bindery(&["machine", "put", file.to_str().unwrap()]).ok();
    }
    let letter_file = desk.write(&format!("in/{OWNER}.html"), letter(MARKER));
    let input = serde_json::json!({"files": [letter_file], "workflow": "read", "about": MARKER}).to_string();
    desk.bindery(&["machine", "run", "take_in", "--owner", OWNER, "--input", &input]).ok();
    let question = serde_json::json!({"question": format!("Is {MARKER} right?")}).to_string();
    desk.bindery(&["machine", "start", "ask", "--owner", OWNER, "--input", &question, "--name", "hers"]).ok();
    desk.bindery(&["machine", "run", "look", "--input", r#"{"about": "bob"}"#, "--name", "nobodys"]).ok();
    desk.bindery(&["worker", "--until-idle"]).ok();
    // Under the same name, for somebody else.
    let refused = desk.bindery(&["machine", "start", "ask", "--owner", "bob", "--input", &question, "--name", "hers"]);
    refused.fails_with(2, "for another owner");
    let shown = desk.bindery(&["machine", "status", "ask:hers", "--json"]).ok().json();
    assert_eq!((&shown["owner"], &shown["status"]), (&OWNER.into(), &"RUNNING".into()), "{shown}");
    fs::remove_dir_all(desk.path("in")).unwrap();
}

fn delete_executions_of_hers(desk: &Desk) {
    let would = desk.bindery(&["delete", "--owner", OWNER, "--dry-run", "--force", "--json"]).ok().json();
    // The letter, and what the person was asked.
    assert_eq!((&would["submissions"], &would["executions"]), (&2.into(), &3.into()), "{would}");
    let refused = desk.bindery(&["delete", "--owner", OWNER, "--yes"]).fails_with(2, "still");
    assert!(refused.err.contains("nothing was deleted"), "{refused:?}");
    let deleted = desk.bindery(&["delete", "--owner", OWNER, "--yes", "--force", "--json"]).ok().json();
    assert_eq!((&deleted["submissions"], &deleted["executions"]), (&2.into(), &3.into()), "{deleted}");
    let left = desk.bindery(&["machine", "list", "--json"]).ok().json();
    assert_eq!(left.as_array().unwrap().len(), 1, "{left}");
    assert_eq!(left[0]["name"], "nobodys");
    let events = desk.bindery(&["events", "--json"]).ok().out;
    assert!(events.contains("ExecutionsDeleted") && !events.contains(OWNER), "{events}");
    // Nothing of hers goes on, or comes back.
    desk.bindery(&["worker", "--until-idle"]).ok();
    let again = desk.bindery(&["delete", "--owner", OWNER, "--yes", "--json"]).ok().json();
    assert_eq!((&again["submissions"], &again["executions"], &again["rows"]), (&0.into(), &0.into(), &0.into()));
}

#[test]
fn executions_of_an_owner_go_with_everything_that_they_took_in() {
    let desk = Desk::new();
    executions_of_hers(&desk);
    let store = desk.path("bindery-data");
    assert!(!with_traces(&store).is_empty());
    delete_executions_of_hers(&desk);
    assert_eq!(with_traces(&store), Vec::<PathBuf>::new());
}

#[test]
fn on_postgresql_executions_of_an_owner_leave_no_row() {
    let Some(server) = PostgresServer::start() else { return };
    let desk = postgres::desk_on(&server);
    executions_of_hers(&desk);
    delete_executions_of_hers(&desk);
    assert_eq!(with_traces(&desk.path("shared/blobs")), Vec::<PathBuf>::new());
    desk.bindery(&["store", "export", "all.tar"]).ok();
    let archive = fs::read(desk.path("all.tar")).unwrap();
    for word in [MARKER, OWNER, &MARKER.to_lowercase()] {
        assert!(!archive.windows(word.len()).any(|found| found == word.as_bytes()), "{word} is in a row");
    }
}

#[test]
fn what_is_nobodys_leaves_the_index_by_name() {
    let desk = Desk::new();
    two_owners(&desk);
    let found = desk.bindery(&["search", MARKER, "--json"]).ok().json();
    let (collection, document) = (found[0]["collection"].as_str().unwrap(), found[0]["document_id"].as_str().unwrap());
    desk.bindery(&["search", "--remove", document]).fails_with(2, "--collection");
    desk.bindery(&["search", "--remove", document, "--collection", "none"]).fails_with(2, "there is no collection");
    desk.bindery(&["search", "--remove", document, "--collection", collection]).ok();
    assert_eq!(desk.bindery(&["search", MARKER, "--json"]).ok().out.trim(), "[]");
    assert_eq!(desk.bindery(&["search", "--remove", document, "--collection", collection]).code, Some(2));
    assert_eq!(desk.bindery(&["search", "--remove", "x", document, "--collection", collection]).code, Some(2));
}

#[test]
fn in_a_bucket_the_objects_go_and_those_of_others_stay() {
    let Some(server) = ObjectServer::get() else { return };
    let blobs = buckets::bucket(server);
    let desk = buckets::at(server, Desk::new()).with_env("BINDERY_BLOBS", &blobs);
    two_owners(&desk);
    let mut removed = desk.bindery(&["delete", "--owner", OWNER, "--yes", "--json"]).ok().json();
    assert_eq!(removed["submissions"], 1, "{removed}");
    let mut files = removed["files"].as_u64().unwrap();
    // A service keeps whole seconds: what was put a moment ago waits for the next one.
    let begun = Instant::now();
    while removed["files_waiting"] != 0 {
        assert!(begun.elapsed() < PATIENCE, "{removed}");
        removed = desk.bindery(&["prune", "--json"]).ok().json();
        files += removed["files"].as_u64().unwrap();
    }
    assert!(files > 2, "{removed}");
    assert_only_bob_is_left(&desk);
    assert_eq!(with_traces(&desk.path("bindery-data")), Vec::<PathBuf>::new());
}

#[test]
fn what_two_submissions_share_stays_until_both_are_gone() {
    let desk = Desk::new();
    for name in ["one", "two"] {
        desk.write(&format!("{name}/same.txt"), format!("{MARKER} in both"));
        desk.bindery(&["run", "--workflow", "words", name, "--owner", name]).ok();
    }
    fs::remove_dir_all(desk.path("one")).unwrap();
    fs::remove_dir_all(desk.path("two")).unwrap();
    let first = desk.bindery(&["delete", "sub_1", "--yes", "--json"]).ok().json();
    assert!(first["files_shared"].as_u64() > Some(0), "{first}");
    assert_eq!(desk.status("sub_2")["status"], "completed");
    assert!(!with_traces(&desk.path("bindery-data/blobs")).is_empty(), "the other one still needs it");
    desk.bindery(&["delete", "sub_2", "--yes"]).ok();
    assert_eq!(with_traces(&desk.path("bindery-data")), Vec::<PathBuf>::new());
}

#[test]
fn a_hold_keeps_everything_until_it_is_released() {
    let desk = Desk::new();
    desk.write("a.txt", "one two");
    desk.bindery(&["run", "--workflow", "words", "a.txt", "--owner", OWNER]).ok();
    desk.bindery(&["hold", "sub_1"]).fails_with(2, "--reason");
    desk.bindery(&["hold", "sub_1", "--reason", "case 12"]).ok();
    assert!(desk.bindery(&["holds"]).ok().out.contains("case 12"));
    assert_eq!(desk.bindery(&["holds", "--json"]).ok().json()[0]["reason"], "case 12");
    for args in [&["delete", "sub_1", "--yes"][..], &["delete", "--owner", OWNER, "--yes", "--force"]] {
        let refused = desk.bindery(args).fails_with(2, "sub_1 is on hold (case 12); nothing was deleted");
        assert!(refused.err.contains("hint: ") && refused.err.contains("bindery release sub_1"), "{refused:?}");
    }
    let pruned = desk.bindery(&["prune", "--older-than", "0d", "--json"]).ok().json();
    assert_eq!((&pruned["submissions"], &pruned["on_hold"]), (&0.into(), &1.into()), "{pruned}");
    assert_eq!(desk.status("sub_1")["status"], "completed");
    desk.bindery(&["release", "sub_1"]).ok();
    assert!(desk.bindery(&["release", "sub_1"]).ok().err.contains("was not on hold"));
    assert!(desk.bindery(&["holds"]).ok().err.contains("nothing is on hold"));
    let pruned = desk.bindery(&["prune", "--older-than", "0d", "--json"]).ok().json();
    assert_eq!(pruned["submissions"], 1, "{pruned}");
}

#[test]
fn deleting_asks_first_and_refuses_what_is_at_work() {
    let desk = Desk::slow();
    desk.write("a.txt", "one\ntwo\nthree\n");
    desk.bindery(&["submit", "--workflow", "slow", "a.txt"]).ok();
    let refused = desk.bindery(&["delete", "sub_1", "--yes"]).fails_with(2, "sub_1 is still at work");
    assert!(refused.err.contains("`bindery cancel sub_1` stops it"), "{refused:?}");
    desk.bindery(&["delete", "sub_1", "--force"]).fails_with(2, "deleting cannot be undone");
    desk.bindery(&["delete", "sub_9", "--yes"]).fails_with(2, "there is no submission");
    desk.bindery(&["delete"]).fails_with(2, "SUBMISSION");
    desk.bindery(&["prune", "--older-than", "soon"]).fails_with(2, "for example 90d");
    assert!(desk.bindery(&["delete", "--owner", "nobody", "--yes"]).ok().out.contains("deleted 0 submissions"));
    assert!(desk.bindery(&["delete", "sub_1", "--force", "--yes"]).ok().out.contains("deleted 1 submission"));
    desk.bindery(&["status", "sub_1"]).fails_with(2, "there is no submission");
}

#[test]
fn a_workflow_says_how_long_its_files_are_kept() {
    let desk = Desk::new();
    let workflow = |retention: &str| {
        format!(
            "name: letters\nversion: 1\nretention: {retention}\nstages:\n\
             - {{name: split, component: text_splitter, over: file, parallel: true}}\n\
             - {{name: count, component: word_counter, over: page, parallel: true}}\n\
             - {{name: consolidate, component: word_consolidator, \
             aggregation: {{collect_by: submission_id, expect_count_from: page_count}}}}\n"
        )
    };
    desk.write("workflows/letters.yaml", workflow("{raw_files_days: 40, results_days: 30}"));
    let wrong = desk.bindery(&["workflows", "check", "workflows/letters.yaml"]);
    let wrong = wrong.fails_with(2, "1 file cannot be used");
    assert!(wrong.out.contains(":3:29: retention.raw_files_days: it has no effect"), "{wrong:?}");
    desk.write("workflows/letters.yaml", workflow("{raw_files_days: 0, page_images_days: 0, texts_days: 0}"));
    desk.write("a.txt", format!("one two {MARKER}raw"));
    desk.bindery(&["run", "--workflow", "letters", "a.txt"]).ok();
    let result = desk.bindery(&["result", "sub_1", "--json"]).ok().json();
    fs::remove_file(desk.path("a.txt")).unwrap();
    let pruned = desk.bindery(&["prune", "--json"]).ok().json();
    assert!(pruned["files"].as_u64() > Some(0), "{pruned}");
    assert_eq!(desk.bindery(&["result", "sub_1", "--json"]).ok().json(), result, "the result stays");
    let raw = format!("one two {MARKER}raw");
    let has_raw = |path: &PathBuf| fs::read(path).unwrap().windows(raw.len()).any(|found| found == raw.as_bytes());
    let left: Vec<_> = files_below(&desk.path("bindery-data/blobs")).into_iter().filter(has_raw).collect();
    assert_eq!(left, Vec::<PathBuf>::new());
    assert!(desk.bindery(&["events", "--json"]).ok().out.contains("SubmissionExpired"));
}

/// Somebody takes the same bytes in, again and again, and works on them, while somebody else deletes them.
#[test]
fn deleting_beside_running_work_takes_nothing_from_it() {
    let desk = Desk::slow();
    desk.write("a.txt", "one\ntwo\nthree\n");
    desk.bindery(&["run", "--workflow", "slow", "a.txt"]).ok();
    let worker = desk.start(&["worker"]);
    let submitter = std::thread::scope(|scope| {
        let submitting = scope.spawn(|| {
            for number in 0..12 {
                let id = format!("again-{number}");
                desk.bindery(&["submit", "--workflow", "slow", "a.txt", "--external-id", &id]).ok();
            }
        });
        let mut deleted = 0;
        let begun = Instant::now();
        while !submitting.is_finished() {
            let pruned = desk.bindery(&["prune", "--older-than", "0d", "--json"]).ok().json();
            deleted += pruned["submissions"].as_u64().unwrap();
            assert!(begun.elapsed() < PATIENCE * 3, "the submissions are never taken in");
        }
        submitting.join().unwrap();
        deleted
    });
    // Whatever was not deleted comes to its end, with a result.
    for number in 0..12 {
        let id = format!("again-{number}");
        let begun = Instant::now();
        loop {
            let ran = desk.bindery(&["status", &id, "--json"]);
            if ran.code == Some(2) {
                break;
            }
            let status = ran.ok().json();
            if status["status"] == "completed" {
                desk.bindery(&["result", &id, "--json"]).ok();
                break;
            }
            assert_ne!(status["status"], "failed", "{status:#}");
            assert!(begun.elapsed() < PATIENCE, "{status:#}");
        }
    }
    assert!(submitter > 0, "nothing was deleted while others worked");
    assert!(desk.bindery(&["dead-letters", "--json"]).ok().out.trim() == "[]");
    worker.kill();
}
