//! One at a time for each name: of several who want the same address or file, the first fetches it and the others find
//! it there.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};
use tokio::sync::OwnedMutexGuard;

/// Locks by name. A name costs memory only while somebody has it or waits for it.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>);

impl Turns {
    /// Waits for the turn, which lasts until the guard is dropped.
    pub(super) async fn take(&self, name: &str) -> OwnedMutexGuard<()> {
        let lock = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|_, lock| lock.strong_count() > 0);
            all.get(name).and_then(Weak::upgrade).unwrap_or_else(|| {
                let lock = Arc::default();
                all.insert(name.to_owned(), Arc::downgrade(&lock));
                lock
            })
        };
        lock.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_same_name_is_one_at_a_time() {
        let (turns, inside) = (Arc::new(Turns::default()), Arc::new(AtomicUsize::new(0)));
        let all = (0..20).map(|_| {
            let (turns, inside) = (Arc::clone(&turns), Arc::clone(&inside));
            tokio::spawn(async move {
                let _turn = turns.take("a").await;
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                tokio::task::yield_now().await;
                inside.fetch_sub(1, Ordering::SeqCst);
            })
        });
        for one in futures_util::future::join_all(all).await {
            one.unwrap();
        }
        let (one, other) = (turns.take("a").await, turns.take("b").await);
        drop((one, other));
        drop(turns.take("c").await);
        assert_eq!(turns.0.lock().unwrap().len(), 1, "names that nobody has are forgotten");
    }
}
