//! What is watched: a store, and the worker of this process. Whoever asks before there are any is told so: a process
//! that waits for its database lives, and is not ready.

use crate::PATIENCE;
use bindery_engine::WorkerMetrics;
use bindery_store::{Store, StoreResult};
use std::{
    future::Future,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

/// Cheap to clone; clones share everything.
#[derive(Debug, Clone, Default)]
pub struct Watched {
    at_work: Arc<OnceLock<AtWork>>,
    draining: Arc<AtomicBool>,
}

/// A worker and its store.
#[derive(Debug)]
pub(crate) struct AtWork {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) worker: Arc<WorkerMetrics>,
}

impl Watched {
    /// The store is open and the worker begins. Only the first time counts.
    pub fn begin(&self, store: Arc<dyn Store>, worker: Arc<WorkerMetrics>) {
        let _ = self.at_work.set(AtWork { store, worker });
    }

    /// From now on the worker takes no more work, and is not ready.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    pub(crate) fn at_work(&self) -> Option<&AtWork> {
        self.at_work.get()
    }

    /// Why no work can be done now; none when it can.
    pub(crate) async fn trouble(&self) -> Option<String> {
        if self.draining.load(Ordering::Relaxed) {
            return Some("the worker finishes what is under way and stops".to_owned());
        }
        match self.at_work() {
            Some(at_work) => in_time(at_work.store.workers()).await.err(),
            None => Some("the store is not open yet".to_owned()),
        }
    }
}

/// The answer of the store, or why there is none.
pub(crate) async fn in_time<T>(asked: impl Future<Output = StoreResult<T>>) -> Result<T, String> {
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("the store did not answer within {} s", PATIENCE.as_secs())),
    }
}
