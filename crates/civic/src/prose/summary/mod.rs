//! What an item of an agenda is about, in its documents' own words: a summary that no model wrote.
//!
//! ```text
//!  title, documents ──lines──► passages, each with page and section ──cues──► what each says
//!                                                                               │
//!                       Markdown, labelled ◄── one to six quotes ◄──pick────────┤
//!                                              key facts ◄──────────────────────┘
//! ```
//!
//! Every quote stands in a document word for word, but for white space, and names its page. What is left out of a long
//! one is shown by `…` at its end. The same texts always give the same summary; there is no network and no clock.
//!
//! | module | what it owns |
//! |---|---|
//! | `rules` | the rules from their word lists: headings, boilerplate, actions, cues |
//! | `lines`, `sentences` | a document as passages, without what only dresses it |
//! | `cues` | what a passage says: action, money, dates, who is affected, what comes next |
//! | [`facts`] | amounts with what they are for, dates, addresses, parties |
//! | `pick` | which passages a reader needs, and how many |
//! | `markdown` | the summary as Markdown |

mod cues;
pub mod facts;
mod lines;
mod markdown;
mod pick;
mod rules;
mod sentences;

pub use facts::{ActionAsked, Address, Amount, DateRole, DatedFact, KeyFacts, Party, PartyRole, Stage};
pub use markdown::LABEL as EXTRACTED_LABEL;
pub use rules::ActionKind;

use bindery_reader::{
    Page,
    model::{BlockKind, Role},
    render,
};
use serde::{Deserialize, Serialize};

/// Raised when the rules change in a way that makes other summaries of the same texts.
pub const EXTRACTIVE_VERSION: u32 = 1;

/// The name under which a title is cited.
pub const TITLE: &str = "title";

/// The text of one page of a document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageText {
    /// From 1; 0 for a text that has no pages.
    pub number: usize,
    /// Paragraphs are separated by blank lines, cells of a table by tabs.
    pub text: String,
}

/// A document that belongs to an item.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DocumentText {
    /// As readers know it: `Staff report`.
    pub name: String,
    pub pages: Vec<PageText>,
}

impl DocumentText {
    /// A text without pages, such as the description of an item on its own page.
    pub fn plain(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), pages: vec![PageText { number: 0, text: text.into() }] }
    }

    /// A document as the reader gives it, without running headers and footers.
    pub fn of_pages(name: impl Into<String>, pages: &[Page]) -> Self {
        Self { name: name.into(), pages: pages.iter().map(page_text).collect() }
    }
}

fn page_text(page: &Page) -> PageText {
    let is_read = |role: Role| matches!(role, Role::Body | Role::Footnote);
    let mut body = Page::converted(page.number);
    body.blocks = page
        .blocks
        .iter()
        .filter(|block| is_read(block.role) && !matches!(block.kind, BlockKind::Picture { .. }))
        .cloned()
        .collect();
    PageText { number: page.number, text: render::text(&body) }
}

/// Where a quote stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// The document's name, or [`TITLE`].
    pub document: String,
    /// None for a title, and for a text without pages.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub page: Option<usize>,
}

/// What a quote was chosen for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Says {
    Subject,
    Action,
    Money,
    Affected,
    Date,
    NextStep,
}

/// A passage of a document, word for word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extract {
    pub says: Says,
    pub quote: String,
    #[serde(flatten)]
    pub citation: Citation,
}

/// An extractive summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Always `extractive`: nobody may take it for a person's or a model's words.
    pub method: String,
    pub version: u32,
    /// From 0, nothing is decided, to 4.
    pub consequence: u8,
    /// In the order in which they are shown.
    pub extracts: Vec<Extract>,
    pub key_facts: KeyFacts,
    pub markdown: String,
}

/// Summarises an item from its title and what belongs to it. Documents are taken in their order: the staff report first.
pub fn summarise(title: &str, documents: &[DocumentText]) -> Summary {
    let passages = lines::passages(title, documents);
    let read: Vec<cues::Read> = passages.into_iter().map(|passage| cues::read(passage, title)).collect();
    let key_facts = facts::gather(&read);
    let consequence = pick::consequence(title, &read, &key_facts);
    let extracts = pick::extracts(title, &read, consequence);
    let markdown = markdown::markdown(&extracts, &key_facts);
    Summary { method: "extractive".to_owned(), version: EXTRACTIVE_VERSION, consequence, extracts, key_facts, markdown }
}
