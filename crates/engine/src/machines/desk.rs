//! What an executor has before it: the executions it holds, what has come for them, and what is due.

use super::{
    executor::ExecutorOptions,
    held::{Advance, Held, Mail, broken},
    perform::{failed, perform},
    storing::{Fate, give_back_later, given_back, step_and_store},
    tasks::{TaskFailure, Tasks},
};
use crate::engine::Engine;
use bindery_core::{ExecutionId, Timestamp, job::Token};
use bindery_states::asl::stepper::{Event, names};
use bindery_store::executions::{Letter, Step, StoredExecution};
use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::sync::{Semaphore, mpsc};

/// How many executions one batch steps and stores.
const LARGEST_BATCH: usize = 256;

/// What the executor is told.
#[derive(Debug)]
pub(super) enum Note {
    Taken(Box<Held>),
    /// It cannot be run at all.
    Unusable {
        stored: Box<StoredExecution>,
        token: Token,
        why: String,
    },
    Letters(Vec<Letter>),
    Several(Vec<Note>),
    Answer {
        id: ExecutionId,
        task: u64,
        event: Event,
    },
    /// A batch has come back.
    Back(Vec<(Held, Advance, Fate)>),
    Lost(Vec<ExecutionId>),
}

/// An execution that is being stepped and stored.
struct Away {
    token: Token,
    /// What has come for it meanwhile.
    late: Vec<Mail>,
    /// Tasks that have ended meanwhile in this process.
    answered: Vec<u64>,
}

/// What the executor has before it.
pub(super) struct Desk {
    engine: Engine,
    tasks: Arc<dyn Tasks>,
    options: ExecutorOptions,
    slots: Arc<Semaphore>,
    notes: mpsc::UnboundedSender<Note>,
    count: Arc<AtomicUsize>,
    held: HashMap<ExecutionId, Held>,
    /// Being stepped and stored.
    away: HashMap<ExecutionId, Away>,
    /// When somebody has something to do by itself. What is not true any more does no harm.
    due: BTreeSet<(i64, ExecutionId)>,
    ready: BTreeSet<ExecutionId>,
    batches: usize,
    stopping: bool,
}

