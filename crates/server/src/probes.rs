//! Whether the process lives, and whether it is ready for work.

use axum::{
    extract::State,
    http::{HeaderName, StatusCode, header::CONTENT_TYPE},
};
use bindery_app::Readiness;
use serde_json::{Value, json};

/// Whoever answers, lives. A store that cannot be reached is no reason to start the process again.
pub(crate) async fn livez() -> &'static str {
    "ok\n"
}

pub(crate) async fn readyz(State(readiness): State<Readiness>) -> (StatusCode, String) {
    match readiness.trouble().await {
        None => (StatusCode::OK, "ready\n".to_owned()),
        Some(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {why}\n")),
    }
}

pub(crate) async fn health() -> Answer {
    as_json(StatusCode::OK, &json!({"status": "ok"}))
}

pub(crate) async fn ready(State(readiness): State<Readiness>) -> Answer {
    match readiness.trouble().await {
        None => as_json(StatusCode::OK, &json!({"status": "ready"})),
        Some(_) => as_json(StatusCode::SERVICE_UNAVAILABLE, &json!({"status": "not_ready"})),
    }
}

type Answer = (StatusCode, [(HeaderName, &'static str); 1], String);

fn as_json(status: StatusCode, value: &Value) -> Answer {
    (status, [(CONTENT_TYPE, "application/json")], value.to_string())
}
