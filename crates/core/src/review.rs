//! Reviews: tasks for a person about one outcome.

use crate::{ItemId, JoinId, Name, Payload, ReviewId, SubmissionId, Timestamp};
use serde::{Deserialize, Serialize};
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

/// A review about to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct NewReview {
    pub submission: SubmissionId,
    pub item: Option<ItemId>,
    pub stage: Name,
    pub processor: Name,
    /// The chain that waits for the answer.
    pub join: Option<JoinId>,
    /// Who should look: the stage's `backoffice_queue`.
    pub queue: Name,
    pub priority: i32,
    pub reason: String,
    /// What the processor found so far.
    pub input: Payload,
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
    pub queue: Name,
    pub status: ReviewStatus,
    pub priority: i32,
    pub reason: String,
    pub input: Payload,
    pub assigned_to: Option<String>,
    pub created_at: Timestamp,
    pub completed_at: Option<Timestamp>,
}
