//! The leases of an executor: of each execution that it holds, the token of its claim.

use super::scheduler::SchedulerEvent;
use bindery_core::{ExecutionId, job::Token};
use bindery_store::Store;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::mpsc::UnboundedSender;

/// Inserted by the watcher that claims, removed by the scheduler, extended by the heartbeat.
#[derive(Debug, Default)]
pub(super) struct ExecutionLeases(Mutex<HashMap<ExecutionId, Token>>);

impl ExecutionLeases {
    fn lock(&self) -> MutexGuard<'_, HashMap<ExecutionId, Token>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    pub(super) fn insert(&self, id: ExecutionId, token: Token) {
        self.lock().insert(id, token);
    }

    /// A newer claim of the same execution stays.
    pub(super) fn remove(&self, id: ExecutionId, token: Token) {
        let mut leases = self.lock();
        if leases.get(&id) == Some(&token) {
            leases.remove(&id);
        }
    }

    /// Extends all of them, and reports those that are lost.
    pub(super) async fn extend(
        self: Arc<Self>,
        store: Arc<dyn Store>,
        lease: Duration,
        events: UnboundedSender<SchedulerEvent>,
    ) {
        let all = self.lock().clone();
        if all.is_empty() {
            return;
        }
        let held = all.iter().map(|(id, token)| (*id, *token)).collect();
        match store.extend_executions(held, lease).await {
            Ok(lost) if lost.is_empty() => {}
            Ok(lost) => {
                let lost = lost.into_iter().filter_map(|id| Some((id, *all.get(&id)?))).collect();
                // The executor is gone when it does not listen.
                let _ = events.send(SchedulerEvent::Lost(lost));
            }
            Err(error) => tracing::warn!(error = %error, "the leases of executions were not extended"),
        }
    }
}
