//! What adapters answer with: meetings, items, attachments and votes as the vendor tells them, before anything of ours
//! is known of them. Pieces of one meeting can come from several pages; [`VendorMeeting::absorb`] puts them together.

use jiff::{
    Timestamp,
    civil::{Date, Time},
    tz::TimeZone,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// When a meeting begins, by the clock on its wall.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Start {
    pub date: Date,
    /// None: the vendor does not say, or says something like "immediately following".
    pub time: Option<Time>,
    /// What the vendor says in place of a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Start {
    /// An instant, by the clock on a wall.
    pub fn at(instant: Timestamp, zone: &TimeZone) -> Self {
        let local = instant.to_zoned(zone.clone()).datetime();
        Self { date: local.date(), time: Some(local.time()), note: None }
    }

    /// Midnight is what many systems write where nobody has said an hour.
    #[must_use]
    pub fn without_midnight(self) -> Self {
        Self { time: self.time.filter(|time| *time != Time::midnight()), ..self }
    }
}

/// `2025-11-18 18:30`, or the day alone.
impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.time {
            Some(time) => write!(f, "{} {}", self.date, time.strftime("%H:%M")),
            None => write!(f, "{}", self.date),
        }
    }
}

/// How a meeting stands apart from taking place as announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeetingStatus {
    Revised,
    Rescheduled,
    Deferred,
    Postponed,
    Cancelled,
}

impl MeetingStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Revised => "revised",
            Self::Rescheduled => "rescheduled",
            Self::Deferred => "deferred",
            Self::Postponed => "postponed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A meeting, or a piece of what is known of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct VendorMeeting {
    /// The vendor's own id, the same on every visit. Never empty.
    pub vendor_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Start>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<MeetingStatus>,
    /// The body that meets, as the vendor names it, and the vendor's id of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// What a person opens to see the agenda.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agenda_url: Option<String>,
    /// The compiled file with everything in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minutes_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub video_url: Option<String>,
    /// Other documents of the meeting as a whole: notices, summaries, agendas in other forms.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<Attachment>,
    /// Free words of the vendor about the meeting (a comment, how to take part).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<VendorItem>,
    /// A page with items of this meeting was read: items that it did not name are gone.
    pub has_agenda: bool,
    /// What the vendor says besides, under its own names.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub raw: Map<String, Value>,
}

/// An item of an agenda, or a piece of what is known of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct VendorItem {
    /// The vendor's own id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendor_item_id: Option<String>,
    pub title: String,
    /// Its place on the agenda, from 1.
    pub sequence: u32,
    /// As printed: `7.A`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agenda_number: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_consent: Option<bool>,
    /// The public number of the matter: `BL2025-1098`. Only what the vendor gives as such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matter_file: Option<String>,
    /// The vendor's own id of the matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matter_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matter_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matter_status: Option<String>,
    /// In the order in which they are listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sponsors: Vec<String>,
    /// The text of the item's own page, or its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_text: Option<String>,
    /// Each document once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// What was decided, one entry per motion.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<ItemVote>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub raw: Map<String, Value>,
}

/// A document to be fetched.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Attachment {
    pub name: String,
    /// Absolute.
    pub url: String,
    /// Where a person sees it, when the address above is short-lived or bare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub portal_url: Option<String>,
    /// The vendor's own id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendor_id: Option<String>,
}

/// One motion on an item.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ItemVote {
    /// What was moved, or the action as the vendor names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub motion: Option<String>,
    /// The vendor's own word for how it ended: `Pass`, `Adopted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The vendor's tally, as written: `9-0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tally: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mover: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconder: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ballots: Vec<Ballot>,
}

/// How one member voted, in the vendor's word for it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Ballot {
    pub name: String,
    pub vote: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person_id: Option<String>,
}

/// Takes the other's value where there is one.
fn prefer<T>(mine: &mut Option<T>, other: Option<T>) {
    if other.is_some() {
        *mine = other;
    }
}

impl VendorMeeting {
    pub fn new(vendor_id: impl Into<String>) -> Self {
        Self { vendor_id: vendor_id.into(), ..Self::default() }
    }

    /// Adds a document of the meeting as a whole, unless it is there.
    pub fn attach(&mut self, document: Attachment) {
        attach(&mut self.documents, document);
    }

