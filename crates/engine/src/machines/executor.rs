//! The executor: one task that owns what this process holds, and hands out what takes time.

use super::{
    held::{Advance, Held, Mail, broken},
    kept::Message,
    nested,
    tasks::{ItemsRequest, ResultsRequest, TaskCall, TaskFailure, Tasks},
    watch::Watcher,
};
use crate::{engine::Engine, machines::machine_name, stop::StopSignal};
use bindery_core::{ExecutionId, Name, Timestamp, job::Token};
use bindery_states::asl::stepper::{Command, Event, Nested, StepLimits, names};
use bindery_store::{
    Store, StoreResult,
    executions::{After, Letter, NewExecution, Started, Step, StoredExecution},
};
use std::{
    collections::{BTreeSet, HashMap},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::{Semaphore, mpsc},
    task::JoinHandle,
};

/// How many executions one batch steps and stores.
const LARGEST_BATCH: usize = 256;

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
    /// A batch has come back; true where it was stored.
    Back(Vec<(Held, Advance, bool)>),
    Lost(Vec<ExecutionId>),
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
        let mut desk = Desk {
            engine: self.engine.clone(),
            tasks: Arc::clone(&self.tasks),
            options: self.options.clone(),
            slots: Arc::new(Semaphore::new(self.options.most_tasks)),
            notes,
            count: held,
            held: HashMap::new(),
            away: HashMap::new(),
            due: BTreeSet::new(),
            ready: BTreeSet::new(),
            batches: 0,
            stopping: false,
        };
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
        desk.stopping = true;
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

/// What the executor has before it.
struct Desk {
    engine: Engine,
    tasks: Arc<dyn Tasks>,
    options: ExecutorOptions,
    slots: Arc<Semaphore>,
    notes: mpsc::UnboundedSender<Note>,
    count: Arc<AtomicUsize>,
    held: HashMap<ExecutionId, Held>,
    /// Being stepped and stored: what comes for them waits here.
    away: HashMap<ExecutionId, (Token, Vec<Mail>)>,
    /// When somebody has something to do by itself. What is not true any more does no harm.
    due: BTreeSet<(i64, ExecutionId)>,
    ready: BTreeSet<ExecutionId>,
    batches: usize,
    stopping: bool,
}

impl Desk {
    fn now(&self) -> Timestamp {
        self.engine.clock().now()
    }

    /// Returns when the first timer is due.
    async fn until_due(&self) {
        match self.due.first() {
            Some((at, _)) => {
                let left = at.saturating_sub(self.now().as_millis()).max(0);
                tokio::time::sleep(Duration::from_millis(left.unsigned_abs())).await;
            }
            None => std::future::pending().await,
        }
    }

