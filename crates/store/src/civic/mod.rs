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
//! **The same on every backend.** What is asked of the database and what follows is decided here; a backend answers
//! questions and stores rows ([`work::CivicBackend`]).
//!
//! | module | what it owns |
//! |---|---|
//! | [`places`], [`meetings`], [`matters`], [`people`], [`alerts`] | what is stored |
//! | [`changes`], [`jobs`] | what follows from a sync |
//! | `apply`, `rows`, `merge` | how changes are stored |
//! | [`picture`], [`lists`] | what is read |
//! | [`cities`], [`runs`], `processing` | cities, visits, summaries |
//! | `outbox`, `notices` | alerts, watches, messages; messages that wait for a digest |
//! | [`documents`], [`books`] | files and their texts; what language models were asked, answered and cost |
//! | `retention` | what goes by itself, and what goes with a person |
//! | [`registry`], [`queue`] | what people enter, and how much waits |
//! | `tables`, [`work`] | rows and columns |

pub mod alerts;
mod apply;
pub mod books;
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
pub mod picture;
pub mod places;
mod processing;
pub mod queue;
pub mod registry;
mod retention;
mod rows;
pub mod runs;
pub(crate) mod tables;
pub mod work;

pub use alerts::{Alert, Channel, GATHERED, Notification, Sent, Watch};
pub use books::{Granted, ModelAnswer, ModelCall, ModelCallFilter, ModelDay, MoneySetAside};
pub use changes::{Applied, CivicChanges};
pub use cities::JurisdictionFilter;
pub use documents::{KnownDocument, KnownText, UnknownTopic};
pub use jobs::{
    CIVIC_QUEUE, CIVIC_WORKFLOW, CIVIC_WORKFLOW_VERSION, CivicJob, CivicPayload, CivicTask, QueueJob, QueueStatus,
    standing_submission,
};
pub use lists::{ChangeFilter, CivicCounts, MatterFilter, MeetingFilter};
pub use matters::{Appearance, Ballot, CastBallot, Matter, Sponsorship, VoteEvent};
pub use meetings::{
    AgendaItem, AgendaSource, Attachment, ChangeKind, ItemRevision, Meeting, MeetingChange, NewMeetingChange,
    Processing, SkippedMeeting, SummaryOf,
};
pub use people::{Committee, CommitteeMember, Person};
pub use picture::{CivicPicture, MatterItem, MeetingPicture, PictureRequest};
pub use places::{
    Alarm, CityRequest, Health, Jurisdiction, PageShape, RequestStatus, SyncRun, SyncStatus, VendorPlace, ZipCode,
};
pub use queue::QueueStats;
pub use registry::{Edited, JurisdictionEdit, TakenOut};
pub use runs::SyncRunFilter;

use crate::error::StoreResult;
use std::fmt;
use work::CivicBackend;

/// A store that keeps civic data.
pub trait Civic: Send + Sync {
    fn civic(&self) -> CivicRecords<'_>;
}

/// The civic part of a store. Every method that changes something is one transaction, durable when it returns.
#[derive(Clone, Copy)]
pub struct CivicRecords<'s> {
    backend: &'s dyn CivicBackend,
}

impl fmt::Debug for CivicRecords<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CivicRecords").finish_non_exhaustive()
    }
}

impl<'s> CivicRecords<'s> {
    pub fn new(backend: &'s dyn CivicBackend) -> Self {
        Self { backend }
    }

    /// Stores each of the changes whole, with its jobs and events, or not at all; all in one transaction. The results are
    /// in their order. On an error nothing is stored.
    pub async fn apply(&self, changes: Vec<CivicChanges>) -> StoreResult<Vec<Applied>> {
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        work::run(self.backend, apply::Apply(changes)).await
    }
}
