//! What is said about a submission: what failed and why, what it waits for and why, and what to do next.

use crate::output;
use bindery_app::follow::{Failed, Waits};
use bindery_core::SubmissionId;
use serde_json::Value;
use std::io;

/// How many failed parts are listed before the rest is only counted.
pub(crate) const MOST_LISTED: usize = 20;

/// How many are in a list for programs.
pub(crate) const MOST_IN_JSON: usize = 1_000;

fn failed_lines(failed: &Failed) -> impl Iterator<Item = String> {
    let listed = failed.listed.iter().take(MOST_LISTED);
    let lines = listed.map(|part| format!("failed: {} at stage {}: {}", part.part, part.stage, part.reason));
    let more = failed.total.saturating_sub(MOST_LISTED as u64);
    lines.chain((more > 0).then(|| format!("… and {more} more; `bindery dead-letters` lists them all")))
}

/// As remarks beside a result.
pub(crate) fn note_failed(failed: &Failed) {
    failed_lines(failed).for_each(output::note);
}

/// As data.
pub(crate) fn print_failed(failed: &Failed) -> io::Result<()> {
    failed_lines(failed).try_for_each(output::line)
}

fn wait_line(waits: &Waits) -> String {
    format!("waiting: {} at stage {}: {}", output::count(waits.jobs, "job"), waits.stage, waits.reason)
}

pub(crate) fn note_waits(waits: &[Waits]) {
    waits.iter().map(wait_line).for_each(output::note);
}

pub(crate) fn print_waits(waits: &[Waits]) -> io::Result<()> {
    waits.iter().map(wait_line).try_for_each(output::line)
}

/// What to type next.
pub(crate) fn note_next(id: SubmissionId, result: &Value) {
    let Some(documents) = result["documents"].as_array().filter(|documents| !documents.is_empty()) else { return };
    let doubtful = documents.iter().find(|document| document["status"] == "review");
    let one = doubtful.or(documents.first()).and_then(|document| document["document_id"].as_str()).unwrap_or_default();
    let mut next = vec![
        (format!("bindery result {id} --document {one}"), "one document: its fields, and where each stands"),
        (format!("bindery result {id} --csv table.csv"), "all documents as a table"),
    ];
    if doubtful.is_some() {
        next.insert(1, ("bindery review list".to_owned(), "what a person should decide, and how"));
    }
    let widest = next.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    output::note("next:");
    for (command, what) in next {
        output::note(format!("  {command:widest$}  {what}"));
    }
}
