//! The supervisor: keeps a worker going in this process, with whatever runs beside it, and ends all of it when asked.
//!
//! Beside the worker there may be an executor of state machines, a broker that carries jobs, and loops. What goes wrong
//! in a loop is told, waited out and tried again while the rest goes on. The first request to stop lets work under way
//! finish, the second one does not wait for it; what was interrupted is done again later.

use crate::{
    app::App,
    broker::Broker,
    error::{AppError, AppResult},
    notice::{Notice, Observer},
    readiness::Readiness,
    signals::Signals,
};
use bindery_engine::{
    EngineResult, StoreHealth, Worker,
    machines::{Executor, ExecutorOptions},
};
/// How a worker is set up, and how anything that goes on is stopped.
pub use bindery_engine::{SILENT_AFTER, StopHandle, StopSignal, WorkerOptions, stop_pair};
use bindery_pipeline::functions::Functions;
use std::{future::Future, sync::Arc, time::Duration};
use tokio::task::{JoinError, JoinHandle, JoinSet};

/// How long what failed is left alone before it is started again.
const RESTART_AFTER: Duration = Duration::from_secs(10);

/// A worker at work, with what runs beside it.
#[derive(Debug)]
pub struct Supervisor {
    app: App,
    options: WorkerOptions,
    worker: RunningWorker,
    restarts: bool,
    executor: Option<(StopHandle, JoinHandle<()>)>,
    broker: Broker,
    loops: JoinSet<()>,
    loops_stop: (StopHandle, StopSignal),
    readiness: Readiness,
}

#[derive(Debug)]
struct RunningWorker {
    handle: StopHandle,
    health: Arc<StoreHealth>,
    task: JoinHandle<EngineResult<u64>>,
    /// Its end was waited for, and came.
    is_over: bool,
}

/// How a supervisor ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// How many jobs its worker has finished.
    pub jobs: u64,
    /// Somebody did not want to wait for work under way.
    pub is_at_once: bool,
}

impl Supervisor {
    /// Starts a worker.
    pub fn start(app: &App, options: WorkerOptions) -> Self {
        Self::start_with(app, options, Broker::default(), Readiness::default())
    }

    /// Starts a worker that gets jobs from a broker, too, and whose state others can ask for.
    pub fn start_with(app: &App, options: WorkerOptions, mut broker: Broker, readiness: Readiness) -> Self {
        let mut worker = Worker::new(app.engine.clone(), options.clone());
        if let Some(source) = broker.start() {
            worker = worker.with_source(source);
        }
        let worker = RunningWorker::spawn(app, worker, &readiness);
        Self {
            app: app.clone(),
            options,
            worker,
            restarts: false,
            executor: None,
            broker,
            loops: JoinSet::new(),
            loops_stop: stop_pair(),
            readiness,
        }
    }

    /// Runs state machines, too.
    #[must_use]
    pub fn with_machines(mut self, functions: Functions) -> Self {
        let (handle, stop) = stop_pair();
        let executor = Executor::new(self.app.engine.clone(), Arc::new(functions), ExecutorOptions::default());
        self.executor = Some((handle, tokio::spawn(async move { executor.run(stop).await })));
        self
    }

    /// A worker that ends by itself is followed by another, which gets its jobs from the store alone.
    #[must_use]
    pub fn with_restarts(mut self) -> Self {
        self.restarts = true;
        self
    }

    /// Runs a loop beside the worker until everything stops, and again after a pause when it ends or fails before.
    #[must_use]
    pub fn with_loop<F>(mut self, what: &'static str, work: impl Fn(StopSignal) -> F + Send + 'static) -> Self
    where
        F: Future<Output = AppResult<()>> + Send + 'static,
    {
        self.loops.spawn(keep_going(what, self.app.shared_observer(), self.loops_stop.1.clone(), work));
        self
    }

    /// Whether the worker can use the store.
    pub fn health(&self) -> &Arc<StoreHealth> {
        &self.worker.health
    }

