//! Executions of state machines, as a store keeps them.
//!
//! What an execution is about to do next is text to the store. The store promises this: an execution is *held* by at
//! most one process at a time, under a lease; each [`Step`] of it is stored whole or not at all, and only by its holder;
//! what others tell it is a signal, which is there until a step has taken it in. Between steps it rests, without a
//! holder, until its time has come or a signal arrives: a thousand executions that wait for a month cost nothing.

use crate::{error::StoreResult, retention::Reason};
use async_trait::async_trait;
use bindery_core::{ExecutionId, Name, Timestamp, job::Token};
use serde::Serialize;
use std::{fmt, time::Duration};

/// A stored version of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMachine {
    pub name: Name,
    pub version: i64,
    pub text: String,
    pub stored_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ExecutionStatus {
    Running = 0,
    Succeeded = 1,
    Failed = 2,
    TimedOut = 3,
    Aborted = 4,
}

impl ExecutionStatus {
    pub const ALL: [Self; 5] = [Self::Running, Self::Succeeded, Self::Failed, Self::TimedOut, Self::Aborted];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "RUNNING",
            Self::Succeeded => "SUCCEEDED",
            Self::Failed => "FAILED",
            Self::TimedOut => "TIMED_OUT",
            Self::Aborted => "ABORTED",
        }
    }

    pub fn from_code(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|status| *status as i64 == code)
    }

    pub fn from_name(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(text))
    }
}

impl fmt::Display for ExecutionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// An execution about to be stored. It is due at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewExecution {
    pub machine: Name,
    pub version: i64,
    /// Unique among the executions of its machine.
    pub name: String,
    /// JSON.
    pub input: String,
    /// Whose it is, and with it what its tasks take in.
    pub owner: Option<String>,
    /// The task that starts it, of another execution.
    pub parent: Option<(ExecutionId, u64)>,
}

/// What became of a request to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Started {
    New(ExecutionId),
    /// The machine has an execution of this name already.
    Existing(Box<StoredExecution>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredExecution {
    pub id: ExecutionId,
    pub machine: Name,
    pub version: i64,
    pub name: String,
    pub status: ExecutionStatus,
    pub input: String,
    pub output: Option<String>,
    pub error: Option<String>,
    pub cause: Option<String>,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// How many events the history has.
    pub events: u64,
    pub redrives: u32,
    pub owner: Option<String>,
    pub parent: Option<(ExecutionId, u64)>,
    /// Whether somebody works on it.
    pub is_held: bool,
    /// When its holder must have given a sign of life; of one that rests, when it goes on by itself.
    pub due_at: Option<Timestamp>,
}

/// An execution that the caller now holds.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldExecution {
    pub execution: StoredExecution,
    pub token: Token,
    /// As the last step left it; none before the first.
    pub state: Option<String>,
}

/// What somebody told an execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionSignal {
    pub id: i64,
    pub to: ExecutionId,
    pub text: String,
}

/// A piece of history: a JSON array of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryChunk {
    pub first: u64,
    pub last: u64,
    pub events: String,
}

/// How an execution ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionEnd {
    pub status: ExecutionStatus,
    pub output: Option<String>,
    pub error: Option<String>,
    pub cause: Option<String>,
}

/// Whether the holder keeps the execution after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    Hold,
    /// Nobody holds it until this time, or until a signal comes.
    Rest(Option<Timestamp>),
}

/// Whom a signal is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recipient {
    Execution(ExecutionId),
    /// What this task of the same execution has started.
    Child(u64),
}

/// Everything that one step of an execution causes.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub id: ExecutionId,
    /// Proves that the caller holds it.
    pub token: Token,
    pub state: Option<String>,
    pub history: Option<HistoryChunk>,
    pub end: Option<ExecutionEnd>,
    pub after: After,
    /// Signals that were taken in.
    pub read: Vec<i64>,
    /// Task tokens that are waited for from now on, and those that are not any more.
    pub tokens: Vec<(String, u64)>,
    pub dropped_tokens: Vec<String>,
    pub signals: Vec<(Recipient, String)>,
}

