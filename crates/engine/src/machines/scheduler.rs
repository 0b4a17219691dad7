//! The scheduler of an executor: the executions in memory, what has come for them, and what is due.

use super::{
    executor::ExecutorOptions,
    leases::ExecutionLeases,
    loaded_execution::{Advance, LoadedExecution, MailboxEntry, broken_step},
    perform::{perform, task_failed},
    storing::{Fate, give_back_later, give_back_step, step_and_store},
    tasks::{TaskFailure, Tasks},
};
use crate::engine::Engine;
use bindery_core::{ExecutionId, Timestamp, job::Token};
use bindery_states::asl::stepper::{Event, names};
use bindery_store::executions::{ExecutionSignal, Step, StoredExecution};
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};
use tokio::sync::{Semaphore, mpsc};

/// How many executions one batch steps and stores.
const LARGEST_BATCH: usize = 256;

/// What happens to an executor.
#[derive(Debug)]
pub(super) enum SchedulerEvent {
    Loaded(Box<LoadedExecution>),
    /// It cannot be run at all.
    Unusable {
        stored: Box<StoredExecution>,
        token: Token,
        why: String,
    },
    Signals(Vec<ExecutionSignal>),
    Several(Vec<SchedulerEvent>),
    Answer {
        id: ExecutionId,
        task: u64,
        event: Event,
    },
    /// A batch has come back.
    Stepped(Vec<(LoadedExecution, Advance, Fate)>),
    /// Others have claimed these.
    Lost(Vec<(ExecutionId, Token)>),
}

/// An execution that is being stepped and stored.
struct Stepping {
    token: Token,
    /// What has come for it meanwhile.
    late: Vec<MailboxEntry>,
    /// Tasks that have ended meanwhile in this process.
    answered: Vec<u64>,
}

/// The scheduler of an executor.
pub(super) struct ExecutionScheduler {
    engine: Engine,
    tasks: Arc<dyn Tasks>,
    options: ExecutorOptions,
    slots: Arc<Semaphore>,
    events: mpsc::UnboundedSender<SchedulerEvent>,
    leases: Arc<ExecutionLeases>,
    loaded: HashMap<ExecutionId, LoadedExecution>,
    /// Being stepped and stored.
    stepping: HashMap<ExecutionId, Stepping>,
    /// When somebody has something to do by itself. What is not true any more does no harm.
    due: BTreeSet<(i64, ExecutionId)>,
    ready: BTreeSet<ExecutionId>,
    batches: usize,
    stopping: bool,
}

impl ExecutionScheduler {
    pub(super) fn new(
        engine: Engine,
        tasks: Arc<dyn Tasks>,
        options: ExecutorOptions,
        events: mpsc::UnboundedSender<SchedulerEvent>,
        leases: Arc<ExecutionLeases>,
    ) -> Self {
        Self {
            slots: Arc::new(Semaphore::new(options.most_tasks)),
            engine,
            tasks,
            options,
            events,
            leases,
            loaded: HashMap::new(),
            stepping: HashMap::new(),
            due: BTreeSet::new(),
            ready: BTreeSet::new(),
            batches: 0,
            stopping: false,
        }
    }

    /// From now on nothing new is begun.
    pub(super) const fn stop(&mut self) {
        self.stopping = true;
    }

    fn now(&self) -> Timestamp {
        self.engine.clock().now()
    }

    /// Returns when the first timer is due.
    pub(super) async fn until_due(&self) {
        match self.due.first() {
            Some((at, _)) => {
                let left = at.saturating_sub(self.now().as_millis()).max(0);
                tokio::time::sleep(Duration::from_millis(left.unsigned_abs())).await;
            }
            None => std::future::pending().await,
        }
    }

    pub(super) fn take_all(
        &mut self,
        first: Option<SchedulerEvent>,
        inbox: &mut mpsc::UnboundedReceiver<SchedulerEvent>,
    ) {
        let mut next = first;
        while let Some(event) = next {
            self.take(event);
            next = inbox.try_recv().ok();
        }
    }