    /// Waits for something while the worker works: none when a signal came first. It is an error that the worker ends
    /// meanwhile, unless it is to be restarted.
    pub async fn run_until<T, E: From<AppError>>(
        &mut self,
        signals: &mut Signals,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<Option<T>, E> {
        let mut work = std::pin::pin!(work);
        loop {
            let ended = tokio::select! {
                () = signals.next() => return Ok(None),
                done = &mut work => return done.map(Some),
                ended = self.worker.ended() => ended,
            };
            if !self.restarts {
                return Err(ended.err().unwrap_or(AppError::WorkerEnded).into());
            }
            report_failure(self.app.observer(), "the worker", ended.map(drop));
            tokio::select! {
                () = signals.next() => return Ok(None),
                done = &mut work => return done.map(Some),
                () = tokio::time::sleep(RESTART_AFTER) => {
                    let worker = Worker::new(self.app.engine.clone(), self.options.clone());
                    self.worker = RunningWorker::spawn(&self.app, worker, &self.readiness);
                }
            }
        }
    }

    /// Waits for something that the handle can stop while the worker works: a signal stops it, and its end is waited for.
    pub async fn until_stopped<T, E: From<AppError>>(
        &mut self,
        signals: &mut Signals,
        handle: &StopHandle,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let mut work = std::pin::pin!(work);
        if let Some(done) = self.run_until(signals, &mut work).await? {
            return Ok(done);
        }
        handle.stop();
        work.await
    }

    /// Lets work under way finish; a signal in the meantime ends the wait.
    pub async fn stop(mut self, signals: &mut Signals) -> AppResult<Stopped> {
        self.readiness.drain();
        self.loops_stop.0.stop();
        let mut is_at_once = false;
        // What machines wait for may be work of the worker, which goes on until they have stopped.
        if let Some((handle, mut task)) = self.executor.take() {
            handle.stop();
            loop {
                tokio::select! {
                    ended = &mut task => break ended?,
                    () = signals.next() => {
                        self.stop_at_once(&mut is_at_once);
                        handle.stop();
                    }
                }
            }
        }
        self.worker.handle.stop();
        if is_at_once {
            self.worker.handle.stop();
        }
        let jobs = loop {
            tokio::select! {
                ended = self.worker.ended() => break ended,
                () = signals.next() => {
                    self.stop_at_once(&mut is_at_once);
                    self.worker.handle.stop();
                }
            }
        };
        loop {
            tokio::select! {
                joined = self.loops.join_next() => if joined.is_none() { break },
                () = signals.next() => self.stop_at_once(&mut is_at_once),
            }
        }
        self.broker.stop().await;
        Ok(Stopped { jobs: jobs?, is_at_once })
    }

    fn stop_at_once(&mut self, is_at_once: &mut bool) {
        if !std::mem::replace(is_at_once, true) {
            self.app.notify(&Notice::StoppingAtOnce);
        }
        self.loops.abort_all();
    }

    /// Ends without waiting for anything, because nothing can be stored. What was in hand is done again later.
    pub fn abandon(self) {
        self.worker.task.abort();
        if let Some((_, task)) = self.executor {
            task.abort();
        }
    }
}

impl RunningWorker {
    fn spawn(app: &App, worker: Worker, readiness: &Readiness) -> Self {
        let (handle, stop) = stop_pair();
        readiness.begin(Arc::clone(app.engine.store()), Arc::clone(worker.metrics()));
        let health = Arc::clone(worker.health());
        Self { handle, health, task: tokio::spawn(async move { worker.run(stop).await }), is_over: false }
    }

    /// Waits for its end. Returns how many jobs it finished in all; none when its end was waited for before.
    async fn ended(&mut self) -> AppResult<u64> {
        if self.is_over {
            return Ok(0);
        }
        let ended = (&mut self.task).await;
        self.is_over = true;
        Ok(ended??)
    }
}

/// A loop that goes on until it should stop. What goes wrong in it is told, and after a pause it begins again.
async fn keep_going<F>(
    what: &'static str,
    observer: Arc<dyn Observer>,
    mut stop: StopSignal,
    work: impl Fn(StopSignal) -> F + Send,
) where
    F: Future<Output = AppResult<()>> + Send + 'static,
{
    while !stop.is_stopping() {
        // A task of its own: a panic in it is one more way to fail.
        let ended = AbortOnDrop(tokio::spawn(work(stop.clone()))).join().await;
        if stop.is_stopping() {
            break;
        }
        report_failure(&*observer, what, ended.map_err(AppError::from).flatten());
        tokio::select! {
            () = tokio::time::sleep(RESTART_AFTER) => {}
            () = stop.stopping() => {}
        }
    }
}

fn report_failure(observer: &dyn Observer, what: &'static str, ended: AppResult<()>) {
    let why = ended.map_or_else(|error| error.to_string(), |()| "it ended by itself".to_owned());
    observer.notice(&Notice::Restarting { what, why, pause: RESTART_AFTER });
}

/// A task that does not outlive whoever waits for it.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> AbortOnDrop<T> {
    async fn join(mut self) -> Result<T, JoinError> {
        (&mut self.0).await
    }
}

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notice::testing::Heard;

    #[tokio::test]
    async fn a_loop_that_panics_is_reported_and_can_be_stopped_before_it_goes_on() {
        let heard = Arc::new(Heard::default());
        let (handle, stop) = stop_pair();
        let going =
            tokio::spawn(keep_going("counting", Arc::clone(&heard) as _, stop, |_| async { panic!("out of fingers") }));
        while heard.0.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        handle.stop();
        going.await.unwrap();
        let heard = heard.0.lock().unwrap();
        let [Notice::Restarting { what: "counting", why, .. }] = &**heard else { panic!("{heard:?}") };
        assert!(why.contains("panicked"), "{why}");
    }
}
