//! JSON over HTTP, within limits of time and size; every failure named.
//!
//! A redirect is never followed: a POST that becomes a GET loses its body, and the key is for the address that was
//! configured. A call under way ends at its time limit, also when the answer drips in byte by byte.

use super::Failure;
use crate::models::error::ErrorKind;
use bindery_core::address;
use serde_json::Value;
use std::{io, time::Duration};
use ureq::{
    Agent,
    http::{self, HeaderMap, HeaderValue, StatusCode, header},
};

/// Characters of somebody else's words in a sentence of ours.
const MOST_QUOTED: usize = 300;

/// Connections that are kept for the next call.
const KEPT_CONNECTIONS: usize = 16;

/// What an exchange may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExchangeLimits {
    /// Of the whole exchange.
    pub total: Duration,
    pub connect: Duration,
    /// Of the body.
    pub bytes: u64,
}

/// An address with everything below it.
#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    agent: Agent,
    base: String,
    /// The same without secrets.
    shown: String,
    limits: ExchangeLimits,
}

impl Endpoint {
    pub(super) fn new(base: &str, limits: ExchangeLimits) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections_per_host(KEPT_CONNECTIONS)
            .user_agent(concat!("bindery/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        let base = base.trim_end_matches('/').to_owned();
        Self { agent, shown: address::shown(&base), base, limits }
    }

    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// The same service under another address.
    pub(super) fn at(&self, base: &str) -> Self {
        Self { base: base.to_owned(), shown: address::shown(base), ..self.clone() }
    }

    pub(super) fn post(&self, path: &str, body: &Value, auth: Option<(&str, String)>) -> Result<Value, Failure> {
        let request = self.request(http::Method::POST, path, auth, true)?;
        let (head, ()) = request.into_parts();
        let bytes = self.exchange(path, http::Request::from_parts(head, body.to_string()))?;
        self.json(path, &bytes)
    }

    pub(super) fn get(&self, path: &str, auth: Option<(&str, String)>) -> Result<Value, Failure> {
        let bytes = self.get_bytes(path, auth)?;
        self.json(path, &bytes)
    }

    pub(super) fn get_bytes(&self, path: &str, auth: Option<(&str, String)>) -> Result<Vec<u8>, Failure> {
        let request = self.request(http::Method::GET, path, auth, false)?;
        self.exchange(path, request)
    }

    fn request(
        &self,
        method: http::Method,
        path: &str,
        auth: Option<(&str, String)>,
        has_body: bool,
    ) -> Result<http::Request<()>, Failure> {
        let mut request = http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header(header::ACCEPT, "application/json");
        if has_body {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        if let Some((name, value)) = auth {
            // The sentence does not show the value: it is the key.
            let mut value = HeaderValue::from_str(&value).map_err(|_| {
                Failure::new(ErrorKind::KeyRefused, "the language model key holds characters that no header may")
            })?;
            value.set_sensitive(true);
            request = request.header(name, value);
        }
        request
            .body(())
            .map_err(|error| Failure::new(ErrorKind::Refused, format!("{}{path} cannot be asked: {error}", self.shown)))
    }

    fn exchange<B: ureq::AsSendBody>(&self, path: &str, request: http::Request<B>) -> Result<Vec<u8>, Failure> {
        let request = self
            .agent
            .configure_request(request)
            .timeout_global(Some(self.limits.total))
            .timeout_connect(Some(self.limits.connect))
            .build();
        let mut response = self.agent.run(request).map_err(|error| self.no_answer(path, error))?;
        let status = response.status();
        let body = response.body_mut().with_config().limit(self.limits.bytes).read_to_vec();
        if !status.is_success() {
            // The body only explains; when it cannot be read the status says enough.
            return Err(self.refused(path, status, response.headers(), &body.unwrap_or_default()));
        }
        body.map_err(|error| self.no_answer(path, error))
    }

    fn json(&self, path: &str, bytes: &[u8]) -> Result<Value, Failure> {
        let fault = |what: String| Failure::new(ErrorKind::ServerFault, format!("{}{path} {what}", self.shown));
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(fault("answered nothing".to_owned()));
        }
        serde_json::from_slice(bytes).map_err(|_| {
            let beginning = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * MOST_QUOTED)]);
            fault(format!("answered with no JSON: {}", quoted(&beginning)))
        })
    }

    /// An answer that is no success.
    fn refused(&self, path: &str, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Failure {
        let told: Value = serde_json::from_slice(body).unwrap_or_default();
        // Some servers wrap the object into a list of one.
        let told = told.get(0).unwrap_or(&told);
        let error = told.get("error").unwrap_or(told);
        let text = error.get("message").or(error.get("detail")).and_then(Value::as_str).or(error.as_str());
        let text =
            text.map_or_else(|| quoted(&String::from_utf8_lossy(&body[..body.len().min(4 * MOST_QUOTED)])), quoted);
        let wait = header_wait(headers).or_else(|| retry_delay(error)).or_else(|| wait_in_words(&text));
        let kind = kind_of(status, error, &text);
        let said = if text.is_empty() { String::new() } else { format!(": {text}") };
        let message = if status.is_redirection() {
            format!("{}{path} redirects (status {status}), which is not followed; correct `base_url`", self.shown)
        } else {
            format!("{}{path} answered with status {status}{said}", self.shown)
        };
        Failure { kind, message, wait }
    }

    /// No answer at all, or only a part of one.
    fn no_answer(&self, path: &str, error: ureq::Error) -> Failure {
        let shown = format!("{}{path}", self.shown);
        let late = || {
            let seconds = self.limits.total.as_secs_f64();
            Failure::new(ErrorKind::Timeout, format!("{shown} did not answer within {seconds} s"))
        };
        match error {
            ureq::Error::Timeout(_) => late(),
            ureq::Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => late(),
            ureq::Error::BodyExceedsLimit(limit) => {
                let message = format!("{shown} answered with more than the {limit} bytes of `max_answer_bytes`");
                Failure::new(ErrorKind::TooMuchOutput, message)
            }
            error @ (ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::InvalidProxyUrl) => {
                Failure::new(ErrorKind::Misconfigured, format!("{shown} cannot be asked: {error}"))
            }
            error => Failure::new(ErrorKind::Unreachable, format!("{shown} could not be reached: {error}")),
        }
    }
}

