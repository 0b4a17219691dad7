//! `bindery checklists`, and `bindery run --checklist`: submissions as a whole.

use crate::support::Desk;
use serde_json::{Value, json};
use std::{
    path::Path,
    time::{Duration, Instant},
};

fn case_file(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/checklists");
    folder.join(name).display().to_string()
}

#[test]
fn the_case_files_show_what_is_missing_and_what_contradicts() {
    let desk = Desk::new();
    let loan = desk.bindery(&["run", &case_file("loan_application"), "--checklist", "loan_application"]).ok().out;
    for line in [
        "Loan application: incomplete, 89 % complete",
        "missing: Payslips: 2 of 3 found (payslip)",
        "contradiction: Name of the applicant: ALEX SPECIMEN in id-card.pdf (doc_2_1), but Robin Example in statement.pdf",
        "duplicate: payslip-2026-02.pdf (doc_5_1) says the same as payslip-2026-02-copy.pdf (doc_4_1)",
        "next: Ask for 1 more: Payslips.",
    ] {
        assert!(loan.contains(line), "{line}\nis not in\n{loan}");
    }
    let claim = desk.bindery(&["run", &case_file("insurance_claim"), "--checklist", "insurance_claim", "--json"]);
    let found = &claim.ok().json()["result"]["analysis"];
    assert_eq!((&found["verdict"], &found["contradictions"][0]["kind"]), (&json!("contradictory"), &json!("order")));
    let hired = desk.bindery(&["run", &case_file("hiring_file"), "--checklist", "hiring_file", "--json"]).ok().json();
    let found = &hired["result"]["analysis"];
    assert_eq!((&found["verdict"], &found["completeness_score"]), (&json!("complete"), &json!(1.0)), "{found:#}");
    assert_eq!(found["extracted_data"]["birth_date"], "1974-08-12");
    // Shown again, for people.
    assert!(desk.bindery(&["result", "sub_1"]).ok().out.contains("Loan application: incomplete"));
}

#[test]
fn a_checklist_of_ones_own_is_checked_before_anything_is_taken_in() {
    let desk = Desk::new();
    let text = desk.bindery(&["checklists", "show", "hiring_file"]).ok().out;
    desk.write("mine.yaml", text.replace("name: hiring_file", "name: mine"));
    let checked = desk.bindery(&["checklists", "check", "mine.yaml"]).ok().out;
    assert!(checked.contains("mine.yaml: mine is good, 4 documents"), "{checked}");
    let files = case_file("hiring_file");
    let found = desk.bindery(&["run", &files, "--checklist", "mine.yaml", "--json"]).ok().json();
    assert_eq!(found["result"]["analysis"]["checklist"]["name"], "mine");
    desk.write("bad.yaml", "name: bad\ndocuments:\n  - {name: a, type: contrakt}\n  - {name: b}\n");
    let checked = desk.bindery(&["checklists", "check", "bad.yaml"]).fails_with(2, "1 file cannot be used").out;
    assert!(checked.contains("bad.yaml:3:21: documents[0].type: there is no document type \"contrakt\""), "{checked}");
    assert!(checked.contains("documents[1]: `type` is missing"), "{checked}");
    desk.bindery(&["run", &files, "--checklist", "bad.yaml"]).fails_with(2, "there is no document type \"contrakt\"");
    desk.bindery(&["run", &files, "--checklist", "loan"]).fails_with(2, "there is no checklist \"loan\"; known are");
    desk.bindery(&["run", &files, "--checklist", "hiring_file", "--workflow", "read"])
        .fails_with(2, "--checklist: the workflow \"read\" compares nothing with a checklist");
    let known = desk.bindery(&["status", "--json"]).ok().json();
    assert_eq!(known.as_array().unwrap().len(), 1, "nothing else was taken in");
    let listed = desk.bindery(&["checklists", "--json"]).ok().json();
    let names: Vec<&str> = listed.as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["hiring_file", "insurance_claim", "loan_application"]);
}

#[test]
fn s000_25_a_killed_run_analyses_once() {
    let files = case_file("loan_application");
    let command = ["run", &files, "--checklist", "loan_application", "--json", "--lease-seconds", "2"];
    let undisturbed = Desk::new();
    let begun = Instant::now();
    let expected = undisturbed.bindery(&command).ok().json()["result"]["analysis"].clone();
    let whole = begun.elapsed();
    assert_eq!(expected["verdict"], "incomplete");
    let mut moments = fastrand::Rng::with_seed(25);
    for kill in 1..=4 {
        let desk = Desk::new();
        let started = desk.start(&command);
        // Any moment will do; the time that it took before only says which ones there are.
        let moment = Duration::from_secs_f64(whole.as_secs_f64() * moments.f64());
        std::thread::sleep(moment);
        started.kill();
        let found = desk.bindery(&command).ok().json()["result"]["analysis"].clone();
        assert_eq!(found, expected, "kill {kill} after {moment:?}");
        let events = desk.bindery(&["events", "--json"]).ok().out;
        let count = |kind: &str| {
            let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            events.filter(|event| event["eventType"] == kind).count()
        };
        let counted = (count("SubmissionDocumentsCompleteEvent"), count("SubmissionAnalysisCompleteEvent"));
        assert_eq!(counted, (1, 1), "kill {kill} after {moment:?}");
    }
}
