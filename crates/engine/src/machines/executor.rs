//! The executor: one task that owns what this process holds, from the first look to the last thing given back.

use super::{desk::Desk, tasks::Tasks, watch::Watcher};
use crate::{engine::Engine, stop::StopSignal};
use bindery_core::Name;
use bindery_states::asl::stepper::StepLimits;
use std::{
    collections::HashMap,
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};
use tokio::{sync::mpsc, task::JoinHandle};

/// How an executor works.
#[derive(Debug, Clone)]
pub struct ExecutorOptions {
    /// Unique among the executors of a store.
    pub name: Name,
    /// How long a hold lasts without a sign of life.
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
        let (notes, mut inbox) = mpsc::unbounded_channel();
        let held = Arc::new(AtomicUsize::new(0));
        let watcher = Watcher {
            store: Arc::clone(self.engine.store()),
            owner: self.options.name.clone(),
            lease: self.options.lease,
            most: self.options.most_held,
            held: Arc::clone(&held),
            notes: notes.clone(),
            definitions: HashMap::new(),
        };
        let watcher = AbortOnDrop(tokio::spawn(watcher.watch()));
        let tasks = Arc::clone(&self.tasks);
        let _begun = AbortOnDrop(tokio::spawn(async move { tasks.begun().await }));
        let mut desk = Desk::new(self.engine.clone(), Arc::clone(&self.tasks), self.options.clone(), notes, held);
        let mut signs_of_life = tokio::time::interval(self.options.lease / 3);
        while !stop.is_stopping() {
            tokio::select! {
                note = inbox.recv() => desk.take_all(note, &mut inbox),
                () = desk.until_due() => {}
                _ = signs_of_life.tick() => desk.extend(),
                () = stop.stopping() => {}
            }
            desk.fall_due();
            desk.hand_out();
        }
        drop(watcher);
        desk.stop();
        let enough = tokio::time::sleep(self.options.drain);
        tokio::pin!(enough);
        while desk.is_at_work() {
            tokio::select! {
                note = inbox.recv() => desk.take_all(note, &mut inbox),
                _ = signs_of_life.tick() => desk.extend(),
                () = &mut enough => break,
                () = stop.now() => break,
            }
            desk.hand_out();
        }
        desk.give_back().await;
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