/// Which fault a status means, and what the service says beside it.
fn kind_of(status: StatusCode, error: &Value, text: &str) -> ErrorKind {
    let code = error.get("code").and_then(Value::as_str).unwrap_or_default();
    let reasons = error.get("details").and_then(Value::as_array).into_iter().flatten();
    let has_reason =
        |wanted: &str| reasons.clone().any(|detail| detail.get("reason").and_then(Value::as_str) == Some(wanted));
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
            ErrorKind::KeyRefused
        }
        // Gemini calls a wrong key a bad request.
        StatusCode::BAD_REQUEST if has_reason("API_KEY_INVALID") || text.contains("API key not valid") => {
            ErrorKind::KeyRefused
        }
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => ErrorKind::Misconfigured,
        _ if status.is_redirection() => ErrorKind::Misconfigured,
        StatusCode::PAYMENT_REQUIRED => ErrorKind::QuotaSpent,
        StatusCode::TOO_MANY_REQUESTS if code == "insufficient_quota" => ErrorKind::QuotaSpent,
        StatusCode::TOO_MANY_REQUESTS => ErrorKind::RateLimited,
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY => ErrorKind::ServerFault,
        _ if status.is_server_error() => ErrorKind::ServerFault,
        _ => ErrorKind::Refused,
    }
}

/// The header `Retry-After`: seconds, or a date.
fn header_wait(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let until = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    // A date in the past means now.
    Some(Duration::try_from(until.duration_since(jiff::Timestamp::now())).unwrap_or_default())
}

/// Google's `RetryInfo`, `"retryDelay": "17.5s"`, with a second on top: it is rounded down.
fn retry_delay(error: &Value) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    seconds(delay.strip_suffix('s')?).map(|wait| wait + Duration::from_secs(1))
}

/// `Please retry in 12.5s.`, where a service says it in words only.
fn wait_in_words(text: &str) -> Option<Duration> {
    let (_, rest) = text.split_once("retry in ").or_else(|| text.split_once("try again in "))?;
    let (number, unit) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit() && c != '.')?);
    let unit = unit.trim_start();
    let wait = seconds(number)?;
    if unit.starts_with("ms") {
        Some(wait / 1000)
    } else if unit.starts_with('s') {
        Some(wait)
    } else if unit.starts_with('m') {
        Some(wait * 60)
    } else {
        None
    }
}

fn seconds(text: &str) -> Option<Duration> {
    text.parse().ok().and_then(|seconds: f64| Duration::try_from_secs_f64(seconds.min(1e6)).ok())
}

/// Somebody else's words as part of a sentence: bounded, and without characters that would move a terminal's cursor.
pub(super) fn quoted(text: &str) -> String {
    let mut characters = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut line: String = characters.by_ref().take(MOST_QUOTED).collect();
    if characters.next().is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_wait_that_a_service_asks_for_is_read_from_wherever_it_stands() {
        let mut headers = HeaderMap::new();
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("17"));
        assert_eq!(header_wait(&headers), Some(Duration::from_secs(17)));
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("Wed, 21 Oct 2015 07:28:00 GMT"));
        assert_eq!(header_wait(&headers), Some(Duration::ZERO), "a date in the past");
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("soon"));
        assert_eq!(header_wait(&headers), None);
        let error = json!({"details": [{"@type": "x"}, {"retryDelay": "16.5s"}]});
        assert_eq!(retry_delay(&error), Some(Duration::from_millis(17_500)));
        assert_eq!(wait_in_words("Quota exceeded. Please retry in 12.5s."), Some(Duration::from_millis(12_500)));
        assert_eq!(wait_in_words("Please try again in 20ms"), Some(Duration::from_millis(20)));
        assert_eq!(wait_in_words("try again in 2 minutes"), Some(Duration::from_secs(120)));
        for nonsense in ["retry in ", "retry in a while", "retry in 99", "retry in ..s"] {
            assert_eq!(wait_in_words(nonsense), None, "{nonsense}");
        }
    }
}