impl Step {
    /// One that changes nothing; set what it does on the value.
    pub const fn new(id: ExecutionId, token: Token) -> Self {
        Self {
            id,
            token,
            state: None,
            history: None,
            end: None,
            after: After::Hold,
            read: Vec::new(),
            tokens: Vec::new(),
            dropped_tokens: Vec::new(),
            signals: Vec::new(),
        }
    }
}

/// Which executions to list: the newest first.
#[derive(Debug, Clone, Default)]
pub struct ExecutionFilter {
    pub machine: Option<Name>,
    pub status: Option<ExecutionStatus>,
    pub limit: Option<usize>,
}

/// Which executions are deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeletedExecutions {
    /// Those that ended before and whose owner has nothing on hold.
    EndedBefore(Timestamp),
    /// Everything of a person, also what is under way: the next step of its holder is refused then.
    OwnedBy(String),
}

/// How many executions there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExecutionCounts {
    pub all: u64,
    /// Those that have not ended.
    pub under_way: u64,
}

/// Machines, and their executions.
#[async_trait]
pub trait Executions: Send + Sync {
    /// Stores a machine and returns its version: the newest one if the text is the same, else one more.
    async fn put_machine(&self, name: &Name, text: &str) -> StoreResult<i64>;

    /// The newest version, or the one that is asked for.
    async fn machine(&self, name: &Name, version: Option<i64>) -> StoreResult<Option<StoredMachine>>;

    /// The newest version of each, by name.
    async fn machines(&self) -> StoreResult<Vec<StoredMachine>>;

    /// Stores executions, each unless its machine has one of the same name. Durable when it returns. One whose parent is
    /// gone is an error: what was deleted starts nothing any more.
    async fn start_executions(&self, new: Vec<NewExecution>) -> StoreResult<Vec<Started>>;

    /// Leases executions that are due, or whose holder has not answered for too long, to `owner`: the most overdue
    /// first.
    async fn hold_executions(&self, owner: &Name, max: usize, lease: Duration) -> StoreResult<Vec<HeldExecution>>;

    /// Extends leases; returns what the caller does *not* hold any more.
    async fn extend_executions(
        &self,
        held: Vec<(ExecutionId, Token)>,
        lease: Duration,
    ) -> StoreResult<Vec<ExecutionId>>;

    /// Signals to what the owner holds that no step has taken in yet, in their order.
    async fn signals(&self, owner: &Name) -> StoreResult<Vec<ExecutionSignal>>;

    /// Stores each step whole, or, where the caller does not hold the execution any more, not at all; says which.
    async fn store_steps(&self, steps: Vec<Step>) -> StoreResult<Vec<bool>>;

    /// Tells a running execution something. With a token, only if somebody still waits for that token, which is then
    /// used up. False if there is no such execution, or it has ended.
    async fn send_signal(&self, to: ExecutionId, text: &str, token: Option<&str>) -> StoreResult<bool>;

    /// The execution and task that a token stands for.
    async fn task_of_token(&self, token: &str) -> StoreResult<Option<(ExecutionId, u64)>>;

    /// Makes an execution that ended without success run again, with this signal. False if it did not end so.
    async fn redrive_execution(&self, id: ExecutionId, text: &str) -> StoreResult<bool>;

    async fn execution(&self, id: ExecutionId) -> StoreResult<Option<StoredExecution>>;
    async fn find_execution(&self, machine: &Name, name: &str) -> StoreResult<Option<StoredExecution>>;
    async fn executions(&self, filter: ExecutionFilter) -> StoreResult<Vec<StoredExecution>>;

    /// The history after an event, in pieces of which at least one, and together not much more than `limit` events.
    async fn execution_history(&self, id: ExecutionId, after: u64, limit: u64) -> StoreResult<Vec<HistoryChunk>>;

    /// How many would be deleted.
    async fn count_executions(&self, which: DeletedExecutions) -> StoreResult<ExecutionCounts>;

    /// Deletes at most `limit` executions with all that belongs to them, and reports that as an event. Returns how many
    /// went: call it again until none does.
    async fn delete_executions(&self, which: DeletedExecutions, because: Reason, limit: usize) -> StoreResult<u64>;
}
