//! How a join counts: the rule, which is the same for every backend. Reading, locking and writing are theirs.

use crate::commit::JoinProgress;
use bindery_core::{
    JoinId, Timestamp,
    join::{Arrival, Join, JoinChange, JoinStep, NewJoin},
};

/// A join's numbers while a batch of commits steps it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    pub(crate) arrived: i64,
    pub(crate) failed: i64,
    pub(crate) expected: i64,
    pub(crate) declared: bool,
    pub(crate) closed: bool,
    pub(crate) changed: bool,
}

impl Counted {
    pub(crate) fn new(join: &NewJoin) -> Self {
        let (expected, declared) = (join.expected, join.declared);
        Self { arrived: 0, failed: 0, expected, declared, closed: false, changed: false }
    }

    /// As it is stored.
    #[cfg(feature = "postgres")]
    pub(crate) fn stored(join: &Join) -> Self {
        Self {
            arrived: join.arrived,
            failed: join.failed,
            expected: join.expected,
            declared: join.declared,
            closed: join.closed_at.is_some(),
            changed: false,
        }
    }

    /// A closed join keeps its numbers: whatever comes late changes nothing.
    pub(crate) fn step(&mut self, change: JoinChange) {
        if self.closed {
            return;
        }
        match change {
            JoinChange::Arrive(arrival) => {
                self.arrived += 1;
                self.failed += i64::from(arrival == Arrival::Failed);
            }
            JoinChange::Expect(more) => self.expected += more,
            // What was expected before are chains that a declared one was exchanged for: the declaration adds to them.
            JoinChange::Declare(total) if !self.declared => {
                self.expected += total;
                self.declared = true;
            }
            JoinChange::Declare(_) => {}
        }
        self.changed = true;
    }

    /// Closes it if it is full, once.
    pub(crate) fn close_if_full(&mut self, join: JoinId) -> JoinProgress {
        let closed = self.declared && !self.closed && self.arrived >= self.expected;
        self.closed |= closed;
        self.changed |= closed;
        JoinProgress { join, received: self.arrived, expected: self.expected, closed }
    }
}

/// Sorts the joins of one stage and scope: those that have closed in the order in which they did, then the open one. A
/// repair makes another, and so does a stage before it that runs again.
pub(crate) fn newest_last(join: &Join) -> (bool, Option<Timestamp>, JoinId) {
    (join.closed_at.is_none(), join.closed_at, join.id)
}

/// The joins of one commit, each once. Whether they are full is looked at when all steps are made, so that the order of
/// the steps in a commit makes no difference.
pub(crate) fn touched(new: &[NewJoin], steps: &[JoinStep]) -> Vec<JoinId> {
    let mut touched: Vec<JoinId> = new.iter().map(|join| join.id).collect();
    for step in steps {
        if !touched.contains(&step.join) {
            touched.push(step.join);
        }
    }
    touched
}
