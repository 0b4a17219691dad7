//! `bindery doctypes`: listing, showing, checking and trying types of documents.

use crate::support::Desk;
use serde_json::Value;
use std::fs;

const SLIP: &str = "name: parking_slip\ntitle: Parking slip\nrecognise:\n  says: [parking slip, bay, plate]\nfields:\n  \
    plate: {type: string, required: true, labels: [Plate, \"Plate #\"]}\n  day: {type: date, required: true, labels: Parked on}\n  \
    fee: {type: money, labels: Fee}\n";

fn json(out: &str) -> Value {
    serde_json::from_str(out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

#[test]
fn types_are_listed_with_where_they_come_from() {
    let desk = Desk::new();
    desk.write("types/slip.yaml", SLIP);
    let listed = desk.bindery(&["doctypes"]).ok().out;
    assert!(listed.contains("invoice") && listed.contains("shipped"), "{listed}");
    let all = json(&desk.bindery(&["--doctypes", "types", "doctypes", "list", "--json"]).ok().out);
    let own = all.as_array().unwrap().iter().find(|one| one["name"] == "parking_slip").unwrap();
    assert!(own["from"].as_str().unwrap().ends_with("slip.yaml"), "{own}");
    assert_eq!(own["required"], serde_json::json!(["plate", "day"]));
}

#[test]
fn a_shown_type_is_a_start_for_ones_own() {
    let desk = Desk::new();
    let text = desk.bindery(&["doctypes", "show", "receipt"]).ok().out;
    desk.write("mine.yaml", text.replace("name: receipt", "name: slip"));
    let checked = desk.bindery(&["doctypes", "check", "mine.yaml"]).ok().out;
    assert!(checked.contains("mine.yaml: slip is good, "), "{checked}");
    let shown = json(&desk.bindery(&["doctypes", "show", "receipt", "--json"]).ok().out);
    assert_eq!((&shown["name"], &shown["fields"][0]["type"]), (&"receipt".into(), &"name".into()));
    desk.bindery(&["doctypes", "show", "recipt"])
        .fails_with(2, "there is no document type \"recipt\"; known are agenda, bank_statement")
        .fails_with(2, "hint: --doctypes names a folder");
}

#[test]
fn a_bad_type_is_told_with_all_its_problems() {
    let desk = Desk::new();
    desk.write(
        "bad.yaml",
        "name: bad\nfields:\n  a: {type: dat, labels: A}\n  b: {type: money, labels: [B], never: [b]}\n",
    );
    let checked = desk.bindery(&["doctypes", "check", "bad.yaml"]).fails_with(2, "1 file cannot be used");
    assert!(checked.out.contains("bad.yaml:3:13: fields.a.type: unknown field type \"dat\""), "{checked:?}");
    assert!(checked.out.contains("fields.b.never: \"b\" is among `labels`, too"), "{checked:?}");
    desk.write("hash.yaml", "name: hash\nfields:\n  number: {type: string, labels: [Invoice #, Number]}\n");
    let checked = desk.bindery(&["doctypes", "check", "hash.yaml"]).fails_with(2, "1 file cannot be used");
    assert!(checked.out.contains("in quotes: \"Invoice #\""), "{checked:?}");
    desk.write(
        "lost.yaml",
        "name: lost\nrecognise: {says: [x]}\nfields:\n  number:\n    type: string\n    labels: Invoice #\n",
    );
    let noted = desk.bindery(&["doctypes", "check", "lost.yaml"]).ok().out;
    assert!(noted.contains("line 6: what stands behind a bare # is a remark"), "{noted}");
    desk.write(
        "odd.yaml",
        "name: odd\nfields:\n  a: {type: string}\n  b: {type: date, labels: Day}\n  c: {type: date, labels: day}\n",
    );
    let notes = json(&desk.bindery(&["doctypes", "check", "odd.yaml", "--json"]).ok().out)[0]["notes"].clone();
    let expected = [
        "nothing says how its pages are recognised; add `recognise`",
        "a has no labels, so it is never found",
        "b and c have the same label \"Day\"",
    ];
    assert_eq!(notes, serde_json::json!(expected));
    desk.bindery(&["doctypes", "check", "none.yaml"]).fails_with(2, "1 file cannot be used");
}

#[test]
fn a_type_is_tried_on_a_document_without_storing_anything() {
    let desk = Desk::new();
    desk.write("slip.yaml", SLIP);
    desk.write("slip.txt", "Parking slip\n\nPlate: KI-AB 123\nParked on: 3 February 2026\nFee: 4.50 EUR\nBay: 7\n");
    let shown = desk.bindery(&["doctypes", "try", "slip.txt", "--type", "slip.yaml"]).ok().out;
    assert!(shown.contains("parking_slip") && shown.contains("2026-02-03") && shown.contains("KI-AB 123"), "{shown}");
    let found = json(&desk.bindery(&["doctypes", "try", "slip.txt", "--type", "slip.yaml", "--json"]).ok().out);
    assert_eq!(found[0]["evidence"]["fee"]["normalised"], "4.50");
    let other = json(&desk.bindery(&["doctypes", "try", "slip.txt", "--json"]).ok().out);
    assert_eq!(other[0]["doc_type"], "other", "{other}");
    desk.bindery(&["doctypes", "try", "slip.txt", "--type", "slop"])
        .fails_with(2, "there is no document type \"slop\"");
    desk.bindery(&["doctypes", "try", "nothing.pdf"]).fails_with(2, "nothing.pdf: ");
}

#[test]
fn documents_of_a_stated_type_are_not_classified() {
    let desk = Desk::new();
    desk.write("types/slip.yaml", SLIP);
    // Nothing of this looks like a parking slip but its labels.
    desk.write(
        "in/a.txt",
        "Dear driver\n\nPlate: KI-AB 123\nParked on: 3 February 2026\nFee: 4.50 EUR\n\nYours sincerely\n",
    );
    let run = |more: &[&str]| {
        let args = [&["--doctypes", "types", "run", "in", "--json"], more].concat();
        json(&desk.bindery(&args).ok().out)["result"]["documents"][0].clone()
    };
    let guessed = run(&[]);
    assert_ne!(guessed["doc_type"], "parking_slip", "{guessed}");
    let stated = run(&["--doctype", "parking_slip"]);
    assert_eq!(stated["doc_type"], "parking_slip", "{stated}");
    assert!(!stated["needs_review"].to_string().contains("type"), "nobody doubts a stated type: {stated}");
    assert_eq!((&stated["extracted_data"]["fee"], &stated["type_confidence"]), (&"4.50".into(), &1.0.into()));

    let unknown = "--doctype: there is no document type \"slop\"; known are agenda, bank_statement";
    desk.bindery(&["run", "in", "--doctype", "slop"]).fails_with(2, unknown);
    desk.bindery(&["submit", "in", "--doctype", "parking_slip"]).fails_with(2, "hint: --doctypes names a folder");
    desk.bindery(&["submit", "in", "--workflow", "read", "--doctype", "invoice"])
        .fails_with(2, "--doctype: the workflow \"read\" has no types of documents");
}

#[test]
fn a_worker_that_does_not_know_the_stated_type_says_so() {
    let desk = Desk::new();
    desk.write("types/slip.yaml", SLIP);
    desk.write("in/a.txt", "Plate: KI-AB 123\n");
    desk.bindery(&["--doctypes", "types", "submit", "in", "--doctype", "parking_slip"]).ok();
    desk.bindery(&["worker", "--until-idle"]).ok();
    let status = desk.bindery(&["dead-letters", "list", "--json"]).ok().out;
    assert!(status.contains("the submission states the document type \\\"parking_slip\\\"; known are"), "{status}");
}

/// A bill of a sender who has words of their own for everything.
fn bill(number: &str, day: &str, total: &str) -> String {
    format!(
        "<h1>Invoice</h1><p>Fernhill Joinery</p><p>Our sign: {number}</p><p>Drawn up {day}</p>\
         <p>Sum without tax: 50.00 EUR</p><p>Old balance: 900.00 EUR</p><p>We ask you for {total} EUR</p>\
         <p>Please pay within 30 days.</p>"
    )
}

/// Takes in a bill; its submission and its document.
fn take_in(desk: &Desk, file: &str, bill: &str, more: &[&str]) -> (String, Value) {
    desk.write(file, bill);
    let args = [more, &["run", file, "--doctype", "invoice", "--json"]].concat();
    let ran = json(&desk.bindery(&args).ok().out);
    (ran["submission"].as_str().unwrap().to_owned(), ran["result"]["documents"][0].clone())
}

#[test]
fn a_template_is_learned_from_corrections_and_reads_the_next_document() {
    let desk = Desk::new();
    let learn = ["--templates", "templates", "doctypes", "learn", "Fernhill Joinery"];
    fs::create_dir(desk.path("templates")).unwrap();
    let correct = |submission: &str, number: &str, total: &str| {
        let (number, total) = (format!("number={number}"), format!("grand_total={total}"));
        desk.bindery(&["review", "correct", submission, "doc_1_1", &number, &total, "--work"]).ok();
    };
    let (first, read) = take_in(&desk, "1.html", &bill("FJ/0412", "3 March 2026", "61.50"), &[]);
    assert_ne!(read["extracted_data"]["grand_total"], "61.50", "{read}");
    desk.bindery(&learn).fails_with(2, "no document of \"Fernhill Joinery\" was corrected (1 document found)");
    correct(&first, "FJ/0412", "61.50");
    desk.bindery(&learn).fails_with(2, "only one document of the type invoice from \"Fernhill Joinery\" was corrected");
    let (second, _) = take_in(&desk, "2.html", &bill("FJ/0977", "9 April 2026", "48.00"), &[]);
    correct(&second, "FJ/0977", "48.00");
    take_in(&desk, "3.html", &bill("FJ/1201", "2 May 2026", "77.00"), &[]);

    let shown = desk.bindery(&learn).ok();
    assert!(shown.out.contains("name: fernhill_joinery\ndoctype: invoice\n"), "{shown:?}");
    assert!(shown.out.contains("grand_total: {after: \"We ask you for\"}"), "{shown:?}");
    assert!(shown.err.contains("it would change 3 of 3 earlier documents"), "{shown:?}");
    assert!(shown.err.contains("0 away from it") && shown.err.contains("nothing was stored"), "{shown:?}");
    assert_eq!(fs::read_dir(desk.path("templates")).unwrap().count(), 0);

    let told = json(&desk.bindery(&[&learn[..], &["--write", "--json"]].concat()).ok().out);
    assert_eq!((&told["would_change"], &told["away_from_confirmed"]), (&3.into(), &0.into()), "{told:#}");
    assert_eq!(told["written"], "templates/fernhill_joinery.yaml");
    let (_, next) = take_in(&desk, "4.html", &bill("FJ/1340", "30 May 2026", "12.25"), &["--templates", "templates"]);
    let data = &next["extracted_data"];
    assert_eq!((&data["number"], &data["grand_total"]), (&"FJ/1340".into(), &"12.25".into()), "{next:#}");
    assert_eq!(next["evidence"]["grand_total"]["tier"], "template", "{next:#}");

    desk.write(
        "templates/fernhill_joinery.yaml",
        "# mine\nname: mine\nmatch: {words: Another Name}\nfields: {number: {after: A}}\n",
    );
    desk.bindery(&[&learn[..], &["--write"]].concat()).fails_with(2, "was not learned; it stays as it is");
    desk.bindery(&["doctypes", "learn", "-"]).fails_with(2, "\"-\" names no sender");
    desk.bindery(&["doctypes", "learn", "Fernhill Joinery", "--write"])
        .fails_with(2, "there is no folder of templates");
    desk.bindery(&["doctypes", "learn", "Fernhill", "--type", "bil"])
        .fails_with(2, "there is no document type \"bil\"");
}

#[test]
fn a_document_of_ones_own_type_is_corrected() {
    let desk = Desk::new();
    desk.write("types/slip.yaml", SLIP);
    desk.write("a.txt", "Parking slip\n\nPark day 3 February 2026\n");
    desk.bindery(&["--doctypes", "types", "run", "a.txt", "--doctype", "parking_slip"]).ok();
    let correct = ["--doctypes", "types", "review", "correct", "sub_1", "doc_1_1", "plate=KI-AB 123", "--work"];
    let corrected = desk.bindery(&correct).ok().out;
    assert!(corrected.contains("KI-AB 123"), "{corrected}");
}
