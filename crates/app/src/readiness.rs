//! Whether this process is ready for work: its store answers, and its worker takes jobs. Whoever asks before there are
//! any is told so: a process that waits for its database lives, and is not ready.

/// What a worker counts, and how queues stand.
pub use bindery_core::Timestamp;
use bindery_engine::WorkerMetrics;
pub use bindery_engine::metrics::{COMMIT_BOUNDS, WorkerCounts};
pub use bindery_store::query::QueueView;
use bindery_store::{Store, StoreResult};
use std::{
    future::Future,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// How long an answer waits for the store.
pub const STORE_TIMEOUT: Duration = Duration::from_secs(2);

/// Cheap to clone; clones share everything.
#[derive(Debug, Clone, Default)]
pub struct Readiness {
    at_work: Arc<RwLock<Option<AtWork>>>,
    draining: Arc<AtomicBool>,
}

/// A worker and its store.
#[derive(Debug, Clone)]
pub struct AtWork {
    pub store: Arc<dyn Store>,
    pub worker: Arc<WorkerMetrics>,
}

impl Readiness {
    /// The store is open and a worker begins, or another one in its place.
    pub fn begin(&self, store: Arc<dyn Store>, worker: Arc<WorkerMetrics>) {
        *self.at_work.write().unwrap_or_else(PoisonError::into_inner) = Some(AtWork { store, worker });
    }

    /// From now on the worker takes no more work, and is not ready.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    pub fn at_work(&self) -> Option<AtWork> {
        self.at_work.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why no work can be done now; none when it can.
    pub async fn trouble(&self) -> Option<String> {
        if self.draining.load(Ordering::Relaxed) {
            return Some("the worker finishes what is under way and stops".to_owned());
        }
        match self.at_work() {
            Some(at_work) => in_time(at_work.store.workers()).await.err(),
            None => Some("the store is not open yet".to_owned()),
        }
    }
}

/// The answer of the store within [`STORE_TIMEOUT`], or why there is none.
pub async fn in_time<T>(asked: impl Future<Output = StoreResult<T>>) -> Result<T, String> {
    match tokio::time::timeout(STORE_TIMEOUT, asked).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("the store did not answer within {} s", STORE_TIMEOUT.as_secs())),
    }
}
