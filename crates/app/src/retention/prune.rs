//! What is old goes, and space is given back.

use super::{DeletionReport, extent::size_of, reclaim};
use crate::{app::App, error::AppResult};
use bindery_engine::retention::{Due, age_out, apply_policies, delete, delete_executions, due, sweep_orphans};
use bindery_store::{
    executions::DeletedExecutions,
    retention::{EventAge, Reason, Reclaimed, RetentionFilter, delete_events},
};
use std::time::Duration;

/// What goes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Prune {
    /// Also what ended longer ago, whatever its workflow says.
    pub older_than: Option<Duration>,
    /// Only what would go is told.
    pub dry_run: bool,
    /// The database is rewritten, so that deleted content leaves no trace in it.
    pub compact: bool,
}

/// Deletes what is due; what is on hold stays. Space is given back unless it is a dry run.
pub async fn prune(app: &App, what: Prune) -> AppResult<(DeletionReport, Option<Reclaimed>)> {
    let store = app.store();
    let mut report = DeletionReport { dry_run: what.dry_run, ..DeletionReport::default() };
    let before = what.older_than.map(|age| store.clock().now() - age);
    let old = match before {
        Some(before) => {
            due(store, RetentionFilter { ended_before: Some(before), ..RetentionFilter::default() }).await?
        }
        None => Due::default(),
    };
    report.on_hold = old.on_hold;
    if what.dry_run {
        let size = size_of(app, &old.submissions).await?;
        report.submissions = old.submissions.len() as u64;
        (report.rows, report.files, report.bytes) = (size.rows, size.files, size.bytes);
        if let Some(before) = before {
            report.executions = store.count_executions(DeletedExecutions::EndedBefore(before)).await?.all;
        }
        return Ok((report, None));
    }
    let deleted = delete(store, old.submissions, Reason::Pruned, |_| ()).await?;
    let expired = apply_policies(store).await?;
    let aged = age_out(store).await?;
    report.submissions = deleted.submissions + expired.submissions;
    report.rows = deleted.rows + expired.rows + aged.rows();
    report.executions = aged.executions;
    if let Some(before) = before {
        let old = DeletedExecutions::EndedBefore(before);
        report.executions += delete_executions(store, old, Reason::Pruned).await?;
        report.rows += delete_events(store, EventAge::Ownerless { before }).await?;
    }
    app.engine.blobs().remove_leftovers().await?;
    report.count_files(sweep_orphans(store, app.engine.blobs()).await?);
    let reclaimed = reclaim(app, &mut report, what.compact).await?;
    Ok((report, Some(reclaimed)))
}
