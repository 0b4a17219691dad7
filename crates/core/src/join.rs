//! Joins: a stage closes exactly once, when everything it expects has arrived.
//!
//! Work moves in *chains*. A chain carries the id of the join that it ends in. When work takes an item apart, the
//! chain is exchanged for as many chains as there are children (`expect: children - 1`), in the same commit that makes
//! the children; when a chain ends, it arrives. A join whose count is declared from outside stays open until the
//! declaration came. Either way the join closes in the very commit after which `arrived = expected`, and that commit
//! also enqueues the one job that goes on.

use crate::{ItemId, JoinId, Name, SubmissionId, Timestamp, job::NewJob};
use serde::{Deserialize, Serialize};

/// How a chain of work arrived at its join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    Completed,
    /// Ended without a result. The join counts it, so that a failed part never stalls the whole.
    Failed,
}

/// A join about to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJoin {
    pub id: JoinId,
    pub submission: SubmissionId,
    /// The stage that waits for it.
    pub stage: Name,
    /// The item whose parts are collected; none for the whole submission.
    pub scope: Option<ItemId>,
    pub expected: i64,
    /// False when somebody else will say how many there are.
    pub declared: bool,
    /// The join that the chain goes on to after this one has closed.
    pub outer: Option<JoinId>,
    /// Enqueued by the commit that closes the join.
    pub on_close: NewJob,
}

/// What one commit does to one join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JoinStep {
    pub join: JoinId,
    pub change: JoinChange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinChange {
    /// One chain ends here.
    Arrive(Arrival),
    /// That many more chains are on their way; negative when a chain ended by being taken apart into fewer.
    Expect(i64),
    /// The count, said from outside. Counts only once.
    Declare(i64),
}

/// A stored join.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Join {
    pub id: JoinId,
    pub submission: SubmissionId,
    pub stage: Name,
    pub scope: Option<ItemId>,
    pub expected: i64,
    pub declared: bool,
    pub arrived: i64,
    pub failed: i64,
    pub closed_at: Option<Timestamp>,
    pub updated_at: Timestamp,
    pub outer: Option<JoinId>,
    pub on_close: NewJob,
    /// 1, and one more for each time that a repaired part made the stage run again.
    pub generation: i64,
}

impl Join {
    pub fn completed(&self) -> i64 {
        self.arrived - self.failed
    }
}
