//! The state of an execution: plain data, stored between any two events.

use super::event::{TaskId, TimerId};
use crate::asl::definition::MachineId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, VecDeque};

/// What the context object says of an execution.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Identity {
    pub id: String,
    pub name: String,
    pub role: String,
    pub machine_id: String,
    pub machine_name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Status {
    Running,
    Succeeded { output: Value },
    Failed { error: Option<String>, cause: Option<String> },
    TimedOut,
    Aborted { error: Option<String>, cause: Option<String> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    pub(super) identity: Identity,
    pub(super) input: Value,
    pub(super) status: Status,
    pub(super) started_at: i64,
    pub(super) redrives: u32,
    /// The id of the last event in the history.
    pub(super) last_event: u64,
    /// The last number given to a thread, task or timer.
    pub(super) last_number: u64,
    pub(super) threads: BTreeMap<ThreadId, Thread>,
    /// Tasks and timers under way, each with the thread that waits for it.
    pub(super) awaited: BTreeMap<u64, ThreadId>,
    /// Threads that can go on at once, in their order.
    pub(super) ready: VecDeque<ThreadId>,
    /// Where the outermost thread was when the execution ended without success.
    pub(super) broken: Option<Box<Thread>>,
}

pub(super) type ThreadId = u64;

/// The outermost thread.
pub(super) const ROOT: ThreadId = 0;

/// A machine that runs: the whole, a branch, or an iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Thread {
    pub(super) parent: Option<ThreadId>,
    /// Which branch or iteration of its parent.
    pub(super) index: usize,
    pub(super) machine: MachineId,
    /// Within a distributed Map: it has a history of its own, which nobody keeps.
    pub(super) apart: bool,
    /// A child of a distributed Map itself: it sees no outer variables.
    pub(super) isolated: bool,
    pub(super) variables: Map<String, Value>,
    pub(super) state: String,
    pub(super) input: Value,
    /// The last event of this thread, and how many it has had if it is apart.
    pub(super) previous: u64,
    pub(super) apart_events: u64,
    pub(super) entered: Entered,
    /// How often each retrier was used, and all of them together.
    pub(super) attempts: Vec<u32>,
    pub(super) retries: u32,
    pub(super) activity: Activity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Entered {
    pub(super) event: u64,
    /// The event before it.
    pub(super) before: u64,
    pub(super) at: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Activity {
    /// The state is to be entered.
    Ready,
    Task {
        task: TaskId,
    },
    Waiting {
        timer: TimerId,
    },
    /// The state is to be tried again.
    Retrying {
        timer: TimerId,
    },
    Composite(Box<Composite>),
}

/// A Parallel or a Map under way.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Composite {
    /// What `$` means to the item selector.
    pub(super) input: Value,
    /// The items of a Map, or its batches.
    pub(super) items: Vec<Value>,
    pub(super) batched: bool,
    /// One place for each branch or item.
    pub(super) results: Vec<Option<Value>>,
    /// The next item to start, and how many may run at once.
    pub(super) next: usize,
    pub(super) concurrency: usize,
    pub(super) running: usize,
    pub(super) failed: usize,
    pub(super) tolerated: Option<Tolerated>,
    /// A task that reads the items, or writes the results.
    pub(super) transfer: Option<TaskId>,
    /// Whether all is done but the writing.
    pub(super) writing: bool,
}

/// How much of a distributed Map may fail.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Tolerated {
    pub(super) count: Option<u64>,
    pub(super) percentage: Option<f64>,
}

impl Execution {
    pub fn new(identity: Identity, input: Value) -> Self {
        Self {
            identity,
            input,
            status: Status::Running,
            started_at: 0,
            redrives: 0,
            last_event: 0,
            last_number: 0,
            threads: BTreeMap::new(),
            awaited: BTreeMap::new(),
            ready: VecDeque::new(),
            broken: None,
        }
    }

    pub fn status(&self) -> &Status {
        &self.status
    }

    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    pub fn input(&self) -> &Value {
        &self.input
    }

    /// How many events the history has.
    pub fn events(&self) -> u64 {
        self.last_event
    }

    /// The state that a task belongs to, and which iteration or branch it is in; none if nobody waits for it.
    pub fn task_state(&self, task: TaskId) -> Option<(&str, usize)> {
        let thread = self.threads.get(self.awaited.get(&task)?)?;
        Some((thread.state.as_str(), thread.index))
    }
}

impl Thread {
    pub(super) fn new(parent: Option<ThreadId>, index: usize, machine: MachineId, state: &str, input: Value) -> Self {
        Self {
            parent,
            index,
            machine,
            apart: false,
            isolated: false,
            variables: Map::new(),
            state: state.to_owned(),
            input,
            previous: 0,
            apart_events: 0,
            entered: Entered::default(),
            attempts: Vec::new(),
            retries: 0,
            activity: Activity::Ready,
        }
    }
}
