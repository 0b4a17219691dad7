//! Time comes from a [`Clock`] that is passed in, so that tests can move it and a skewed machine can be simulated.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{
    fmt,
    ops::{Add, Sub},
    str::FromStr,
    sync::atomic::{AtomicI64, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// A moment, in whole milliseconds since 1970 UTC. Written as ISO 8601 with three decimals and a `Z`: always equally
/// long, so that moments written as text are in order when the text is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// How long after `earlier` this is; zero when it is not after it.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

impl Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(millis(duration)))
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(millis(duration)))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => write!(f, "{moment:.3}"),
            Err(_) => write!(f, "{} ms after 1970", self.0),
        }
    }
}

/// Why a piece of text is not a moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a time like 2026-01-31T12:00:00Z, got {0:?}")]
pub struct TimestampError(String);

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let moment: jiff::Timestamp = text.parse().map_err(|_| TimestampError(text.to_owned()))?;
        Ok(Self(moment.as_millisecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Where the time comes from.
pub trait Clock: Send + Sync + fmt::Debug {
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(millis(since_epoch))
    }
}

/// A clock that stands still until it is moved. For tests of leases, back-off and deadlines.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    pub fn at(start: Timestamp) -> Self {
        Self(AtomicI64::new(start.0))
    }

    pub fn advance(&self, by: Duration) {
        self.shift(millis(by));
    }

    /// Moves it by so many milliseconds; back, as when somebody sets a clock right that was ahead.
    pub fn shift(&self, by: i64) {
        self.0.fetch_add(by, Ordering::SeqCst);
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::at(Timestamp::from_millis(1_767_225_600_000)) // 2026-01-01T00:00:00Z
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

/// The machine's clock, a fixed time ahead or behind. For tests of clock skew between workers.
#[derive(Debug, Clone, Copy)]
pub struct SkewedClock {
    pub millis_ahead: i64,
}

impl Clock for SkewedClock {
    fn now(&self) -> Timestamp {
        Timestamp(SystemClock.now().0.saturating_add(self.millis_ahead))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_as_iso_8601_in_utc() {
        let moment = Timestamp::from_millis(1_767_225_600_000);
        assert_eq!(moment.to_string(), "2026-01-01T00:00:00.000Z");
        assert_eq!("2026-01-01T01:00:00+01:00".parse::<Timestamp>().unwrap(), moment);
        assert!("yesterday".parse::<Timestamp>().unwrap_err().to_string().contains("2026-01-31T12:00:00Z"));
    }

    #[test]
    fn moments_as_text_are_in_the_order_of_time() {
        let texts = [0, 1, 10, 99, 100, 120, 123, 999, 1_000].map(|millis| Timestamp::from_millis(millis).to_string());
        assert!(texts.is_sorted(), "{texts:?}");
    }

    #[test]
    fn a_later_moment_is_never_negative_time_away() {
        let (early, late) = (Timestamp::from_millis(5), Timestamp::from_millis(9));
        assert_eq!(late.since(early), Duration::from_millis(4));
        assert_eq!(early.since(late), Duration::ZERO);
    }
}