    fn take(&mut self, event: SchedulerEvent) {
        match event {
            SchedulerEvent::Loaded(mut loaded) => {
                let (id, undone) = (loaded.stored.id, loaded.left_undone());
                for number in undone {
                    self.begin(&mut loaded, number);
                }
                self.keep(*loaded);
                self.ready.insert(id);
            }
            SchedulerEvent::Unusable { stored, token, why } => {
                self.leases.remove(stored.id, token);
                self.end_as_broken(&stored, token, why);
            }
            SchedulerEvent::Several(events) => {
                for event in events {
                    self.take(event);
                }
            }
            SchedulerEvent::Signals(signals) => {
                for signal in signals {
                    self.deliver(&signal);
                }
            }
            SchedulerEvent::Answer { id, task, event } => {
                if let Some(loaded) = self.loaded.get_mut(&id) {
                    loaded.running.remove(&task);
                    loaded.mailbox.push_back(MailboxEntry::event(event));
                    self.ready.insert(id);
                } else if let Some(stepping) = self.stepping.get_mut(&id) {
                    stepping.answered.push(task);
                    stepping.late.push(MailboxEntry::event(event));
                }
            }
            SchedulerEvent::Stepped(batch) => {
                self.batches -= 1;
                let unknown = batch.iter().filter(|(.., fate)| *fate == Fate::Unknown);
                let unknown: Vec<_> = unknown.map(|(loaded, ..)| (loaded.stored.id, loaded.token)).collect();
                for (loaded, advance, fate) in batch {
                    self.take_stepped(loaded, &advance, fate);
                }
                if !unknown.is_empty() {
                    let store = Arc::clone(self.engine.store());
                    tokio::spawn(give_back_later(store, unknown, self.options.lease));
                }
            }
            SchedulerEvent::Lost(lost) => {
                for (id, token) in lost {
                    self.forget(id, token);
                }
            }
        }
    }

    fn deliver(&mut self, signal: &ExecutionSignal) {
        if let Some(loaded) = self.loaded.get_mut(&signal.to) {
            if loaded.seen.insert(signal.id) {
                loaded.mailbox.push_back(MailboxEntry::signal(signal));
                self.ready.insert(signal.to);
            }
        } else if let Some(stepping) = self.stepping.get_mut(&signal.to) {
            stepping.late.push(MailboxEntry::signal(signal));
        }
    }

    /// Notes when it has something to do by itself, and keeps it.
    fn keep(&mut self, loaded: LoadedExecution) {
        if let Some(at) = loaded.state.next_due() {
            self.due.insert((at, loaded.stored.id));
        }
        self.loaded.insert(loaded.stored.id, loaded);
    }

    fn take_stepped(&mut self, mut loaded: LoadedExecution, advance: &Advance, fate: Fate) {
        let id = loaded.stored.id;
        let stored = fate == Fate::Stored;
        if stored {
            self.release(id, &advance.released);
        }
        let stepping = self.stepping.remove(&id);
        let Some(Stepping { late, answered, .. }) = stepping.filter(|_| stored && !advance.leaves()) else {
            // It has ended, it rests, or it is somebody else's.
            loaded.abandon();
            self.leases.remove(id, loaded.token);
            return;
        };
        if !self.stopping {
            for number in &advance.begin {
                self.begin(&mut loaded, *number);
            }
        }
        if loaded.state.goes_on {
            loaded.mailbox.push_back(MailboxEntry::event(Event::Continued));
        }
        for task in answered {
            loaded.running.remove(&task);
        }
        for mail in late {
            if mail.signal.is_none_or(|signal| loaded.seen.insert(signal)) {
                loaded.mailbox.push_back(mail);
            }
        }
        if !loaded.mailbox.is_empty() {
            self.ready.insert(id);
        }
        self.keep(loaded);
    }

    fn forget(&mut self, id: ExecutionId, token: Token) {
        self.leases.remove(id, token);
        if self.stepping.get(&id).is_some_and(|stepping| stepping.token == token) {
            self.stepping.remove(&id);
        }
        if self.loaded.get(&id).is_some_and(|loaded| loaded.token == token) {
            self.ready.remove(&id);
            self.loaded.remove(&id).into_iter().for_each(|mut loaded| loaded.abandon());
        }
    }

