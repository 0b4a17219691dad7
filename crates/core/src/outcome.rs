//! Outcomes: the one current result of (item, stage, processor).

use crate::{ContentHash, ItemId, Name, Payload, SubmissionId, Timestamp, job::ErrorRecord};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The three steps that every processor runs, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    Validation,
    Processing,
    Extraction,
}

impl Step {
    pub const ALL: [Self; 3] = [Self::Validation, Self::Processing, Self::Extraction];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Validation => "validation",
            Self::Processing => "processing",
            Self::Extraction => "extraction",
        }
    }

    pub fn from_name(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.as_str() == text)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How a piece of work ended. Work that has not ended has a job or a review instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeStatus {
    Completed = 1,
    Failed = 2,
    Skipped = 3,
    /// Waits for a person; not the end, so no join counts it.
    Review = 4,
}

impl OutcomeStatus {
    pub const ALL: [Self; 4] = [Self::Completed, Self::Failed, Self::Skipped, Self::Review];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Review => "review",
        }
    }

    pub fn from_code(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|status| *status as i64 == code)
    }
}

impl fmt::Display for OutcomeStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Where a retry may begin, and what must still be true for it to begin there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumePoint {
    /// The step that failed.
    pub step: Step,
    /// What that step was given.
    pub input: Payload,
    /// The hash of the job's own input when it failed. Another input starts at validation.
    pub input_hash: ContentHash,
    /// The processor's version when it failed. Another version starts at validation.
    pub processor_version: u32,
}

/// How a later piece of work on the same content finds a result, and what it needs to take it over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reuse {
    /// The hash of everything that the result depends on, the owner included: work with the same key has the same result.
    pub key: ContentHash,
    /// The hash of what it depends on beside its input: processor, version, settings, types of documents, templates.
    pub recipe: ContentHash,
    /// The hash of what a person's decision about it is about: the content, whatever was found in it.
    pub subject: Option<ContentHash>,
    /// What was found beside the output, as JSON: children, artifacts, the label.
    pub made: Option<String>,
}

/// The current result of one piece of work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub submission: SubmissionId,
    /// None: the submission as a whole.
    pub item: Option<ItemId>,
    pub stage: Name,
    pub processor: Name,
    pub status: OutcomeStatus,
    pub output: Payload,
    pub confidence: Option<f64>,
    pub error: Option<ErrorRecord>,
    pub resume: Option<ResumePoint>,
    pub input_hash: Option<ContentHash>,
    pub processor_version: u32,
    pub attempts: u32,
    /// In millionths of the currency unit.
    pub cost_micros: i64,
    pub finished_at: Timestamp,
    /// None: it is never taken over.
    #[serde(skip)]
    pub reuse: Option<Box<Reuse>>,
}
