//! A submission: one intake, from the moment it is received until its result is delivered.

use crate::{Name, SubmissionId, Timestamp, name};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a submission stands. The order is the order in which the states are passed; a submission never goes back,
/// except when a person asks for a part of it to be done again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubmissionStatus {
    Received,
    Routing,
    Splitting,
    Processing,
    Extracting,
    Consolidating,
    Completed,
    Failed,
    Cancelled,
}

impl SubmissionStatus {
    pub const ALL: [Self; 9] = [
        Self::Received,
        Self::Routing,
        Self::Splitting,
        Self::Processing,
        Self::Extracting,
        Self::Consolidating,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Routing => "routing",
            Self::Splitting => "splitting",
            Self::Processing => "processing",
            Self::Extracting => "extracting",
            Self::Consolidating => "consolidating",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn from_name(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// Nothing more will happen unless a person asks for it.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

impl fmt::Display for SubmissionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How an external id begins that was made from what was taken in. It finds the same content again; to its sender it means
/// nothing.
pub const BY_CONTENT: &str = "content:";

/// The id that the sender knows a submission by.
pub fn senders_id(external_id: Option<&str>) -> Option<&str> {
    external_id.filter(|id| !id.starts_with(BY_CONTENT))
}

/// When a submission should be done, and how its deadline has gone so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Deadline {
    /// Counted from reception, not from the moment at which work began.
    pub at: Option<Timestamp>,
    pub warn_at: Option<Timestamp>,
    pub escalate_at: Option<Timestamp>,
    /// Set once, when the deadline passed before the submission was final.
    pub breached_at: Option<Timestamp>,
}

/// One intake as the store keeps it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Submission {
    pub id: SubmissionId,
    /// The id its sender knows it by, or one made from its content; unique. A second intake under the same one is the same
    /// submission.
    pub external_id: Option<String>,
    pub owner: Option<String>,
    pub channel: String,
    pub workflow: Name,
    /// Pinned at reception: editing the workflow changes later submissions only.
    pub workflow_version: i64,
    pub status: SubmissionStatus,
    pub priority: i32,
    pub received_at: Timestamp,
    pub deadline: Deadline,
    pub completed_at: Option<Timestamp>,
    pub error: Option<String>,
    /// What the sender said about it: a JSON object.
    pub metadata: String,
}

impl Submission {
    /// The id to show outside: the sender's own where there is one.
    pub fn public_id(&self) -> String {
        senders_id(self.external_id.as_deref()).map_or_else(|| self.id.to_string(), str::to_owned)
    }
}

/// A submission about to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSubmission {
    pub id: SubmissionId,
    pub external_id: Option<String>,
    pub owner: Option<String>,
    pub channel: String,
    pub workflow: name::Name,
    pub workflow_version: i64,
    pub priority: i32,
    pub received_at: Timestamp,
    pub deadline: Deadline,
    pub metadata: String,
}
