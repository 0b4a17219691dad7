//! What the receiver's answer means.

use crate::http::Answer;
use bindery_core::{StepError, error::Disposition};
use bindery_http::{HeaderMap, answer::is_transient, text::beginning};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// More of a reply is not kept.
pub(super) const KEPT_BYTES: u64 = 256 * 1024;

/// Headers that say something about the delivery. Others may hold what is not ours to keep, such as cookies.
const KEPT_HEADERS: [&str; 9] = [
    "content-type",
    "date",
    "etag",
    "location",
    "retry-after",
    "server",
    "traceparent",
    "x-correlation-id",
    "x-request-id",
];

/// The reply to keep if the receiver has taken it; otherwise why not, and what to do next.
pub(super) fn accepted(shown: &str, answer: &Answer) -> Result<Reply, StepError> {
    let status = answer.status;
    if status.is_success() {
        return Ok(to_reply(answer));
    }
    if status.is_redirection() {
        let to = answer.redirect_target();
        let message = format!("{shown} redirects{to} (status {status}), which is not followed; correct `url`");
        return Err(StepError::reject(message).named("Redirected"));
    }
    let said = beginning(&answer.body);
    let said = if said.is_empty() { said } else { format!(": {said}") };
    let message = format!("{shown} answered with status {status}{said}");
    if !is_transient(status) {
        return Err(StepError::reject(message).named("HttpStatus"));
    }
    let after = answer.retry_after();
    Err(StepError { disposition: Disposition::Retry { after }, ..StepError::retry(message) }.named("HttpStatus"))
}

/// What the receiver said, as far as it is kept.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Reply {
    status: u16,
    headers: BTreeMap<String, String>,
    /// As JSON where it is that, so that people and programs can look into it.
    body: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cut_after_bytes: Option<usize>,
}

fn to_reply(answer: &Answer) -> Reply {
    let body = serde_json::from_slice(&answer.body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&answer.body).into_owned()));
    Reply {
        status: answer.status.as_u16(),
        headers: kept_headers(&answer.headers),
        body,
        cut_after_bytes: answer.missing.as_ref().map(|_| answer.body.len()),
    }
}

fn kept_headers(headers: &HeaderMap) -> BTreeMap<String, String> {
    let found = KEPT_HEADERS.iter().filter_map(|name| Some((*name, headers.get(*name)?.to_str().ok()?)));
    found.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_core::error::ErrorClass;
    use bindery_http::{HeaderName, HeaderValue, StatusCode};
    use serde_json::json;
    use std::time::Duration;

    fn answer(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> Answer {
        let headers =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let status = StatusCode::from_u16(status).unwrap();
        Answer { status, headers: headers.collect(), body: body.as_bytes().to_vec(), missing: None }
    }

    #[test]
    fn every_2xx_is_taken_and_its_reply_kept() {
        for status in [200, 201, 202, 204] {
            assert_eq!(accepted("x", &answer(status, &[], "")).unwrap().status, status);
        }
        let said = answer(200, &[("x-request-id", "7"), ("set-cookie", "secret")], r#"{"id":1}"#);
        let kept = accepted("x", &said).unwrap();
        assert_eq!(json!(kept), json!({"status": 200, "headers": {"x-request-id": "7"}, "body": {"id": 1}}));
        assert_eq!(accepted("x", &answer(200, &[], "ok")).unwrap().body, "ok");
    }

    #[test]
    fn what_passes_is_tried_again_and_what_does_not_is_given_up() {
        for status in [408, 425, 429, 500, 502, 503, 504] {
            assert_eq!(accepted("x", &answer(status, &[], "")).unwrap_err().class(), ErrorClass::Retry, "{status}");
        }
        for status in [400, 401, 403, 404, 409, 410, 413, 422] {
            assert_eq!(accepted("x", &answer(status, &[], "")).unwrap_err().class(), ErrorClass::Reject, "{status}");
        }
        let busy = accepted("x", &answer(429, &[("retry-after", "7")], "")).unwrap_err();
        assert_eq!(busy.disposition, Disposition::Retry { after: Some(Duration::from_secs(7)) });
        let refused = accepted("https://example.com/in", &answer(422, &[], "no\nsuch field")).unwrap_err();
        assert_eq!(
            refused.message,
            "https://example.com/in answered with status 422 Unprocessable Entity: no such field"
        );
    }

    #[test]
    fn a_redirect_is_not_followed_and_says_where_it_leads() {
        let redirect = answer(307, &[("location", "http://169.254.169.254/latest")], "");
        let refused = accepted("https://example.com/in", &redirect).unwrap_err();
        assert_eq!((refused.class(), &*refused.kind), (ErrorClass::Reject, "Redirected"));
        assert!(refused.message.contains("to http://169.254.169.254/latest (status 307"), "{refused}");
    }
}
