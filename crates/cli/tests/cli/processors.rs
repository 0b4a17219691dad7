//! What processors there are, and files of one's own.

use crate::support::Desk;
use serde_json::{Value, json};

const OWN: &str = "name: own\nversion: 3\nkind: io\ndescription: Mine.\ndeclare: {transform: '{\"n\": n}'}\n";

#[test]
fn the_list_tells_where_each_comes_from() {
    let desk = Desk::new();
    desk.write("processors/own.yaml", OWN);
    desk.write("processors/word_counter.yaml", OWN.replace("name: own", "name: word_counter"));
    let listed = desk.bindery(&["processors", "--json"]).ok().json();
    let found =
        |name: &str| -> Value { listed.as_array().unwrap().iter().find(|one| one["name"] == name).cloned().unwrap() };
    assert_eq!(
        found("own"),
        json!({"name": "own", "version": 3, "kind": "io", "source": "processors/own.yaml", "description": "Mine.",
            "circuit": null})
    );
    assert_eq!(found("bank_statement")["source"], "shipped");
    assert_eq!(found("text_splitter")["source"], "built in");
    assert_eq!(found("word_counter")["source"], "processors/word_counter.yaml", "one's own comes first");
    let table = desk.bindery(&["processors", "list"]).ok().out;
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(rows.contains(&vec!["own", "3", "io", "processors/own.yaml", "Mine."]), "{table}");
    assert!(!desk.path("bindery-data").exists(), "looking must not make a store");
}

#[test]
fn one_is_shown_as_it_was_written() {
    let desk = Desk::new();
    desk.write("own/own.yaml", OWN);
    assert_eq!(desk.bindery(&["--processors", "own", "processors", "show", "own"]).ok().out, OWN);
    let shipped = desk.bindery(&["processors", "show", "bank_statement"]).ok().out;
    desk.write("mine.yaml", &shipped);
    let checked = desk.bindery(&["processors", "check", "mine.yaml"]).ok().out;
    assert_eq!(checked, "mine.yaml: bank_statement version 1, kind cpu, is good\n");
    let built_in = desk.bindery(&["processors", "show", "word_counter"]).ok();
    assert_eq!(built_in.out, "word_counter: version 1, kind cpu, built in\n");
    let shown = desk.bindery(&["processors", "show", "word_counter", "--json"]).ok().json();
    assert_eq!((&shown["source"], &shown["text"]), (&json!("built in"), &json!(null)));
    desk.bindery(&["processors", "show", "bank_statment"]).fails_with(2, "did you mean `bank_statement`?");
}

#[test]
fn all_problems_of_all_files_are_told_at_once() {
    let desk = Desk::new();
    desk.write("good.yaml", OWN);
    desk.write("a.yaml", "name: a\nkind: fast\ndeclare: {transform: '('}\nfactrs: {}\n");
    desk.write("b.yaml", "");
    let args = ["processors", "check", "a.yaml", "good.yaml", "b.yaml", "gone.yaml"];
    let checked = desk.bindery(&args).fails_with(2, "3 files cannot be used");
    for problem in
        ["a.yaml:2:7: kind: ", "a.yaml:3:", "a.yaml:4:1: unknown key \"factrs\"", "b.yaml:1:1: the file is empty"]
    {
        assert!(checked.out.contains(problem), "{problem} is not in {checked:?}");
    }
    assert!(checked.out.contains("did you mean `factors`?") && checked.out.contains("gone.yaml"), "{checked:?}");
    assert!(checked.out.contains("good.yaml: own version 3, kind io, is good"), "{checked:?}");
    let json = desk.bindery(&["processors", "check", "good.yaml", "b.yaml", "--json"]).fails_with(2, "1 file").json();
    assert_eq!((&json[0]["good"], &json[1]["good"]), (&json!(true), &json!(false)));
}

#[test]
fn a_bad_folder_is_told_by_what_runs_and_not_by_what_looks() {
    let desk = Desk::new();
    desk.write("a.txt", "one");
    desk.bindery(&["run", "--workflow", "words", "a.txt"]).ok();
    desk.write("processors/bad.yaml", "name: bad\n");
    desk.bindery(&["processors"]).fails_with(2, "processors/bad.yaml:1:1");
    desk.bindery(&["worker", "--until-idle"])
        .fails_with(2, "hint: BINDERY_PROCESSORS or --processors names this folder");
    desk.bindery(&["--processors", "gone", "processors"]).fails_with(2, "cannot read the folder gone");
    desk.bindery(&["status"]).ok();
    desk.bindery(&["runs"]).ok();
}

#[test]
fn workflows_use_the_users_processors() {
    let desk = Desk::new();
    desk.write("processors/shout.yaml", "name: shout\ndeclare: {transform: '{\"loud\": $uppercase(name)}'}\n");
    desk.write(
        "workflows/loud.yaml",
        "name: loud\nstages:\n  - {name: shout, component: shout, over: file, parallel: true}\n  \
         - {name: end, component: collector, aggregation: {expect_count_from: file_count}}\n",
    );
    let checked = desk.bindery(&["workflows", "check", "workflows/loud.yaml"]).ok();
    assert!(!checked.err.contains("has no processor"), "{checked:?}");
    desk.write("a.txt", "one");
    desk.bindery(&["run", "a.txt", "--workflow", "loud"]).ok();
    // In a process of its own, which has to know them as well.
    let apart = "name: apart\nstages:\n  - {name: shout, component: shout, over: file, runner: processes}\n";
    desk.write("workflows/apart.yaml", apart);
    let ran = desk.bindery(&["run", "a.txt", "--workflow", "apart"]).ok();
    assert!(ran.err.contains("sub_2 completed"), "{ran:?}");
}
