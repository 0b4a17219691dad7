//! What is wanted of the client, and what comes of it.

use super::{
    transport::{Answer, Limits},
    vendors,
};
use crate::vendor::page::{Body, Request};
use std::{collections::BTreeMap, time::Duration};

/// What whoever runs Bindery may decide.
#[derive(Debug, Clone)]
pub struct Settings {
    /// An address or a mailbox for those who wonder who is asking.
    pub contact: Option<String>,
    /// Cities of one vendor that are visited at the same time.
    pub cities_at_once: usize,
    /// Budgets of vendors in place of the usual ones.
    pub budgets: BTreeMap<String, vendors::Budget>,
    pub page: Limits,
    pub document: Limits,
    pub facts: Limits,
    /// Pages may lead to this machine and to the networks around it.
    pub allow_private: bool,
    /// Chance comes from it.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            contact: None,
            cities_at_once: 2,
            budgets: BTreeMap::new(),
            page: Limits { bytes: 20_000_000, connect: seconds(10), total: seconds(30) },
            document: Limits { bytes: 200_000_000, connect: seconds(30), total: seconds(300) },
            facts: Limits { bytes: 0, connect: seconds(3), total: seconds(3) },
            allow_private: false,
            seed: 0,
        }
    }
}

impl Settings {
    /// Who we say that we are.
    pub fn user_agent(&self) -> String {
        let name = concat!("bindery/", env!("CARGO_PKG_VERSION"));
        // What could not stand in a header is left out.
        let contact =
            self.contact.as_deref().map(|contact| contact.replace(|letter: char| !(' '..='~').contains(&letter), ""));
        contact.map_or_else(|| name.to_owned(), |contact| format!("{name} (+{contact})"))
    }
}

/// What sort of thing is wanted, which decides the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Page,
    Document,
    /// Not the document, but what its server says of it.
    Facts,
}

/// What is known of a page from an earlier answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Condition {
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

/// A page or a document that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Want {
    pub url: String,
    pub body: Option<Body>,
    pub headers: Vec<(String, String)>,
    pub kind: Kind,
    /// Only if it is no longer as it was.
    pub condition: Option<Condition>,
}

impl Want {
    pub fn new(url: impl Into<String>, kind: Kind) -> Self {
        Self { url: url.into(), body: None, headers: Vec::new(), kind, condition: None }
    }

    pub fn page(request: &Request) -> Self {
        let Request { url, body, headers, .. } = request.clone();
        Self { url, body, headers, kind: Kind::Page, condition: None }
    }
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    Page(Arrived),
    /// It is as it was when the condition was learnt.
    Unchanged,
}

/// A page or a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arrived {
    /// Where it was found at last.
    pub url: String,
    pub content_type: Option<String>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    /// How long it is; of facts, how long its server says that it is.
    pub length: Option<u64>,
    pub bytes: Vec<u8>,
}

impl Arrived {
    pub(super) fn new(url: &str, kind: Kind, answer: Answer) -> Self {
        let header = |name| answer.header(name).map(ToOwned::to_owned);
        let (content_type, etag, last_modified) = (header("content-type"), header("etag"), header("last-modified"));
        let length = match kind {
            Kind::Page | Kind::Document => Some(answer.bytes.len() as u64),
            Kind::Facts => answer.header("content-length").and_then(|length| length.parse().ok()),
        };
        Self { url: url.to_owned(), content_type, etag, last_modified, length, bytes: answer.bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_says_who_it_is() {
        let mut settings = Settings::default();
        assert_eq!(settings.user_agent(), concat!("bindery/", env!("CARGO_PKG_VERSION")));
        settings.contact = Some("clerk@example.com\r\n".to_owned());
        assert!(settings.user_agent().ends_with(" (+clerk@example.com)"), "{}", settings.user_agent());
    }
}
