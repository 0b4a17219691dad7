//! Reviews: tasks for a person about one outcome.

use crate::{ContentHash, ItemId, JoinId, Name, Payload, ReviewId, SubmissionId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// Where a review stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewStatus {
    Pending = 0,
    Assigned = 1,
    Completed = 2,
    Cancelled = 3,
}

impl ReviewStatus {
    pub const ALL: [Self; 4] = [Self::Pending, Self::Assigned, Self::Completed, Self::Cancelled];
    pub const OPEN: [Self; 2] = [Self::Pending, Self::Assigned];

    /// Whether somebody still has to decide.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Assigned)
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Assigned => "assigned",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn from_code(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|status| *status as i64 == code)
    }
}

impl fmt::Display for ReviewStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a person has decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Decision {
    /// What the processor found is right.
    Accepted,
    /// What the person says, in the words of the processor.
    Corrected { fields: Map<String, Value> },
    /// Nothing can be made of it.
    Rejected { reason: String },
    /// Nobody decided: the work was done again, and the question fell away.
    Superseded,
}

impl Decision {
    /// As a word in a sentence: `corrected by marta`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Corrected { .. } => "corrected",
            Self::Rejected { .. } => "rejected",
            Self::Superseded => "superseded",
        }
    }
}

/// A review about to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct NewReview {
    pub submission: SubmissionId,
    pub item: Option<ItemId>,
    pub stage: Name,
    pub processor: Name,
    /// The join that the chain ends in.
    pub join: Option<JoinId>,
    /// The chain has gone on without the answer; one that has not waits for it.
    pub goes_on: bool,
    /// Who should look: the stage's `backoffice_queue`.
    pub queue: Name,
    pub priority: i32,
    /// Why a person should look, one sentence each.
    pub reasons: Vec<String>,
    /// What that person should know about: `extraction`, `invoice`.
    pub skills: Vec<Name>,
    /// How long somebody may keep it to themselves without deciding; none: for ever.
    pub claim_ms: Option<i64>,
    /// What the processor found so far.
    pub input: Payload,
    /// The hash of what is asked about: the same content asks the same question. None: nothing else asks it.
    pub subject: Option<ContentHash>,
    /// Nobody had to be asked: it is stored as decided, by this person.
    pub decided: Option<(Decision, Option<String>)>,
}

/// A stored review.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Review {
    pub id: ReviewId,
    pub submission: SubmissionId,
    pub item: Option<ItemId>,
    pub stage: Name,
    pub processor: Name,
    pub join: Option<JoinId>,
    pub goes_on: bool,
    pub queue: Name,
    pub status: ReviewStatus,
    pub priority: i32,
    pub reasons: Vec<String>,
    pub skills: Vec<Name>,
    pub claim_ms: Option<i64>,
    pub input: Payload,
    /// Who has it, or who has decided it.
    pub assigned_to: Option<String>,
    /// Until when nobody else gets it.
    pub assigned_until: Option<Timestamp>,
    pub decision: Option<Decision>,
    #[serde(skip)]
    pub subject: Option<ContentHash>,
    pub created_at: Timestamp,
    pub completed_at: Option<Timestamp>,
}

/// Sentences as a text with one of them in each line, which is how they are kept.
pub fn as_lines(reasons: &[String]) -> String {
    let lines: Vec<String> =
        reasons.iter().map(|reason| reason.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    lines.join("\n")
}

impl Review {
    /// All reasons in one line.
    pub fn reason(&self) -> String {
        self.reasons.join("; ")
    }

    pub const fn is_open(&self) -> bool {
        self.status.is_open()
    }

    /// As it is at this time: whoever kept it for too long does not have it any more.
    #[must_use]
    pub fn at(mut self, now: Timestamp) -> Self {
        if self.status == ReviewStatus::Assigned && self.assigned_until.is_some_and(|until| until <= now) {
            self.status = ReviewStatus::Pending;
            self.assigned_to = None;
            self.assigned_until = None;
        }
        self
    }
}
