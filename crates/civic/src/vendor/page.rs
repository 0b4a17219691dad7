//! What goes to a vendor's site and what comes back, without the network in between.

use super::{
    matter::{VendorMatter, VendorPerson},
    model::{Start, VendorItem, VendorMeeting},
};
use jiff::{civil::Date, tz::TimeZone};
use serde::Serialize;
use serde_json::{Map, Value};
use std::{borrow::Cow, collections::BTreeMap};

/// A jurisdiction's place on a vendor's site.
#[derive(Debug, Clone)]
pub struct Site {
    /// The vendor's key of the jurisdiction: a subdomain, a host (when it has a dot), or a number.
    pub slug: String,
    /// The clock on the wall.
    pub zone: TimeZone,
    /// What else this vendor needs to know, e.g. `view_id`, `token`.
    pub settings: Map<String, Value>,
}

/// The days that are asked about; both ends are in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub from: Date,
    pub to: Date,
}

impl Window {
    pub fn contains(&self, date: Date) -> bool {
        (self.from..=self.to).contains(&date)
    }

    /// The meeting is asked about: only then are its own pages fetched. One without a day is nowhere.
    pub fn holds(&self, meeting: &VendorMeeting) -> bool {
        meeting.start.as_ref().is_some_and(|start| self.contains(start.date))
    }
}

/// A page to be fetched.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Request {
    /// Absolute.
    pub url: String,
    /// What is sent; none: the page is asked for with GET.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
    /// Beyond those of every request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// What the page is for, in the adapter's words, e.g. `agenda`.
    pub purpose: &'static str,
    /// What the adapter needs to know again when it reads the page, e.g. the id of the meeting.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<String>,
    /// The sync goes on without it: it only adds details.
    pub is_optional: bool,
    /// What to ask for when this page cannot be had or read: the same things, told by another page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead: Option<Box<Request>>,
}

/// What a POST sends.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Body {
    pub content_type: String,
    pub text: String,
}

impl Request {
    /// A page that must be there.
    pub fn get(url: impl Into<String>, purpose: &'static str) -> Self {
        let (body, headers, about, is_optional, instead) = (None, Vec::new(), Vec::new(), false, None);
        Self { url: url.into(), body, headers, purpose, about, is_optional, instead }
    }

    /// A page that is asked for with POST.
    #[must_use]
    pub fn post(mut self, content_type: &str, text: impl Into<String>) -> Self {
        self.body = Some(Body { content_type: content_type.to_owned(), text: text.into() });
        self
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    #[must_use]
    pub fn or_else(mut self, other: Self) -> Self {
        self.instead = Some(Box::new(other));
        self
    }

    #[must_use]
    pub fn with_about(mut self, what: impl Into<String>) -> Self {
        self.about.push(what.into());
        self
    }

    #[must_use]
    pub fn optional(mut self) -> Self {
        self.is_optional = true;
        self
    }
}

/// A page as it came.
#[derive(Debug, Clone)]
pub struct FetchedPage {
    /// Where it was found at last, behind all redirects; of a kept file, its path.
    pub url: String,
    /// As the server says it, e.g. `text/html; charset=utf-8`.
    pub content_type: Option<String>,
    pub bytes: Vec<u8>,
    pub purpose: Cow<'static, str>,
    pub about: Vec<String>,
}

impl FetchedPage {
    /// A file that somebody has kept. What it is for is not known yet.
    pub fn from_kept(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        let (url, bytes) = (path.into(), bytes.into());
        Self { url, content_type: None, bytes, purpose: Cow::Borrowed(""), about: Vec::new() }
    }

    /// The page as text, whatever encoding it is in.
    pub fn text(&self) -> Cow<'_, str> {
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => Cow::Borrowed(text.trim_start_matches('\u{feff}')),
            Err(_) => Cow::Owned(bindery_reader::plain::encoding::decode(&self.bytes, None).text),
        }
    }
}

/// What a page says.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PageReading {
    /// Meetings, or pieces of them.
    pub meetings: Vec<VendorMeeting>,
    /// Matters listed apart from meetings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matters: Vec<VendorMatter>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub people: Vec<VendorPerson>,
    /// The words that the vendor indexes matters by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<String>,
    /// Where it leads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub follow: Vec<Request>,
    /// How often the things were found that this page is known by, e.g. `tr.rgRow` 24 times. When a page comes to
    /// nothing, they tell what has changed about it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub landmarks: BTreeMap<String, usize>,
    /// Rows and entries that could not be read, each a sentence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
}

