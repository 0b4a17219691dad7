//! Work is done once: folders run again, corrections that stay, changed types, files that are added.

use crate::support::{Desk, Ran};
use serde_json::{Value, json};
use std::fs;

/// Its sums do not agree: 100.00 and 19.00 are not 191.00.
const INVOICE: &str = "<html><body><p>Nordwind Papier GmbH</p><h1>Invoice</h1><p>Invoice number: 2026-7</p>\
    <p>Invoice date: 14 March 2026</p><p>Net total: 100.00 EUR</p><p>VAT 19 %: 19.00 EUR</p>\
    <p>Grand total: 191.00 EUR</p><p>Please pay within 30 days.</p></body></html>";

/// How many pieces of work a command has begun.
fn begun(ran: &Ran) -> usize {
    ran.err.lines().filter(|line| line.contains("begins")).count()
}

fn document<'a>(answer: &'a Value, file: &str) -> &'a Value {
    let documents = answer["result"]["documents"].as_array().unwrap();
    documents.iter().find(|one| one["file"] == file).unwrap_or_else(|| panic!("{file}: {answer:#}"))
}

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("in/a.html", INVOICE);
    desk.write("in/b.txt", "Dear Sir or Madam,\n\nthank you.\n\nYours sincerely,\nAnna Birch\n");
    desk
}

fn run(desk: &Desk, more: &[&str]) -> Ran {
    desk.bindery(&[&["--log", "bindery_engine=debug", "run", "in", "--json", "--no-progress"], more].concat()).ok()
}

/// Marta corrects the total of the invoice.
fn correct(desk: &Desk) {
    let asked = desk.bindery(&["review", "list", "--skill", "invoice", "--json"]).ok().json();
    let review = asked[0]["id"].as_str().unwrap();
    desk.bindery(&["review", "correct", review, "grand_total=119.00", "--by", "marta", "--work"]).ok();
}

#[test]
fn s004_39_work_is_done_once_and_a_correction_stays() {
    let desk = desk();
    let first = run(&desk, &[]);
    assert_eq!(begun(&first), 2 * 6 + 1, "{first:?}");
    correct(&desk);

    // A file that is new, one that is called something else, and one that is as it was.
    desk.write("in/c.txt", "Dear Mr. Winter,\n\nplease find our answer below.\n\nYours sincerely,\nNoor\n");
    fs::rename(desk.path("in/a.html"), desk.path("in/paper.html")).unwrap();
    let second = run(&desk, &[]);
    assert_eq!(begun(&second), 6 + 1, "the new file, and the result: {second:?}");
    let answer = second.json();
    assert_eq!(answer["submission"], "sub_2");
    let kept = document(&answer, "paper.html");
    assert_eq!((&kept["extracted_data"]["grand_total"], &kept["status"]), (&json!("119.00"), &json!("completed")));
    assert_eq!((&kept["evidence"]["grand_total"]["tier"], &kept["decided"]["by"]), (&json!("person"), &json!("marta")));
    let open = desk.bindery(&["review", "list", "--json"]).ok().json();
    let is_invoice = |one: &&Value| one["skills"].as_array().unwrap().contains(&json!("invoice"));
    assert_eq!(open.as_array().unwrap().iter().find(is_invoice), None, "no question twice");
    assert!(desk.bindery(&["events", "--json"]).ok().out.contains("takenOverFrom"));

    // Another owner's work is another's; and what is asked for anew is done anew.
    assert_eq!(begun(&run(&desk, &["--owner", "ann"])), 3 * 6 + 1);
    let anew = run(&desk, &["--anew"]);
    assert_eq!(begun(&anew), 3 * 6 + 1);
    assert_eq!(document(&anew.json(), "paper.html")["extracted_data"]["grand_total"], "119.00");
}

