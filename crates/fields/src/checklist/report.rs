//! What the analysis of a submission has found.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The documents of a submission as a whole: what is missing, what contradicts, how complete it is and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// None where the submission was analysed without one.
    pub checklist: Option<ChecklistUsed>,
    pub verdict: Verdict,
    /// The share of the required documents that is there, 0 to 1; none without a checklist.
    pub completeness_score: Option<f64>,
    /// How sure the least sure type or value is that the analysis rests on.
    pub confidence: f64,
    /// The day that ages were counted from.
    pub as_of: String,
    pub requirements: Vec<Fulfilment>,
    pub missing_information: Vec<String>,
    pub contradictions: Vec<Contradiction>,
    pub duplicates: Vec<DuplicatePaper>,
    /// Contradictions, duplicates and doubts, one sentence each.
    pub risk_factors: Vec<String>,
    pub recommendations: Vec<String>,
    /// The values that all documents agree on, by the rule's name.
    pub extracted_data: BTreeMap<String, String>,
    /// Documents that no requirement asks for.
    pub not_asked_for: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChecklistUsed {
    pub name: String,
    pub title: String,
    pub version: u32,
}

/// The analysis in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Everything is there and agrees.
    Complete,
    /// Something required is missing.
    Incomplete,
    /// Nothing is missing, and documents contradict each other.
    Contradictory,
    /// Nothing is missing or contradicts, and a person should look at a document.
    NeedsReview,
}

impl Verdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Incomplete => "incomplete",
            Self::Contradictory => "contradictory",
            Self::NeedsReview => "needs_review",
        }
    }
}

/// How far a requirement is fulfilled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fulfilment {
    pub name: String,
    pub title: String,
    pub is_optional: bool,
    /// Different documents that count.
    pub found: u32,
    pub at_least: u32,
    pub documents: Vec<String>,
    /// What it adds to the score, and what it could.
    pub points: f64,
    pub of: f64,
    /// Why it has fewer points than it could.
    pub reasons: Vec<String>,
}

/// Values of different documents that cannot all be right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contradiction {
    /// The rule's name.
    pub rule: String,
    /// `name`, `text`, `date`, `amount`, `code` or `order`.
    pub kind: String,
    pub message: String,
    pub values: Vec<StatedValue>,
}

/// A value and the document that states it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatedValue {
    pub document_id: String,
    pub file: String,
    pub field: String,
    pub value: String,
    pub confidence: f64,
}

/// A document that says the same as an earlier one, and counts once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DuplicatePaper {
    pub document_id: String,
    pub file: String,
    pub same_as: String,
    pub message: String,
}
