//! The adaptive pace of requests: half as fast after each complaint, a little faster after each good answer.

use std::time::Duration;

/// Full speed, and the least that is left of it, in thousandths.
const FULL: u32 = 1000;
const SLOWEST: u32 = FULL / 32;

/// A share of full speed: additive increase, multiplicative decrease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// In thousandths.
    share: u32,
    recovery: u32,
}

impl Pace {
    /// Full speed; `recovery` is what one good answer gives back of it, in thousandths.
    pub const fn full(recovery: u32) -> Self {
        Self { share: FULL, recovery }
    }

    /// From 0 to 1.
    pub fn share(self) -> f64 {
        f64::from(self.share) / f64::from(FULL)
    }

    /// A gap at full speed, as long as it is at this one.
    pub fn slowed(self, gap: Duration) -> Duration {
        gap.saturating_mul(FULL) / self.share.max(1)
    }

    pub fn slow_down(&mut self) {
        self.share = (self.share / 2).max(SLOWEST);
    }

    pub fn recover(&mut self) {
        self.share = (self.share + self.recovery).min(FULL);
    }
}
