//! The threads that run the processors' steps.
//!
//! A step cannot be killed, so a thread whose step takes too long is left behind and another takes its place; when the
//! old one comes back it finds that its job is gone and ends.

use super::{Shared, in_flight::Claim, settling::Worked};
use crate::{
    catalog::SubmissionInfo,
    context::{CancelFlag, InWorkflow, StepContext},
    engine::Engine,
    error::EngineError,
    processor::{Extracted, Kind, Processor},
    reuse::{self, Prepared, TakenOver, take_over},
    runner::{Limits, Processes, Task, Unit},
    settle::Found,
    steps::{self, Failure, StepTimes, Stopped},
    workflow::{Stage, StageRunner, Target},
};
use bindery_core::{
    JobId, Payload, StepError,
    job::{ClaimedJob, ENGINE_QUEUE},
    outcome::Step,
};
use bindery_store::{StoreResult, blobs::Draft};
use std::{
    collections::{HashSet, VecDeque},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{runtime::Handle, sync::mpsc::UnboundedSender};

/// How long it may take until a child that was killed is gone.
const KILLING_TAKES: Duration = Duration::from_secs(5);

/// The name of the error of a job that was given up for the workers that died while they ran it alone.
const KILLED_ITS_WORKER: &str = "KilledItsWorker";

/// A job with what its steps need, looked up beforehand.
#[derive(Debug)]
struct Ready {
    claimed: ClaimedJob,
    info: Arc<SubmissionInfo>,
    stage: usize,
}

#[derive(Debug, Default)]
struct Waiting {
    jobs: VecDeque<Ready>,
    closed: bool,
    /// Threads that should end because another has taken their place.
    surplus: usize,
}

#[derive(Debug)]
struct Pool {
    shared: Arc<Shared>,
    /// None once the pool is closed: a thread that is stuck in a step must not keep the settlers waiting.
    results: Mutex<Option<UnboundedSender<Worked>>>,
    waiting: Mutex<Waiting>,
    bell: Condvar,
    /// How many threads are in steps, also those that were left behind.
    busy: AtomicUsize,
    runtime: Handle,
}

/// The pool; dropping it ends the threads that are idle.
#[derive(Debug)]
pub(super) struct Threads(Arc<Pool>);

/// A handle for the keeper.
#[derive(Debug, Clone)]
pub(super) struct ThreadsHandle(Arc<Pool>);

impl Threads {
    pub(super) fn start(shared: Arc<Shared>, results: UnboundedSender<Worked>) -> Self {
        let count = shared.options.threads.max(1);
        let pool = Arc::new(Pool {
            shared,
            results: Mutex::new(Some(results)),
            waiting: Mutex::default(),
            bell: Condvar::new(),
            busy: AtomicUsize::new(0),
            runtime: Handle::current(),
        });
        for _ in 0..count {
            Pool::add_thread(&pool);
        }
        Self(pool)
    }

    pub(super) fn handle(&self) -> ThreadsHandle {
        ThreadsHandle(Arc::clone(&self.0))
    }

    /// Hands claimed jobs to the threads; the engine's own small jobs, and those that need no steps, go straight on.
    pub(super) async fn hand_over(&self, claimed: Vec<ClaimedJob>) {
        let pool = &self.0;
        pool.shared.in_flight.insert(claimed.iter().map(|claim| (claim.job.id, claim.token)));
        pool.shared.claimed.notify_one();
        let mut ready = Vec::with_capacity(claimed.len());
        for claim in claimed {
            match prepare(&pool.shared.engine, claim).await {
                Ok(job) => ready.push(job),
                Err(worked) => pool.settle(*worked),
            }
        }
        pool.begin(ready);
    }

    /// Hands a group of suspects over that is in hand already. Before, it is stored that they begin. Those that have killed
    /// too many workers are given up, and those that are not held any more are left out.
    pub(super) async fn hand_over_suspects(&self, group: &[ClaimedJob]) -> StoreResult<()> {
        let pool = &self.0;
        let (mut ready, mut others, mut leases) = (Vec::new(), Vec::new(), Vec::new());
        for claim in group {
            match prepare(&pool.shared.engine, claim.clone()).await {
                Ok(job) => ready.push(job),
                Err(worked) if worked.is_given_up() => {
                    pool.settle(*worked);
                    continue;
                }
                Err(worked) => others.push(worked),
            }
            leases.push((claim.job.id, claim.token));
        }
        if leases.is_empty() {
            return Ok(());
        }
        let begun: HashSet<JobId> =
            pool.shared.engine.store().begin_suspects(leases.clone()).await?.into_iter().collect();
        for lost in leases.into_iter().filter(|(job, _)| !begun.contains(job)) {
            pool.shared.in_flight.drop_lost(lost);
        }
        others.into_iter().filter(|worked| begun.contains(&worked.claim().0)).for_each(|worked| pool.settle(*worked));
        ready.retain(|job| begun.contains(&job.claimed.job.id));
        pool.begin(ready);
        Ok(())
    }

    /// How many threads are in steps that were not given up.
    pub(super) fn busy(&self) -> usize {
        self.0.busy.load(Ordering::SeqCst).saturating_sub(self.0.lock().surplus)
    }

    /// The jobs that no thread has begun.
    pub(super) fn take_back(&self) -> Vec<Claim> {
        self.0.lock().jobs.drain(..).map(|ready| (ready.claimed.job.id, ready.claimed.token)).collect()
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.bell.notify_all();
        self.0.results.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl ThreadsHandle {
    /// A thread is stuck in a step that was given up: put another in its place.
    pub(super) fn replace_stuck(&self, held: Claim, limit: Duration) {
        self.0.lock().surplus += 1;
        Pool::add_thread(&self.0);
        self.0.shared.in_flight.skip_steps(held);
        self.0.send(Worked::TookTooLong { held, limit });
    }
}

/// Looks up what a job's steps need, or says what becomes of a job that needs none.
async fn prepare(engine: &Engine, claimed: ClaimedJob) -> Result<Ready, Box<Worked>> {
    let info = match engine.catalog().submission(claimed.job.submission).await {
        Ok(info) => info,
        Err(error) => return Err(Box::new(Worked::Lookup { claimed, error })),
    };
    if claimed.job.queue == ENGINE_QUEUE {
        if claimed.job.losses >= Stage::DEFAULT_MAX_WORKER_LOSSES {
            let error = EngineError::Invalid(killed_its_workers(&claimed).message);
            return Err(Box::new(Worked::Lookup { claimed, error }));
        }
        return Err(Box::new(Worked::Internal { claimed, info }));
    }
    let Some(stage) = info.workflow.index_of(&claimed.job.stage) else {
        let missing = format!("workflow {} has no stage {}", info.workflow.name, claimed.job.stage);
        return Err(Box::new(Worked::Lookup { claimed, error: EngineError::Invalid(missing) }));
    };
    if claimed.job.losses >= info.workflow.stages[stage].max_worker_losses {
        let failure = Failure::with_resume(killed_its_workers(&claimed), claimed.job.resume.clone());
        return Err(Box::new(Worked::Failed { claimed, info, stage, failure, drafts: Vec::new() }));
    }
    if claimed.report_overdue {
        return Err(Box::new(Worked::Overdue { claimed, info, stage }));
    }
    Ok(Ready { claimed, info, stage })
}

/// It ran alone each time: it is the job, not the workers.
fn killed_its_workers(claimed: &ClaimedJob) -> StepError {
    let (times, last) = (claimed.job.losses, claimed.job.error.as_ref().map_or("", |error| error.message.as_str()));
    let times = if times == 1 { "once".to_owned() } else { format!("{times} times") };
    StepError::bug(format!("killed its worker {times} while nothing else ran; the last time: {last}"))
        .named(KILLED_ITS_WORKER)
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something that needs no steps.
    fn settle(&self, worked: Worked) {
        self.shared.in_flight.skip_steps(worked.claim());
        self.send(worked);
    }

    fn begin(&self, ready: Vec<Ready>) {
        self.lock().jobs.extend(ready);
        self.bell.notify_all();
    }

    fn send(&self, worked: Worked) {
        if let Some(results) = &*self.results.lock().unwrap_or_else(PoisonError::into_inner) {
            // Without a receiver the worker has ended, and the leases will expire.
            let _ = results.send(worked);
        }
    }

    fn add_thread(pool: &Arc<Self>) {
        let thread_pool = Arc::clone(pool);
        let spawned = std::thread::Builder::new().name("bindery-work".to_owned()).spawn(move || thread_pool.serve());
        if let Err(error) = spawned {
            tracing::error!(error = %error, "a worker thread did not start; going on with fewer");
        }
    }

    fn serve(&self) {
        // Whatever a step asks the store, this thread waits for the answer.
        bindery_store::allow_blocking_on_this_thread();
        while let Some(ready) = self.next() {
            self.busy.fetch_add(1, Ordering::SeqCst);
            let worked = self.work(ready);
            self.busy.fetch_sub(1, Ordering::SeqCst);
            if let Some(worked) = worked {
                self.send(worked);
            } else {
                // The job was given up meanwhile, and another thread has our place.
                let mut waiting = self.lock();
                if waiting.surplus > 0 {
                    waiting.surplus -= 1;
                    return;
                }
            }
        }
    }

    fn next(&self) -> Option<Ready> {
        let mut waiting = self.lock();
        loop {
            if let Some(ready) = waiting.jobs.pop_front() {
                if waiting.jobs.len() <= self.shared.options.threads {
                    // Before the threads run dry, and without waiting for results to be stored.
                    self.shared.room_for_more.send_replace(());
                }
                return Some(ready);
            }
            if waiting.closed {
                return None;
            }
            // What it could do next may follow from results that are not stored yet.
            self.shared.idle_threads.fetch_add(1, Ordering::SeqCst);
            self.shared.thread_idle.notify_one();
            waiting = self.bell.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            self.shared.idle_threads.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Runs the steps. None if the job was lost or given up while they ran.
    fn work(&self, ready: Ready) -> Option<Worked> {
        let Ready { claimed, info, stage } = ready;
        let engine = &self.shared.engine;
        let processor = engine.registry().get(&claimed.job.processor);
        let isolation = processor.map(|processor| isolation_of(engine, &info.workflow.stages[stage], processor));
        // A child is killed when its time is over; the thread that waits for it need not be given up.
        let patience = if let Some(Ok(Some(_))) = isolation { KILLING_TAKES } else { Duration::ZERO };
        let patience = may_take(&claimed, &info, stage) + patience;
        let cancel = self.shared.in_flight.begin(claimed.job.id, claimed.token, patience)?;
        let (result, drafts) = self.run_steps(&claimed, &info, stage, &cancel);
        if !self.shared.in_flight.end(claimed.job.id, claimed.token) {
            return None;
        }
        Some(match result {
            Ok(found) => Worked::Found { claimed, info, stage, found: Box::new(found), drafts },
            Err(failure) => Worked::Failed { claimed, info, stage, failure, drafts },
        })
    }

    /// What the steps came to, and the blobs that it names.
    fn run_steps(
        &self,
        claimed: &ClaimedJob,
        info: &Arc<SubmissionInfo>,
        stage: usize,
        cancel: &CancelFlag,
    ) -> (Result<Found, Failure>, Vec<Draft>) {
        let job = &claimed.job;
        let engine = &self.shared.engine;
        let Some(processor) = engine.registry().get(&job.processor) else {
            let until = format!("processor {}", job.processor);
            let message = format!("this program has no processor {}; start a worker that has it", job.processor);
            return (Err(Failure::with_resume(StepError::park(until, message), job.resume.clone())), Vec::new());
        };
        let definition = &info.workflow.stages[stage];
        let place = InWorkflow {
            engine: engine.clone(),
            submission: Arc::clone(info),
            stage,
            item: job.item,
            claim: (job.id, claimed.token),
        };
        let context = StepContext::in_workflow(place, job.attempt, cancel.clone(), self.runtime.clone());
        let known_by = match look_up(processor.as_ref(), &context, &job.payload) {
            LookedUp::Done(found) => return (Ok(*found), context.take_drafts()),
            LookedUp::ToDo(known_by) => known_by,
        };
        // Benchmarks and tests count by this what was begun, and what was begun more than once.
        tracing::debug!(job.id = %job.id, stage = %job.stage, attempt = job.attempt, "begins");
        let run_steps = |from, value| match isolation_of(engine, definition, processor)? {
            Some(processes) => {
                let task = Task {
                    settings: Arc::new(definition.settings.clone()),
                    limits: Limits { time: Some(may_take(claimed, info, stage)), memory: definition.memory },
                    cancel: cancel.clone(),
                    ..Task::new(Arc::clone(processor))
                };
                let ran = processes.run_one(&task, Unit { from, value, attempt: job.attempt, work: context.work() });
                context.charge_all(ran.costs);
                ran.result
            }
            None => steps::run_from(processor.as_ref(), &context, from, value, &mut StepTimes::default()),
        };
        let extracted = steps::run(processor.as_ref(), &context, &job.payload, job.resume.as_ref(), run_steps);
        let found = extracted.and_then(|extracted| keep_large_values(&context, extracted, processor.version()));
        let found = found.map(|found| Found { known_by, ..found });
        (found, context.take_drafts())
    }
}

/// Whether a piece of work has been done before.
enum LookedUp {
    Done(Box<Found>),
    /// No; by what its result will be known.
    ToDo(Option<Prepared>),
}

fn look_up(processor: &dyn Processor, context: &StepContext, payload: &Payload) -> LookedUp {
    if processor.reuse().is_none() {
        return LookedUp::ToDo(None);
    }
    // What cannot be read is told by the steps.
    let Ok(input) = context.read(payload) else { return LookedUp::ToDo(None) };
    let Some(known_by) = reuse::prepare(processor, context, &input) else { return LookedUp::ToDo(None) };
    let Some(taken) = take_over(processor, context, &known_by, &input) else { return LookedUp::ToDo(Some(known_by)) };
    let TakenOver { from, is_decided, rejected, processor_version, extracted, output } = taken;
    match keep_large_values(context, extracted, processor_version) {
        Ok(found) => LookedUp::Done(Box::new(Found {
            output: output.unwrap_or(found.output),
            known_by: Some(known_by),
            taken_over_from: Some(from),
            is_decided,
            rejected,
            ..found
        })),
        Err(_) => LookedUp::ToDo(Some(known_by)),
    }
}

fn may_take(claimed: &ClaimedJob, info: &SubmissionInfo, stage: usize) -> Duration {
    let stage = &info.workflow.stages[stage];
    stage.processor(&claimed.job.processor).map_or(stage.timeout, |processor| stage.timeout_of(processor))
}

/// The processes that a stage's processor runs in; none for the threads of the worker.
fn isolation_of<'e>(
    engine: &'e Engine,
    stage: &Stage,
    processor: &Arc<dyn Processor>,
) -> Result<Option<&'e Processes>, Box<Stopped>> {
    match (stage.runner, engine.isolation()) {
        (StageRunner::Processes, None) => {
            let message = format!("stage {} wants processes of its own, and this program starts none", stage.name);
            let error = StepError::park("a worker with processes", message);
            Err(Box::new(Stopped { step: Step::Validation, error, input: None }))
        }
        (StageRunner::Processes, isolation) => Ok(isolation),
        (StageRunner::Auto, isolation) if processor.kind() == Kind::Risky => Ok(isolation),
        (StageRunner::Auto | StageRunner::Threads, _) => Ok(None),
    }
}

/// Large values go to the blob store here, on the thread, so that the commit is only rows.
fn keep_large_values(context: &StepContext, extracted: Extracted, processor_version: u32) -> Result<Found, Failure> {
    let charged: i64 = context.take_costs().iter().map(|cost| cost.micros).sum();
    let output = match extracted.output_blob {
        Some(kept) => Payload::Blob(kept),
        None => context.payload(&extracted.output).map_err(Failure::new)?,
    };
    Ok(Found {
        output,
        confidence: extracted.confidence,
        children: extracted.children,
        reasons: extracted.reasons,
        target: extracted.target.unwrap_or(Target::Next),
        artifacts: extracted.artifacts,
        label: extracted.label,
        skipped: extracted.skipped,
        events: extracted.events,
        cost_micros: extracted.cost_micros + charged,
        processor_version,
        known_by: None,
        taken_over_from: None,
        is_decided: false,
        rejected: None,
    })
}
