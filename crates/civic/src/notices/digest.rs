//! A digest: what a citizen reads of some cities. This is what is in it; [`super::compose`] finds it, [`super::html`] and
//! [`super::text`] write it.

use bindery_core::Timestamp;
use serde::{Deserialize, Serialize};

/// What is told, ready to be written.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Digest {
    pub title: String,
    /// The alert that it is for.
    pub alert: Option<AlertLine>,
    /// Days of the meetings that are shown, both included: `2026-03-09`.
    pub from: String,
    pub until: String,
    /// Since when changes and votes are told, where a day was named.
    pub since: Option<String>,
    pub cities: Vec<CityDigest>,
}

impl Digest {
    /// There is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.cities.iter().all(CityDigest::is_empty)
    }

    /// What readers have to know of its summaries; none where a model has written them all.
    pub(super) fn caution(&self) -> Option<&'static str> {
        let mut items = self.cities.iter().flat_map(|city| &city.meetings).flat_map(|meeting| &meeting.items);
        let has_quotes = items.any(|item| item.is_extracted && item.summary.is_some());
        has_quotes.then_some(
            "Summaries marked “quoted” are made of quotes from the documents. No person and no model has written or \
             checked them.",
        )
    }
}

/// Whose digest it is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AlertLine {
    pub id: String,
    pub name: String,
    pub owner: String,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CityDigest {
    #[serde(rename = "banana")]
    pub city_key: String,
    /// `Palo Alto, CA`.
    pub name: String,
    /// What has happened to meetings: the newest first.
    pub changes: Vec<ChangeLine>,
    /// Meetings with what is on their agendas, the next first.
    pub meetings: Vec<MeetingDigest>,
    /// Further meetings that are to come.
    pub also: Vec<MeetingLine>,
    /// What was voted on: the newest first.
    pub votes: Vec<ChangeLine>,
    /// Matters that are followed, with what became of them so far.
    pub matters: Vec<MatterLine>,
}

impl CityDigest {
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
            && self.meetings.is_empty()
            && self.also.is_empty()
            && self.votes.is_empty()
            && self.matters.is_empty()
    }
}

/// A meeting in one line.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MeetingLine {
    pub id: String,
    pub title: String,
    /// `Monday, March 9, 2026, 6:00 PM PDT`.
    pub when: String,
    /// By the clock on its wall, for programs.
    pub starts_at_local: Option<String>,
    pub tz: Option<String>,
    pub place: Option<String>,
    /// `cancelled` … ; none: as announced.
    pub status: Option<String>,
    pub url: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MeetingDigest {
    #[serde(flatten)]
    pub line: MeetingLine,
    /// Markdown. Of meetings that were read as a whole.
    pub summary: Option<String>,
    pub take_part: Vec<Fact>,
    pub links: Vec<Link>,
    /// What matters most first.
    pub items: Vec<ItemDigest>,
    /// Items of substance that are not shown, and items that are no business: minutes, roll calls, presentations.
    pub more_items: usize,
    pub skipped_items: usize,
    /// The numbers and titles of those that are not shown, where all of the meeting is followed.
    pub more_titles: Vec<String>,
    /// There is no agenda yet.
    pub has_no_agenda: bool,
}

/// A way to take part, or another thing with a name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Fact {
    pub name: String,
    pub text: String,
    pub url: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Link {
    pub name: String,
    pub url: String,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ItemDigest {
    pub id: String,
    pub number: Option<String>,
    pub title: String,
    /// Markdown.
    pub summary: Option<String>,
    /// The summary is made of quotes; nobody has written it.
    pub is_extracted: bool,
    /// Its documents or its title have changed since the summary was made.
    pub has_changed: bool,
    pub is_consent: bool,
    /// What became of it: `passed, 4 to 1`.
    pub decided: Option<String>,
    pub action: Option<String>,
    pub money: Vec<String>,
    pub dates: Vec<String>,
    /// Their names.
    pub topics: Vec<String>,
    pub documents: Vec<Link>,
    pub more_documents: usize,
    /// The words and things that it is told for.
    pub why: Vec<String>,
    /// Where its matter was before, the oldest first.
    pub earlier: Vec<String>,
    /// From 0 to 4.
    pub consequence: u8,
}

impl ItemDigest {
    /// What stands below its title: what it is told for, and of what kind it is.
    pub(super) fn marks(&self) -> Vec<String> {
        let why = (!self.why.is_empty()).then(|| format!("For: {}", self.why.join(", ")));
        let consent = self.is_consent.then(|| "Consent calendar".to_owned());
        let quoted = (self.is_extracted && self.summary.is_some()).then(|| "quoted".to_owned());
        why.into_iter().chain(consent).chain(self.topics.iter().cloned()).chain(quoted).collect()
    }

    /// What is told below its summary, each with its name. A summary of quotes has said what is asked for and the money.
    pub(super) fn topics(&self) -> Vec<(&'static str, Vec<String>)> {
        let is_quoted = self.is_extracted && self.summary.is_some();
        let unquoted = |texts: Vec<String>| if is_quoted { Vec::new() } else { texts };
        let told = [
            ("Decided", self.decided.iter().cloned().collect()),
            ("Asked for", unquoted(self.action.iter().cloned().collect())),
            ("Money", unquoted(self.money.clone())),
            ("Dates", self.dates.clone()),
            ("Before", self.earlier.clone()),
        ];
        told.into_iter().filter(|(_, texts): &(_, Vec<String>)| !texts.is_empty()).collect()
    }
}

/// Something that has happened.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangeLine {
    /// `cancelled`, `moved`, `vote_recorded` …
    pub kind: String,
    pub meeting: MeetingLine,
    pub item_id: Option<String>,
    /// `Cancelled`.
    pub headline: String,
    /// From what to what.
    pub sentence: String,
    pub at: Option<Timestamp>,
}

/// A matter over all its meetings.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MatterLine {
    pub id: String,
    pub file: Option<String>,
    pub title: String,
    pub status: Option<String>,
    /// Markdown.
    pub summary: Option<String>,
    pub why: Vec<String>,
    /// Its meetings, the oldest first.
    pub timeline: Vec<String>,
}
