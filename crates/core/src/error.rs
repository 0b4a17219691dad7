//! Every error says what to do next.

use crate::Timestamp;
use serde::{Deserialize, Serialize};
use std::{fmt, time::Duration};

/// What should happen to the work that met an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disposition {
    /// Transient: try again, after this long if the other side said so.
    Retry { after: Option<Duration> },
    /// A person has to look.
    Review,
    /// The input is at fault and will be at the next try too.
    Reject,
    /// Our code is at fault. Trying again will not help, and somebody should know.
    Bug,
    /// Something that the work depends on is not there (no key, service switched off): wait without burning attempts,
    /// until somebody says that it is there, or until `at`, whichever comes first.
    Park { until: String, at: Option<Timestamp> },
}

/// The class of an error as it is stored and shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    Retry,
    Review,
    Reject,
    Bug,
    Park,
}

impl ErrorClass {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Review => "review",
            Self::Reject => "reject",
            Self::Bug => "bug",
            Self::Park => "park",
        }
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// An error of a processor's step: what went wrong, in one sentence, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct StepError {
    /// A stable short name such as `Encrypted` or `Timeout`.
    pub kind: String,
    pub message: String,
    pub disposition: Disposition,
}

impl StepError {
    fn new(kind: &str, message: impl Into<String>, disposition: Disposition) -> Self {
        Self { kind: kind.to_owned(), message: message.into(), disposition }
    }

    /// A transient fault.
    pub fn retry(message: impl Into<String>) -> Self {
        Self::new("Transient", message, Disposition::Retry { after: None })
    }

    /// A transient fault whose other side said when to come back.
    pub fn retry_after(after: Duration, message: impl Into<String>) -> Self {
        Self::new("Transient", message, Disposition::Retry { after: Some(after) })
    }

    /// Input that will never work.
    pub fn reject(message: impl Into<String>) -> Self {
        Self::new("Rejected", message, Disposition::Reject)
    }

    /// Something only a person can decide.
    pub fn review(message: impl Into<String>) -> Self {
        Self::new("NeedsReview", message, Disposition::Review)
    }

    /// A fault in our own code.
    pub fn bug(message: impl Into<String>) -> Self {
        Self::new("Bug", message, Disposition::Bug)
    }

    /// A missing dependency, named in `until` (for instance `language model key`).
    pub fn park(until: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new("Unavailable", message, Disposition::Park { until: until.into(), at: None })
    }

    /// The same error under a more exact name.
    #[must_use]
    pub fn named(mut self, kind: &str) -> Self {
        kind.clone_into(&mut self.kind);
        self
    }

    pub fn class(&self) -> ErrorClass {
        match self.disposition {
            Disposition::Retry { .. } => ErrorClass::Retry,
            Disposition::Review => ErrorClass::Review,
            Disposition::Reject => ErrorClass::Reject,
            Disposition::Bug => ErrorClass::Bug,
            Disposition::Park { .. } => ErrorClass::Park,
        }
    }
}
