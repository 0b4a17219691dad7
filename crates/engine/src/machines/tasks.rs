//! What tasks run.

use async_trait::async_trait;
use bindery_core::ExecutionId;
use serde_json::Value;
use std::fmt;

/// One attempt of one task.
#[derive(Debug, Clone)]
pub struct TaskCall {
    pub execution: ExecutionId,
    /// Whose the execution is: so is what its tasks take in.
    pub owner: Option<String>,
    /// As the context object names it.
    pub execution_arn: String,
    /// The number of the attempt in its execution. With the execution it is the same after a crash: whoever must not do
    /// a thing twice can tell by both.
    pub task: u64,
    pub state: String,
    pub resource: String,
    pub input: Value,
    /// For tasks that end when their token is reported: what is returned then only says that the request was taken.
    pub token: Option<String>,
    /// 1 for the first try.
    pub attempt: u32,
    /// The same for every try of this task, also after a crash, and of no other task.
    pub idempotency_key: String,
}

/// The items of a distributed Map.
#[derive(Debug, Clone)]
pub struct ItemsRequest {
    pub resource: String,
    pub arguments: Value,
    pub config: Value,
    pub max_items: Option<u64>,
}

/// Where the results of a distributed Map go.
#[derive(Debug, Clone)]
pub struct ResultsRequest {
    pub execution_arn: String,
    pub state: String,
    pub resource: String,
    pub arguments: Value,
    pub config: Value,
    pub results: Vec<Value>,
}

/// Why a task failed, in the words that `Retry` and `Catch` go by.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}: {cause}")]
pub struct TaskFailure {
    pub error: String,
    pub cause: String,
}

impl TaskFailure {
    pub fn new(error: impl Into<String>, cause: impl fmt::Display) -> Self {
        Self { error: error.into(), cause: cause.to_string() }
    }

    /// Nothing of this name is known here.
    pub fn unknown(resource: &str, known: &[String]) -> Self {
        Self::new("States.TaskFailed", format!("there is no resource {resource:?}; known are {}", known.join(", ")))
    }
}

pub type TaskResult = Result<Value, TaskFailure>;

/// Everything that the tasks of machines can call. A call may be dropped at any await when nobody waits for it any more.
#[async_trait]
pub trait Tasks: Send + Sync + fmt::Debug {
    /// One sentence if a machine that uses this resource could never run here.
    fn check(&self, resource: &str) -> Result<(), String>;

    async fn run(&self, call: TaskCall) -> TaskResult;

    /// Nobody waits for the token of this task any more: it was reported, its time is over, or its execution has ended.
    /// Whoever was asked may be told. Called when that is stored, at most once: a process that dies then never calls it.
    async fn released(&self, _execution: ExecutionId, _task: u64) {}

    /// An executor has begun: a time to make up for what those who died did not tell.
    async fn on_start(&self) {}

    async fn read_items(&self, request: ItemsRequest) -> Result<Vec<Value>, TaskFailure>;

    async fn write_results(&self, request: ResultsRequest) -> TaskResult;
}
