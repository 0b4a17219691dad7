//! The heartbeat of a run under way, and what it is read for.

use super::{Runs, id_after, record::RunRecord};
use crate::{
    context::CancelFlag,
    engine::Engine,
    error::EngineResult,
    heartbeat::{SILENT_AFTER, is_alive},
};
use bindery_core::{Name, SubmissionId, Timestamp, submission::SubmissionStatus};
use bindery_store::StoreResult;
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// The name that a run has among the workers.
const WORKER_PREFIX: &str = "run-";

fn worker_name(run_id: &str) -> Name {
    format!("{WORKER_PREFIX}{run_id}").into()
}

/// Whether a worker of this name is a run, which is shown among the runs and works on no queue.
pub fn is_run(worker: &str) -> bool {
    worker.strip_prefix(WORKER_PREFIX).is_some_and(|run_id| run_id.len() == 36)
}

/// A run as its heartbeat shows it.
#[derive(Debug)]
pub(super) struct RunHeartbeat {
    pub(super) engine: Engine,
    pub(super) run_id: String,
    pub(super) submission: SubmissionId,
    /// How many inputs are stored with their results.
    pub(super) finished: AtomicU64,
    pub(super) cancel: CancelFlag,
}

impl RunHeartbeat {
    /// Shows that the run is alive.
    pub(super) async fn show(&self) -> StoreResult<()> {
        let (worker, finished) = (worker_name(&self.run_id), self.finished.load(Ordering::Relaxed));
        self.engine.store().heartbeat(&worker, Vec::new(), SILENT_AFTER, finished).await.map(drop)
    }

    /// The same, and cancels a run that is to stop early.
    pub(super) async fn beat(self: Arc<Self>) {
        if let Err(error) = self.show().await {
            tracing::warn!(run.id = self.run_id, error = %error, "the heartbeat of a run failed");
        }
        match self.why_stop().await {
            Ok(Some(why)) => {
                tracing::warn!(run.id = self.run_id, why, "a run stops early");
                self.cancel.cancel();
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(run.id = self.run_id, error = %error, "a run could not be looked up"),
        }
    }

    /// Somebody has cancelled it, or has taken it for interrupted while the machine slept.
    async fn why_stop(&self) -> StoreResult<Option<&'static str>> {
        let status = self.engine.store().submission(self.submission).await?.map(|stored| stored.status);
        if status == Some(SubmissionStatus::Cancelled) {
            return Ok(Some("it was cancelled"));
        }
        let is_followed = self.engine.store().find_submission(&id_after(&self.run_id)).await?.is_some();
        Ok(is_followed.then_some("another run goes on with its inputs"))
    }
}

/// When runs were last seen.
#[derive(Debug)]
pub(super) struct LastSeen(HashMap<Name, Timestamp>);

impl LastSeen {
    pub(super) fn get(&self, run_id: &str) -> Option<Timestamp> {
        self.0.get(&worker_name(run_id)).copied()
    }
}

impl Runs {
    pub(super) async fn read_last_seen(&self) -> EngineResult<LastSeen> {
        let workers = self.engine.store().workers().await?;
        Ok(LastSeen(workers.into_iter().map(|view| (view.worker, view.seen_at)).collect()))
    }

    /// How long ago a run was seen that is still under way; none for one that has ended or was interrupted.
    pub(super) fn under_way_since(&self, record: &RunRecord, seen: &LastSeen) -> Option<Duration> {
        // Where somebody cancelled it, it goes on until it notices; its process is gone soon after.
        if matches!(record.status, SubmissionStatus::Completed | SubmissionStatus::Failed) {
            return None;
        }
        let (now, seen_at) = (self.engine.clock().now(), seen.get(&record.run_id)?);
        is_alive(seen_at, now).then(|| now.since(seen_at))
    }
}
