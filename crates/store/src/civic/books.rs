//! The books of language models: every call with its cost, what each day may still spend, and answers by what was asked.

use bindery_core::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One call, as it is kept.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelCall {
    /// Drawn by whoever makes the call. One that is there already is not recorded again.
    pub id: String,
    /// `2026-03-04`, by UTC.
    pub day: String,
    pub at: Option<Timestamp>,
    /// What the question was about.
    pub item: String,
    pub provider: String,
    pub model: String,
    pub prompt_version: String,
    pub purpose: String,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cached_tokens: u64,
    pub cost_micros: i64,
    pub latency_ms: u64,
    /// `answered`, or the kind of the failure.
    pub outcome: String,
}

/// What a day has cost, and what is set aside for calls under way.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelDay {
    /// `2026-03-04`, by UTC.
    pub day: String,
    pub spent_micros: i64,
    pub calls: u64,
    pub set_aside: Vec<MoneySetAside>,
}

/// Money for a call under way. Who sets it aside and dies leaves it behind; it counts as spent when its time is over,
/// because nobody knows what the call has cost.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MoneySetAside {
    /// Drawn by whoever sets it aside.
    pub id: String,
    pub micros: i64,
    pub until: Option<Timestamp>,
}

/// An answer, kept by what was asked.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelAnswer {
    pub key: String,
    pub kept_at: Option<Timestamp>,
    pub answer: Value,
}
