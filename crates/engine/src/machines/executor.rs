//! The executor: one task that owns what this process holds, from the first look to the last thing given back.

use super::{leases::ExecutionLeases, scheduler::ExecutionScheduler, tasks::Tasks, watch::Watcher};
use crate::{
    engine::Engine,
    heartbeat::{Heartbeat, interval_for},
    stop::StopSignal,
};
use bindery_core::Name;
use bindery_states::asl::stepper::StepLimits;
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::{sync::mpsc, task::JoinHandle};

/// How an executor works.
#[derive(Debug, Clone)]
pub struct ExecutorOptions {
    /// Unique among the executors of a store.
    pub name: Name,
    /// How long a claim holds without a heartbeat.
    pub lease: Duration,
    /// How many executions are held at once.
    pub most_held: usize,
    /// How many tasks run at once.
    pub most_tasks: usize,
    /// How many batches are stepped at once.
    pub threads: usize,
    /// How long running tasks may take to finish when the executor is asked to stop.
    pub drain: Duration,
    pub limits: StepLimits,
}

impl Default for ExecutorOptions {
    fn default() -> Self {
        Self {
            name: Name::from(format!("executor-{}-{:08x}", std::process::id(), fastrand::u32(..))),
            lease: Duration::from_secs(10),
            most_held: 5_000,
            most_tasks: 64,
            threads: std::thread::available_parallelism().map_or(2, usize::from),
            drain: Duration::from_secs(10),
            limits: StepLimits::default(),
        }
    }
}

#[derive(Debug)]
pub struct Executor {
    engine: Engine,
    tasks: Arc<dyn Tasks>,
    options: ExecutorOptions,
}

impl Executor {
    pub fn new(engine: Engine, tasks: Arc<dyn Tasks>, options: ExecutorOptions) -> Self {
        Self { engine, tasks, options }
    }

    /// Runs executions until it is asked to stop. Trouble with the store is waited out.
    pub async fn run(&self, mut stop: StopSignal) {
        let (events, mut inbox) = mpsc::unbounded_channel();
        let leases = Arc::new(ExecutionLeases::default());
        let watcher = Watcher {
            store: Arc::clone(self.engine.store()),
            owner: self.options.name.clone(),
            lease: self.options.lease,
            most: self.options.most_held,
            leases: Arc::clone(&leases),
            events: events.clone(),
            definitions: HashMap::new(),
        };
        let watcher = AbortOnDrop(tokio::spawn(watcher.watch()));
        let tasks = Arc::clone(&self.tasks);
        let _begun = AbortOnDrop(tokio::spawn(async move { tasks.on_start().await }));
        let heartbeat = {
            let (store, lease) = (Arc::clone(self.engine.store()), self.options.lease);
            let (leases, events) = (Arc::clone(&leases), events.clone());
            Heartbeat::start(interval_for(lease), move || {
                Arc::clone(&leases).extend(Arc::clone(&store), lease, events.clone())
            })
        };
        let mut scheduler =
            ExecutionScheduler::new(self.engine.clone(), Arc::clone(&self.tasks), self.options.clone(), events, leases);
        while !stop.is_stopping() {
            tokio::select! {
                event = inbox.recv() => scheduler.take_all(event, &mut inbox),
                () = scheduler.until_due() => {}
                () = stop.stopping() => {}
            }
            scheduler.fall_due();
            scheduler.hand_out();
        }
        drop(watcher);
        scheduler.stop();
        let enough = tokio::time::sleep(self.options.drain);
        tokio::pin!(enough);
        while scheduler.is_at_work() {
            tokio::select! {
                event = inbox.recv() => scheduler.take_all(event, &mut inbox),
                () = &mut enough => break,
                () = stop.now() => break,
            }
            scheduler.hand_out();
        }
        drop(heartbeat);
        scheduler.give_back().await;
    }
}

/// A task that ends with whoever started it, also when that one is dropped half-way: a watcher that nobody listens to
/// must not hold executions.
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