    pub(super) fn fall_due(&mut self) {
        let now = self.now().as_millis();
        while let Some(&(at, id)) = self.due.first() {
            if at > now {
                return;
            }
            self.due.pop_first();
            if let Some(loaded) = self.loaded.get_mut(&id) {
                loaded.fall_due(now);
                if let Some(next) = loaded.state.next_due() {
                    self.due.insert((next, id));
                }
                if !loaded.mailbox.is_empty() {
                    self.ready.insert(id);
                }
            }
        }
    }

    /// Steps and stores what is ready, in as many batches as there are threads.
    pub(super) fn hand_out(&mut self) {
        let free = self.options.threads.max(1).saturating_sub(self.batches);
        if free == 0 || self.ready.is_empty() || (self.stopping && self.loaded.is_empty()) {
            return;
        }
        let size = self.ready.len().div_ceil(free).min(LARGEST_BATCH);
        for _ in 0..free {
            let mut batch = Vec::with_capacity(size);
            while batch.len() < size
                && let Some(id) = self.ready.pop_first()
            {
                if let Some(mut loaded) = self.loaded.remove(&id) {
                    loaded.fall_due(self.now().as_millis());
                    let stepping = Stepping { token: loaded.token, late: Vec::new(), answered: Vec::new() };
                    self.stepping.insert(id, stepping);
                    batch.push(loaded);
                }
            }
            if batch.is_empty() {
                return;
            }
            self.batches += 1;
            let (engine, events, limits) = (self.engine.clone(), self.events.clone(), self.options.limits);
            tokio::spawn(async move {
                // The executor is gone when it does not listen.
                let _ = events.send(SchedulerEvent::Stepped(step_and_store(&engine, batch, limits).await));
            });
        }
    }

    /// Starts the work for something that is asked for.
    fn begin(&self, loaded: &mut LoadedExecution, number: u64) {
        let Some(pending) = loaded.state.pending.get(&number) else { return };
        let (id, owner) = (loaded.stored.id, loaded.stored.owner.clone());
        let arn = loaded.state.execution.identity().id.clone();
        let (tasks, store, events) = (Arc::clone(&self.tasks), Arc::clone(self.engine.store()), self.events.clone());
        let (slots, command) = (Arc::clone(&self.slots), pending.command.clone());
        let work = tokio::spawn(async move {
            let _slot = slots.acquire_owned().await;
            perform(&*tasks, &*store, id, owner, arn, command).await
        });
        loaded.running.insert(number, work.abort_handle());
        tokio::spawn(async move {
            let event = match work.await {
                Ok(event) => event,
                Err(error) if error.is_panic() => {
                    task_failed(number, TaskFailure::new(names::RUNTIME, "the task panicked"))
                }
                Err(_) => return,
            };
            let _ = events.send(SchedulerEvent::Answer { id, task: number, event });
        });
    }

    /// Tells those who were asked that nobody waits for them any more.
    fn release(&self, id: ExecutionId, released: &[u64]) {
        for &task in released {
            let tasks = Arc::clone(&self.tasks);
            tokio::spawn(async move { tasks.released(id, task).await });
        }
    }

    fn end_as_broken(&self, stored: &StoredExecution, token: Token, why: String) {
        tracing::error!(execution = %stored.id, why, "an execution cannot be run");
        let step = broken_step(stored, token, why, self.now());
        let store = Arc::clone(self.engine.store());
        tokio::spawn(async move { store.store_steps(vec![step]).await });
    }

    pub(super) fn is_at_work(&self) -> bool {
        self.batches > 0 || !self.ready.is_empty() || self.loaded.values().any(|loaded| !loaded.running.is_empty())
    }

    /// Others may have what is left at once.
    pub(super) async fn give_back(&mut self) {
        let now = self.now();
        let steps = self.loaded.values().map(|loaded| give_back_step(loaded.stored.id, loaded.token, now));
        let steps: Vec<Step> = steps.collect();
        for loaded in self.loaded.values_mut() {
            loaded.abandon();
        }
        if !steps.is_empty()
            && let Err(error) = self.engine.store().store_steps(steps).await
        {
            tracing::warn!(error = %error, "executions were not given back; their leases will expire");
        }
    }
}
