//! What every client of a service does the same way, wherever in the workspace it is.

pub use super::{envelope::beginning, failure::megabytes, pipes::one_line, retry::pause, template::environment};

use super::retry_after;
use bindery_core::StepError;
use std::time::{Duration, SystemTime};
use ureq::http::{HeaderMap, StatusCode, header};

/// Whether the same request may well succeed a little later.
pub fn is_transient(status: StatusCode) -> bool {
    status.is_server_error()
        || [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_EARLY, StatusCode::TOO_MANY_REQUESTS].contains(&status)
}

/// How long the other side wants to be left alone, by its `Retry-After`.
pub fn wait_asked_for(headers: &HeaderMap) -> Option<Duration> {
    let after = headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok())?;
    wait_from(after, SystemTime::now())
}

/// The same of the header's value, at a time that somebody else tells.
pub fn wait_from(retry_after: &str, now: SystemTime) -> Option<Duration> {
    retry_after::read(retry_after, now)
}

/// A variable of the environment that is needed and not set: the work waits for it.
pub fn missing_variable(name: &str, needed_by: &str) -> StepError {
    let message = format!("the environment variable {name}, which {needed_by} needs, is not set");
    StepError::park(format!("environment variable {name}"), message).named("MissingVariable")
}

/// Where a redirect leads, as part of a sentence. None of our clients follows one: a POST that becomes a GET loses its
/// body, and headers with secrets are for the address that was configured.
pub fn redirected_to(headers: &HeaderMap) -> String {
    let to = headers.get(header::LOCATION).and_then(|location| location.to_str().ok());
    to.map(|to| format!(" to {}", one_line(to))).unwrap_or_default()
}