impl Desk {
    /// `count` is how many are held, for whoever takes more.
    pub(super) fn new(
        engine: Engine,
        tasks: Arc<dyn Tasks>,
        options: ExecutorOptions,
        notes: mpsc::UnboundedSender<Note>,
        count: Arc<AtomicUsize>,
    ) -> Self {
        Self {
            slots: Arc::new(Semaphore::new(options.most_tasks)),
            engine,
            tasks,
            options,
            notes,
            count,
            held: HashMap::new(),
            away: HashMap::new(),
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

    pub(super) fn take_all(&mut self, first: Option<Note>, inbox: &mut mpsc::UnboundedReceiver<Note>) {
        let mut next = first;
        while let Some(note) = next {
            self.take(note);
            next = inbox.try_recv().ok();
        }
    }

    fn take(&mut self, note: Note) {
        match note {
            Note::Taken(mut held) => {
                let (id, undone) = (held.stored.id, held.left_undone());
                for number in undone {
                    self.begin(&mut held, number);
                }
                self.keep(*held);
                self.ready.insert(id);
            }
            Note::Unusable { stored, token, why } => {
                self.count.fetch_sub(1, Ordering::Relaxed);
                self.end_as_broken(&stored, token, why);
            }
            Note::Several(notes) => {
                for note in notes {
                    self.take(note);
                }
            }
            Note::Letters(letters) => {
                for letter in letters {
                    self.deliver(&letter);
                }
            }
            Note::Answer { id, task, event } => {
                if let Some(held) = self.held.get_mut(&id) {
                    held.running.remove(&task);
                    held.mailbox.push_back(Mail::event(event));
                    self.ready.insert(id);
                } else if let Some(away) = self.away.get_mut(&id) {
                    away.answered.push(task);
                    away.late.push(Mail::event(event));
                }
            }
            Note::Back(batch) => {
                self.batches -= 1;
                let unknown = batch.iter().filter(|(.., fate)| *fate == Fate::Unknown);
                let unknown: Vec<_> = unknown.map(|(held, ..)| (held.stored.id, held.token)).collect();
                for (held, advance, fate) in batch {
                    self.came_back(held, &advance, fate);
                }
                if !unknown.is_empty() {
                    let store = Arc::clone(self.engine.store());
                    tokio::spawn(give_back_later(store, unknown, self.options.lease));
                }
            }
            Note::Lost(ids) => {
                for id in ids {
                    self.forget(id);
                }
            }
        }
    }

    fn deliver(&mut self, letter: &Letter) {
        if let Some(held) = self.held.get_mut(&letter.to) {
            if held.seen.insert(letter.id) {
                held.mailbox.push_back(Mail::letter(letter));
                self.ready.insert(letter.to);
            }
        } else if let Some(away) = self.away.get_mut(&letter.to) {
            away.late.push(Mail::letter(letter));
        }
    }

    /// Notes when it has something to do by itself, and keeps it.
    fn keep(&mut self, held: Held) {
        if let Some(at) = held.kept.next_due() {
            self.due.insert((at, held.stored.id));
        }
        self.held.insert(held.stored.id, held);
    }

    fn came_back(&mut self, mut held: Held, advance: &Advance, fate: Fate) {
        let id = held.stored.id;
        let stored = fate == Fate::Stored;
        if stored {
            self.release(id, &advance.released);
        }
        let away = self.away.remove(&id);
        let Some(Away { late, answered, .. }) = away.filter(|_| stored && !advance.leaves()) else {
            // It has ended, it rests, or it is somebody else's.
            held.abandon();
            self.count.fetch_sub(1, Ordering::Relaxed);
            return;
        };
        if !self.stopping {
            for number in &advance.begin {
                self.begin(&mut held, *number);
            }
        }
        if held.kept.goes_on {
            held.mailbox.push_back(Mail::event(Event::Continued));
        }
        for task in answered {
            held.running.remove(&task);
        }
        for mail in late {
            if mail.letter.is_none_or(|letter| held.seen.insert(letter)) {
                held.mailbox.push_back(mail);
            }
        }
        if !held.mailbox.is_empty() {
            self.ready.insert(id);
        }
        self.keep(held);
    }

    fn forget(&mut self, id: ExecutionId) {
        self.away.remove(&id);
        if let Some(mut held) = self.held.remove(&id) {
            held.abandon();
            self.count.fetch_sub(1, Ordering::Relaxed);
        }
        self.ready.remove(&id);
    }

    pub(super) fn fall_due(&mut self) {
        let now = self.now().as_millis();
        while let Some(&(at, id)) = self.due.first() {
            if at > now {
                return;
            }
            self.due.pop_first();
            if let Some(held) = self.held.get_mut(&id) {
                held.fall_due(now);
                if let Some(next) = held.kept.next_due() {
                    self.due.insert((next, id));
                }
                if !held.mailbox.is_empty() {
                    self.ready.insert(id);
                }
            }
        }
    }

    /// Steps and stores what is ready, in as many batches as there are threads.
    pub(super) fn hand_out(&mut self) {
        let free = self.options.threads.max(1).saturating_sub(self.batches);
        if free == 0 || self.ready.is_empty() || (self.stopping && self.held.is_empty()) {
            return;
        }
        let size = self.ready.len().div_ceil(free).min(LARGEST_BATCH);
        for _ in 0..free {
            let mut batch = Vec::with_capacity(size);
            while batch.len() < size
                && let Some(id) = self.ready.pop_first()
            {
                if let Some(mut held) = self.held.remove(&id) {
                    held.fall_due(self.now().as_millis());
                    let away = Away { token: held.token, late: Vec::new(), answered: Vec::new() };
                    self.away.insert(id, away);
                    batch.push(held);
                }
            }
            if batch.is_empty() {
                return;
            }
            self.batches += 1;
            let (engine, notes, limits) = (self.engine.clone(), self.notes.clone(), self.options.limits);
            tokio::spawn(async move {
                // The executor is gone when it does not listen.
                let _ = notes.send(Note::Back(step_and_store(&engine, batch, limits).await));
            });
        }
    }

    /// Starts the work for something that is asked for.
    fn begin(&self, held: &mut Held, number: u64) {
        let Some(pending) = held.kept.pending.get(&number) else { return };
        let (id, arn) = (held.stored.id, held.kept.execution.identity().id.clone());
        let (tasks, store, notes) = (Arc::clone(&self.tasks), Arc::clone(self.engine.store()), self.notes.clone());
        let (slots, command) = (Arc::clone(&self.slots), pending.command.clone());
        let work = tokio::spawn(async move {
            let _slot = slots.acquire_owned().await;
            perform(&*tasks, &*store, id, arn, command).await
        });
        held.running.insert(number, work.abort_handle());
        tokio::spawn(async move {
            let event = match work.await {
                Ok(event) => event,
                Err(error) if error.is_panic() => failed(number, TaskFailure::new(names::RUNTIME, "the task panicked")),
                Err(_) => return,
            };
            let _ = notes.send(Note::Answer { id, task: number, event });
        });
    }

    /// Tells those who were asked that nobody waits for them any more.
    fn release(&self, id: ExecutionId, released: &[u64]) {
        for &task in released {
            let tasks = Arc::clone(&self.tasks);
            tokio::spawn(async move { tasks.released(id, task).await });
        }
    }

    /// Says that what is held is still worked on.
    pub(super) fn extend(&self) {
        let held = self.held.values().map(|held| (held.stored.id, held.token));
        let all: Vec<_> = held.chain(self.away.iter().map(|(id, away)| (*id, away.token))).collect();
        if all.is_empty() {
            return;
        }
        let (store, notes, lease) = (Arc::clone(self.engine.store()), self.notes.clone(), self.options.lease);
        tokio::spawn(async move {
            match store.extend_executions(all, lease).await {
                Ok(lost) if lost.is_empty() => {}
                Ok(lost) => drop(notes.send(Note::Lost(lost))),
                Err(error) => tracing::warn!(error = %error, "the holds on executions were not extended"),
            }
        });
    }

    fn end_as_broken(&self, stored: &StoredExecution, token: Token, why: String) {
        tracing::error!(execution = %stored.id, why, "an execution cannot be run");
        let step = broken(stored, token, why, self.now());
        let store = Arc::clone(self.engine.store());
        tokio::spawn(async move { store.store_steps(vec![step]).await });
    }

    pub(super) fn is_at_work(&self) -> bool {
        self.batches > 0 || !self.ready.is_empty() || self.held.values().any(|held| !held.running.is_empty())
    }

    /// Others may have what is left at once.
    pub(super) async fn give_back(&mut self) {
        let now = self.now();
        let steps = self.held.values().map(|held| given_back(held.stored.id, held.token, now));
        let steps: Vec<Step> = steps.collect();
        for held in self.held.values_mut() {
            held.abandon();
        }
        if !steps.is_empty()
            && let Err(error) = self.engine.store().store_steps(steps).await
        {
            tracing::warn!(error = %error, "executions were not given back; their leases will expire");
        }
    }
}
