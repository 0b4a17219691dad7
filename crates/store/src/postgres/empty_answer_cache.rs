//! A cache of empty answers: what need not be asked again. Whoever has looked and found nothing knows until when that stays so: until somebody tells of a
//! change, until the next thing is due by the clock, or until it is time to look all the same, because news may get lost
//! and claims are told to nobody. So workers that have nothing to do cost the server next to nothing.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Answers of "nothing" that stand, for each question.
#[derive(Debug)]
pub(super) struct EmptyAnswerCache<Q>(Mutex<HashMap<Q, Standing>>);

#[derive(Debug)]
struct Standing {
    /// The changes that were known when the question was asked.
    mark: u64,
    until: Instant,
}

/// More questions than anybody has: what was remembered before is forgotten then.
const MOST_QUESTIONS: usize = 100;

impl<Q> Default for EmptyAnswerCache<Q> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<Q: Hash + Eq> EmptyAnswerCache<Q> {
    fn lock(&self) -> MutexGuard<'_, HashMap<Q, Standing>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the answer would be "nothing" again.
    pub(super) fn holds(&self, question: &Q, mark: u64) -> bool {
        self.lock().get(question).is_some_and(|standing| standing.mark == mark && Instant::now() < standing.until)
    }

    /// The answer was "nothing"; `mark` is from before the question, and something is due in `due_in`.
    pub(super) fn found_nothing(&self, question: Q, mark: u64, due_in: Option<Duration>, look_after: Duration) {
        let until = Instant::now() + due_in.map_or(look_after, |due_in| due_in.min(look_after));
        let mut standing = self.lock();
        if standing.len() >= MOST_QUESTIONS {
            standing.clear();
        }
        standing.insert(question, Standing { mark, until });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_stays_nothing_until_a_change_or_until_something_is_due() {
        let (quiet, hour) = (EmptyAnswerCache::default(), Duration::from_secs(3600));
        assert!(!quiet.holds(&"claim", 7), "nobody has asked");
        quiet.found_nothing("claim", 7, None, hour);
        assert!(quiet.holds(&"claim", 7));
        assert!(!quiet.holds(&"claim", 8), "something has changed");
        assert!(!quiet.holds(&"sweep", 7), "another question");
        quiet.found_nothing("claim", 7, Some(Duration::ZERO), hour);
        assert!(!quiet.holds(&"claim", 7), "something is due");
        quiet.found_nothing("claim", 7, None, Duration::ZERO);
        assert!(!quiet.holds(&"claim", 7), "time to look all the same");
    }
}
