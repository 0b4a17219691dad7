//! Leases that end later than they can, because the clock they went by was ahead: its time was set back since, or it is
//! another process's.
//!
//! Going by the stored time alone, nobody could take such a job until that time has come, in years perhaps. Taking it away
//! at once would rob a worker that lives and only has a wrong clock. So such a lease is watched: one that is not extended
//! for as long as it holds, by the watcher's clock, has expired.

use std::collections::HashMap;

/// Leases that end within this many milliseconds need no second look, whatever clock they go by.
pub(crate) const LOOKED_AT_BEYOND: i64 = 60_000;

/// By how many milliseconds a lease may seem too long before the clock that it goes by is taken for wrong.
pub(crate) const CLOCKS_DIFFER: i64 = 5_000;

/// A lease: whose it is, when it ends, and how long it is, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lease {
    pub(crate) of: i64,
    pub(crate) until: i64,
    pub(crate) length: i64,
}

/// The leases that are watched, and since when.
#[derive(Debug, Default)]
pub(crate) struct LeasesAhead(HashMap<(i64, i64), i64>);

impl LeasesAhead {
    /// Whose of the leases that end too late have expired. Those that are not among them any more are forgotten.
    pub(crate) fn expired(&mut self, now: i64, ahead: impl IntoIterator<Item = Lease>) -> Vec<i64> {
        let before = std::mem::take(&mut self.0);
        let mut expired = Vec::new();
        for Lease { of, until, length } in ahead {
            let since = before.get(&(of, until)).copied().unwrap_or(now).min(now);
            if now - since >= length.max(1) {
                expired.push(of);
            } else {
                self.0.insert((of, until), since);
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
        let lease = |of, until| Lease { of, until, length: 30 };
        assert!(watched.expired(100, [lease(1, 9_000), lease(2, 9_000)]).is_empty());
        assert!(watched.expired(129, [lease(1, 9_000), lease(2, 9_029)]).is_empty());
        assert_eq!(watched.expired(130, [lease(1, 9_000), lease(2, 9_029)]), [1]);
        assert!(watched.expired(140, []).is_empty());
        assert!(watched.expired(170, [lease(2, 9_029)]).is_empty(), "it was forgotten meanwhile");
    }

    #[test]
    fn a_watcher_whose_own_time_is_set_back_begins_anew() {
        let mut watched = LeasesAhead::default();
        let lease = Lease { of: 1, until: 9_000, length: 30 };
        watched.expired(5_000, [lease]);
        assert!(watched.expired(100, [lease]).is_empty());
        assert_eq!(watched.expired(130, [lease]), [1]);
    }
}
