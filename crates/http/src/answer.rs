//! What an exchange may take, and what comes of it.

use crate::{error::HttpError, retry_after, text::one_line};
use std::time::{Duration, SystemTime};
use ureq::http::{HeaderMap, StatusCode, header};

/// What an exchange may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Of the body, decompressed.
    pub bytes: u64,
    pub connect: Duration,
    /// Of the whole exchange, also when the answer drips in byte by byte.
    pub total: Duration,
    /// Of a body that is too large, keep what is allowed. Otherwise one that is announced as such is not even read.
    pub keep_beginning: bool,
}

impl Limits {
    pub const fn new(total: Duration, bytes: u64) -> Self {
        Self { bytes, connect: total, total, keep_beginning: false }
    }
}

/// What a server says, of whatever status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Decompressed; as much of it as arrived and is allowed.
    pub body: Vec<u8>,
    /// Why the body is not whole; none where it is.
    pub missing: Option<HttpError>,
}

impl Answer {
    /// The first header of a name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The same answer, or why its body is not whole.
    pub fn whole(mut self) -> Result<Self, HttpError> {
        self.missing.take().map_or(Ok(self), Err)
    }

    /// How long the other side wants to be left alone, by its `Retry-After`.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after_at(SystemTime::now())
    }

    /// The same by another clock.
    pub fn retry_after_at(&self, now: SystemTime) -> Option<Duration> {
        retry_after::parse(self.header(header::RETRY_AFTER.as_str())?, now)
    }

    /// Where a redirect leads, as part of a sentence. Clients do not follow one: a POST that becomes a GET loses its body,
    /// and headers with secrets are for the address that was configured.
    pub fn redirect_target(&self) -> String {
        self.header(header::LOCATION.as_str()).map(|to| format!(" to {}", one_line(to))).unwrap_or_default()
    }
}

/// Whether the same request may well succeed a little later.
pub fn is_transient(status: StatusCode) -> bool {
    status.is_server_error()
        || [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_EARLY, StatusCode::TOO_MANY_REQUESTS].contains(&status)
}