#[test]
fn s004_39_a_changed_type_runs_again_what_depends_on_it() {
    let desk = desk();
    run(&desk, &[]);
    correct(&desk);
    let nothing = desk.bindery(&["rerun", "--changed", "--yes"]).ok();
    assert!(nothing.err.contains("nothing has changed"), "{nothing:?}");
    let text = desk.bindery(&["doctypes", "show", "invoice"]).ok().out;
    let more = "fields:\n  purchase_order: {type: string, labels: [Purchase order]}\n";
    desk.write("types/invoice.yaml", text.replacen("fields:\n", more, 1));
    let rerun = |args: &[&str]| desk.bindery(&[&["--doctypes", "types", "rerun"], args].concat());
    let planned = rerun(&["--changed", "--dry-run", "--json"]).ok().json();
    let stages = planned["submissions"][0]["stages"].as_array().unwrap().clone();
    let changed = |name: &str| stages.iter().find(|one| one["stage"] == name).unwrap()["changed"].clone();
    assert_eq!(
        (changed("read"), changed("classify"), changed("extract")),
        (json!(0), json!(0), json!(1)),
        "{planned:#}"
    );
    let shown = rerun(&["--changed", "--dry-run"]).ok();
    assert!(shown.out.contains("sub_1: ") && shown.out.contains("extract 1 of 2"), "{shown:?}");
    assert!(shown.err.contains("would run 3 results of 1 submission again"), "{shown:?}");
    rerun(&["--changed"]).fails_with(2, "there is nobody to ask");
    for _ in 0..2 {
        // As after a crash: the same command again begins nothing new.
        let begun = rerun(&["--changed", "sub_1", "--yes", "--json"]).ok().json();
        assert_eq!(begun["submissions"][0]["run_again_as"], "sub_2", "{begun:#}");
    }
    let log = ["--log", "bindery_engine=debug", "--doctypes", "types", "worker", "--until-idle"];
    let worked = desk.bindery(&log).ok();
    assert_eq!(begun(&worked), 2 + 1 + 1, "two groups, one invoice, one result: {worked:?}");
    let answer = json!({"result": desk.bindery(&["result", "sub_2", "--json"]).ok().json()});
    assert_eq!(document(&answer, "a.html")["extracted_data"]["grand_total"], "119.00");
    let nothing = rerun(&["--changed", "--yes"]).ok();
    assert!(nothing.err.contains("nothing has changed"), "what was replaced is not run again: {nothing:?}");
    let anew = rerun(&["--anew", "sub_2", "--processor", "page_reader", "--yes", "--json"]).ok().json();
    assert_eq!(anew["results"], 2, "{anew:#}");
    assert_ne!(anew["submissions"][0]["run_again_as"], "sub_2");
    assert_eq!(begun(&desk.bindery(&log).ok()), 2 + 1, "two pages, and what they say is the same");
    rerun(&["--anew", "sub_2", "--processor", "page_raeder"]).fails_with(2, "there is no processor \"page_raeder\"");
    rerun(&["--anew"]).fails_with(2, "SUBMISSION");
}

#[test]
fn an_external_id_is_for_one_content() {
    let desk = desk();
    let args = ["submit", "in", "--external-id", "claim-7", "--json"];
    assert_eq!(desk.bindery(&args).ok().json()["submission"], "sub_1");
    assert_eq!(desk.bindery(&args).ok().json()["new"], false);
    fs::rename(desk.path("in/a.html"), desk.path("in/z.html")).unwrap();
    assert_eq!(desk.bindery(&args).ok().json()["submission"], "sub_1", "a name is no content");
    desk.write("in/c.txt", "one more");
    let refused = desk.bindery(&args).fails_with(2, "external id \"claim-7\" stands for sub_1 already");
    assert!(refused.err.contains("which does not have c.txt"), "{refused:?}");
    assert!(refused.err.contains("`bindery add sub_1 FILES…` adds files to it"), "{refused:?}");
    fs::remove_file(desk.path("in/c.txt")).unwrap();
    fs::remove_file(desk.path("in/b.txt")).unwrap();
    desk.bindery(&args).fails_with(2, "stands for sub_1 already, which has 1 more file");
    assert_eq!(desk.bindery(&["status", "--json"]).ok().json().as_array().map(Vec::len), Some(1));
}

#[test]
fn files_are_added_to_a_submission() {
    let desk = desk();
    run(&desk, &["--external-id", "claim-7"]);
    desk.write("late/c.txt", "Dear Mr. Winter,\n\nplease find our answer below.\n\nYours sincerely,\nNoor\n");
    desk.write("late/again.html", INVOICE);
    let added = desk.bindery(&["add", "claim-7", "late"]).ok();
    assert!(added.out.contains("added 1 file to sub_1"), "{added:?}");
    assert!(added.err.contains("sub_1 has a file with the content of again.html"), "{added:?}");
    let worked = desk.bindery(&["--log", "bindery_engine=debug", "worker", "--until-idle"]).ok();
    assert_eq!(begun(&worked), 6 + 1, "{worked:?}");
    let result = desk.bindery(&["result", "claim-7", "--json"]).ok().json();
    assert_eq!(result["documents"].as_array().map(Vec::len), Some(3), "{result:#}");
    assert_eq!(desk.status("sub_1")["status"], "completed");
    let again = desk.bindery(&["add", "sub_1", "late", "--json"]).ok().json();
    assert_eq!(again, json!({"submission": "sub_1", "added": [], "known": ["again.html", "c.txt"]}));
    desk.bindery(&["add", "sub_9", "late"]).fails_with(2, "sub_9");
    desk.bindery(&["add", "sub_1", "nothing"]).fails_with(2, "there is no file or folder nothing");
    desk.bindery(&["submit", "late", "--workflow", "words", "--external-id", "w"]).ok();
    desk.bindery(&["cancel", "w"]).ok();
    desk.bindery(&["add", "w", "in"]).fails_with(2, "is cancelled");
}
