//! Running a worker inside this process, and stopping it when somebody asks.

use crate::{config::App, output};
use bindery_core::{SubmissionId, job::JobState, progress::Progress};
use bindery_engine::{
    EngineResult, StopHandle, StoreHealth, Worker, WorkerMetrics, WorkerOptions,
    machines::{Executor, ExecutorOptions},
    stop_pair,
    worker::Source,
};
use bindery_pipeline::functions::Functions;
use bindery_store::query::JobFilter;
use std::sync::Arc;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    task::JoinHandle,
};

/// Ctrl-C and SIGTERM, which mean the same.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// A worker at work.
#[derive(Debug)]
pub(crate) struct Running {
    handle: StopHandle,
    metrics: Arc<WorkerMetrics>,
    health: Arc<StoreHealth>,
    task: JoinHandle<EngineResult<u64>>,
    /// Its end was waited for, and came.
    is_over: bool,
    /// Runs state machines.
    executor: Option<(StopHandle, JoinHandle<()>)>,
}

impl Running {
    pub(crate) fn start(app: &App, options: WorkerOptions) -> Self {
        Self::start_with(app, options, None)
    }

    /// With jobs that come from elsewhere, too.
    pub(crate) fn start_with(app: &App, options: WorkerOptions, source: Option<Arc<dyn Source>>) -> Self {
        let (handle, stop) = stop_pair();
        let mut worker = Worker::new(app.engine.clone(), options);
        if let Some(source) = source {
            worker = worker.with_source(source);
        }
        let (metrics, health) = (Arc::clone(worker.metrics()), Arc::clone(worker.health()));
        let task = tokio::spawn(async move { worker.run(stop).await });
        Self { handle, metrics, health, task, is_over: false, executor: None }
    }

    /// Runs state machines, too.
    #[must_use]
    pub(crate) fn with_machines(mut self, app: &App, functions: Functions) -> Self {
        let (handle, stop) = stop_pair();
        let executor = Executor::new(app.engine.clone(), Arc::new(functions), ExecutorOptions::default());
        self.executor = Some((handle, tokio::spawn(async move { executor.run(stop).await })));
        self
    }

    /// What it counts while it works.
    pub(crate) fn metrics(&self) -> &Arc<WorkerMetrics> {
        &self.metrics
    }

    /// Whether it can use the store.
    pub(crate) fn health(&self) -> &StoreHealth {
        &self.health
    }

    /// Ends it without waiting for anything, because nothing can be stored. What it had in hand is done again later.
    pub(crate) fn abandon(self) {
        self.task.abort();
        if let Some((_, task)) = self.executor {
            task.abort();
        }
    }

    /// A first time: let work under way finish; a second time: do not wait for it.
    pub(crate) fn ask_to_stop(&self) {
        self.handle.stop();
    }

    /// Waits for its end. Returns how many jobs it finished in all; nothing is left to do when it has ended before.
    pub(crate) async fn ended(&mut self) -> anyhow::Result<u64> {
        if self.is_over {
            return Ok(0);
        }
        let ended = (&mut self.task).await;
        self.is_over = true;
        Ok(ended??)
    }

    /// Whether it ended by itself, which it should not.
    pub(crate) fn has_ended(&self) -> bool {
        self.task.is_finished()
    }

    /// Lets work under way finish; a signal in the meantime ends the wait. Returns how many jobs it finished in all.
    pub(crate) async fn stop(mut self, signals: &mut Signals) -> anyhow::Result<u64> {
        // What machines wait for may be work of the worker, which goes on until they have stopped.
        if let Some((handle, mut task)) = self.executor.take() {
            handle.stop();
            loop {
                tokio::select! {
                    ended = &mut task => break ended?,
                    () = signals.next() => handle.stop(),
                }
            }
        }
        self.handle.stop();
        loop {
            tokio::select! {
                ended = &mut self.task => return Ok(ended??),
                () = signals.next() => {
                    output::note("stopping at once; work under way is done again later");
                    self.handle.stop();
                }
            }
        }
    }
}

/// Whether nothing will happen to a submission by itself: everything left of it waits for a person, for a program
/// outside, for a dependency, or for a paused queue.
pub(crate) async fn is_stuck(app: &App, id: SubmissionId, progress: &Progress) -> anyhow::Result<bool> {
    if progress.status.is_final() {
        return Ok(false);
    }
    let paused = app.store().queues().await?.into_iter().filter(|queue| queue.paused).collect::<Vec<_>>();
    let states = vec![JobState::Ready, JobState::Running, JobState::Scheduled];
    // Without a paused queue a single such job answers the question.
    let limit = paused.is_empty().then_some(1);
    let moving = app.store().jobs(JobFilter { submission: Some(id), states, limit, ..JobFilter::default() }).await?;
    let will_move = |state: JobState, queue: &str| {
        state == JobState::Running || !paused.iter().any(|paused| paused.queue == *queue)
    };
    if moving.iter().any(|view| will_move(view.job.state, &view.job.queue)) {
        return Ok(false);
    }
    // The last job may have ended since the progress was looked at, and the submission with it.
    let now = app.store().submission(id).await?;
    Ok(now.is_some_and(|submission| !submission.status.is_final()))
}
