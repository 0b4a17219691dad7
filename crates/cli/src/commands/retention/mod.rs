//! `bindery delete`, `prune`, `hold`, `release` and `holds`: what is kept, and for how long.

pub(crate) mod delete;
mod extent;
pub(crate) mod hold;
pub(crate) mod prune;

use crate::output;
use bindery_app::App;
use bindery_engine::retention::{BlobsSwept, Others, sweep_candidates};
use bindery_store::retention::Reclaimed;
use serde::Serialize;

/// What was deleted, or would be.
#[derive(Debug, Default, Serialize)]
struct Report {
    dry_run: bool,
    submissions: u64,
    executions: u64,
    rows: u64,
    /// On hold, and kept for that.
    on_hold: u64,
    files: u64,
    bytes: u64,
    /// Files of which others use the same content.
    files_shared: u64,
    /// Files that were used within the last hour and go later.
    files_waiting: u64,
    /// How much smaller the database is.
    database_bytes: u64,
}

impl Report {
    fn count_files(&mut self, swept: BlobsSwept) {
        self.files += swept.removed;
        self.bytes += swept.bytes;
        self.files_shared += swept.shared;
        self.files_waiting += swept.waiting;
    }
}

/// Behind the number of submissions.
fn and_executions(number: u64) -> String {
    if number == 0 { String::new() } else { format!(" and {}", output::count(number, "execution")) }
}

/// Removes the files that nothing names any more, and gives space back.
async fn finish(app: &App, report: &mut Report, whole: bool) -> anyhow::Result<Reclaimed> {
    let swept = sweep_candidates(app.store(), app.engine.blobs(), Others::AreAskedFor, false).await?;
    report.count_files(swept);
    bindery_files::scratch::remove_leftovers();
    let reclaimed = app.store().reclaim(whole).await?;
    report.database_bytes = reclaimed.bytes;
    Ok(reclaimed)
}

/// Says what is left to know after a deletion.
fn remarks(report: &Report, reclaimed: Reclaimed) {
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
