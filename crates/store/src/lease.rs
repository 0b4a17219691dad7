//! Leases: who holds something holds it alone, until a time by the store's clock. These are the rules for all that is
//! leased (jobs, executions of state machines, reviews), in both databases.
//!
//! | | jobs | executions | reviews |
//! |---|---|---|---|
//! | claim | a fresh token, [`Lease::starting`] now | the same | the name of a person, for as long as the review says |
//! | extend | by a heartbeat with the token | the same | by claiming it again |
//! | expire | [`expired`] at the end, by the sweep | [`expired`] at the end, by the next claim | the same |
//! | release | end and token are removed | the same, with the time of the next step | by the decision |
//!
//! **Leases that end too late**: the clock that they go by was ahead, because its time was set back since or because it is
//! another process's. Going by the stored time alone, nobody could take such a job until that time has come, in years
//! perhaps. Taking it away at once would rob a worker that lives and only has a wrong clock. So such a lease is
//! [watched](LeasesAhead): one that is not extended for as long as it holds, by the watcher's clock, has expired.

use bindery_core::Timestamp;
use std::{collections::HashMap, time::Duration};

/// Leases that end within this many milliseconds need no second look, whatever clock they go by.
const CHECKED_BEYOND: i64 = 60_000;

/// By how many milliseconds a lease may seem too long before the clock that it goes by is taken for wrong.
pub(crate) const CLOCK_TOLERANCE: i64 = 5_000;

/// What is stored of a lease: when it ends, and how long it is, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Lease {
    pub(crate) until: i64,
    pub(crate) length: i64,
}

impl Lease {
    /// A lease that is granted or extended now.
    pub(crate) fn starting(now: Timestamp, length: Duration) -> Self {
        Self { until: (now + length).as_millis(), length: length.as_millis() as i64 }
    }

    pub(crate) fn ends_at(self) -> Timestamp {
        Timestamp::from_millis(self.until)
    }
}

/// The SQL condition that a lease has expired: its end is not part of it.
pub(crate) fn expired(until: &str, now: &str) -> String {
    format!("{until} <= {now}")
}

/// The SQL condition that a lease, or a wait of a known length, ends later than it can.
pub(crate) fn ends_too_late(until: &str, length: &str, now: &str) -> String {
    format!("{length} > 0 AND {until} > {now} + {CHECKED_BEYOND} AND {until} > {now} + {CLOCK_TOLERANCE} + {length}")
}

/// The leases that end too late, by the number of what is leased and their end, with the time since when each is watched.
#[derive(Debug, Default)]
pub(crate) struct LeasesAhead(HashMap<(i64, i64), i64>);

impl LeasesAhead {
    /// Takes the leases that end too late and returns the numbers of those that have expired. Leases that are not among
    /// them any more are forgotten.
    pub(crate) fn expire(&mut self, now: i64, ahead: impl IntoIterator<Item = (i64, Lease)>) -> Vec<i64> {
        let before = std::mem::take(&mut self.0);
        let mut expired = Vec::new();
        for (number, Lease { until, length }) in ahead {
            let since = before.get(&(number, until)).copied().unwrap_or(now).min(now);
            if now - since >= length.max(1) {
                expired.push(number);
            } else {
                self.0.insert((number, until), since);
            }
        }
        expired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_that_is_extended_is_kept_and_one_that_is_not_expires() {
        let mut watched = LeasesAhead::default();
        let lease = |number, until| (number, Lease { until, length: 30 });
        assert!(watched.expire(100, [lease(1, 9_000), lease(2, 9_000)]).is_empty());
        assert!(watched.expire(129, [lease(1, 9_000), lease(2, 9_029)]).is_empty());
        assert_eq!(watched.expire(130, [lease(1, 9_000), lease(2, 9_029)]), [1]);
        assert!(watched.expire(140, []).is_empty());
        assert!(watched.expire(170, [lease(2, 9_029)]).is_empty(), "it was forgotten meanwhile");
    }

    #[test]
    fn a_watcher_whose_own_time_is_set_back_begins_anew() {
        let mut watched = LeasesAhead::default();
        let lease = (1, Lease { until: 9_000, length: 30 });
        watched.expire(5_000, [lease]);
        assert!(watched.expire(100, [lease]).is_empty());
        assert_eq!(watched.expire(130, [lease]), [1]);
    }
}
