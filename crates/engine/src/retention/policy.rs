//! What has been kept for long enough: by the `retention` of workflows, and by defaults for what nobody asked to keep.

use super::delete::{Deletions, delete, delete_executions, expire};
use crate::{
    error::EngineResult,
    workflow::{Over, Workflow},
};
use bindery_core::{SubmissionId, Timestamp};
use bindery_store::{
    Store,
    executions::DeletedExecutions,
    retention::{Expiry, Reason, RetentionFilter},
};
use serde::Serialize;
use std::{collections::BTreeMap, time::Duration};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How many submissions are listed at a time.
const PAGE: usize = 1_000;

/// How long rows of workers are kept, since they were last seen.
const WORKERS: Duration = DAY.saturating_mul(7);

/// How long executions of state machines are kept, with their histories, since they ended.
const EXECUTIONS: Duration = DAY.saturating_mul(90);

/// What went by itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Aged {
    pub workers: u64,
    pub executions: u64,
    /// Of each domain that keeps rows in the store.
    pub domains: BTreeMap<&'static str, u64>,
}

impl Aged {
    pub fn rows(&self) -> u64 {
        self.workers + self.executions + self.domains.values().sum::<u64>()
    }
}

/// Deletes what nobody asked to keep and was kept for long enough, by the store and by its domains.
pub async fn age_out(store: &dyn Store) -> EngineResult<Aged> {
    let now = store.clock().now();
    let workers = store.delete_workers(now - WORKERS).await?;
    let old = DeletedExecutions::EndedBefore(now - EXECUTIONS);
    let executions = delete_executions(store, old, Reason::Expired).await?;
    let mut aged = Aged { workers, executions, domains: BTreeMap::new() };
    for domain in store.domains() {
        aged.domains.insert(domain.schema().name, domain.age_out(store).await?);
    }
    Ok(aged)
}

/// What a filter finds, and how many of those are on hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Due {
    pub submissions: Vec<SubmissionId>,
    pub on_hold: u64,
}

/// All submissions that a filter finds and that are not on hold.
pub async fn due(store: &dyn Store, filter: RetentionFilter) -> EngineResult<Due> {
    let mut due = Due::default();
    let mut filter = RetentionFilter { limit: PAGE, ..filter };
    loop {
        let page = store.list_retained(filter.clone()).await?;
        let Some(last) = page.last() else { return Ok(due) };
        filter.after = Some(last.id);
        for found in page {
            if found.hold.is_some() {
                due.on_hold += 1;
            } else {
                due.submissions.push(found.id);
            }
        }
    }
}

/// Deletes what the workflows say, and takes up deletions that were interrupted. The newest version of a workflow counts for
/// all its submissions: how long something is kept is no part of how it was worked on.
pub async fn apply_policies(store: &dyn Store) -> EngineResult<Deletions> {
    let now = store.clock().now();
    let mut done = Deletions::default();
    let interrupted = due(store, RetentionFilter { deleting: true, ..RetentionFilter::default() }).await?;
    add(&mut done, delete(store, interrupted.submissions, Reason::Asked, |_| ()).await?);
    for stored in store.workflows().await? {
        let Ok(workflow) = Workflow::parse(&stored.text, Some(&stored.name)) else {
            tracing::warn!(workflow = %stored.name, "its text cannot be read, so its retention is not known");
            continue;
        };
        if let Some(keep) = workflow.retention.results {
            let due = due(store, filter_for(&workflow, now - keep, None)).await?;
            add(&mut done, delete(store, due.submissions, Reason::Expired, |_| ()).await?);
        }
        for (keep, expiry) in expiries(&workflow) {
            let due = due(store, filter_for(&workflow, now - keep, Some(expiry.clone()))).await?;
            let expired = expire(store, due.submissions, &expiry).await?;
            add(&mut done, Deletions { submissions: 0, ..expired });
        }
    }
    Ok(done)
}

fn filter_for(workflow: &Workflow, before: Timestamp, has: Option<Expiry>) -> RetentionFilter {
    let workflow = Some(workflow.name.clone());
    RetentionFilter { workflow, ended_before: Some(before), has, ..RetentionFilter::default() }
}

fn add(done: &mut Deletions, more: Deletions) {
    done.submissions += more.submissions;
    done.rows += more.rows;
    done.refused.extend(more.refused);
}

/// The parts that a workflow lets expire, each with its time.
fn expiries(workflow: &Workflow) -> Vec<(Duration, Expiry)> {
    let keep = &workflow.retention;
    let last = workflow.stages.last();
    let results_over = last.map_or(Over::Submission, |stage| stage.over);
    let base = Expiry {
        keeps_files: results_over == Over::File,
        last_stage: last.map(|stage| stage.name.clone()),
        ..Expiry::default()
    };
    // Where the results are those of pages, what was read of them is the result.
    let texts = keep.texts.filter(|_| results_over != Over::Page);
    let parts = [
        (keep.raw_files, Expiry { raw_files: true, ..base.clone() }),
        (keep.page_images, Expiry { page_images: true, ..base.clone() }),
        (texts, Expiry { texts: true, ..base.clone() }),
        (keep.events, Expiry { events: true, ..base }),
    ];
    parts.into_iter().filter_map(|(keep, expiry)| Some((keep?, expiry))).collect()
}
