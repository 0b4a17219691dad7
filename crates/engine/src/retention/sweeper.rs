//! The sweeper: everything that goes by itself, at a slow pace, beside a worker.

use super::{
    blob_sweep::{BlobsSwept, Others, sweep_candidates, sweep_orphans},
    policy::{age_out, apply_policies},
};
use crate::{engine::Engine, error::EngineResult};
use bindery_core::event::{NewEvent, kind};
use serde_json::json;
use std::time::Duration;

/// How long a worker has run when it first looks, and how often it looks again whether something is due.
const FIRST: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_secs(5 * 60);

/// How often each sweep takes place, by whichever worker.
const POLICIES: (&str, Duration) = ("policies", Duration::from_secs(60 * 60));
const CANDIDATES: (&str, Duration) = ("blobs", Duration::from_secs(10 * 60));
const ORPHANS: (&str, Duration) = ("orphans", Duration::from_secs(24 * 60 * 60));

/// Sweeps until it is dropped. Trouble is told and tried again later.
pub(crate) async fn sweep_slowly(engine: Engine) {
    tokio::time::sleep(FIRST).await;
    loop {
        if let Err(error) = sweep_once(&engine).await {
            tracing::warn!(error = %error, "what is due to be deleted could not be; it will be tried again");
        }
        // Workers that were started together do not ask together.
        tokio::time::sleep(LOOK.mul_f64(0.75 + fastrand::f64() / 2.0)).await;
    }
}

async fn sweep_once(engine: &Engine) -> EngineResult<()> {
    let (store, blobs) = (&**engine.store(), engine.blobs());
    if store.claim_sweep(&POLICIES.0.into(), POLICIES.1).await? {
        let expired = apply_policies(store).await?;
        let aged = age_out(store).await?;
        if expired.rows + aged.rows() > 0 {
            let data = json!({"submissions": expired.submissions, "rows": expired.rows, "aged": aged});
            report(engine, "policies", data).await?;
            store.reclaim(false).await?;
        }
    }
    if store.claim_sweep(&CANDIDATES.0.into(), CANDIDATES.1).await? {
        let swept = sweep_candidates(store, blobs, Others::MayWork, true).await?;
        report_blobs(engine, swept).await?;
    }
    if store.claim_sweep(&ORPHANS.0.into(), ORPHANS.1).await? {
        blobs.remove_leftovers().await?;
        bindery_files::scratch::remove_leftovers();
        let swept = sweep_orphans(store, blobs).await?;
        report_blobs(engine, swept).await?;
    }
    Ok(())
}

async fn report_blobs(engine: &Engine, swept: BlobsSwept) -> EngineResult<()> {
    if swept.removed == 0 {
        return Ok(());
    }
    report(engine, "blobs", json!({"removed": swept.removed, "bytes": swept.bytes})).await
}

async fn report(engine: &Engine, sweep: &str, done: serde_json::Value) -> EngineResult<()> {
    tracing::info!(sweep, done = %done, "swept what was due");
    let data = json!({"sweep": sweep, "done": done}).to_string();
    engine.store().append_events(vec![NewEvent::new(kind::RETENTION_SWEPT, None, data)]).await?;
    Ok(())
}
