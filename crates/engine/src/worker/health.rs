//! The health of the store as a worker sees it: whether what it asks is refused at the moment, and with which error.
//!
//! A store that cannot be used, because its disk is full or its server is away, is asked again and again. That is logged
//! once when it begins and once when it is over, however often it comes and goes on a disk that is nearly full, and whoever
//! waits for the work can ask whether to go on.

use bindery_store::StoreError;
use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// How often the same is logged at most.
const LOG_EVERY: Duration = Duration::from_secs(60);

/// Trouble that was over sooner is not worth a line that says so.
const WORTH_A_LINE: Duration = Duration::from_secs(2);

/// What a worker asks of the store. Each is judged by itself: a claim that finds nothing works on a full disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    Claim = 0,
    Commit = 1,
    Heartbeat = 2,
    Sweep = 3,
}

/// The calls that fail at the moment.
#[derive(Debug, Default)]
pub struct StoreHealth(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Each with its last error.
    failing: [Option<StoreError>; 4],
    logged_at: Option<Instant>,
}

impl StoreHealth {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why the store cannot be used at the moment; none while it answers.
    pub fn trouble(&self) -> Option<StoreError> {
        // A commit is what matters most.
        let failing = &self.state().failing;
        failing[Call::Commit as usize].clone().or_else(|| failing.iter().flatten().next().cloned())
    }

    /// A call has failed, and will be tried again.
    pub(super) fn failed(&self, call: Call, error: &StoreError) {
        let mut state = self.state();
        state.failing[call as usize] = Some(error.clone());
        let is_news = state.logged_at.is_none_or(|at| at.elapsed() >= LOG_EVERY);
        if is_news {
            state.logged_at = Some(Instant::now());
        }
        drop(state);
        if is_news {
            tracing::warn!(%error, "the store cannot be used; trying again until it can");
        } else {
            tracing::debug!(%error, ?call, "the store can still not be used");
        }
    }

    /// A call was answered.
    pub(super) fn record_answer(&self, call: Call) {
        let mut state = self.state();
        let was_failing = state.failing[call as usize].take().is_some();
        let is_over = was_failing && state.failing.iter().all(Option::is_none);
        let is_worth_a_line = is_over && state.logged_at.is_some_and(|at| at.elapsed() >= WORTH_A_LINE);
        if is_worth_a_line {
            state.logged_at = None;
        }
        drop(state);
        if is_worth_a_line {
            tracing::warn!("the store can be used again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_lasts_until_the_call_that_failed_is_answered() {
        let health = StoreHealth::default();
        let full = StoreError::Full { path: "store.db".into() };
        assert_eq!(health.trouble(), None);
        health.failed(Call::Claim, &StoreError::Closed);
        health.failed(Call::Commit, &full);
        assert_eq!(health.trouble(), Some(full.clone()));
        // A claim that finds nothing says nothing about commits.
        health.record_answer(Call::Claim);
        health.record_answer(Call::Sweep);
        assert_eq!(health.trouble(), Some(full));
        health.record_answer(Call::Commit);
        assert_eq!(health.trouble(), None);
    }
}