    fn take_all(&mut self, first: Option<Note>, inbox: &mut mpsc::UnboundedReceiver<Note>) {
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
                } else if let Some((_, late)) = self.away.get_mut(&id) {
                    late.push(Mail::event(event));
                }
            }
            Note::Back(batch) => {
                self.batches -= 1;
                for (held, advance, stored) in batch {
                    self.came_back(held, &advance, stored);
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
        let message = match serde_json::from_str::<Message>(&letter.text) {
            Ok(message) => message,
            Err(error) => {
                tracing::warn!(execution = %letter.to, error = %error, "a letter cannot be read");
                return;
            }
        };
        let mail = Mail { message, letter: Some(letter.id) };
        if let Some(held) = self.held.get_mut(&letter.to) {
            if held.seen.insert(letter.id) {
                held.mailbox.push_back(mail);
                self.ready.insert(letter.to);
            }
        } else if let Some((_, late)) = self.away.get_mut(&letter.to) {
            late.push(mail);
        }
    }

    /// Notes when it has something to do by itself, and keeps it.
    fn keep(&mut self, held: Held) {
        if let Some(at) = held.kept.next_due() {
            self.due.insert((at, held.stored.id));
        }
        self.held.insert(held.stored.id, held);
    }

    fn came_back(&mut self, mut held: Held, advance: &Advance, stored: bool) {
        let id = held.stored.id;
        let late = self.away.remove(&id);
        let Some((_, late)) = late.filter(|_| stored && !advance.leaves()) else {
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
        for mail in late {
            if let Message::Event(Event::TaskSucceeded { task, .. } | Event::TaskFailed { task, .. }) = &mail.message {
                held.running.remove(task);
            }
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

    fn fall_due(&mut self) {
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
    fn hand_out(&mut self) {
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
                    self.away.insert(id, (held.token, Vec::new()));
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

    /// Says that what is held is still worked on.
    fn extend(&self) {
        let held = self.held.values().map(|held| (held.stored.id, held.token));
        let all: Vec<_> = held.chain(self.away.iter().map(|(id, (token, _))| (*id, *token))).collect();
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

    fn is_at_work(&self) -> bool {
        self.batches > 0 || !self.ready.is_empty() || self.held.values().any(|held| !held.running.is_empty())
    }

    /// Others may have what is left at once.
    async fn give_back(&mut self) {
        let now = self.now();
        let rest = |held: &Held| Step { after: After::Rest(Some(now)), ..Step::new(held.stored.id, held.token) };
        let steps: Vec<Step> = self.held.values().map(rest).collect();
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

async fn step_and_store(engine: &Engine, batch: Vec<Held>, limits: StepLimits) -> Vec<(Held, Advance, bool)> {
    let clock = Arc::clone(engine.clock());
    let stepped = tokio::task::spawn_blocking(move || {
        let step = |mut held: Held| {
            let advance = catch_unwind(AssertUnwindSafe(|| held.advance(clock.now(), limits)));
            let advance = advance.unwrap_or_else(|_| Advance {
                step: broken(&held.stored, held.token, "the stepper panicked".to_owned(), clock.now()),
                begin: Vec::new(),
            });
            (held, advance)
        };
        batch.into_iter().map(step).collect::<Vec<_>>()
    });
    let Ok(stepped) = stepped.await else { return Vec::new() };
    engine.faults().hit(bindery_core::fault::FaultPoint::AfterWorkBeforeCommit);
    let steps: Vec<Step> = stepped.iter().map(|(_, advance)| advance.step.clone()).collect();
    let stored = match store_all(&**engine.store(), steps).await {
        Ok(stored) => stored,
        Err(error) => {
            // Whether it was stored is not known. They are taken up again, as they are, when their leases have expired.
            tracing::warn!(error = %error, executions = stepped.len(), "steps were not stored");
            vec![false; stepped.len()]
        }
    };
    stepped.into_iter().zip(stored).map(|((held, advance), stored)| (held, advance, stored)).collect()
}

/// All together; where one of them spoils it for the others, each by itself.
async fn store_all(store: &dyn Store, steps: Vec<Step>) -> StoreResult<Vec<bool>> {
    let error = match store.store_steps(steps.clone()).await {
        Ok(stored) => return Ok(stored),
        Err(error) => error,
    };
    if error.is_transient() || steps.len() == 1 {
        return Err(error);
    }
    let mut stored = Vec::with_capacity(steps.len());
    for step in steps {
        stored.push(store.store_steps(vec![step]).await.is_ok_and(|stored| stored == [true]));
    }
    Ok(stored)
}

fn failed(task: u64, failure: TaskFailure) -> Event {
    Event::TaskFailed { task, error: Some(failure.error), cause: Some(failure.cause) }
}

/// Does what a command asks for, and says what came of it.
async fn perform(tasks: &dyn Tasks, store: &dyn Store, id: ExecutionId, arn: String, command: Command) -> Event {
    match command {
        Command::RunTask { task, nested: Some(nested), .. } => match start_nested(store, id, task, &nested).await {
            Ok(output) if nested.waits => Event::TaskSubmitted { task, output },
            Ok(output) => Event::TaskSucceeded { task, output },
            Err(failure) => failed(task, failure),
        },
        Command::RunTask { task, state, resource, input, token, .. } => {
            let waits = token.is_some();
            let call = TaskCall { execution: id, execution_arn: arn, task, state, resource, input, token };
            match tasks.run(call).await {
                Ok(output) if waits => Event::TaskSubmitted { task, output },
                Ok(output) => Event::TaskSucceeded { task, output },
                Err(failure) => failed(task, failure),
            }
        }
        Command::ReadItems { task, resource, arguments, config, max_items, .. } => {
            match tasks.read_items(ItemsRequest { resource, arguments, config, max_items }).await {
                Ok(items) => Event::ItemsRead { task, items },
                Err(failure) => failed(task, failure),
            }
        }
        Command::WriteResults { task, state, resource, arguments, config, results } => {
            let request = ResultsRequest { execution_arn: arn, state, resource, arguments, config, results };
            match tasks.write_results(request).await {
                Ok(output) => Event::TaskSucceeded { task, output },
                Err(failure) => failed(task, failure),
            }
        }
        Command::CancelTask { .. }
        | Command::StartTimer { .. }
        | Command::CancelTimer { .. }
        | Command::Continue
        | Command::Finish => Event::Continued,
    }
}

async fn start_nested(
    store: &dyn Store,
    parent: ExecutionId,
    task: u64,
    nested: &Nested,
) -> Result<serde_json::Value, TaskFailure> {
    let trouble = |error: bindery_store::StoreError| TaskFailure::new("States.TaskFailed", error);
    let machine = Name::from(machine_name(&nested.machine));
    let Some(stored) = store.machine(&machine, None).await.map_err(trouble)? else {
        let error = "StepFunctions.StateMachineDoesNotExistException";
        return Err(TaskFailure::new(error, format!("State Machine Does Not Exist: '{}'", nested.machine)));
    };
    let name = nested::name_of(nested, parent, task);
    let parent = Some((parent, task));
    let new =
        NewExecution { machine, version: stored.version, name: name.clone(), input: nested.input.to_string(), parent };
    let started_at = match store.start_executions(vec![new]).await.map_err(trouble)?.pop() {
        // Asked for before a crash.
        Some(Started::Existing(existing)) if existing.parent == parent => existing.started_at,
        Some(Started::Existing(existing)) => {
            let error = "StepFunctions.ExecutionAlreadyExistsException";
            return Err(TaskFailure::new(error, format!("Execution Already Exists: '{name}' is {}", existing.id)));
        }
        Some(Started::New(_)) | None => store.clock().now(),
    };
    Ok(nested::started(nested, &name, started_at))
}
