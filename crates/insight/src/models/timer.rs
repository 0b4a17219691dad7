//! Time that can be waited for. Tests do not wait: their clock leaps.

use bindery_core::time::{Clock as _, ManualClock, SystemClock, Timestamp};
use std::{
    fmt,
    time::{Duration, Instant},
};

/// A cancellation wakes nobody, so those who wait look up this often.
const LOOK: Duration = Duration::from_millis(50);

/// Says whether the work that waits is still wanted.
pub type Cancelled<'a> = &'a dyn Fn() -> bool;

/// A clock that can also be waited on.
pub trait Timer: Send + Sync + fmt::Debug {
    /// Runs evenly and never goes back, whatever is done to the machine's clock.
    fn now(&self) -> Timestamp;

    /// The time that people and other machines see.
    fn wall_clock(&self) -> Timestamp;

    /// Returns true when the moment has come, and false as soon as the work is cancelled.
    fn wait_until(&self, moment: Timestamp, cancelled: Cancelled<'_>) -> bool;
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

impl Timer for SystemTimer {
    fn now(&self) -> Timestamp {
        self.started_at + self.started.elapsed()
    }

    fn wall_clock(&self) -> Timestamp {
        SystemClock.now()
    }

    fn wait_until(&self, moment: Timestamp, cancelled: Cancelled<'_>) -> bool {
        // To the nanosecond and not to the millisecond that `now` shows, which may be one too early.
        let until = moment.since(self.started_at);
        loop {
            if cancelled() {
                return false;
            }
            let left = until.saturating_sub(self.started.elapsed());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(LOOK));
        }
    }
}

/// A clock that stands still until somebody waits, and then is where they wanted it.
#[derive(Debug, Default)]
pub struct LeapingTimer(ManualClock);

impl LeapingTimer {
    pub fn at(start: Timestamp) -> Self {
        Self(ManualClock::at(start))
    }

    pub fn advance(&self, by: Duration) {
        self.0.advance(by);
    }
}

impl Timer for LeapingTimer {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn wall_clock(&self) -> Timestamp {
        self.0.now()
    }

    fn wait_until(&self, moment: Timestamp, cancelled: Cancelled<'_>) -> bool {
        if cancelled() {
            return false;
        }
        self.0.advance(moment.since(self.0.now()));
        true
    }
}
