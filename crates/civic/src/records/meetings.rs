//! Meetings, the items of their agendas, and what has changed about them.

use super::{documents::Replacement, jobs::QueueJob};
use bindery_core::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A meeting. Who it is, is said by jurisdiction, vendor and the vendor's id; everything else may change.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Meeting {
    /// `{city_key}_{hash}`.
    pub id: String,
    #[serde(rename = "banana")]
    pub city_key: String,
    pub vendor: String,
    pub vendor_id: String,
    pub title: String,
    /// By the clock on its wall: `2026-03-04T18:30:00`, or only the day.
    pub starts_at_local: Option<String>,
    /// IANA name.
    pub tz: Option<String>,
    pub starts_at: Option<Timestamp>,
    /// What the vendor says in place of a time.
    pub start_note: Option<String>,
    /// `cancelled`, `postponed`, `deferred`, `rescheduled`, `revised`; none: as announced.
    pub status: Option<String>,
    pub committee_id: Option<String>,
    /// The body that meets, as the vendor names it.
    pub body: Option<String>,
    pub location: Option<String>,
    /// What a person opens to see the agenda.
    pub agenda_url: Option<String>,
    /// The compiled file with everything in it.
    pub packet_url: Option<String>,
    pub minutes_url: Option<String>,
    pub video_url: Option<String>,
    pub agenda_sources: Vec<AgendaSource>,
    /// Documents of the meeting as a whole.
    pub documents: Vec<Attachment>,
    /// Free words of the vendor about the meeting.
    pub notes: Option<String>,
    pub participation: Option<Value>,
    pub summary: Option<String>,
    pub topics: Vec<String>,
    pub processing_status: Option<Processing>,
    pub processing_method: Option<String>,
    pub processing_seconds: Option<f64>,
    pub processing_error: Option<String>,
    /// Over everything that processing would read.
    pub content_hash: Option<String>,
    /// The content hash that the last completed run has read.
    pub processed_hash: Option<String>,
    /// The job of that run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processed_by: Option<QueueJob>,
    /// The meeting that took its place.
    pub superseded_by: Option<String>,
    /// The vendor does not list it any more.
    pub removed_at: Option<Timestamp>,
    /// How often it was changed. Set by the store, as are the times.
    pub revision: i64,
    pub created_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
}

impl Meeting {
    /// There is something to read about what it decided.
    pub fn is_summarised(&self) -> bool {
        self.summary.is_some() || self.processing_status == Some(Processing::Completed)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Processing {
    Pending,
    Processing,
    Completed,
    Failed,
}

impl Processing {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Processing => "processing",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }
}

/// One of several forms of an agenda.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AgendaSource {
    #[serde(rename = "type")]
    pub kind: String,
    pub url: String,
    pub label: Option<String>,
}

/// A document, and what was learned when it was fetched.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Attachment {
    pub name: String,
    pub url: String,
    /// `pdf`, `doc`, `spreadsheet`, `presentation`, `html` or `unknown`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Where a person sees it, when the address above is short-lived or bare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub portal_url: Option<String>,
    /// The vendor's own id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendor_id: Option<String>,
    /// Why it is not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
    /// It took the place of a file that was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<Replacement>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetched_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_count: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extraction_method: Option<String>,
}

