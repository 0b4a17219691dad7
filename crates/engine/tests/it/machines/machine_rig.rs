//! Machines, tasks made of closures, and executors that a test can stop or kill.

use crate::support::Rig;
use async_trait::async_trait;
use bindery_core::{ExecutionId, Name};
use bindery_engine::{
    Registry, StopHandle,
    machines::{
        Executor, ExecutorOptions, ItemsRequest, Machines, ResultsRequest, StartRequest, TaskCall, TaskFailure,
        TaskResult, Tasks,
    },
    stop_pair,
};
use bindery_store::executions::{ExecutionStatus, StoredExecution};
use serde_json::{Value, json};
use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::task::JoinHandle;

/// No test should ever wait this long; one that does has found something.
const PATIENCE: Duration = Duration::from_secs(60);

type Work = dyn Fn(&TaskCall) -> TaskResult + Send + Sync;

/// Every task is this closure; one whose resource is `never` does not end.
pub(super) struct Closure {
    work: Box<Work>,
    pub(super) calls: Mutex<Vec<TaskCall>>,
}

impl fmt::Debug for Closure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closure").finish_non_exhaustive()
    }
}

#[async_trait]
impl Tasks for Closure {
    fn check(&self, resource: &str) -> Result<(), String> {
        if resource == "unknown" { Err("there is no resource \"unknown\"; known are echo".to_owned()) } else { Ok(()) }
    }

    async fn run(&self, call: TaskCall) -> TaskResult {
        self.calls.lock().unwrap().push(call.clone());
        if call.resource == "never" {
            std::future::pending::<()>().await;
        }
        (self.work)(&call)
    }

    async fn read_items(&self, request: ItemsRequest) -> Result<Vec<Value>, TaskFailure> {
        let count = request.arguments["Key"].as_str().and_then(|key| key.parse().ok()).unwrap_or(0_u64);
        Ok((0..count.min(request.max_items.unwrap_or(u64::MAX))).map(|number| json!({"n": number})).collect())
    }

    async fn write_results(&self, request: ResultsRequest) -> TaskResult {
        Ok(json!({"written": request.results.len()}))
    }
}

pub(super) struct MachineRig {
    pub(super) rig: Rig,
    pub(super) machines: Machines,
    pub(super) tasks: Arc<Closure>,
}

/// An executor under way.
pub(super) struct Running {
    stop: StopHandle,
    task: JoinHandle<()>,
}

impl Running {
    pub(super) async fn stop(self) {
        self.stop.stop();
        self.task.await.unwrap();
    }

    /// As if the process had died: nothing is given back.
    pub(super) async fn kill(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

impl MachineRig {
    pub(super) fn new(work: impl Fn(&TaskCall) -> TaskResult + Send + Sync + 'static) -> Self {
        Self::on(Rig::new(Registry::default()), work)
    }

    /// On a clock that the test moves.
    pub(super) fn with_manual_clock(work: impl Fn(&TaskCall) -> TaskResult + Send + Sync + 'static) -> Self {
        Self::on(Rig::with_manual_clock(Registry::default()), work)
    }

    fn on(rig: Rig, work: impl Fn(&TaskCall) -> TaskResult + Send + Sync + 'static) -> Self {
        let machines = Machines::new(Arc::clone(&rig.store));
        Self { rig, machines, tasks: Arc::new(Closure { work: Box::new(work), calls: Mutex::default() }) }
    }

    pub(super) fn executor(&self, options: ExecutorOptions) -> Running {
        let tasks = Arc::clone(&self.tasks) as Arc<dyn Tasks>;
        let executor = Executor::new(self.rig.engine.clone(), tasks, options);
        let (stop, signal) = stop_pair();
        Running { stop, task: tokio::spawn(async move { executor.run(signal).await }) }
    }

    pub(super) async fn put(&self, name: &str, machine: &Value) {
        self.machines.put(name, &machine.to_string(), Some(&*self.tasks)).await.unwrap();
    }

    pub(super) async fn start(&self, machine: &str, input: Value) -> ExecutionId {
        let request = StartRequest { machine: machine.to_owned(), name: None, input, owner: None };
        self.machines.start(request).await.unwrap().0
    }

    pub(super) async fn ended(&self, id: ExecutionId) -> StoredExecution {
        self.machines.wait(id, PATIENCE).await.unwrap().expect("it ends")
    }

    /// Waits until the history has an event of this kind.
    pub(super) async fn until(&self, id: ExecutionId, kind: &str) {
        let deadline = std::time::Instant::now() + PATIENCE;
        while !self.kinds(id).await.iter().any(|known| known == kind) {
            assert!(std::time::Instant::now() < deadline, "no {kind}");
            let mark = self.rig.store.change_mark();
            self.rig.store.changed(mark, Duration::from_millis(20)).await;
        }
    }

    pub(super) async fn kinds(&self, id: ExecutionId) -> Vec<String> {
        let events = self.machines.history(id, 0, 100_000).await.unwrap();
        events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }

    /// Stores a machine, runs it to its end by an executor of its own, and returns how it ended.
    pub(super) async fn run(&self, machine: &Value, input: Value) -> StoredExecution {
        self.put("machine", machine).await;
        let executor = self.executor(ExecutorOptions::default());
        let id = self.start("machine", input).await;
        let ended = self.ended(id).await;
        executor.stop().await;
        ended
    }
}

pub(super) fn output(execution: &StoredExecution) -> Value {
    assert_eq!(execution.status, ExecutionStatus::Succeeded, "{execution:?}");
    serde_json::from_str(execution.output.as_deref().unwrap()).unwrap()
}

/// An executor whose holds end soon when it dies.
pub(super) fn short_lived(name: &str) -> ExecutorOptions {
    ExecutorOptions { name: Name::from(name), lease: Duration::from_millis(300), ..ExecutorOptions::default() }
}
