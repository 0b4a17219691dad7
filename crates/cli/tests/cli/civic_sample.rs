//! The made-up town of `samples/civic`, as `make run-civic` follows it: without a network and without a key.

use crate::support::{Desk, Ran};
use serde_json::Value;
use std::path::Path;

fn town(file: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/civic").join(file).display().to_string()
}

/// A desk with the town, nothing of which was read yet.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.bindery(&["civic", "city", "import", &town("cities.csv")]).ok();
    desk
}

fn read(desk: &Desk) -> Ran {
    desk.bindery(&["civic", "sync-and-process-city", "quillhavenWA", "--replay", &town(""), "--json"])
}

/// On the day of the recording.
fn digest(desk: &Desk, more: &[&str]) -> Ran {
    desk.bindery(&[&["civic", "digest", "quillhavenWA", "--today", "2026-03-02"], more].concat()).ok()
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_digest_of_the_sample_town_is_what_a_citizen_would_read() {
    let desk = desk();
    // One document of the town is not there any more: some of it failed.
    let first = read(&desk);
    assert_eq!(first.code, Some(3), "{}{}", first.out, first.err);
    let result: Value = serde_json::from_str(first.out.lines().last().unwrap()).unwrap();
    assert!(result.to_string().contains("404"), "what could not be read is told: {result:#}");

    let shown = words(&digest(&desk, &["--from", "2026-02-23", "--days", "21"]).out);
    for (what, text) in [
        ("the meeting", "Tuesday, March 10, 2026, 6:30 PM PDT"),
        ("a meeting of the past", "Tuesday, February 24, 2026, 6:30 PM PST"),
        ("a packet that was taken apart", "Approve the removal of fourteen ash trees between 200 and 480 Alder Avenue"),
        ("how to join", "https://us02web.zoom.us/j/81234567890"),
        ("how to join", "meeting id 81234567890, passcode 246810"),
        ("whom to write to", "comments@quillhaven.example"),
        ("until when", "noon on March 10, 2026"),
        ("subject", "The program repaves 6.3 miles of residential streets"),
        ("action and money", "in the amount of $2,417,350"),
        ("days", "Work begins on June 15, 2026 and is to be completed by September 30, 2026."),
        ("a hearing", "rezoning of 1410 and 1422 Cannery Road"),
        ("an applicant", "Harbor Lantern Homes LLC"),
        ("a scan", "Ratify the emergency contract with Deepwell Utilities, Inc."),
        ("a report that two items share", "in an amount not to exceed $148,500"),
        ("a Word file", "Delivery is expected by October 1, 2026."),
        ("a lease", "for ten years, from May 1, 2026 to April 30, 2036, at a rent of $1,200 per month"),
        ("a vote", "Decided: passed, 4 to 1"),
        ("a vote that failed", "Decided: failed, 2 to 3"),
        ("an earlier reading", "2026-02-24, City Council: passed, 4 to 1"),
        (
            "an agenda's text where the document is encrypted",
            "The cooperative pays $243,900 per year from July 1, 2026.",
        ),
        (
            "that nobody wrote it",
            "made of quotes from the documents. No person and no model has written or checked them.",
        ),
        ("which are quoted", "[Transportation & Traffic; Contracts & Procurement; quoted]"),
    ] {
        assert!(shown.contains(text), "{what}: {text:?} is missing in\n{shown}");
    }
    for letter in ["My shop needs neighbors", "too many for two lanes"] {
        assert!(!shown.contains(letter), "letters of residents are not summarised: {letter}");
    }
}

#[test]
fn a_second_run_of_the_sample_town_reads_nothing_again() {
    let desk = desk();
    read(&desk);
    let before = digest(&desk, &[]).out;
    let again = read(&desk).ok();
    let result: Value = serde_json::from_str(again.out.lines().last().unwrap()).unwrap();
    for field in ["/items_processed", "/items_new", "/sync/meetings_changed", "/sync/jobs_enqueued"] {
        assert_eq!(result.pointer(field).and_then(Value::as_u64), Some(0), "{field}: {result:#}");
    }
    assert_eq!(digest(&desk, &[]).out, before, "the same store makes the same digest");
}
