//! A monotonic clock that stands still while this process is stopped.
//!
//! A worker may be frozen (`SIGSTOP`, a paused container, a suspended machine) in the middle of a step. When it wakes, the
//! step has not taken longer than it may: nobody has worked on it. Time limits of work are therefore measured in
//! [`AwakeInstant`]s. Leases are not: others have to see that a worker is gone.

use std::{
    ops::Add,
    sync::{LazyLock, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How often the clock is looked at, so that a gap is a gap.
const TICK: Duration = Duration::from_millis(250);
/// Nobody has looked for this long: no thread of this process ran.
const STOPPED_AFTER: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct AwakeClock {
    seen: Instant,
    awake: Duration,
}

impl AwakeClock {
    /// How long this process has been awake. Whoever looks first after a stop finds the gap, so that nobody sees the time
    /// of the stop pass.
    fn look(&mut self, now: Instant) -> Duration {
        let passed = now.saturating_duration_since(self.seen);
        self.awake += if passed >= STOPPED_AFTER { TICK } else { passed };
        self.seen = self.seen.max(now);
        self.awake
    }
}

/// None where its thread could not be started: then it is an ordinary clock.
static CLOCK: LazyLock<Option<Mutex<AwakeClock>>> = LazyLock::new(|| {
    let ticker = std::thread::Builder::new().name("bindery-awake".to_owned());
    ticker
        .spawn(|| {
            loop {
                std::thread::sleep(TICK);
                AwakeInstant::now();
            }
        })
        .ok()
        .map(|_| Mutex::new(AwakeClock { seen: Instant::now(), awake: Duration::ZERO }))
});
static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// A moment on that clock. Only meaningful in the process that took it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AwakeInstant(Duration);

impl AwakeInstant {
    pub fn now() -> Self {
        Self(match &*CLOCK {
            Some(clock) => clock.lock().unwrap_or_else(PoisonError::into_inner).look(Instant::now()),
            None => BEGIN.elapsed(),
        })
    }

    pub fn elapsed(self) -> Duration {
        Self::now().saturating_duration_since(self)
    }

    /// Zero when `earlier` is not earlier.
    pub fn saturating_duration_since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    pub fn checked_add(self, duration: Duration) -> Option<Self> {
        self.0.checked_add(duration).map(Self)
    }
}

impl Add<Duration> for AwakeInstant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_takes_no_time() {
        let begin = Instant::now();
        let mut clock = AwakeClock { seen: begin, awake: Duration::ZERO };
        assert_eq!(clock.look(begin + Duration::from_millis(900)), Duration::from_millis(900));
        assert_eq!(clock.look(begin + Duration::from_secs(60)), Duration::from_millis(1_150));
        assert_eq!(clock.look(begin + Duration::from_millis(60_100)), Duration::from_millis(1_250));
        assert_eq!(clock.look(begin), Duration::from_millis(1_250), "an older look changes nothing");
    }

    #[test]
    fn it_goes_on_while_nobody_asks() {
        let begun = AwakeInstant::now();
        std::thread::sleep(STOPPED_AFTER + 2 * TICK);
        assert!(begun.elapsed() > STOPPED_AFTER, "{:?}", begun.elapsed());
    }
}