    /// Takes in another piece of the same meeting: what it says counts, what it is silent about stays.
    pub fn absorb(&mut self, other: Self) {
        prefer(&mut self.title, other.title);
        // A page that knows only the day does not take the hour back.
        let same_day = self.start.as_ref().map(|start| start.date) == other.start.as_ref().map(|start| start.date);
        let knows_more = other.start.as_ref().is_some_and(|start| start.time.is_some() || start.note.is_some());
        if !same_day || knows_more {
            prefer(&mut self.start, other.start);
        }
        // A page that knows no status does not take one back; of two, the graver counts.
        self.status = self.status.max(other.status);
        prefer(&mut self.body, other.body);
        prefer(&mut self.body_id, other.body_id);
        prefer(&mut self.location, other.location);
        prefer(&mut self.agenda_url, other.agenda_url);
        prefer(&mut self.packet_url, other.packet_url);
        prefer(&mut self.minutes_url, other.minutes_url);
        prefer(&mut self.video_url, other.video_url);
        prefer(&mut self.notes, other.notes);
        absorb_attachments(&mut self.documents, other.documents);
        self.has_agenda |= other.has_agenda;
        for item in other.items {
            let same =
                |known: &&mut VendorItem| known.vendor_item_id.is_some() && known.vendor_item_id == item.vendor_item_id;
            match self.items.iter_mut().find(same) {
                Some(known) => known.absorb(item),
                None => self.items.push(item),
            }
        }
        self.raw.extend(other.raw);
    }
}

impl VendorItem {
    /// Names the section that the item stands in; one of consent makes it an item of consent.
    pub fn put_under(&mut self, section: Option<String>) {
        if let Some(consent) = section.as_deref().and_then(super::numbering::consent) {
            self.is_consent = Some(consent);
        }
        self.section = section;
    }

    /// Adds a document, unless it is there.
    pub fn attach(&mut self, document: Attachment) {
        attach(&mut self.attachments, document);
    }

    /// Adds a line to what the item says.
    pub fn add_text(&mut self, line: &str) {
        let text = self.body_text.get_or_insert_default();
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(line);
    }

    /// Puts the item at the end of an agenda.
    pub fn append_to(mut self, items: &mut Vec<Self>) {
        self.sequence = u32::try_from(items.len() + 1).unwrap_or(u32::MAX);
        items.push(self);
    }

    /// Takes in another piece of the same item.
    pub fn absorb(&mut self, other: Self) {
        if !other.title.is_empty() {
            self.title = other.title;
        }
        if other.sequence != 0 {
            self.sequence = other.sequence;
        }
        prefer(&mut self.agenda_number, other.agenda_number);
        prefer(&mut self.section, other.section);
        prefer(&mut self.is_consent, other.is_consent);
        prefer(&mut self.matter_file, other.matter_file);
        prefer(&mut self.matter_id, other.matter_id);
        prefer(&mut self.matter_type, other.matter_type);
        prefer(&mut self.matter_status, other.matter_status);
        prefer(&mut self.body_text, other.body_text);
        if !other.sponsors.is_empty() {
            self.sponsors = other.sponsors;
        }
        absorb_attachments(&mut self.attachments, other.attachments);
        absorb_votes(&mut self.votes, other.votes);
        self.raw.extend(other.raw);
    }
}

/// The motion and its ballots can come from two pages: one vote on each is the same one. Several take the place of what
/// was known.
fn absorb_votes(mine: &mut Vec<ItemVote>, others: Vec<ItemVote>) {
    match (mine.as_mut_slice(), others.as_slice()) {
        (_, []) => {}
        ([known], [other]) => {
            let other = other.clone();
            prefer(&mut known.motion, other.motion);
            prefer(&mut known.result, other.result);
            prefer(&mut known.tally, other.tally);
            prefer(&mut known.mover, other.mover);
            prefer(&mut known.seconder, other.seconder);
            if !other.ballots.is_empty() {
                known.ballots = other.ballots;
            }
        }
        _ => *mine = others,
    }
}

/// Each document once: it is there under the same id of the vendor's, or the same address.
fn attach(known: &mut Vec<Attachment>, document: Attachment) {
    let same = |known: &Attachment| {
        known.url == document.url || (known.vendor_id.is_some() && known.vendor_id == document.vendor_id)
    };
    if !known.iter().any(same) {
        known.push(document);
    }
}

/// Each address once.
fn absorb_attachments(mine: &mut Vec<Attachment>, others: Vec<Attachment>) {
    for other in others {
        if !mine.iter().any(|known| known.url == other.url) {
            mine.push(other);
        }
    }
}
