//! Questions under way: whoever asks the same at the same time waits for the one answer instead of paying for a second.

use crate::timer::Cancelled;
use bindery_core::ContentHash;
use std::{
    collections::HashSet,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// A cancellation wakes nobody, so those who wait look up this often.
const LOOK: Duration = Duration::from_millis(50);

#[derive(Debug, Default)]
pub(super) struct InFlight {
    keys: Mutex<HashSet<ContentHash>>,
    ended: Condvar,
}

/// A question under way, until this is dropped.
#[derive(Debug)]
pub(super) struct UnderWay<'f> {
    flights: &'f InFlight,
    key: ContentHash,
}

impl InFlight {
    fn keys(&self) -> MutexGuard<'_, HashSet<ContentHash>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody else is asking the same; none when the work was cancelled.
    pub(super) fn begin(&self, key: ContentHash, cancelled: Cancelled<'_>) -> Option<UnderWay<'_>> {
        let mut keys = self.keys();
        loop {
            if cancelled() {
                return None;
            }
            if keys.insert(key) {
                return Some(UnderWay { flights: self, key });
            }
            keys = self.ended.wait_timeout(keys, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.flights.keys().remove(&self.key);
        self.flights.ended.notify_all();
    }
}
