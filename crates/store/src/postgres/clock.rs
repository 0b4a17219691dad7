//! The server's time, between the transactions that read it.

use bindery_core::{Clock, Timestamp};
use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::Instant,
};

/// Goes by the last time that the server told, and by this machine's steady clock since then: whether this machine's
/// own time is right makes no difference.
#[derive(Debug)]
pub(super) struct ServerClock {
    steady: Instant,
    /// The server's time when the steady clock began, in milliseconds.
    began_at: AtomicI64,
}

impl ServerClock {
    pub(super) fn new(now: Timestamp) -> Self {
        Self { steady: Instant::now(), began_at: AtomicI64::new(now.as_millis()) }
    }

    fn elapsed(&self) -> i64 {
        i64::try_from(self.steady.elapsed().as_millis()).unwrap_or(i64::MAX)
    }

    /// The server has just told its time.
    pub(super) fn saw(&self, now: Timestamp) {
        self.began_at.store(now.as_millis() - self.elapsed(), Ordering::Relaxed);
    }
}

impl Clock for ServerClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.began_at.load(Ordering::Relaxed).saturating_add(self.elapsed()))
    }
}
