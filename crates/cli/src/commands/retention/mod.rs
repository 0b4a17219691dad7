//! `bindery delete`, `prune`, `hold`, `release` and `holds`: what is kept, and for how long.

pub(crate) mod delete;
pub(crate) mod hold;
pub(crate) mod prune;

use crate::output;
use bindery_app::retention::{DeletionReport, Reclaimed};

/// `(12 rows, 3 files with 4.0 kB)`.
fn size_words(report: &DeletionReport) -> String {
    let files = output::count(report.files, "file");
    format!("({}, {files} with {})", output::count(report.rows, "row"), output::bytes(report.bytes))
}

/// Behind the number of submissions.
fn and_executions(number: u64) -> String {
    if number == 0 { String::new() } else { format!(" and {}", output::count(number, "execution")) }
}

/// Says what is left to know after a deletion.
fn remarks(report: &DeletionReport, reclaimed: Reclaimed) {
    if report.files_shared > 0 {
        let files = output::count(report.files_shared, "file");
        output::note(format!("{files} kept: other submissions use the same content"));
    }
    if report.files_waiting > 0 {
        let files = output::count(report.files_waiting, "file");
        output::note(format!(
            "{files} were used within the last hour and running work may still need them: a worker removes them in an \
             hour, or `bindery prune`"
        ));
    }
    if !reclaimed.complete {
        output::note(
            "traces of deleted rows may be left in free space of the database until it is reused; \
             `bindery prune --compact` rewrites it",
        );
    }
}
