//! When other processes are told of changes.
//!
//! A transaction that notifies holds a lock of the whole database until it is on the disk, so transactions that notify
//! commit one after the other. A few changes tell in their own transaction, which costs nobody anything and is never
//! forgotten. Of the many that come close together, only some do; for the rest the connection that listens tells soon
//! after, once for all of them. Whoever waits looks by itself behind that.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::sync::Notify;

/// So many changes may tell in their own transactions at once, and so many a second after that.
const AT_ONCE: f64 = 16.0;
const PER_SECOND: f64 = 16.0;

/// How often the connection that listens tells at most.
pub(super) const TELL_EVERY: Duration = Duration::from_millis(50);

/// What is left of the allowance, and whether somebody is still to be told.
#[derive(Debug)]
pub(super) struct News {
    allowance: Mutex<(f64, Instant)>,
    untold: Notify,
}

impl Default for News {
    fn default() -> Self {
        Self { allowance: Mutex::new((AT_ONCE, Instant::now())), untold: Notify::new() }
    }
}

impl News {
    /// Whether this transaction is one of those that tell by themselves.
    pub(super) fn may_tell_now(&self) -> bool {
        let mut allowance = self.allowance.lock().unwrap_or_else(PoisonError::into_inner);
        let (left, since) = *allowance;
        let left = (left + since.elapsed().as_secs_f64() * PER_SECOND).min(AT_ONCE);
        let may = left >= 1.0;
        *allowance = (if may { left - 1.0 } else { left }, Instant::now());
        may
    }

    /// There is something that was not told.
    pub(super) fn tell_soon(&self) {
        self.untold.notify_one();
    }

    /// Returns when there is something to tell.
    pub(super) async fn wait_for_news(&self) {
        self.untold.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_changes_at_once_do_not_all_tell() {
        let news = News::default();
        let told = (0..1_000).filter(|_| news.may_tell_now()).count();
        assert!((16..100).contains(&told), "{told} told");
    }
}
