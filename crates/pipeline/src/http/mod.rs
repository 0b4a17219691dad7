//! Asking services over HTTP: one request, one answer, within limits of time and size.
//!
//! Redirects are never followed. An answer of whatever status is an answer; what it means is for the caller. No answer
//! is an error that says what to do next.

mod environment;

pub use environment::Environment;

use bindery_core::StepError;
use bindery_processors::outside::public_address::{Guarded, PrivateAddress};
use std::{
    io::{self, Read},
    time::Duration,
};
use ureq::{
    Agent,
    http::{HeaderMap, Request, StatusCode, Uri},
    unversioned::transport::DefaultConnector,
};

/// What a service said.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// The beginning of it, where `whole` is false.
    pub(crate) body: Vec<u8>,
    pub(crate) whole: bool,
}

/// What an answer may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowed {
    pub(crate) time: Duration,
    pub(crate) bytes: u64,
}

/// A client; one serves any number of threads.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    agent: Agent,
}

impl Client {
    /// For services that whoever runs Bindery has chosen, wherever they are; through a proxy where the environment has
    /// one.
    pub(crate) fn open() -> Self {
        let config = configuration().build();
        Self { agent: config.new_agent() }
    }

    /// For addresses out of a workflow: refuses to speak to this machine and to the networks around it. A name is
    /// resolved once, and what was resolved is checked and then connected to, so that a name cannot change its meaning
    /// in between. A proxy would resolve the name again, so none is used.
    pub(crate) fn guarded() -> Self {
        let config = configuration().proxy(None).build();
        Self { agent: Agent::with_parts(config, DefaultConnector::default(), Guarded::default()) }
    }

    /// `shown` is who is asked, for sentences: never with a secret in it.
    pub(crate) fn ask(&self, request: Request<Vec<u8>>, shown: &str, allowed: Allowed) -> Result<Answer, StepError> {
        let request = self.agent.configure_request(request).timeout_global(Some(allowed.time)).build();
        let response = self.agent.run(request).map_err(|error| unreachable(error, shown, allowed.time))?;
        let (head, body) = response.into_parts();
        let (body, whole) = beginning_of(body.into_with_config().limit(u64::MAX).reader(), allowed.bytes);
        tracing::debug!(service = shown, status = head.status.as_u16(), bytes = body.len(), "a service answered");
        Ok(Answer { status: head.status, headers: head.headers, body, whole })
    }
}

type Configuration = ureq::config::ConfigBuilder<ureq::typestate::AgentScope>;

fn configuration() -> Configuration {
    Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("bindery/", env!("CARGO_PKG_VERSION")))
}

/// As much of a body as may be kept, and whether that is all of it. What breaks off is kept up to there.
fn beginning_of(reader: impl Read, most: u64) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    let read = reader.take(most.saturating_add(1)).read_to_end(&mut body);
    let whole = read.is_ok() && body.len() as u64 <= most;
    body.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    (body, whole)
}

/// No answer.
fn unreachable(error: ureq::Error, shown: &str, time: Duration) -> StepError {
    let late = || StepError::retry(format!("{shown} took longer than {} s", time.as_secs_f64())).named("Timeout");
    match error {
        ureq::Error::Timeout(_) => late(),
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => late(),
        ureq::Error::Other(other) if other.is::<PrivateAddress>() => {
            let message = format!("{shown}: {other}; `allow_private: true` in the stage's settings allows that");
            StepError::reject(message).named("PrivateAddress")
        }
        error @ (ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::InvalidProxyUrl) => {
            StepError::reject(format!("{shown} cannot be asked: {error}")).named("BadRequest")
        }
        error => StepError::retry(format!("{shown} could not be reached: {error}")).named("Unreachable"),
    }
}

/// An address that may be asked; or the end of a sentence that says what is wrong with it. The sentence does not repeat
/// the address: it may hold a secret.
pub(crate) fn checked(address: &str) -> Result<Uri, &'static str> {
    let uri: Uri = address.trim().parse().map_err(|_| "is no address such as https://example.com/in")?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err("should begin with https:// or http://");
    }
    let authority = uri.authority().filter(|authority| !authority.host().is_empty()).ok_or("names no host")?;
    if authority.as_str().contains('@') {
        return Err("holds a user or a password; give those in a header, from the environment");
    }
    Ok(uri)
}

/// An address for sentences: without the query, which may hold a key.
pub(crate) fn shown(uri: &Uri) -> String {
    let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
    format!("{}://{authority}{}", uri.scheme_str().unwrap_or("http"), uri.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_without_secrets_in_them_are_taken() {
        assert_eq!(shown(&checked("https://example.com:8443/in?key=1").unwrap()), "https://example.com:8443/in");
        assert!(checked("ftp://example.com/").unwrap_err().contains("https://"));
        assert!(checked("https://me:secret@example.com/").unwrap_err().contains("password"));
        for nonsense in ["", "example.com/in", "https://", "/in", "https:///in", "file:///etc/passwd"] {
            assert!(checked(nonsense).is_err(), "{nonsense}");
        }
    }

    #[test]
    fn of_a_long_body_the_beginning_is_kept() {
        assert_eq!(beginning_of(&b"abc"[..], 3), (b"abc".to_vec(), true));
        assert_eq!(beginning_of(&b"abcd"[..], 3), (b"abc".to_vec(), false));
    }
}
