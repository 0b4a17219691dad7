//! What goes to a vendor's site and what comes back, without the network in between.

use super::{
    matter::{VendorMatter, VendorPerson},
    model::VendorMeeting,
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
    pub fn about(mut self, what: impl Into<String>) -> Self {
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
        let differs = |what: &str, one: Option<String>, other: Option<String>| match (one, other) {
            (Some(one), Some(other)) if one != other => Some(format!("{what} \"{one}\" and \"{other}\"")),
            _ => None,
        };
        let start = |meeting: &VendorMeeting| {
            meeting.start.as_ref().map(|start| match start.time {
                Some(time) => format!("{} {time}", start.date),
                None => start.date.to_string(),
            })
        };
        let doubts = [
            differs("titles", known.title.clone(), meeting.title.clone()),
            differs("starts", start(known), start(&meeting)),
        ];
        for doubt in doubts.into_iter().flatten() {
            self.doubts.push(format!("meeting {} is listed twice, with the {doubt}", meeting.vendor_id));
        }
        known.absorb(meeting);
    }

    /// Counts a landmark.
    pub fn landmark(&mut self, what: &str, count: usize) {
        self.landmarks.insert(what.to_owned(), count);
    }
}
