//! JSON over HTTP, within limits of time and size; every failure named.
//!
//! A redirect is never followed: a POST that becomes a GET loses its body, and the key is for the address that was
//! configured. A call under way ends at its time limit, also when the answer drips in byte by byte.

use super::Failure;
use crate::error::ErrorKind;
use bindery_core::address;
use bindery_http::{Answer, Client, ClientOptions, HeaderValue, HttpError, Limits, StatusCode, header, http, text};
use serde_json::Value;
use std::time::Duration;

/// Connections that are kept for the next call.
const KEPT_CONNECTIONS: usize = 16;

/// What an exchange may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExchangeLimits {
    /// Of the whole exchange.
    pub(crate) total: Duration,
    pub(crate) connect: Duration,
    /// Of the body.
    pub(crate) bytes: u64,
}

/// An address with everything below it.
#[derive(Debug)]
pub(super) struct Endpoint {
    client: Client,
    base: String,
    /// The same without secrets.
    shown: String,
    limits: ExchangeLimits,
}

impl Endpoint {
    pub(super) fn new(base: &str, limits: ExchangeLimits) -> Self {
        let client = Client::new(ClientOptions { kept_connections: KEPT_CONNECTIONS, ..ClientOptions::default() });
        let base = base.trim_end_matches('/').to_owned();
        Self { client, shown: address::redact(&base), base, limits }
    }

    pub(super) fn post(&self, path: &str, body: &Value, auth: Option<(&str, String)>) -> Result<Value, Failure> {
        let request = self.request(path, auth)?;
        let bytes = self.exchange(path, request.map(|_| body.to_string().into_bytes()))?;
        self.json(path, &bytes)
    }

    fn request(&self, path: &str, auth: Option<(&str, String)>) -> Result<http::Request<Vec<u8>>, Failure> {
        let mut request = http::Request::builder()
            .method(http::Method::POST)
            .uri(format!("{}{path}", self.base))
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, "application/json");
        if let Some((name, value)) = auth {
            // The sentence does not show the value: it is the key.
            let mut value = HeaderValue::from_str(&value).map_err(|_| {
                Failure::new(ErrorKind::KeyRefused, "the language model key holds characters that no header may")
            })?;
            value.set_sensitive(true);
            request = request.header(name, value);
        }
        request
            .body(Vec::new())
            .map_err(|error| Failure::new(ErrorKind::Refused, format!("{}{path} cannot be asked: {error}", self.shown)))
    }

    fn exchange(&self, path: &str, request: http::Request<Vec<u8>>) -> Result<Vec<u8>, Failure> {
        let ExchangeLimits { total, connect, bytes } = self.limits;
        let limits = Limits { connect, ..Limits::new(total, bytes) };
        let answer = self.client.exchange(request, &limits).map_err(|error| self.no_answer(path, &error))?;
        if !answer.status.is_success() {
            // The body only explains; when it cannot be read the status says enough.
            return Err(self.refusal(path, &answer));
        }
        Ok(answer.whole().map_err(|error| self.no_answer(path, &error))?.body)
    }

    fn json(&self, path: &str, bytes: &[u8]) -> Result<Value, Failure> {
        let fault = |what: String| Failure::new(ErrorKind::ServerFault, format!("{}{path} {what}", self.shown));
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(fault("answered nothing".to_owned()));
        }
        serde_json::from_slice(bytes).map_err(|_| fault(format!("answered with no JSON: {}", text::beginning(bytes))))
    }

    /// An answer that is no success.
    fn refusal(&self, path: &str, answer: &Answer) -> Failure {
        let (status, body) = (answer.status, &answer.body);
        let told: Value = serde_json::from_slice(body).unwrap_or_default();
        // Some servers wrap the object into a list of one.
        let told = told.get(0).unwrap_or(&told);
        let error = told.get("error").unwrap_or(told);
        let text = error.get("message").or(error.get("detail")).and_then(Value::as_str).or(error.as_str());
        let text = text.map_or_else(|| text::beginning(body), quoted);
        let wait = answer.retry_after().or_else(|| retry_delay(error)).or_else(|| wait_in_words(&text));
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
    fn no_answer(&self, path: &str, error: &HttpError) -> Failure {
        let shown = format!("{}{path}", self.shown);
        let (kind, message) = match error {
            HttpError::Timeout(total) => {
                (ErrorKind::Timeout, format!("{shown} did not answer within {} s", total.as_secs_f64()))
            }
            HttpError::TooLarge { limit, .. } => {
                let message = format!("{shown} answered with more than the {limit} bytes of `max_answer_bytes`");
                (ErrorKind::TooMuchOutput, message)
            }
            HttpError::Invalid(_) => (ErrorKind::Misconfigured, format!("{shown} {error}")),
            error => (ErrorKind::Unreachable, format!("{shown} {error}")),
        };
        Failure::new(kind, message)
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

/// The words of others as part of a sentence.
pub(super) fn quoted(words: &str) -> String {
    text::one_line(words.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_wait_that_a_service_asks_for_is_read_from_wherever_it_stands() {
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
