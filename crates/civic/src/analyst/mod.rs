//! What an item of an agenda is about: by rules, or by a language model.
//!
//! An [`Analyst`] is given the title and the texts of an item and says in plain words what is decided, with topics and
//! facts. It keeps no state and stores nothing; whoever asks stores what it says.
//!
//! | module | what it owns |
//! |---|---|
//! | [`extractive`] | summaries in the documents' own words, by rules |
//! | [`by_model`] | summaries by a language model |
//! | `prompt`, `schema` | what a model is told, and the shape of its answer |
//! | `checks` | an answer, held against the texts |
//! | `excerpt` | the pages of a very long text that say most |
//! | `shared` | what a document of several items says of one of them |
//! | [`local_topics`] | topics that a jurisdiction adds to the sixteen |

pub mod by_model;
mod checks;
pub(crate) mod excerpt;
pub mod extractive;
pub mod local_topics;
mod prompt;
mod schema;
mod shared;

pub use by_model::ByModel;
pub use extractive::Extractive;

use crate::prose::topics::Topics;
use bindery_models::{ModelError, Models, timer::Cancelled};
use serde_json::Value;
use std::{fmt, sync::Arc};

/// A document that belongs to an item, or to several.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// As readers know it: `Staff report`.
    pub name: String,
    /// Pages begin with their markers ([`crate::text::page_marker`]).
    pub text: String,
    pub page_count: u32,
}

/// An item to be read.
#[derive(Debug, Clone, Default)]
pub struct ItemRequest {
    pub item_id: String,
    pub title: String,
    /// Such as `Ordinance`.
    pub matter_type: Option<String>,
    pub is_consent: bool,
    /// What documents may call it: `7.A`, `2026-0123`.
    pub numbers: Vec<String>,
    /// The text of the item's own page.
    pub body: Option<String>,
    /// Documents of this item alone, the staff report first.
    pub documents: Vec<Arc<Document>>,
    /// Documents that several items of the meeting name.
    pub shared: Vec<Arc<Document>>,
    /// The meeting is far away, or over: an answer may come later and cost less.
    pub may_wait: bool,
    /// Those that the item's jurisdiction knows ([`local_topics::topics_of`]).
    pub topics: Arc<Topics>,
}

impl ItemRequest {
    /// What the item's own page says besides its title.
    fn own_body(&self) -> Option<&str> {
        let body = self.body.as_deref().map(str::trim)?;
        Some(body).filter(|body| !body.is_empty() && *body != self.title.trim())
    }
}

/// What an item is about.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// Markdown.
    pub summary: String,
    /// Keys of known topics.
    pub topics: Vec<String>,
    /// Words for topics that mean none that is known.
    pub unknown_topics: Vec<String>,
    /// As in `SummaryOf::details`.
    pub details: Value,
    /// As in `SummaryOf::method`.
    pub method: String,
    /// As in `SummaryOf::notes`.
    pub notes: Vec<String>,
    pub cost_micros: i64,
    /// It was said before, and nobody was asked.
    pub from_cache: bool,
}

/// A file that could not be taken apart, to be read as a whole.
#[derive(Debug, Clone, Default)]
pub struct PacketRequest {
    pub meeting_id: String,
    pub title: String,
    pub packet: Arc<Document>,
    /// Those that the meeting's jurisdiction knows ([`local_topics::topics_of`]).
    pub topics: Arc<Topics>,
}

/// What reading something would cost.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CostEstimate {
    pub input_tokens: u64,
    /// With answers as long as they may be.
    pub most_micros: i64,
    /// It was asked before, and costs nothing.
    pub is_kept: bool,
}

/// Somebody who reads. Blocks the thread; what cannot be answered says what to do next ([`ModelError::advice`]).
pub trait Analyst: Send + Sync + fmt::Debug {
    /// What its summaries say of their origin, such as `extractive/1`. Another one makes other summaries.
    fn method(&self) -> String;

    fn read_item(&self, request: &ItemRequest, cancelled: Cancelled<'_>) -> Result<Reading, ModelError>;

    /// Asks nobody.
    fn estimate(&self, request: &ItemRequest) -> Result<CostEstimate, ModelError>;

    fn read_packet(&self, request: &PacketRequest, cancelled: Cancelled<'_>) -> Result<Reading, ModelError>;
}

/// The analyst that reads with these models: by rules without any.
pub fn reading_with(models: Option<Arc<Models>>) -> Arc<dyn Analyst> {
    match models {
        Some(models) => Arc::new(ByModel::new(models)),
        None => Arc::new(Extractive),
    }
}
