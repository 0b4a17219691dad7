//! Asking services over HTTP: one request, one answer, within limits of time and size.
//!
//! Redirects are never followed. An answer of whatever status is an answer; what it means is for the caller. No answer
//! is an error that says what to do next.

mod environment;

pub use environment::Environment;

pub(crate) use bindery_http::Answer;

use bindery_core::{StepError, address};
use bindery_http::{
    HttpError, Limits, Reach, Request, Uri,
    address::{AddressError, strict},
};
use std::time::Duration;

/// What an answer may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowed {
    pub(crate) time: Duration,
    pub(crate) bytes: u64,
}

/// The guarded client, whose failures say what to do next.
#[derive(Debug, Clone)]
pub(crate) struct Client(bindery_http::Client);

impl Client {
    /// For services that the operator has configured, wherever they are.
    pub(crate) fn open() -> Self {
        Self(bindery_http::Client::with_reach(Reach::Anywhere))
    }

    /// For addresses out of a workflow: refuses to speak to this machine and to the networks around it.
    pub(crate) fn new_guarded() -> Self {
        Self(bindery_http::Client::with_reach(Reach::PublicOnly))
    }

    /// `shown` is who is asked, for sentences: never with a secret in it. What is too long, or breaks off, is kept up to
    /// there.
    pub(crate) fn ask(&self, request: Request<Vec<u8>>, shown: &str, allowed: Allowed) -> Result<Answer, StepError> {
        let limits = Limits { keep_beginning: true, ..Limits::new(allowed.time, allowed.bytes) };
        self.0.exchange(request, &limits).map_err(|error| match error {
            HttpError::Timeout(_) => StepError::retry(format!("{shown} {error}")).named("Timeout"),
            HttpError::PrivateAddress(why) => {
                let message = format!("{shown}: {why}; `allow_private: true` in the stage's settings allows that");
                StepError::reject(message).named("PrivateAddress")
            }
            HttpError::Invalid(_) => StepError::reject(format!("{shown} {error}")).named("BadRequest"),
            error => StepError::retry(format!("{shown} {error}")).named("Unreachable"),
        })
    }
}

/// An address that may be asked; or the end of a sentence that says what is wrong with it. The sentence does not repeat
/// the address: it may hold a secret.
pub(crate) fn checked(address: &str) -> Result<Uri, String> {
    strict(address).map_err(|why| match why {
        AddressError::Password => format!("{why}; give those in a header, from the environment"),
        why => why.to_string(),
    })
}

/// An address for sentences: without the query, which may hold a key.
pub(crate) fn redact(uri: &Uri) -> String {
    address::redact(&uri.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_without_secrets_in_them_are_taken() {
        assert_eq!(redact(&checked("https://example.com:8443/in?key=1").unwrap()), "https://example.com:8443/in");
        assert!(checked("ftp://example.com/").unwrap_err().contains("https://"));
        assert!(checked("https://me:secret@example.com/").unwrap_err().contains("password"));
        for nonsense in ["", "example.com/in", "https://", "/in", "https:///in", "file:///etc/passwd"] {
            assert!(checked(nonsense).is_err(), "{nonsense}");
        }
    }
}
