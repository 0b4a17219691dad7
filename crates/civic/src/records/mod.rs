//! City councils, as a store keeps them: jurisdictions, meetings with their agendas, matters, votes, and what people want
//! to hear of them.
//!
//! **Changes.** What a sync or a processor has found out is one value, [`CivicChanges`]. It is stored with its jobs and
//! events in one transaction, and only if the meeting is still as it was when it was read: every meeting carries a
//! *revision*, which grows with each change of it or of its parts. Whoever was too late reads again and decides again. So
//! there is no moment at which a meeting is stored and its job is not, and nobody overwrites what another has just found
//! out.
//!
//! **Silence is not news.** What a change does not tell is kept: a summary stays when a listing knows none. A change that
//! tells what is stored already changes nothing.
//!
//! **The same on every backend.** What is asked of the database and what follows is decided here; the store answers
//! queries and stores rows ([`bindery_store::rows`]). [`CivicDomain`] registers the tables with it.
//!
//! | module | what it owns |
//! |---|---|
//! | [`places`], [`meetings`], [`matters`], [`people`], [`alerts`] | what is stored |
//! | [`changes`], [`jobs`] | what follows from a sync |
//! | `apply`, `rows`, `merge` | how changes are stored |
//! | [`snapshot`], [`lists`] | what is read |
//! | [`cities`], [`runs`], `processing` | cities, visits, summaries |
//! | `outbox`, `notices` | alerts and watches; messages, and the jobs that deliver them |
//! | [`documents`] | files and their texts |
//! | `retention` | what goes by itself, and what goes with a person |
//! | [`registry`], [`queue`] | what people enter, and how much waits |
//! | `tables`, `schema` | rows and columns, and what the store is told of them |

pub mod alerts;
mod apply;
pub mod changes;
pub mod cities;
pub mod documents;
pub mod jobs;
pub mod lists;
pub mod matters;
pub mod meetings;
mod merge;
mod notices;
mod outbox;
pub mod people;
pub mod places;
mod processing;
pub mod queue;
pub mod registry;
mod retention;
mod rows;
pub mod runs;
mod schema;
pub mod snapshot;
mod tables;

pub use alerts::{Alert, Channel, Delivery, GATHERED, Notification, Watch};
pub use changes::{Applied, CivicChanges};
pub use cities::JurisdictionFilter;
pub use documents::{KnownDocument, KnownText, Replacement, UnknownTopic};
pub use jobs::{
    CIVIC_QUEUE, CIVIC_WORKFLOW, CIVIC_WORKFLOW_VERSION, CivicJob, CivicPayload, CivicTask, NOTICES_QUEUE,
    NOTICES_WORKFLOW, NOTICES_WORKFLOW_VERSION, NOTIFY, QueueJob, QueueStatus, standing_submission,
};
pub use lists::{ChangeFilter, CivicCounts, MatterFilter, MeetingFilter};
pub use matters::{Appearance, Ballot, CastBallot, Matter, Sponsorship, VoteEvent};
pub use meetings::{
    AgendaItem, AgendaSource, Attachment, ChangeKind, ItemRevision, Meeting, MeetingChange, NewMeetingChange,
    Processing, SkippedMeeting, SummaryOf,
};
pub use notices::NoticePayload;
pub use people::{Committee, Person};
pub use places::{
    Alarm, CityRequest, Health, Jurisdiction, PageShape, RequestStatus, SyncRun, SyncStatus, VendorPlace, ZipCode,
};
pub use queue::QueueStats;
pub use registry::{Edited, JurisdictionEdit, TakenOut};
pub use runs::SyncRunFilter;
pub use schema::{CivicDomain, DOMAINS};
pub use snapshot::{CivicSnapshot, MatterItem, MeetingSnapshot, SnapshotRequest};

use bindery_store::{Store, StoreResult};
use std::fmt;

/// A store that keeps civic data.
pub trait Civic {
    fn civic(&self) -> CivicRecords<'_>;
}

impl Civic for dyn Store + '_ {
    fn civic(&self) -> CivicRecords<'_> {
        CivicRecords::new(self)
    }
}

/// The civic part of a store. Every method that changes something is one transaction, durable when it returns.
#[derive(Clone, Copy)]
pub struct CivicRecords<'s> {
    store: &'s dyn Store,
}

impl fmt::Debug for CivicRecords<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CivicRecords").finish_non_exhaustive()
    }
}

impl<'s> CivicRecords<'s> {
    pub fn new(store: &'s dyn Store) -> Self {
        Self { store }
    }

    /// Stores each of the changes whole, with its jobs and events, or not at all; all in one transaction. The results are
    /// in their order. On an error nothing is stored.
    pub async fn apply(&self, changes: Vec<CivicChanges>) -> StoreResult<Vec<Applied>> {
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        bindery_store::rows::run(self.store, apply::Apply(changes)).await
    }
}
