//! Jobs that a process left behind which is known to be gone.
//!
//! A job is leased to its worker, and whoever sweeps gives it back when the lease has run out: any worker does, all the
//! time. Of a process on this machine one can know at once that it is gone, and need not wait.

use crate::conductor::heartbeat::IsDead;
use crate::records::{CIVIC_QUEUE, NOTICES_QUEUE};
use bindery_core::{Name, job::JobState};
use bindery_store::{Store, StoreResult, query::JobFilter};
use std::collections::BTreeSet;

/// Gives back what workers hold that have died, as far as `is_dead` knows. Returns how many jobs that were.
pub async fn recover(store: &dyn Store, is_dead: IsDead) -> StoreResult<u64> {
    let mut dead: BTreeSet<Name> = BTreeSet::new();
    for queue in [CIVIC_QUEUE, NOTICES_QUEUE] {
        let running =
            JobFilter { queue: Some(Name::from(queue)), states: vec![JobState::Running], ..JobFilter::default() };
        let held = store.jobs(running).await?;
        dead.extend(held.into_iter().filter_map(|view| view.job.worker).filter(|worker| is_dead(worker)));
    }
    if dead.is_empty() {
        return Ok(0);
    }
    store.release_dead_workers(dead.into_iter().collect()).await
}
