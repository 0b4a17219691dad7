//! What Bindery answers over HTTP. For now to those who watch a worker: whether it lives, whether it is ready for work,
//! and its metrics; and to endpoints that fetch the files of their requests.
//!
//! | path | answer |
//! |---|---|
//! | `/livez` | 200 as long as the process answers |
//! | `/readyz` | 200, or 503 with the reason: the store cannot be reached, or the worker drains |
//! | `/health`, `/ready` | the same as `{"status":"ok"}`, and `{"status":"ready"}` or 503 `{"status":"not_ready"}` |
//! | `/metrics` | Prometheus' text format |
//! | `/files/TOKEN` | a file for an endpoint that works on a request of this worker; 404 once it has answered |
//!
//! Nothing here changes anything. On a crash there is nothing to lose. An answer never waits for the store for longer
//! than [`STORE_TIMEOUT`](bindery_app::readiness::STORE_TIMEOUT).

mod exposition;
mod files;
mod metrics;
mod probes;

use axum::{Router, routing::get};
use bindery_app::Readiness;
use std::{future::Future, io};
use tokio::net::TcpListener;

/// Answers until `until` is over.
pub async fn serve(
    listener: TcpListener,
    readiness: Readiness,
    until: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let router = Router::new()
        .route("/livez", get(probes::livez))
        .route("/readyz", get(probes::readyz))
        .route("/health", get(probes::health))
        .route("/ready", get(probes::ready))
        .route("/metrics", get(metrics::metrics))
        .route(&format!("{}/{{token}}", bindery_app::served::ROUTE), get(files::file))
        .with_state(readiness);
    axum::serve(listener, router).with_graceful_shutdown(until).await
}