/// An item of an agenda: a snapshot of one appearance of its matter.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AgendaItem {
    /// Begins with the id of its meeting.
    pub id: String,
    pub meeting_id: String,
    pub vendor_item_id: Option<String>,
    pub title: String,
    pub sequence: i64,
    pub agenda_number: Option<String>,
    pub section: Option<String>,
    pub is_consent: Option<bool>,
    pub matter_id: Option<String>,
    pub matter_file: Option<String>,
    pub matter_type: Option<String>,
    /// In the order in which they are listed.
    pub sponsors: Vec<String>,
    /// The text of the item's own page.
    pub body_text: Option<String>,
    pub attachments: Vec<Attachment>,
    pub attachment_hash: Option<String>,
    pub action: Option<String>,
    pub mover: Option<String>,
    pub seconder: Option<String>,
    pub passed: Option<bool>,
    pub summary: Option<String>,
    pub topics: Vec<String>,
    /// How the summary was made.
    pub summary_of: Option<SummaryOf>,
    /// Why it could not be summarised at the last try.
    pub reading_error: Option<String>,
    /// Why it is not summarised, and the rule that says so. Whoever stores the item says it anew.
    pub filter_reason: Option<String>,
    pub filter_rule: Option<String>,
    /// An item of the same meeting that says the same.
    pub duplicate_of: Option<String>,
    /// It is not on the agenda any more.
    pub removed_at: Option<Timestamp>,
    /// Over title and documents as the vendor gave them last, which a summarised item itself does not follow.
    pub latest_hash: Option<String>,
    /// How many [`ItemRevision`]s it has: it was changed after its summary was made.
    pub revisions: i64,
    pub quality_score: Option<f64>,
    pub rating_count: i64,
    /// Set by the store.
    pub created_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
}

/// Where a summary comes from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SummaryOf {
    /// `extractive/1`, or the model and the version of the prompt: `model-name prompt/1`. `matter` where the summary of
    /// the item's matter was taken over.
    pub method: String,
    /// Over everything that was read for it.
    pub source_hash: String,
    pub at: Option<Timestamp>,
    /// Amounts, dates, addresses, parties, what is asked, the stage of the decision, citations, confidence.
    pub details: Value,
    /// What a reader should know of it, one sentence each: numbers that stand in no document, an answer that broke off,
    /// documents that could not be read.
    pub notes: Vec<String>,
    pub page_count: u32,
    pub cost_micros: i64,
}

/// What an item became after its summary was made. The item itself stays as it was summarised.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ItemRevision {
    pub item_id: String,
    pub meeting_id: String,
    /// From 1.
    pub revision: i64,
    pub title: String,
    pub sequence: i64,
    pub agenda_number: Option<String>,
    pub sponsors: Vec<String>,
    pub body_text: Option<String>,
    pub attachments: Vec<Attachment>,
    pub attachment_hash: Option<String>,
    pub summary: Option<String>,
    pub topics: Vec<String>,
    pub summary_of: Option<SummaryOf>,
    pub reading_error: Option<String>,
    /// Set by the store.
    pub seen_at: Option<Timestamp>,
}

/// What happened to a meeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Added,
    Renamed,
    Moved,
    Cancelled,
    StatusChanged,
    LocationChanged,
    BodyChanged,
    AgendaPosted,
    AgendaRevised,
    PacketPosted,
    MinutesPosted,
    VideoPosted,
    ItemAdded,
    ItemChanged,
    ItemRemoved,
    ItemReturned,
    AttachmentsChanged,
    VoteRecorded,
    VoteCorrected,
    Removed,
    Returned,
}

/// A change about to be stored with the meeting that it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMeetingChange {
    pub kind: ChangeKind,
    pub item_id: Option<String>,
    pub before: Value,
    pub after: Value,
}

impl NewMeetingChange {
    pub fn new(kind: ChangeKind, before: impl Into<Value>, after: impl Into<Value>) -> Self {
        Self { kind, item_id: None, before: before.into(), after: after.into() }
    }
}

/// A piece of a meeting's history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeetingChange {
    pub meeting_id: String,
    /// The revision of the meeting that it led to, and its place among the changes of that revision.
    pub revision: i64,
    pub ordinal: i64,
    #[serde(rename = "banana")]
    pub city_key: String,
    pub kind: ChangeKind,
    #[serde(default)]
    pub item_id: Option<String>,
    #[serde(default)]
    pub before: Value,
    #[serde(default)]
    pub after: Value,
    pub at: Timestamp,
}

/// A meeting that was seen and not taken, and why.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SkippedMeeting {
    #[serde(rename = "banana")]
    pub city_key: String,
    pub vendor: String,
    /// The vendor's id, or its title where it has none.
    pub vendor_id: String,
    pub title: String,
    pub reason: String,
    pub rule: Option<String>,
    /// Set by the store.
    pub seen_at: Option<Timestamp>,
}
