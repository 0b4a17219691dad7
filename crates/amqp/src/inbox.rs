//! Where messages that carry jobs become jobs: the worker's source.
//!
//! A delivered message waits here until the worker has room. Then its job is adopted, which begins an attempt under a
//! fresh token; a message that is a duplicate or stale adopts nothing and is dropped. The message is acknowledged when
//! its job has landed, not before: if this process dies, the broker delivers it again, and by then it is stale or its
//! job has not been touched.

use crate::{
    acks::Ack,
    outstanding::{Lease, Outstanding},
};
use async_trait::async_trait;
use bindery_core::{
    JobId, Name,
    job::{ClaimedJob, Token},
};
use bindery_engine::{Engine, worker::Source};
use bindery_store::{StoreResult, query::ClaimRequest};
use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use tokio::sync::Notify;

/// How often jobs whose outside processor has not reported in time are looked for.
const LOOK_FOR_OVERDUE_EVERY: Duration = Duration::from_millis(500);

/// A job that a message carries. One of the relay's own that could not be written comes without a delivery.
#[derive(Debug)]
struct Arrived {
    lease: Lease,
    ack: Option<Ack>,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Arrived>,
    /// The messages of adopted jobs, by their new leases.
    aboard: HashMap<Lease, Ack>,
    /// The queues that messages carry jobs of.
    queues: Vec<Name>,
    /// The queues of programs outside, whose messages are not ours.
    outside: Vec<Name>,
    looked_at: Option<Instant>,
}

/// The worker's source.
pub(crate) struct Inbox {
    engine: Engine,
    outstanding: Arc<Outstanding>,
    state: Mutex<State>,
    bell: Notify,
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("Inbox").field("waiting", &state.waiting.len()).field("aboard", &state.aboard.len()).finish()
    }
}

impl Inbox {
    pub(crate) fn new(engine: Engine, outstanding: Arc<Outstanding>) -> Self {
        Self { engine, outstanding, state: Mutex::default(), bell: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message has come in.
    pub(crate) fn arrived(&self, jobs: impl IntoIterator<Item = (Lease, Option<Ack>)>) {
        self.lock().waiting.extend(jobs.into_iter().map(|(lease, ack)| Arrived { lease, ack }));
        self.bell.notify_one();
    }

    /// The connection is gone: the broker will deliver again what was not acknowledged. Adopted jobs go on.
    pub(crate) fn forget_deliveries(&self) {
        let mut state = self.lock();
        state.waiting.retain(|arrived| arrived.ack.is_none());
        state.aboard.clear();
    }

    pub(crate) fn set_queues(&self, own: Vec<Name>, outside: Vec<Name>) {
        let mut state = self.lock();
        state.queues = own;
        state.outside = outside;
    }

    fn take(&self, max: usize) -> Vec<Arrived> {
        let mut state = self.lock();
        let count = max.min(state.waiting.len());
        state.waiting.drain(..count).collect()
    }

    fn put_back(&self, arrived: Vec<Arrived>) {
        let mut state = self.lock();
        for one in arrived.into_iter().rev() {
            state.waiting.push_front(one);
        }
    }

    /// Adopts the jobs of some messages.
    async fn adopt(&self, request: &ClaimRequest) -> StoreResult<Vec<ClaimedJob>> {
        let arrived = self.take(request.max);
        if arrived.is_empty() {
            return Ok(Vec::new());
        }
        let mut leases: Vec<Lease> = arrived.iter().map(|one| one.lease).collect();
        leases.sort_unstable();
        leases.dedup();
        let claimed = match self.engine.store().adopt(&request.worker, leases.clone(), request.lease).await {
            Ok(claimed) => claimed,
            Err(error) => {
                self.put_back(arrived);
                return Err(error);
            }
        };
        // Whoever has them now: the relay need not keep them alive.
        self.outstanding.remove(&leases);
        let adopted: HashMap<JobId, Token> = claimed.iter().map(|claim| (claim.job.id, claim.token)).collect();
        let mut state = self.lock();
        let mut dropped = 0;
        for Arrived { lease: (job, _), ack } in arrived {
            match (adopted.get(&job), ack) {
                (Some(token), Some(ack)) => {
                    // A second message for the same job has nothing to wait for.
                    if let Some(duplicate) = state.aboard.insert((job, *token), ack) {
                        duplicate.done();
                    }
                }
                (None, Some(ack)) => {
                    dropped += 1;
                    ack.done();
                }
                (_, None) => {}
            }
        }
        if dropped > 0 {
            tracing::debug!(messages = dropped, "duplicates or stale messages were dropped");
        }
        Ok(claimed)
    }

    /// Work of outside processors comes as reports; what is overdue is for a worker to decide about. Where a stage has
    /// processors of both kinds, the work of ours is claimed here, too.
    async fn overdue(&self, request: &ClaimRequest) -> StoreResult<Vec<ClaimedJob>> {
        let queues = {
            let mut state = self.lock();
            let is_due = state.looked_at.is_none_or(|at| at.elapsed() >= LOOK_FOR_OVERDUE_EVERY);
            if !is_due || state.outside.is_empty() {
                return Ok(Vec::new());
            }
            state.looked_at = Some(Instant::now());
            state.outside.clone()
        };
        let claimed = self.engine.store().claim(ClaimRequest { queues: Some(queues), ..request.clone() }).await?;
        if !claimed.is_empty() {
            // There may be more.
            self.lock().looked_at = None;
        }
        Ok(claimed)
    }
}

#[async_trait]
impl Source for Inbox {
    async fn claim(&self, request: ClaimRequest) -> StoreResult<Vec<ClaimedJob>> {
        let overdue = self.overdue(&request).await?;
        if !overdue.is_empty() {
            return Ok(overdue);
        }
        self.adopt(&request).await
    }

    async fn wait(&self, at_most: Duration) {
        if !self.lock().waiting.is_empty() {
            return;
        }
        let _ = tokio::time::timeout(at_most, self.bell.notified()).await;
    }

    fn queues(&self) -> Vec<Name> {
        let state = self.lock();
        state.queues.iter().chain(&state.outside).cloned().collect()
    }

    fn job_left(&self, job: JobId, token: Token) {
        let ack = self.lock().aboard.remove(&(job, token));
        if let Some(ack) = ack {
            ack.done();
        }
    }
}
