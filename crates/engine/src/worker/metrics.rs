//! What a worker counts while it works, for whoever watches it. Counting costs an atomic addition; nothing is decided by
//! it.

use bindery_core::error::ErrorClass;
use bindery_store::{Commit, Guard, JobEnd};
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// How a claim ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Done,
    Retry,
    Parked,
    Dead,
    Awaiting,
}

impl Ended {
    pub const ALL: [Self; 5] = [Self::Done, Self::Retry, Self::Parked, Self::Dead, Self::Awaiting];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Retry => "retry",
            Self::Parked => "parked",
            Self::Dead => "dead",
            Self::Awaiting => "awaiting",
        }
    }

    fn from_commit(commit: &Commit) -> Option<Self> {
        let Guard::Claim { end, .. } = &commit.guard else { return None };
        match end {
            JobEnd::Done => Some(Self::Done),
            JobEnd::Retry { .. } => Some(Self::Retry),
            JobEnd::Park { .. } => Some(Self::Parked),
            JobEnd::Dead { .. } => Some(Self::Dead),
            JobEnd::Await { .. } => Some(Self::Awaiting),
            // The claim goes on.
            JobEnd::Continue { .. } | JobEnd::Hold { .. } => None,
        }
    }
}

/// The classes of errors, in the order of their counters.
pub const CLASSES: [ErrorClass; 5] =
    [ErrorClass::Retry, ErrorClass::Review, ErrorClass::Reject, ErrorClass::Bug, ErrorClass::Park];

/// Upper bounds of the histogram of commits, in seconds.
pub const COMMIT_BOUNDS: [f64; 11] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// The counters of a worker. All grow only.
#[derive(Debug, Default)]
pub struct WorkerMetrics {
    claimed: AtomicU64,
    ended: [AtomicU64; Ended::ALL.len()],
    rejected: AtomicU64,
    errors: [AtomicU64; CLASSES.len()],
    store_errors: AtomicU64,
    /// How many commits took up to each bound, and those that took longer.
    commits: [AtomicU64; COMMIT_BOUNDS.len() + 1],
    commit_micros: AtomicU64,
}

/// The counters at a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerCounts {
    pub claimed: u64,
    pub ended: [(Ended, u64); Ended::ALL.len()],
    /// Results that came too late and were not counted.
    pub rejected: u64,
    pub errors: [(ErrorClass, u64); CLASSES.len()],
    /// Calls of the store that failed and were tried again.
    pub store_errors: u64,
    /// Commits that took up to each bound, and not less; the last ones took longer than all.
    pub commits: [u64; COMMIT_BOUNDS.len() + 1],
    pub commit_seconds: f64,
}

fn add(counter: &AtomicU64, number: u64) {
    counter.fetch_add(number, Ordering::Relaxed);
}

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

impl WorkerMetrics {
    pub(super) fn claimed(&self, jobs: usize) {
        add(&self.claimed, jobs as u64);
    }

    pub(super) fn ended(&self, commit: &Commit) {
        if let Some(place) =
            Ended::from_commit(commit).and_then(|end| Ended::ALL.iter().position(|known| *known == end))
        {
            add(&self.ended[place], 1);
        }
    }

    pub(super) fn rejected(&self) {
        add(&self.rejected, 1);
    }

    pub(super) fn error(&self, class: ErrorClass) {
        if let Some(place) = CLASSES.iter().position(|known| *known == class) {
            add(&self.errors[place], 1);
        }
    }

    pub(super) fn store_error(&self) {
        add(&self.store_errors, 1);
    }

    pub(super) fn committed(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let place = COMMIT_BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(COMMIT_BOUNDS.len());
        add(&self.commits[place], 1);
        add(&self.commit_micros, u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    pub fn counts(&self) -> WorkerCounts {
        WorkerCounts {
            claimed: read(&self.claimed),
            ended: std::array::from_fn(|place| (Ended::ALL[place], read(&self.ended[place]))),
            rejected: read(&self.rejected),
            errors: std::array::from_fn(|place| (CLASSES[place], read(&self.errors[place]))),
            store_errors: read(&self.store_errors),
            commits: std::array::from_fn(|place| read(&self.commits[place])),
            commit_seconds: read(&self.commit_micros) as f64 / 1e6,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_counted_under_the_first_bound_that_it_keeps() {
        let metrics = WorkerMetrics::default();
        for millis in [1, 2, 3, 10_000] {
            metrics.committed(Duration::from_millis(millis));
        }
        let counts = metrics.counts();
        assert_eq!((counts.commits[0], counts.commits[1], counts.commits[2]), (1, 1, 1));
        assert_eq!(counts.commits[COMMIT_BOUNDS.len()], 1, "longer than every bound");
        assert!((counts.commit_seconds - 10.006).abs() < 1e-9);
    }
}
