//! What comes in, and what goes out.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// A task that was asked for. Each attempt has its own.
pub type TaskId = u64;
pub type TimerId = u64;

/// When a step happens, and the chance it may draw from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Milliseconds since 1970.
    pub now: i64,
    /// A random number, another one for each step.
    pub seed: u64,
    pub limits: StepLimits,
}

impl Moment {
    pub fn new(now: i64, seed: u64) -> Self {
        Self { now, seed, limits: StepLimits::default() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepLimits {
    /// Bytes of an input, output or result as JSON.
    pub payload: usize,
    /// Events in the history of one execution.
    pub history: u64,
    /// States that are entered in one step; then a [`Command::Continue`] asks for another.
    pub transitions: usize,
    /// How long one expression may take.
    pub expression: Duration,
}

impl Default for StepLimits {
    fn default() -> Self {
        Self { payload: 262_144, history: 25_000, transitions: 4_000, expression: Duration::from_secs(5) }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Event {
    Started,
    /// The answer to [`Command::Continue`].
    Continued,
    /// A worker has taken an activity's task.
    TaskStarted {
        task: TaskId,
        worker: Option<String>,
    },
    /// The service has taken the request; the task goes on until its end or its token is reported.
    TaskSubmitted {
        task: TaskId,
        output: Value,
    },
    TaskSucceeded {
        task: TaskId,
        output: Value,
    },
    TaskFailed {
        task: TaskId,
        error: Option<String>,
        cause: Option<String>,
    },
    TaskTimedOut {
        task: TaskId,
    },
    HeartbeatMissed {
        task: TaskId,
    },
    TimerFired {
        timer: TimerId,
    },
    /// The answer to [`Command::ReadItems`].
    ItemsRead {
        task: TaskId,
        items: Vec<Value>,
    },
    /// Somebody stopped the execution.
    Stopped {
        error: Option<String>,
        cause: Option<String>,
    },
    /// The machine's own `TimeoutSeconds` are over.
    ExecutionTimedOut,
    /// Starts a failed, stopped or timed out execution again from the outermost state that it was in.
    Redriven,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Command {
    RunTask {
        task: TaskId,
        state: String,
        resource: String,
        input: Value,
        timeout_seconds: Option<u64>,
        heartbeat_seconds: Option<u64>,
        credentials: Option<Value>,
        /// For tasks that end when their token is reported.
        token: Option<String>,
        /// For tasks that start an execution of another machine.
        nested: Option<Nested>,
        /// The thread, and the event with which it entered the state: the same for every attempt of this task.
        #[serde(default)]
        visit: (u64, u64),
        /// How often it was tried before.
        #[serde(default)]
        retries: u32,
    },
    /// Nobody waits for it any more.
    CancelTask {
        task: TaskId,
    },
    StartTimer {
        timer: TimerId,
        until: i64,
    },
    CancelTimer {
        timer: TimerId,
    },
    /// The items of a distributed Map, from what its `ItemReader` names. Answered by [`Event::ItemsRead`] or
    /// [`Event::TaskFailed`].
    ReadItems {
        task: TaskId,
        state: String,
        resource: String,
        arguments: Value,
        config: Value,
        max_items: Option<u64>,
    },
    /// The results of a distributed Map, to where its `ResultWriter` says. Answered by [`Event::TaskSucceeded`] or
    /// [`Event::TaskFailed`].
    WriteResults {
        task: TaskId,
        state: String,
        resource: String,
        arguments: Value,
        config: Value,
        results: Vec<Value>,
    },
    /// There is more to do at once; a commit can come first.
    Continue,
    /// The execution has ended; its status says how.
    Finish,
}

/// How the execution of another machine is started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Nested {
    pub machine: String,
    pub name: Option<String>,
    pub input: Value,
    /// Whether the task ends with that execution, instead of with its start.
    pub waits: bool,
    /// Whether the result has the output as JSON, instead of as text.
    pub output_as_json: bool,
}
