//! Messages to programs: a POST of JSON, signed as Standard Webhooks say, under one id however often it is tried.

use super::eml;
use bindery_http::{
    Client, Limits, Request, StatusCode, Uri,
    address::{self, AddressError},
    header,
    signature::{self, Secret},
    text::beginning,
};
use serde_json::Value;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// More of an answer is not read.
const MOST_BYTES: u64 = 4_096;

/// Why something was not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failed {
    pub(super) error: String,
    /// Trying again would not help.
    pub(super) is_final: bool,
    /// Not before this.
    pub(super) after: Option<Duration>,
}

impl Failed {
    pub(super) fn forever(error: impl Into<String>) -> Self {
        Self { error: error.into(), is_final: true, after: None }
    }

    pub(super) fn for_now(error: impl Into<String>) -> Self {
        Self { error: error.into(), is_final: false, after: None }
    }
}

/// A client for those who take messages. They may be on this machine or in its network: who runs this chose them.
#[derive(Debug, Clone)]
pub struct Webhooks {
    client: Client,
    timeout: Duration,
    secrets: Vec<Secret>,
}

impl Webhooks {
    /// With these secrets, of which each makes a signature. Without one nothing is sent.
    pub fn new(secrets: Vec<Secret>, timeout: Duration) -> Self {
        Self { client: Client::default(), timeout, secrets }
    }

    pub(super) fn post(&self, address: &str, key: &str, body: &Value) -> Result<(), Failed> {
        if self.secrets.is_empty() {
            return Err(Failed::for_now("messages are signed, and no secret is set: BINDERY_WEBHOOK_SECRET"));
        }
        let wrong = |why: AddressError| Failed::forever(format!("the address of a webhook {why}"));
        let url = match address::strict(address) {
            // Some receivers know us by it.
            Err(AddressError::Password) => address.trim().parse::<Uri>().map_err(|_| wrong(AddressError::NoAddress))?,
            other => other.map_err(wrong)?,
        };
        let host = url.authority().map_or("", |host| host.as_str());
        let shown = format!("{}://{}", url.scheme_str().unwrap_or("http"), host.rsplit('@').next().unwrap_or(host));
        let id = id_of(key);
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let body = body.to_string().into_bytes();
        let signed = signature::sign(&self.secrets, &id, seconds, &body);
        let request = Request::post(url)
            .header(header::CONTENT_TYPE, "application/json")
            .header(signature::ID, &id)
            .header(signature::TIMESTAMP, seconds.to_string())
            .header(signature::SIGNATURE, signed)
            .body(body)
            .map_err(|error| Failed::forever(format!("{shown} cannot be asked: {error}")))?;
        let limits = Limits { keep_beginning: true, ..Limits::new(self.timeout, MOST_BYTES) };
        let answer =
            self.client.exchange(request, &limits).map_err(|error| Failed::for_now(format!("{shown} {error}")))?;
        let status = answer.status;
        if status.is_success() {
            return Ok(());
        }
        let said = beginning(&answer.body);
        let said = if said.is_empty() { said } else { format!(": {said}") };
        let error = if status.is_redirection() {
            format!("{shown} redirects{} (status {status}), which is not followed", answer.redirect_target())
        } else {
            format!("{shown} answered with status {status}{said}")
        };
        // Whoever says that it is gone wants no more.
        let is_final = status == StatusCode::GONE;
        Err(Failed { error, is_final, after: answer.retry_after() })
    }
}

/// Under which a receiver knows a message again.
pub(super) fn id_of(key: &str) -> String {
    format!("msg_{}", eml::id_of(key))
}
