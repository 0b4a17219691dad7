//! Messages to programs: a POST of JSON, signed as Standard Webhooks say, under one id however often it is tried.

use super::eml;
use bindery_processors::outside::{
    client::{beginning, redirected_to, wait_asked_for},
    signature::{self, Secret},
};
use serde_json::Value;
use std::{
    io::Read as _,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use ureq::{
    Agent,
    http::{Request, StatusCode, Uri, header},
};

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
    agent: Agent,
    secrets: Vec<Secret>,
}

impl Webhooks {
    /// With these secrets, of which each makes a signature. Without one nothing is sent.
    pub fn new(secrets: Vec<Secret>, timeout: Duration) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(timeout))
            .user_agent(concat!("bindery/", env!("CARGO_PKG_VERSION")));
        Self { agent: config.build().new_agent(), secrets }
    }

    pub(super) fn post(&self, address: &str, key: &str, body: &Value) -> Result<(), Failed> {
        if self.secrets.is_empty() {
            return Err(Failed::for_now("messages are signed, and no secret is set: BINDERY_WEBHOOK_SECRET"));
        }
        let url = checked(address)?;
        let shown =
            format!("{}://{}", url.scheme_str().unwrap_or("http"), url.authority().map_or("", |host| host.as_str()));
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
        let response = self
            .agent
            .run(request)
            .map_err(|error| Failed::for_now(format!("{shown} could not be reached: {error}")))?;
        let (head, body) = response.into_parts();
        if head.status.is_success() {
            return Ok(());
        }
        let mut said = Vec::new();
        // An answer that breaks off says as much as came.
        let _ = body.into_with_config().limit(u64::MAX).reader().take(MOST_BYTES).read_to_end(&mut said);
        let said = beginning(&said);
        let said = if said.is_empty() { said } else { format!(": {said}") };
        let status = head.status;
        let error = if status.is_redirection() {
            format!("{shown} redirects{} (status {status}), which is not followed", redirected_to(&head.headers))
        } else {
            format!("{shown} answered with status {status}{said}")
        };
        // Whoever says that it is gone wants no more.
        let is_final = head.status == StatusCode::GONE;
        Err(Failed { error, is_final, after: wait_asked_for(&head.headers) })
    }
}

/// Under which a receiver knows a message again.
pub(super) fn id_of(key: &str) -> String {
    format!("msg_{}", eml::id_of(key))
}

/// The address is not repeated: it may hold a secret.
fn checked(address: &str) -> Result<Uri, Failed> {
    let wrong = |what: &str| Failed::forever(format!("the address of a webhook {what}"));
    let uri: Uri = address.trim().parse().map_err(|_| wrong("is none such as https://example.org/hook"))?;
    let is_web = matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some_and(|host| !host.is_empty());
    if is_web { Ok(uri) } else { Err(wrong("should begin with https:// or http://")) }
}
