//! What is stored of an execution between two steps: the stepper's state, and everything that was asked for and not
//! answered.

use bindery_states::asl::stepper::{Command, Event, Execution};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ExecutionState {
    pub(super) execution: Execution,
    /// By the number of the task or timer.
    pub(super) pending: BTreeMap<u64, Pending>,
    /// The stepper has more to do at once.
    pub(super) goes_on: bool,
    /// When the machine's own time is over, in milliseconds.
    pub(super) deadline: Option<i64>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Pending {
    pub(super) command: Command,
    /// When the timer fires, or the task has taken too long.
    pub(super) until: Option<i64>,
    /// When the next sign of life is due.
    pub(super) heartbeat: Option<i64>,
    /// What the task started goes on elsewhere: another execution, or somebody who has its token. There is nothing to
    /// do here but to wait.
    pub(super) elsewhere: bool,
}

/// What others tell an execution.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Message {
    Event(Event),
    /// Somebody who has a token is still at it.
    Heartbeat {
        task: u64,
    },
    /// An execution that a task started has ended: its description, as the service gives it, with texts as they are.
    ChildEnded {
        task: u64,
        succeeded: bool,
        description: Value,
    },
}

impl Message {
    pub(super) fn to_text(&self) -> String {
        // What consists of texts, numbers and JSON can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl ExecutionState {
    pub(super) fn new(execution: Execution) -> Self {
        Self { execution, pending: BTreeMap::new(), goes_on: false, deadline: None }
    }

    /// The next time at which something happens by itself.
    pub(super) fn next_due(&self) -> Option<i64> {
        let pending = self.pending.values().flat_map(|pending| [pending.until, pending.heartbeat]);
        pending.chain([self.deadline]).flatten().min()
    }

    /// Whether this process has to do something for it.
    pub(super) fn is_busy(&self) -> bool {
        self.goes_on || self.pending.values().any(Pending::is_ours)
    }
}

impl Pending {
    /// Whether the process that holds the execution has to do something for it.
    pub(super) const fn is_ours(&self) -> bool {
        !self.elsewhere && !matches!(self.command, Command::StartTimer { .. })
    }
}
