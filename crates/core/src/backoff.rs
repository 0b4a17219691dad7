//! The back-off between attempts: exponential, capped, partly random. Every loop that tries again waits by it.

use std::time::Duration;

/// How long to wait before another attempt: exponential, capped, partly random.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backoff {
    pub initial: Duration,
    pub factor: f64,
    pub max: Duration,
    /// The share of each wait that is random, 0 to 1. 0 waits exactly as long as computed; 1 spreads retries over the
    /// whole wait, down to none; the default of 0.5 spreads them over its second half, so that work that failed
    /// together does not come back together and yet never comes back at once.
    pub jitter: f64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self::doubling(Duration::from_secs(1), Duration::from_secs(60))
    }
}

impl Backoff {
    /// Twice as long each time, half of it random.
    pub const fn doubling(initial: Duration, max: Duration) -> Self {
        Self { initial, factor: 2.0, max, jitter: 0.5 }
    }

    /// The same without chance.
    #[must_use]
    pub const fn exact(self) -> Self {
        Self { jitter: 0.0, ..self }
    }

    /// The wait after the given attempt failed; the first attempt is 1. `random` is a number from 0 to 1.
    pub fn delay(&self, attempt: u32, random: f64) -> Duration {
        if self.initial.is_zero() {
            return Duration::ZERO;
        }
        let exponent = i32::try_from(attempt.saturating_sub(1)).unwrap_or(i32::MAX);
        let grown = self.initial.as_secs_f64() * self.factor.powi(exponent);
        // `min` also turns an overflow to infinity into the longest wait.
        let longest = grown.min(self.max.as_secs_f64());
        let random = if random.is_finite() { random.clamp(0.0, 1.0) } else { 1.0 };
        let share = 1.0 - self.jitter + self.jitter * random;
        Duration::try_from_secs_f64(longest * share).unwrap_or(self.max)
    }

    /// The wait after the given attempt failed, by chance.
    pub fn random_delay(&self, attempt: u32) -> Duration {
        self.delay(attempt, fastrand::f64())
    }

    /// The waits of one loop.
    pub const fn retries(self) -> Retries {
        Retries { backoff: self, failures: 0 }
    }
}

/// The failures in a row of one loop, and how long it waits after each.
#[derive(Debug, Clone, Copy)]
pub struct Retries {
    backoff: Backoff,
    failures: u32,
}

impl Retries {
    /// It works again.
    pub fn reset(&mut self) {
        self.failures = 0;
    }

    /// Counts a failure and returns how long to wait after it.
    pub fn next_delay(&mut self) -> Duration {
        self.failures = self.failures.saturating_add(1);
        self.backoff.random_delay(self.failures)
    }

    /// In a row.
    pub fn failures(&self) -> u32 {
        self.failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let backoff = Backoff::default().exact();
        let seconds: Vec<u64> = (0..9).map(|attempt| backoff.delay(attempt, 0.3).as_secs()).collect();
        assert_eq!(seconds, [1, 1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(backoff.delay(u32::MAX, 0.3), Duration::from_secs(60));
    }

    #[test]
    fn jitter_is_the_random_share_of_the_wait() {
        let half = Backoff::default();
        assert_eq!(half.delay(3, 0.0), Duration::from_secs(2));
        assert_eq!(half.delay(3, 0.5), Duration::from_secs(3));
        assert_eq!(half.delay(3, 1.0), Duration::from_secs(4));
        let full = Backoff { jitter: 1.0, ..half };
        assert_eq!(full.delay(3, 0.0), Duration::ZERO);
        assert_eq!(full.delay(3, f64::NAN), Duration::from_secs(4));
    }

    #[test]
    fn no_wait_at_all_stays_none() {
        let none = Backoff { initial: Duration::ZERO, ..Backoff::default() };
        assert_eq!(none.delay(5_000, 1.0), Duration::ZERO);
    }

    #[test]
    fn the_waits_of_a_loop_grow_stay_bounded_and_begin_anew_when_it_works() {
        let mut retries = Backoff::doubling(Duration::from_millis(100), Duration::from_millis(6_400)).retries();
        let waits: Vec<Duration> = (0..20).map(|_| retries.next_delay()).collect();
        assert!(waits[0] <= Duration::from_millis(100) && waits[0] >= Duration::from_millis(50));
        assert!(waits[19] <= Duration::from_millis(6_400) && waits[19] >= Duration::from_millis(3_200));
        assert_eq!(retries.failures(), 20);
        retries.reset();
        assert!(retries.next_delay() <= Duration::from_millis(100));
    }
}
