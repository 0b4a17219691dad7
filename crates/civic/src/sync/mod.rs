//! What a vendor says, brought together with what is stored: what is new, what has changed, what is gone.
//!
//! Deciding is pure ([`plan`]): what is known goes in, one [`CivicChanges`] comes out, with the history, events and jobs
//! that follow. The store takes each whole or not at all, and only if the meeting is still as it was read; else it is
//! read and decided again. So a sync can be killed at any moment and run again, beside others, and nothing is lost or
//! told twice.
//!
//! | module | what it decides |
//! |---|---|
//! | `meeting` | the meeting's own row, and what has happened to it |
//! | `items` | its agenda: what was added, changed, removed; what is worth reading |
//! | `matters` | matters, appearances, sponsors, votes |
//! | `queueing` | what is to be read |
//! | `absent`, `continued` | meetings that the vendor does not list any more, or under another id |

mod absent;
mod continued;
pub(crate) mod items;
mod matters;
mod meeting;
pub mod plan;
mod queueing;
mod stats;

pub use plan::{Known, Planned, plan};
pub use stats::SyncStats;

use crate::records::{
    Applied, CIVIC_WORKFLOW, CIVIC_WORKFLOW_VERSION, Civic as _, CivicChanges, CivicSnapshot, Jurisdiction, Meeting,
    MeetingFilter, SnapshotRequest,
};
use crate::{
    city_key::CityKey,
    hash::canonical_url,
    ids,
    vendor::{VendorMeeting, Window},
};
use bindery_store::{Store, StoreError, StoreResult};
use std::{collections::BTreeSet, sync::Arc};

/// How many meetings are read and stored together.
const BATCH: usize = 50;

/// How often a meeting that others change at the same moment is decided again.
const PATIENCE: usize = 8;

/// Brings what vendors say into the store.
#[derive(Debug, Clone)]
pub struct Orchestrator {
    store: Arc<dyn Store>,
}

/// What a visit to one vendor's site of a jurisdiction brings to the store.
#[derive(Debug, Clone)]
pub struct Visited {
    pub vendor: String,
    pub window: Window,
    pub meetings: Vec<VendorMeeting>,
    /// Everything that the vendor lists in the window is among the meetings: what is stored and not among them is gone.
    pub is_complete: bool,
}

impl Orchestrator {
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// Stores everything that a visit has found.
    pub async fn sync_visit(&self, city: &Jurisdiction, visited: Visited) -> StoreResult<SyncStats> {
        self.put_workflow().await?;
        let Visited { vendor, window, mut meetings, is_complete } = visited;
        let mut stats = SyncStats { meetings_found: meetings.len() as u64, ..SyncStats::default() };
        let filter = MeetingFilter { city_key: Some(city.city_key.clone()), ..MeetingFilter::default() };
        let mut before = self.store.civic().meetings(filter).await?;
        before.retain(|meeting| meeting.vendor == vendor);
        continued::keep_ids(&before, &mut meetings);
        let listed: BTreeSet<String> = meetings.iter().map(|meeting| meeting.vendor_id.clone()).collect();
        let mut seen = Vec::new();
        while !meetings.is_empty() {
            let rest = meetings.split_off(meetings.len().min(BATCH));
            let (more, stored) = self.sync_batch(city, &vendor, meetings, PATIENCE).await?;
            stats.add(&more);
            seen.extend(stored.iter().filter_map(|meeting| meeting.starts_at));
            meetings = rest;
        }
        if is_complete && !listed.is_empty() {
            let known = Known::new(city, city_key_of(city)?, &vendor, CivicSnapshot::default());
            before.retain(|meeting| !listed.contains(&meeting.vendor_id));
            let gone = absent::gone(&known, before, &seen, window, self.store.clock().now());
            // One that somebody else has just changed is looked at again on the next visit.
            let applied = self.store.civic().apply(gone).await?;
            let removed = applied.into_iter().filter(|one| matches!(one, Applied::Stored { .. })).count();
            stats.meetings_removed = removed as u64;
        }
        Ok(stats)
    }

    /// The workflow that the jobs of every jurisdiction belong to. Where it is stored already, nothing happens.
    async fn put_workflow(&self) -> StoreResult<()> {
        let (_, text) = crate::WORKFLOW;
        self.store.put_workflow(&CIVIC_WORKFLOW.into(), CIVIC_WORKFLOW_VERSION, text).await
    }

    async fn sync_batch(
        &self,
        city: &Jurisdiction,
        vendor: &str,
        meetings: Vec<VendorMeeting>,
        patience: usize,
    ) -> StoreResult<(SyncStats, Vec<Meeting>)> {
        let city_key = city_key_of(city)?;
        let request = SnapshotRequest {
            city_key: city.city_key.clone(),
            meetings: meetings.iter().map(|meeting| (vendor.to_owned(), meeting.vendor_id.clone())).collect(),
            matters: matter_ids(&city_key, &meetings),
            documents: document_urls(&meetings),
        };
        let mut known = Known::new(city, city_key, vendor, self.store.civic().snapshot(request).await?);
        let now = self.store.clock().now();
        let planned: Vec<(VendorMeeting, Planned)> = meetings
            .into_iter()
            .map(|meeting| {
                let planned = plan(&mut known, &meeting, now);
                (meeting, planned)
            })
            .collect();
        let changes: Vec<CivicChanges> = planned.iter().map(|(_, planned)| planned.changes.clone()).collect();
        let applied = self.store.civic().apply(changes).await?;
        let (mut stats, mut stored, mut again) = (SyncStats::default(), Vec::new(), Vec::new());
        for ((meeting, planned), applied) in planned.into_iter().zip(applied) {
            match applied {
                Applied::Stored { .. } => {
                    stats.add(&planned.stats);
                    stored.extend(planned.changes.meeting);
                }
                Applied::Stale { .. } | Applied::LeaseLost => again.push(meeting),
            }
        }
        if !again.is_empty() {
            if patience == 0 {
                let message = format!("{}: its meetings are changed by others all the time; try again", city.city_key);
                return Err(StoreError::Database(message));
            }
            let (more, late) = Box::pin(self.sync_batch(city, vendor, again, patience - 1)).await?;
            stats.add(&more);
            stored.extend(late);
        }
        Ok((stats, stored))
    }
}

fn city_key_of(city: &Jurisdiction) -> StoreResult<CityKey> {
    CityKey::parse(&city.city_key).map_err(|fault| StoreError::Invalid(fault.to_string()))
}

fn matter_ids(city_key: &CityKey, meetings: &[VendorMeeting]) -> Vec<String> {
    let items = meetings.iter().flat_map(|meeting| &meeting.items);
    let ids = items.filter_map(|item| ids::matter_id(city_key, item.matter_file.as_deref(), item.matter_id.as_deref()));
    ids.collect::<BTreeSet<_>>().into_iter().collect()
}

fn document_urls(meetings: &[VendorMeeting]) -> Vec<String> {
    let documents = meetings.iter().flat_map(|meeting| &meeting.items).flat_map(|item| &item.attachments);
    documents.map(|document| canonical_url(&document.url)).collect::<BTreeSet<_>>().into_iter().collect()
}
