//! Tasks that ask a program over HTTP.

use crate::http::{Allowed, Answer, Client};
use bindery_engine::machines::{TaskCall, TaskFailure, TaskResult};
use bindery_http::{Request, http};
use bindery_processors::outside::Sender;
use serde_json::{Map, Value, json};
use std::{fmt::Write as _, time::Duration};

/// An answer is the output of a state, so that little is enough.
const ALLOWED: Allowed = Allowed { time: Duration::from_secs(60), bytes: 1024 * 1024 };

pub(super) fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

/// An endpoint that stands for a function: the payload goes there, the answer is the result.
pub(super) async fn post(url: String, payload: Value, call: &TaskCall) -> TaskResult {
    let mut request = Request::post(&url).header("content-type", "application/json");
    for (name, value) in sender(call).headers() {
        request = request.header(name, value);
    }
    let request = request.body(payload.to_string().into_bytes());
    let answer = ask(Client::open, request, url).await?;
    if !answer.status.is_success() {
        return Err(refusal(&answer));
    }
    Ok(if answer.body.is_empty() { Value::Null } else { body_of(&answer) })
}

/// `http:invoke`: what a state says of a request. Its address may come from a document, so it must not be a private one.
pub(super) async fn invoke(call: &TaskCall) -> TaskResult {
    let input = &call.input;
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    let wrong = |why: String| TaskFailure::new("States.Http.InvalidRequest", why);
    let url = text("ApiEndpoint").filter(|url| is_url(url));
    let url = url.ok_or_else(|| wrong("ApiEndpoint: expected a URL such as https://example.com/notify".to_owned()))?;
    let empty = Map::new();
    let fields = |key: &str| input.get(key).and_then(Value::as_object).unwrap_or(&empty);
    let mut address = url.to_owned();
    for (index, (name, value)) in fields("QueryParameters").iter().enumerate() {
        let sign = if index == 0 && !url.contains('?') { '?' } else { '&' };
        address.push(sign);
        address.push_str(&escape(name));
        address.push('=');
        address.push_str(&escape(&plain(value)));
    }
    let mut request = Request::builder().method(text("Method").unwrap_or("GET")).uri(&address);
    for (name, value) in fields("Headers") {
        request = request.header(name, plain(value));
    }
    // The state's own word counts.
    let is_said = |name: &str| fields("Headers").keys().any(|said| said.eq_ignore_ascii_case(name));
    for (name, value) in sender(call).headers().filter(|(name, _)| !is_said(name)) {
        request = request.header(name, value);
    }
    let body = match input.get("RequestBody") {
        None | Some(Value::Null) => Vec::new(),
        Some(body) => {
            if !is_said("content-type") {
                request = request.header("content-type", "application/json");
            }
            body.to_string().into_bytes()
        }
    };
    let answer = ask(Client::new_guarded, request.body(body), url.to_owned()).await?;
    if !answer.status.is_success() {
        return Err(refusal(&answer));
    }
    let headers: Map<String, Value> = answer
        .headers
        .iter()
        .map(|(name, value)| (name.to_string(), json!([String::from_utf8_lossy(value.as_bytes())])))
        .collect();
    Ok(json!({
        "Headers": headers,
        "ResponseBody": body_of(&answer),
        "StatusCode": answer.status.as_u16(),
        "StatusText": answer.status.canonical_reason().unwrap_or_default(),
    }))
}

/// Which task of which execution asks: the same key for every try of the task.
fn sender(call: &TaskCall) -> Sender {
    let (job, attempt) = (Some(format!("{}/{}", call.execution, call.task)), call.attempt);
    Sender { job, attempt, idempotency_key: call.idempotency_key.clone() }
}

async fn ask(
    client: fn() -> Client,
    request: http::Result<Request<Vec<u8>>>,
    shown: String,
) -> Result<Answer, TaskFailure> {
    let request = request.map_err(|error| TaskFailure::new("States.Http.InvalidRequest", error))?;
    let asked = tokio::task::spawn_blocking(move || client().ask(request, &shown, ALLOWED)).await;
    let asked = asked.map_err(|error| TaskFailure::new("States.Runtime", error))?;
    asked.map_err(|error| TaskFailure::new("States.Http.Socket", error.message))
}

fn refusal(answer: &Answer) -> TaskFailure {
    let said: String = String::from_utf8_lossy(&answer.body).chars().take(500).collect();
    TaskFailure::new(format!("States.Http.StatusCode.{}", answer.status.as_u16()), said)
}

/// JSON where it is some, else text.
fn body_of(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&answer.body).into_owned()))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// For the query of a URL.
fn escape(text: &str) -> String {
    let keep = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes().fold(String::with_capacity(text.len()), |mut escaped, byte| {
        if keep(byte) {
            escaped.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(escaped, "%{byte:02X}");
        }
        escaped
    })
}
