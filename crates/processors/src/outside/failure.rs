//! A call that failed: the error for the engine, and whether the other side is to blame.

use super::client;
use bindery_core::{StepError, error::ErrorClass};
use bindery_engine::context::StepContext;
use std::time::Duration;

/// A failed call.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) error: StepError,
    pub(super) verdict: Verdict,
}

/// What a failure says about the other side; the circuit breaker goes by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is to blame.
    Broken,
    /// It works, and refused this input.
    Works,
    /// Nothing: it was not asked, or not to the end.
    None,
}

impl Failed {
    /// The other side failed.
    pub(super) fn of_service(error: StepError) -> Self {
        Self { error, verdict: Verdict::Broken }
    }

    /// Neither the other side nor the input is at fault.
    pub(super) fn of_client(error: StepError) -> Self {
        Self { error, verdict: Verdict::None }
    }

    /// The other side answered, and its answer is this error. An input that it refuses says nothing against it.
    pub(super) fn of_answer(error: StepError) -> Self {
        let verdict = if error.class() == ErrorClass::Retry { Verdict::Broken } else { Verdict::Works };
        Self { error, verdict }
    }

    /// An answer that breaks the protocol. Trying again will not help; whoever wrote the program should know.
    pub(super) fn bad_answer(message: impl Into<String>) -> Self {
        Self::of_service(StepError::bug(message).named("BadAnswer"))
    }

    /// Time went by before the other side was asked, or somebody stopped the work.
    pub(super) fn stopped(context: &StepContext, doing: &str) -> Self {
        let is_late = context.time_left().is_some_and(|left| left.is_zero());
        Self::of_client(if is_late {
            StepError::retry(format!("the time for this work was over while {doing}")).named("Timeout")
        } else {
            StepError::retry(format!("this work was cancelled while {doing}")).named("Cancelled")
        })
    }

    /// A variable of the environment that the configuration names, and that is not set.
    pub(super) fn no_variable(name: &str, needed_by: &str) -> Self {
        Self::of_client(client::missing_variable(name, needed_by))
    }
}

/// Without a needless `.0`.
pub(super) fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

/// As people write it.
pub fn megabytes(bytes: u64) -> String {
    const MEGABYTE: u64 = 1024 * 1024;
    if bytes.is_multiple_of(MEGABYTE) {
        format!("{} MB", bytes / MEGABYTE)
    } else {
        format!("{:.1} MB", bytes as f64 / MEGABYTE as f64)
    }
}
