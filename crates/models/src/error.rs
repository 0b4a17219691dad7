//! Why there is no answer, and what to do next: try again, wait for something, or give up.

use bindery_core::{StepError, Timestamp, error::Disposition};
use std::{fmt, time::Duration};

/// What a job that waits for a key waits for; also what to wake it by.
pub const KEY: &str = "language model key";
/// What a job waits for while the service is away, busy, or its quota is used up.
pub const SERVICE: &str = "language model service";
/// What a job waits for while the service does not know the model or the address.
pub const CONFIGURATION: &str = "language model configuration";
/// What a job waits for while the day's money is spent.
pub const BUDGET: &str = "language model budget";

/// A question that was not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    pub kind: ErrorKind,
    /// One sentence.
    pub message: String,
    pub advice: Advice,
}

/// What to do with the work that met an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advice {
    /// Transient, and perhaps this question's own fault: try again, and count the attempt.
    Retry { after: Option<Duration> },
    /// Not this question's fault: wait without counting attempts until `until` is there, one of [`KEY`],
    /// [`CONFIGURATION`], [`SERVICE`] and [`BUDGET`]. `retry_at` is when another try makes sense by itself; none means that a person has to do something.
    Park { until: &'static str, retry_at: Option<Timestamp> },
    /// The next try would end the same way.
    Final,
}

/// A stable name of each fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The variable or the file that holds the key is not there.
    NoKey,
    /// The service does not take the key.
    KeyRefused,
    /// Too many requests or tokens, also after waiting.
    RateLimited,
    /// The account's quota or credit is used up.
    QuotaSpent,
    /// The service failed so often that it is left alone for a while.
    CircuitOpen,
    /// The call would cost more than is left of the day's money.
    CostCap,
    Timeout,
    Unreachable,
    /// The service failed by its own account.
    ServerFault,
    /// The service has no such model or address.
    Misconfigured,
    /// The service refuses this very request.
    Refused,
    /// More text than the model takes.
    TooLong,
    /// More bytes than an answer may have.
    TooMuchOutput,
    /// No answer that fits the schema, also after one repair.
    BadAnswer,
    /// The answer is about another item.
    WrongItem,
    /// The work was cancelled while it waited.
    Cancelled,
    /// The ledger or the cache failed.
    Bookkeeping,
}

impl ErrorKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoKey => "NoKey",
            Self::KeyRefused => "KeyRefused",
            Self::RateLimited => "RateLimited",
            Self::QuotaSpent => "QuotaSpent",
            Self::CircuitOpen => "CircuitOpen",
            Self::CostCap => "CostCap",
            Self::Timeout => "Timeout",
            Self::Unreachable => "Unreachable",
            Self::ServerFault => "ServerFault",
            Self::Misconfigured => "Misconfigured",
            Self::Refused => "Refused",
            Self::TooLong => "TooLong",
            Self::TooMuchOutput => "TooMuchOutput",
            Self::BadAnswer => "BadAnswer",
            Self::WrongItem => "WrongItem",
            Self::Cancelled => "Cancelled",
            Self::Bookkeeping => "Bookkeeping",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl ModelError {
    pub(crate) fn permanent(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), advice: Advice::Final }
    }

    pub(crate) fn transient(kind: ErrorKind, message: impl Into<String>, after: Option<Duration>) -> Self {
        Self { kind, message: message.into(), advice: Advice::Retry { after } }
    }

    pub(crate) fn parked(
        kind: ErrorKind,
        message: impl Into<String>,
        until: &'static str,
        retry_at: Option<Timestamp>,
    ) -> Self {
        Self { kind, message: message.into(), advice: Advice::Park { until, retry_at } }
    }

    pub(crate) fn cancelled() -> Self {
        Self::transient(ErrorKind::Cancelled, "the work was cancelled while it waited for a language model", None)
    }
}

impl From<ModelError> for StepError {
    fn from(error: ModelError) -> Self {
        let disposition = match error.advice {
            Advice::Retry { after } => Disposition::Retry { after },
            Advice::Park { until, retry_at } => Disposition::Park { until: until.to_owned(), at: retry_at },
            Advice::Final => Disposition::Reject,
        };
        Self { kind: error.kind.as_str().to_owned(), message: error.message, disposition }
    }
}
