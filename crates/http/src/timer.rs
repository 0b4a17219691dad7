//! Time that can be waited for. Tests do not wait: their clock leaps.

use async_trait::async_trait;
use bindery_core::time::{Clock as _, ManualClock, SystemClock, Timestamp};
use std::{
    fmt,
    sync::atomic::{AtomicI64, Ordering},
    time::{Duration, Instant},
};

/// A cancellation wakes nobody, so those who wait look up this often.
const LOOK: Duration = Duration::from_millis(50);

/// Says whether the work that waits is still wanted.
pub type Cancelled<'a> = &'a dyn Fn() -> bool;

/// Waits; false as soon as the work is cancelled.
pub fn pause(wait: Duration, cancelled: Cancelled<'_>) -> bool {
    let start = Instant::now();
    loop {
        if cancelled() {
            return false;
        }
        let left = wait.saturating_sub(start.elapsed());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(LOOK));
    }
}

/// A clock that can also be waited on.
#[async_trait]
pub trait Timer: Send + Sync + fmt::Debug {
    /// Runs evenly and never goes back, whatever is done to the machine's clock.
    fn now(&self) -> Timestamp;

    /// The time that people and other machines see.
    fn wall_clock(&self) -> Timestamp;

    /// Returns true when the moment has come, and false as soon as the work is cancelled.
    fn wait_until(&self, moment: Timestamp, cancelled: Cancelled<'_>) -> bool;

    /// The same without a thread. May be dropped at any time.
    async fn sleep_until(&self, moment: Timestamp);
}

/// The machine's clock.
#[derive(Debug)]
pub struct SystemTimer {
    started: Instant,
    started_at: Timestamp,
}

impl Default for SystemTimer {
    fn default() -> Self {
        Self { started: Instant::now(), started_at: SystemClock.now() }
    }
}

impl SystemTimer {
    /// To the nanosecond and not to the millisecond that `now` shows, which may be one too early.
    fn left_until(&self, moment: Timestamp) -> Duration {
        moment.since(self.started_at).saturating_sub(self.started.elapsed())
    }
}

#[async_trait]
impl Timer for SystemTimer {
    fn now(&self) -> Timestamp {
        self.started_at + self.started.elapsed()
    }

    fn wall_clock(&self) -> Timestamp {
        SystemClock.now()
    }

    fn wait_until(&self, moment: Timestamp, cancelled: Cancelled<'_>) -> bool {
        pause(self.left_until(moment), cancelled)
    }

    async fn sleep_until(&self, moment: Timestamp) {
        tokio::time::sleep(self.left_until(moment)).await;
    }
}

/// A clock that stands still until somebody waits, and then is where they wanted it. Any number of threads may wait.
#[derive(Debug)]
pub struct LeapingTimer(AtomicI64);

impl LeapingTimer {
    pub fn at(start: Timestamp) -> Self {
        Self(AtomicI64::new(start.as_millis()))
    }

    pub fn advance(&self, by: Duration) {
        self.leap_to(self.now() + by);
    }

    fn leap_to(&self, moment: Timestamp) {
        self.0.fetch_max(moment.as_millis(), Ordering::SeqCst);
    }
}

impl Default for LeapingTimer {
    fn default() -> Self {
        Self::at(ManualClock::default().now())
    }
}

#[async_trait]
impl Timer for LeapingTimer {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }

    fn wall_clock(&self) -> Timestamp {
        self.now()
    }

    fn wait_until(&self, moment: Timestamp, cancelled: Cancelled<'_>) -> bool {
        if cancelled() {
            return false;
        }
        self.leap_to(moment);
        true
    }

    async fn sleep_until(&self, moment: Timestamp) {
        // Others may have work that is due before that.
        tokio::task::yield_now().await;
        self.leap_to(moment);
    }
}
