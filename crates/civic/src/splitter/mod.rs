//! An agenda or a packet as items: for meetings that a vendor publishes as one file.
//!
//! ```text
//!  pages, outline ──► ways that fit the file, in their order ──► items ──plausible?──► a split
//!                                                                   └── no ──► the next way, and the reason is kept
//! ```
//!
//! | module | what it owns |
//! |---|---|
//! | [`numbers`] | the numbers in front of items: `7.A`, `IV.`, `(b)` |
//! | `headings` | sections, the beginning and the end of an agenda, file numbers |
//! | `text` | items by their numbers, with the links that stand below them |
//! | `links` | items by their links, where nothing is numbered |
//! | `references` | items by the pages that an agenda points to |
//! | `outline` | items by a file's bookmarks |
//! | `plausible` | whether a split can be true |

mod headings;
mod links;
pub mod numbers;
mod outline;
mod plausible;
mod references;
mod text;

pub(crate) use headings::{begins_items, ends_items};

use crate::{
    lines::{self, Line},
    vendor::Attachment,
};
use bindery_reader::{Page, model::OutlineEntry};
use serde::Serialize;

/// An agenda is not longer: what looks like an item behind this many pages is a statute's section.
const AGENDA_PAGES: usize = 20;
/// So many pages may hold links to files, or to pages of the same file.
const LINK_PAGES: usize = 15;
/// A longer file is a packet.
const SHORT_FILE: usize = 10;

/// How items were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    Links,
    PageReferences,
    Outline,
    Text,
}

impl Way {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Links => "links",
            Self::PageReferences => "page_references",
            Self::Outline => "outline",
            Self::Text => "text",
        }
    }
}

/// A document inside the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    pub name: String,
    /// From 1, both included.
    pub first_page: usize,
    pub last_page: usize,
}

/// An item as the file shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SplitItem {
    /// As printed, without the mark behind it.
    pub number: Option<String>,
    pub title: String,
    pub section: Option<String>,
    pub matter_file: Option<String>,
    /// Files that it links to.
    pub attachments: Vec<Attachment>,
    /// Documents of the same file that belong to it.
    pub parts: Vec<Part>,
    /// Where it stands on the agenda, from 1.
    pub page: usize,
    /// What the agenda says of it below its title.
    pub text: String,
}

/// Why a way was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    pub way: Way,
    /// One sentence.
    pub reason: String,
}

/// What came of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Split {
    /// None: the file cannot be taken apart, and is read as a whole.
    pub way: Option<Way>,
    pub items: Vec<SplitItem>,
    /// What was tried before, with the reasons.
    pub refused: Vec<Refused>,
}

/// A file while it is looked at.
pub(crate) struct Agenda<'a> {
    /// The lines of its first pages.
    pub(crate) lines: Vec<Line>,
    pub(crate) outline: &'a [OutlineEntry],
    pub(crate) page_count: usize,
}

/// Takes a file apart. All pages are given; only the first ones are read for items.
pub fn split(pages: &[Page], outline: &[OutlineEntry]) -> Split {
    let first = pages.get(..pages.len().min(AGENDA_PAGES)).unwrap_or_default();
    let page_count = pages.iter().map(|page| page.number).max().unwrap_or(0);
    let agenda = Agenda { lines: lines::of_pages(first), outline, page_count };
    let mut refused = Vec::new();
    for way in ways(&agenda) {
        let items = match way {
            Way::Links => links::items(&agenda),
            Way::PageReferences => references::items(&agenda),
            Way::Outline => outline::items(&agenda),
            Way::Text => text::items(&agenda),
        };
        match plausible::check(way, &items, &agenda) {
            Ok(()) => return Split { way: Some(way), items, refused },
            Err(reason) => refused.push(Refused { way, reason }),
        }
    }
    Split { way: None, items: Vec::new(), refused }
}

/// The ways that fit a file, the likeliest first. The text always comes last.
fn ways(agenda: &Agenda<'_>) -> Vec<Way> {
    let has_links = links::documents(agenda).next().is_some();
    let has_references = references::is_usable(agenda);
    let has_outline = outline::is_usable(agenda);
    let order: &[(Way, bool)] = if agenda.page_count > SHORT_FILE && has_links {
        &[(Way::Links, true), (Way::Outline, has_outline), (Way::PageReferences, has_references)]
    } else {
        &[(Way::PageReferences, has_references), (Way::Outline, has_outline), (Way::Links, has_links)]
    };
    order.iter().filter(|(_, fits)| *fits).map(|(way, _)| *way).chain([Way::Text]).collect()
}

#[cfg(test)]
mod tests;
