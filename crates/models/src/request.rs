//! What is asked, and what comes back.

use super::answers::Schema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// About four characters of English make one token; other languages need more tokens, so this is a lower bound there.
const CHARS_PER_TOKEN: u64 = 4;
/// What one page of a document holds, about.
const CHARS_PER_PAGE: u64 = 2000;

/// How many tokens a text has, about.
pub fn estimated_tokens(text: &str) -> u64 {
    (text.chars().count() as u64).div_ceil(CHARS_PER_TOKEN)
}

/// How many pages a text has, about; at least one.
pub(crate) fn estimated_pages(text: &str) -> u64 {
    (text.chars().count() as u64 / CHARS_PER_PAGE).max(1)
}

/// Which of the configured models a question is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeClass {
    Small,
    Large,
}

/// One question about one item.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Whose question it is. The model has to repeat it, so that an answer about something else is noticed.
    pub item: String,
    /// What the model is to do.
    pub system: String,
    /// What it is to do it with.
    pub user: String,
    /// Of the answer, which is an object.
    pub schema: Schema,
    pub size: SizeClass,
    pub max_output_tokens: u32,
    pub temperature: f64,
    /// Of the words in `system`; recorded with each call, and another version is another answer.
    pub prompt_version: String,
}

impl Request {
    /// How many tokens are sent, about.
    pub fn estimated_input(&self) -> u64 {
        estimated_tokens(&self.system)
            + estimated_tokens(&self.user)
            + estimated_tokens(&self.schema.as_json().to_string())
    }
}

/// Tokens of a call, as the service counts them, or as estimated where it does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// All that was sent, the cached part included.
    pub input: u64,
    /// All that came back, thoughts included.
    pub output: u64,
    /// How much of the input the service had kept from before.
    pub cached: u64,
}

impl Usage {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cached: self.cached.saturating_add(other.cached),
        }
    }

    pub(crate) fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// An answer that fits the schema and is about the item that was asked about.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub value: Value,
    /// The model by its own account.
    pub model: String,
    /// Of all calls that it took; nothing for an answer out of the cache.
    pub usage: Usage,
    pub cost_micros: i64,
    /// Of all calls that it took, without the waiting before them.
    pub latency: Duration,
    pub from_cache: bool,
    pub soundness: Soundness,
    /// Entries that the model put into lists and that are none of those allowed. They are not in the value.
    pub dropped: Vec<String>,
}

/// How an answer came to fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Soundness {
    /// As it was given.
    Whole,
    /// At the second try, after its faults were named.
    Repaired,
    /// It broke off. What is there is kept; `missing` are the required fields that are not.
    Salvaged { missing: Vec<String> },
}
