//! What is kept, and for how long: deleting, pruning and holding submissions and what belongs to them.
//!
//! | file | what it does |
//! |---|---|
//! | `deletion` | submissions, or everything of an owner, deleted for good; what must stay is refused before anything goes |
//! | `prune` | what is old goes, and space is given back |
//! | `extent` | how much is stored of submissions |

mod deletion;
mod extent;
mod prune;

pub use bindery_store::retention::{Hold, Reclaimed};
pub use deletion::{Deletion, DeletionDone, DeletionRefused};
pub use prune::{Prune, prune};

use crate::{app::App, error::AppResult};
use bindery_core::SubmissionId;
use bindery_engine::retention::{BlobsSwept, Others, sweep_candidates};
use bindery_store::retention::{Retained, RetentionFilter};
use serde::Serialize;

/// What was deleted, or would be.
#[derive(Debug, Default, Serialize)]
pub struct DeletionReport {
    pub dry_run: bool,
    pub submissions: u64,
    pub executions: u64,
    pub rows: u64,
    /// On hold, and kept for that.
    pub on_hold: u64,
    pub files: u64,
    pub bytes: u64,
    /// Files of which others use the same content.
    pub files_shared: u64,
    /// Files that were used within the last hour and go later.
    pub files_waiting: u64,
    /// How much smaller the database is.
    pub database_bytes: u64,
}

impl DeletionReport {
    fn count_files(&mut self, swept: BlobsSwept) {
        self.files += swept.removed;
        self.bytes += swept.bytes;
        self.files_shared += swept.shared;
        self.files_waiting += swept.waiting;
    }
}

/// Removes the files that nothing names any more, and gives space back.
async fn reclaim(app: &App, report: &mut DeletionReport, whole: bool) -> AppResult<Reclaimed> {
    let swept = sweep_candidates(app.store(), app.engine.blobs(), Others::AreAskedFor, false).await?;
    report.count_files(swept);
    bindery_files::scratch::remove_leftovers();
    let reclaimed = app.store().reclaim(whole).await?;
    report.database_bytes = reclaimed.bytes;
    Ok(reclaimed)
}

/// Submissions as people name them, each once.
async fn find_all(app: &App, names: &[String]) -> AppResult<Vec<Retained>> {
    let mut all: Vec<Retained> = Vec::new();
    for named in names {
        let id = app.engine.find_submission(named).await?.id;
        if all.iter().any(|known| known.id == id) {
            continue;
        }
        let after = Some(SubmissionId::from_raw(id.raw() - 1));
        let filter = RetentionFilter { after, limit: 1, ..RetentionFilter::default() };
        all.extend(app.store().list_retained(filter).await?.into_iter().filter(|found| found.id == id));
    }
    Ok(all)
}

impl App {
    /// Places submissions on hold: each with whether it is new there.
    pub async fn hold(&self, names: &[String], reason: &str) -> AppResult<Vec<(SubmissionId, bool)>> {
        let ids = self.ids_of(names).await?;
        let new = self.store().hold(ids.clone(), reason).await?;
        Ok(ids.into_iter().map(|id| (id, new.contains(&id))).collect())
    }

    /// Takes submissions off hold: each with whether it was on it.
    pub async fn release_hold(&self, names: &[String]) -> AppResult<Vec<(SubmissionId, bool)>> {
        let ids = self.ids_of(names).await?;
        let released = self.store().release_hold(ids.clone()).await?;
        Ok(ids.into_iter().map(|id| (id, released.contains(&id))).collect())
    }

    async fn ids_of(&self, names: &[String]) -> AppResult<Vec<SubmissionId>> {
        Ok(find_all(self, names).await?.into_iter().map(|it| it.id).collect())
    }
}
