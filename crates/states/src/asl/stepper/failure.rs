//! What went wrong in a state, and which retrier or catcher is for it.

use crate::asl::definition::{Catcher, Retrier};

/// Errors that have a name in the language.
pub mod names {
    pub const ALL: &str = "States.ALL";
    pub const BRANCH_FAILED: &str = "States.BranchFailed";
    pub const DATA_LIMIT: &str = "States.DataLimitExceeded";
    pub const HEARTBEAT: &str = "States.HeartbeatTimeout";
    pub const INTRINSIC: &str = "States.IntrinsicFailure";
    pub const ITEM_READER: &str = "States.ItemReaderFailed";
    pub const NO_CHOICE: &str = "States.NoChoiceMatched";
    /// The service itself reports paths that are not found as [`RUNTIME`]; the name is known, so that it can be caught.
    pub const PARAMETER_PATH: &str = "States.ParameterPathFailure";
    pub const PERMISSIONS: &str = "States.Permissions";
    pub const QUERY: &str = "States.QueryEvaluationError";
    pub const RESULT_PATH: &str = "States.ResultPathMatchFailure";
    pub const RESULT_WRITER: &str = "States.ResultWriterFailed";
    pub const RUNTIME: &str = "States.Runtime";
    pub const TASK_FAILED: &str = "States.TaskFailed";
    pub const THRESHOLD: &str = "States.ExceedToleratedFailureThreshold";
    pub const TIMEOUT: &str = "States.Timeout";
}

/// An expression that failed, in a field that is known or not.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Evaluation {
    pub(super) location: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Failure {
    /// A task may fail without a name.
    pub(super) error: Option<String>,
    pub(super) cause: Option<String>,
    /// The state and its event still stand before the cause.
    pub(super) names_state: bool,
    /// An expression of JSONata: the history tells it by an event of its own.
    pub(super) evaluation: Option<Evaluation>,
    /// Besides the error's own name: a missed heartbeat is a time-out too.
    pub(super) also: Option<&'static str>,
}

impl Failure {
    pub(super) fn named(error: &str, cause: impl Into<String>) -> Self {
        Self {
            error: Some(error.to_owned()),
            cause: Some(cause.into()),
            names_state: false,
            evaluation: None,
            also: None,
        }
    }

    pub(super) fn from_parts(error: Option<String>, cause: Option<String>) -> Self {
        Self { error, cause, names_state: false, evaluation: None, also: None }
    }

    /// The machine cannot go on, and nobody can catch it.
    pub(super) fn runtime(cause: impl Into<String>) -> Self {
        Self { names_state: true, ..Self::named(names::RUNTIME, cause) }
    }

    pub(super) fn of_state(error: &str, cause: impl Into<String>) -> Self {
        Self { names_state: true, ..Self::named(error, cause) }
    }

    pub(super) fn query(location: Option<&str>, cause: impl Into<String>) -> Self {
        Self {
            names_state: true,
            evaluation: Some(Evaluation { location: location.map(str::to_owned) }),
            ..Self::named(names::QUERY, cause)
        }
    }

    pub(super) fn too_large(what: &str) -> Self {
        let cause = format!(
            "The state/task '{what}' returned a result with a size exceeding the maximum number of bytes service limit."
        );
        Self::named(names::DATA_LIMIT, cause)
    }

    /// With the state's name and event before the cause, once.
    pub(super) fn at(mut self, state: &str, entered: u64) -> Self {
        if self.names_state {
            let cause = self.cause.unwrap_or_default();
            self.cause = Some(format!(
                "An error occurred while executing the state '{state}' (entered at the event id #{entered}). {cause}"
            ));
            self.names_state = false;
        }
        self
    }

    fn is_among(&self, wanted: &[String]) -> bool {
        let error = self.error.as_deref();
        let is_runtime = error == Some(names::RUNTIME);
        wanted.iter().any(|name| match name.as_str() {
            _ if is_runtime => false,
            names::ALL => true,
            names::TASK_FAILED => error != Some(names::TIMEOUT),
            name => error == Some(name) || self.also == Some(name),
        })
    }

    /// The first retrier for it, and its number.
    pub(super) fn retrier<'a>(&self, retriers: &'a [Retrier]) -> Option<(usize, &'a Retrier)> {
        retriers.iter().enumerate().find(|(_, retrier)| self.is_among(&retrier.errors))
    }

    /// The same of catchers.
    pub(super) fn catcher<'a>(&self, catchers: &'a [Catcher]) -> Option<(usize, &'a Catcher)> {
        catchers.iter().enumerate().find(|(_, catcher)| self.is_among(&catcher.errors))
    }
}

/// Seconds until the next attempt, after `used` earlier ones. `chance` is from 0 to below 1.
pub(super) fn delay(retrier: &Retrier, used: u32, chance: f64) -> f64 {
    let grown = retrier.interval_seconds * retrier.backoff_rate.powf(f64::from(used));
    let limited = grown.min(retrier.max_delay_seconds.unwrap_or(f64::INFINITY)).min(99_999_999.0);
    if retrier.full_jitter { limited * chance } else { limited }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retrier(errors: &[&str]) -> Retrier {
        let errors = errors.iter().map(|&name| name.to_owned()).collect();
        Retrier {
            errors,
            interval_seconds: 3.0,
            max_attempts: 2,
            backoff_rate: 2.0,
            max_delay_seconds: Some(10.0),
            full_jitter: false,
        }
    }

    #[test]
    fn the_first_that_names_the_error_handles_it() {
        let retriers = [retrier(&["A", "B"]), retrier(&["States.TaskFailed"]), retrier(&["States.ALL"])];
        let number = |error: &str| Failure::named(error, "").retrier(&retriers).map(|(number, _)| number);
        assert_eq!(number("B"), Some(0));
        assert_eq!(number("C"), Some(1));
        assert_eq!(number("States.Timeout"), Some(2));
        assert_eq!(number("States.Runtime"), None);
        let nameless = Failure::from_parts(None, None);
        assert_eq!(nameless.retrier(&retriers[2..]).map(|(number, _)| number), Some(0));
    }

    #[test]
    fn delays_grow_up_to_their_limit() {
        let mut retrier = retrier(&["A"]);
        assert_eq!((0..3).map(|used| delay(&retrier, used, 0.5)).collect::<Vec<_>>(), [3.0, 6.0, 10.0]);
        retrier.full_jitter = true;
        assert!((delay(&retrier, 1, 0.5) - 3.0).abs() < 1e-9);
        assert!(delay(&retrier, u32::MAX, 0.9).is_finite());
    }
}
