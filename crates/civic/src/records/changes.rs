//! Everything that the sync of one meeting, or the processing of one, causes: as one value, stored whole or not at all.

use super::{
    alerts::Notification,
    jobs::CivicJob,
    matters::{Appearance, Matter, Sponsorship, VoteEvent},
    meetings::{AgendaItem, ItemRevision, Meeting, NewMeetingChange, SkippedMeeting},
    people::{Committee, Person},
};
use bindery_core::{JobId, event::NewEvent, job::Token};
use bindery_store::JobEnd;

/// Changes to a meeting and what belongs to it, with the jobs and events that follow.
///
/// Rows are given as they should be. What is not told is kept: an empty summary, topic list, link or body text never
/// takes the place of one that is there, nor does a matter that is older take the place of a newer one. A row that says
/// what is stored already changes nothing, not even a time.
#[derive(Debug, Clone, Default)]
pub struct CivicChanges {
    pub city_key: String,
    /// The meeting that this is about, and the revision that was read (0: there was none). None: about no meeting, such as
    /// a roster.
    pub about: Option<(String, i64)>,
    /// The job whose effect this is: stored only while the caller holds it, which then ends as said. With
    /// [`JobEnd::Hold`] it goes on, and more may follow.
    pub claim: Option<(JobId, Token, JobEnd)>,
    pub meeting: Option<Meeting>,
    pub items: Vec<AgendaItem>,
    pub item_revisions: Vec<ItemRevision>,
    pub matters: Vec<Matter>,
    pub appearances: Vec<Appearance>,
    pub committees: Vec<Committee>,
    pub people: Vec<Person>,
    pub sponsorships: Vec<Sponsorship>,
    pub votes: Vec<VoteEvent>,
    /// What happened to the meeting, for its history.
    pub history: Vec<NewMeetingChange>,
    pub skipped: Vec<SkippedMeeting>,
    pub notifications: Vec<Notification>,
    pub jobs: Vec<CivicJob>,
    /// Those without a submission are of the jurisdiction's.
    pub events: Vec<NewEvent>,
}

impl CivicChanges {
    /// Changes of a meeting that was read at this revision.
    pub fn of_meeting(city_key: impl Into<String>, meeting_id: impl Into<String>, revision: i64) -> Self {
        Self { city_key: city_key.into(), about: Some((meeting_id.into(), revision)), ..Self::default() }
    }

    /// Changes of a jurisdiction that are about no meeting.
    pub fn of_city(city_key: impl Into<String>) -> Self {
        Self { city_key: city_key.into(), ..Self::default() }
    }
}

/// What became of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// All of it is stored; the meeting is at this revision now (0 where it was about none).
    Stored { revision: i64 },
    /// Somebody else has changed the meeting, which is at this revision now. Nothing was stored: read it and decide
    /// again.
    Stale { revision: i64 },
    /// Somebody else has the job now. Nothing was stored.
    LeaseLost,
}

impl Applied {
    pub const fn is_stored(self) -> bool {
        matches!(self, Self::Stored { .. })
    }
}
