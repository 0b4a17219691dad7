//! Where a worker's jobs come from: the store itself, or something that carries them from there.

use crate::engine::Engine;
use async_trait::async_trait;
use bindery_core::{
    JobId, Name,
    job::{ClaimedJob, Token},
};
use bindery_store::{StoreResult, query::ClaimRequest};
use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// A source of claimed jobs. Whatever it does, the lease in the store is what holds a job, and the token is what
/// commits it: a source that loses a job, or brings it twice, does no harm.
#[async_trait]
pub trait Source: Send + Sync + fmt::Debug {
    /// Leases jobs to the worker. Empty: nothing now.
    async fn claim(&self, request: ClaimRequest) -> StoreResult<Vec<ClaimedJob>>;

    /// Returns when there may be more, at the latest after `at_most`. A hint.
    async fn wait(&self, at_most: Duration);

    /// The queues that it brings jobs of. Suspects of theirs are claimed from the store.
    fn queues(&self) -> Vec<Name>;

    /// The job is done with here: its effects are stored, or it was given back or lost.
    fn job_left(&self, job: JobId, token: Token);
}

/// Straight from the store.
#[derive(Debug)]
pub(super) struct FromStore {
    engine: Engine,
    /// As it was before the last claim, so that what came in between is not missed.
    mark: AtomicU64,
}

impl FromStore {
    pub(super) fn new(engine: Engine) -> Self {
        Self { engine, mark: AtomicU64::new(0) }
    }
}

#[async_trait]
impl Source for FromStore {
    async fn claim(&self, request: ClaimRequest) -> StoreResult<Vec<ClaimedJob>> {
        self.mark.store(self.engine.store().change_mark(), Ordering::Relaxed);
        self.engine.store().claim(request).await
    }

    async fn wait(&self, at_most: Duration) {
        self.engine.store().changed(self.mark.load(Ordering::Relaxed), at_most).await;
    }

    fn queues(&self) -> Vec<Name> {
        Vec::new()
    }

    fn job_left(&self, _: JobId, _: Token) {}
}
