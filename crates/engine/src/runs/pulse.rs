//! Signs of life of a run under way, and what they are read for.

use super::{Runs, id_after, record::RunRecord};
use crate::{context::CancelFlag, engine::Engine, error::EngineResult};
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
use tokio::task::JoinHandle;

/// A run that was not seen for this long, and has not ended, is over all the same: its process is gone.
pub const INTERRUPTED_AFTER: Duration = Duration::from_secs(30);

/// The name that a run gives signs of life under.
const WORKER_PREFIX: &str = "run-";

fn worker_name(run_id: &str) -> Name {
    format!("{WORKER_PREFIX}{run_id}").into()
}

/// Whether a worker of this name is a run, which is shown among the runs and works on no queue.
pub fn is_run(worker: &str) -> bool {
    worker.strip_prefix(WORKER_PREFIX).is_some_and(|run_id| run_id.len() == 36)
}

/// Beats until it is dropped.
#[derive(Debug)]
pub(super) struct Pulse {
    beating: JoinHandle<()>,
    /// How many inputs are stored with their results.
    pub(super) finished: Arc<AtomicU64>,
}

impl Pulse {
    /// The first sign is given when this returns, before anything else of the run can be seen.
    pub(super) async fn begin(
        runs: &Runs,
        run_id: &str,
        submission: SubmissionId,
        cancel: CancelFlag,
    ) -> StoreResult<Self> {
        let finished = Arc::new(AtomicU64::new(0));
        let heart = Heart {
            engine: runs.engine.clone(),
            every: runs.beat_every,
            run_id: run_id.to_owned(),
            submission,
            worker: worker_name(run_id),
            finished: Arc::clone(&finished),
        };
        heart.beat().await?;
        Ok(Self { beating: tokio::spawn(heart.keep_beating(cancel)), finished })
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        self.beating.abort();
    }
}

struct Heart {
    engine: Engine,
    every: Duration,
    run_id: String,
    submission: SubmissionId,
    worker: Name,
    finished: Arc<AtomicU64>,
}

impl Heart {
    async fn beat(&self) -> StoreResult<()> {
        let finished = self.finished.load(Ordering::Relaxed);
        self.engine.store().heartbeat(&self.worker, Vec::new(), INTERRUPTED_AFTER, finished).await.map(drop)
    }

    async fn keep_beating(self, cancel: CancelFlag) {
        loop {
            tokio::time::sleep(self.every).await;
            if let Err(error) = self.beat().await {
                tracing::warn!(run.id = self.run_id, error = %error, "a run could give no sign of life");
            }
            match self.is_over().await {
                Ok(Some(why)) => {
                    tracing::warn!(run.id = self.run_id, why, "a run stops early");
                    cancel.cancel();
                }
                Ok(None) => {}
                Err(error) => tracing::warn!(run.id = self.run_id, error = %error, "a run could not be looked up"),
            }
        }
    }

    /// Somebody has cancelled it, or has taken it for interrupted while the machine slept.
    async fn is_over(&self) -> StoreResult<Option<&'static str>> {
        let stands = self.engine.store().submission(self.submission).await?.map(|stored| stored.status);
        if stands == Some(SubmissionStatus::Cancelled) {
            return Ok(Some("it was cancelled"));
        }
        let followed = self.engine.store().find_submission(&id_after(&self.run_id)).await?.is_some();
        Ok(followed.then_some("another run goes on with its inputs"))
    }
}

/// When runs were last seen.
#[derive(Debug)]
pub(super) struct SeenAt(HashMap<Name, Timestamp>);

impl SeenAt {
    pub(super) fn of(&self, run_id: &str) -> Option<Timestamp> {
        self.0.get(&worker_name(run_id)).copied()
    }
}

impl Runs {
    pub(super) async fn seen(&self) -> EngineResult<SeenAt> {
        let workers = self.engine.store().workers().await?;
        Ok(SeenAt(workers.into_iter().map(|view| (view.worker, view.seen_at)).collect()))
    }

    /// How long ago a run was seen that is still under way; none for one that has ended or was interrupted.
    pub(super) fn under_way_since(&self, record: &RunRecord, seen: &SeenAt) -> Option<Duration> {
        // Where somebody cancelled it, it goes on until it notices; its process is gone soon after.
        if matches!(record.stands, SubmissionStatus::Completed | SubmissionStatus::Failed) {
            return None;
        }
        let (now, seen) = (self.engine.clock().now(), seen.of(&record.run_id)?);
        let ago = now.since(seen);
        // One that was seen in the future had a wrong clock, and may be gone for long.
        (ago < INTERRUPTED_AFTER && seen.since(now) < INTERRUPTED_AFTER).then_some(ago)
    }
}
