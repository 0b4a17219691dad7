//! `bindery doctypes`: listing, showing, checking and trying types of documents.

use crate::support::Desk;
use serde_json::Value;

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
    assert!(checked.out.contains("hint: put labels with a `#` in quotes"), "{checked:?}");
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