impl PageReading {
    /// Takes in a meeting: two entries with one id are one meeting, and what they contradict each other in is a doubt.
    pub fn meeting(&mut self, meeting: VendorMeeting) {
        let Some(known) = self.meetings.iter_mut().rev().find(|known| known.vendor_id == meeting.vendor_id) else {
            self.meetings.push(meeting);
            return;
        };
        if let Some(doubt) = contradiction(known, &meeting) {
            self.doubts.push(doubt);
        }
        known.absorb(meeting);
    }

    /// Takes in a piece of one item of a meeting.
    pub fn item(&mut self, meeting_id: &str, item: VendorItem) {
        self.meeting(VendorMeeting { items: vec![item], ..VendorMeeting::new(meeting_id) });
    }

    /// Counts a landmark.
    pub fn landmark(&mut self, what: &str, count: usize) {
        self.landmarks.insert(what.to_owned(), count);
    }
}

/// What two entries say differently. An entry that is silent, or knows less of the hour, contradicts nobody.
fn contradiction(known: &VendorMeeting, later: &VendorMeeting) -> Option<String> {
    let is_at_odds = |one: &Start, other: &Start| {
        one.date != other.date || (one.time.is_some() && other.time.is_some() && one.time != other.time)
    };
    let starts = known.start.as_ref().zip(later.start.as_ref()).filter(|(one, other)| is_at_odds(one, other));
    let texts = |one: &Option<String>, other: &Option<String>| {
        one.clone().zip(other.clone()).filter(|(one, other)| one != other)
    };
    let titles = texts(&known.title, &later.title);
    // Where the body is the title, it has been said.
    let bodies = texts(&known.body, &later.body).filter(|bodies| Some(bodies) != titles.as_ref());
    let differing = [
        ("titles", titles),
        ("starts", starts.map(|(one, other)| (one.to_string(), other.to_string()))),
        ("bodies", bodies),
    ];
    let told: Vec<String> = differing
        .into_iter()
        .filter_map(|(what, pair)| pair.map(|(one, other)| format!("the {what} \"{one}\" and \"{other}\"")))
        .collect();
    let id = &later.vendor_id;
    (!told.is_empty()).then(|| format!("meeting {id} is listed twice, with {}; the later one counts", told.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dates;

    fn listed_meeting(title: &str, start: &str, body: Option<&str>) -> VendorMeeting {
        let (title, body) = (Some(title.into()), body.map(str::to_owned));
        VendorMeeting { title, start: dates::start(start), body, ..VendorMeeting::new("7") }
    }

    #[test]
    fn two_entries_with_one_id_are_one_meeting() {
        let mut reading = PageReading::default();
        reading.meeting(listed_meeting("Council", "2026-03-03 18:00", None));
        // Less is no contradiction.
        reading.meeting(listed_meeting("Council", "2026-03-03", Some("City Council")));
        assert_eq!((reading.meetings.len(), reading.doubts.len()), (1, 0));
        assert!(reading.meetings[0].start.as_ref().unwrap().time.is_some(), "the hour stays");
        reading.meeting(listed_meeting("Council, moved", "2026-03-10 18:00", Some("Council")));
        assert_eq!(reading.meetings.len(), 1);
        assert_eq!(reading.meetings[0].title.as_deref(), Some("Council, moved"));
        assert_eq!(
            reading.doubts,
            ["meeting 7 is listed twice, with the titles \"Council\" and \"Council, moved\", the starts \
              \"2026-03-03 18:00\" and \"2026-03-10 18:00\", the bodies \"City Council\" and \"Council\"; the later one \
              counts"]
        );
    }

    #[test]
    fn a_body_that_is_the_title_is_told_once() {
        let mut reading = PageReading::default();
        reading.meeting(listed_meeting("Council", "2026-03-03", Some("Council")));
        reading.meeting(listed_meeting("Parks", "2026-03-03", Some("Parks")));
        let doubt = "meeting 7 is listed twice, with the titles \"Council\" and \"Parks\"; the later one counts";
        assert_eq!(reading.doubts, [doubt]);
    }

    #[test]
    fn a_window_holds_the_meetings_of_its_days() {
        let day = |text: &str| dates::date(text).unwrap();
        let window = Window { from: day("2026-03-01"), to: day("2026-03-03") };
        assert!(window.holds(&listed_meeting("Council", "2026-03-03 18:00", None)));
        assert!(!window.holds(&listed_meeting("Council", "2026-03-04", None)));
        assert!(!window.holds(&VendorMeeting::new("7")), "without a day it is nowhere");
    }
}
