//! The heartbeat of whoever visits cities, and the end of visits whose visitor has none any more.
//!
//! Whoever visits cities is listed among the workers of the store and sends heartbeats. A process that was killed
//! sends none, so that its visits are told from those under way.

use super::Conductor;
use crate::records::{Civic as _, SyncRun};
use bindery_core::{Name, Timestamp};
use bindery_engine::SILENT_AFTER;
use bindery_store::{Store, StoreResult, query::WorkerView};
use std::{sync::Arc, time::Duration};
use tokio::task::JoinHandle;

/// The end of the name of whoever visits everything that is due. Of those, one at a time works on a store: politeness
/// towards vendors is kept within a process.
pub const FETCHER: &str = "-fetcher";

/// Whether a worker of this name is known to have died, before its silence says so.
pub type IsDead = fn(&str) -> bool;

/// The heartbeat of a visitor, until it [leaves](Self::leave) or is dropped.
#[derive(Debug)]
pub struct Heartbeat {
    store: Arc<dyn Store>,
    name: Name,
    beat: JoinHandle<()>,
    /// Visits of programs that had died, which were ended at the start.
    pub closed: Vec<SyncRun>,
}

impl Conductor {
    /// Says that it is at work from now on, and ends visits that nobody is behind.
    pub async fn enter(&self, is_dead: IsDead) -> StoreResult<Heartbeat> {
        self.store.arrive(&self.name).await?;
        let (store, name) = (Arc::clone(&self.store), self.name.clone());
        let beat = tokio::spawn(beat(Arc::clone(&store), name.clone(), SILENT_AFTER / 3));
        let mut heartbeat = Heartbeat { store, name, beat, closed: Vec::new() };
        let alive = alive(&*self.store, is_dead).await?;
        heartbeat.closed = self.store.civic().close_abandoned_runs(alive).await?;
        Ok(heartbeat)
    }

    /// Another one that visits everything that is due on this store. Among those that are at work, the first has the
    /// right to: whoever has entered asks only about those before it.
    pub async fn other_fetcher(&self, is_dead: IsDead) -> StoreResult<Option<String>> {
        let workers = self.store.workers().await?;
        let place = |view: &WorkerView| (view.started_at, view.worker.clone());
        let mine = workers.iter().find(|view| view.worker == self.name && view.left_at.is_none()).map(place);
        let now = self.now();
        let other = workers.iter().find(|view| {
            let is_fetcher = view.worker.ends_with(FETCHER) && view.worker != self.name;
            is_fetcher && is_alive(view, now, is_dead) && mine.as_ref().is_none_or(|mine| place(view) < *mine)
        });
        Ok(other.map(|view| view.worker.to_string()))
    }
}

impl Heartbeat {
    /// Says goodbye.
    pub async fn leave(self, cities: u64) -> StoreResult<()> {
        self.beat.abort();
        self.store.leave(&self.name, cities).await
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.beat.abort();
    }
}

async fn beat(store: Arc<dyn Store>, name: Name, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        if let Err(error) = store.heartbeat(&name, Vec::new(), SILENT_AFTER, 0).await {
            tracing::warn!(%error, "a heartbeat could not be stored");
        }
    }
}

/// The names of all that work on a store.
pub(super) async fn alive(store: &dyn Store, is_dead: IsDead) -> StoreResult<Vec<String>> {
    let now = store.clock().now();
    let workers = store.workers().await?;
    let alive = workers.into_iter().filter(|view| is_alive(view, now, is_dead));
    Ok(alive.map(|view| view.worker.to_string()).collect())
}

pub(super) fn is_alive(view: &WorkerView, now: Timestamp, is_dead: IsDead) -> bool {
    // One that was seen in the future had a wrong clock, and may be gone for long.
    let seen = now.since(view.seen_at) <= SILENT_AFTER && view.seen_at.since(now) <= SILENT_AFTER;
    view.left_at.is_none() && seen && !is_dead(&view.worker)
}
