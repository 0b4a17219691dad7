//! A store in a folder, the worker processes on it, and waiting for them.

use crate::{
    child::Orders,
    stores::{self, Time},
    twice::Twice,
    workload::{self, Shape},
};
use bindery_core::{
    Clock, SubmissionId,
    fault::{FaultPoint, Faults, NoFaults},
    submission::SubmissionStatus,
    time::SystemClock,
};
use bindery_engine::{
    Engine, EngineResult, Parts,
    intake::{Intake, IntakeFile},
    view,
};
use bindery_store::{
    Store,
    blobs::{LayeredBlobs, LocalBlobs},
    query::{JobFilter, SubmissionFilter},
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::{Child, ExitStatus},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::runtime::Runtime;

/// No wait should ever be this long; one that is has found something.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Tells every worker of the folder to end in good order.
fn close_mark(root: &Path) -> PathBuf {
    root.join("closed")
}

pub(crate) fn closed(root: &Path) -> bool {
    close_mark(root).exists()
}

/// Waits for something that must come.
pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Where small blobs are.
#[derive(Debug, Clone, Copy)]
enum Small {
    Rows,
    Files,
}

/// An engine on the store of a folder, with nothing that works.
pub(crate) struct Site {
    pub(crate) root: PathBuf,
    pub(crate) engine: Engine,
    pub(crate) store: Arc<dyn Store>,
}

impl Site {
    /// As a worker does.
    pub(crate) fn open_as(orders: &Orders, clock: Arc<dyn Clock>, faults: Arc<dyn Faults>) -> Self {
        let store = stores::open_with_faults(&orders.root, Time::Own(clock), Arc::clone(&faults));
        let store = if orders.twice { Arc::new(Twice(store)) } else { store };
        let of_files = [FaultPoint::BeforeBlobSync, FaultPoint::BeforeBlobRename, FaultPoint::AfterBlobBeforeCommit];
        let is_of_files = |(at, ..): &(String, _, _)| of_files.iter().any(|point| point.as_str() == at);
        // A crash among files needs some: there, no blob is small.
        let small = if orders.fault.as_ref().is_some_and(is_of_files) { Small::Files } else { Small::Rows };
        Self::on(store, &orders.root, faults, small)
    }

    fn on(store: Arc<dyn Store>, root: &Path, faults: Arc<dyn Faults>, small: Small) -> Self {
        let files = Arc::new(LocalBlobs::open_with_faults(root.join("blobs"), Arc::clone(&faults)).unwrap());
        let blobs = match small {
            Small::Rows => LayeredBlobs::of_store(&store, files),
            Small::Files => files,
        };
        let parts = Parts::new(Arc::clone(&store), blobs, workload::registry());
        Self { root: root.to_owned(), engine: Engine::new(Parts { faults, ..parts }), store }
    }

    pub(crate) fn undisturbed(root: &Path) -> Self {
        Self::on(stores::open(root, Time::Own(Arc::new(SystemClock))), root, Arc::new(NoFaults), Small::Rows)
    }

    /// Takes in a submission: workflows, bytes and all. Doing it twice is doing it once.
    pub(crate) async fn submit(&self, external_id: &str, shape: Shape) -> EngineResult<SubmissionId> {
        self.engine.register_builtin_workflows().await?;
        for workflow in [workload::TORTURE, workload::WIDE] {
            self.engine.register_workflow(workflow, None).await?;
        }
        let mut files = Vec::new();
        for file in 0..shape.files() {
            let stored = self.engine.blobs().put(shape.text(file).into_bytes()).await?;
            files.push(IntakeFile {
                name: format!("file-{file}.txt"),
                content: stored.hash,
                size: stored.size,
                media_type: "text/plain".to_owned(),
                key: None,
            });
        }
        let mut intake = Intake::new(shape.workflow(), files);
        intake.external_id = Some(external_id.to_owned());
        Ok(self.engine.submit(intake).await?.id())
    }

    pub(crate) async fn submit_now(&self, external_id: &str, shape: Shape) -> SubmissionId {
        self.submit(external_id, shape).await.unwrap()
    }

    /// How many submissions there are, and how many of them are not final.
    pub(crate) async fn counts(&self) -> (usize, usize) {
        let all = self.store.submissions(SubmissionFilter::default()).await.unwrap();
        (all.len(), all.iter().filter(|submission| !submission.status.is_final()).count())
    }

    pub(crate) async fn result(&self, id: SubmissionId) -> Option<Value> {
        view::result(&self.engine, id).await.unwrap()
    }

    pub(crate) async fn status(&self, id: SubmissionId) -> SubmissionStatus {
        self.store.submission(id).await.unwrap().unwrap().status
    }

    /// Waits until this many submissions are there and all are final.
    pub(crate) fn wait_for_all(&self, runtime: &Runtime, submissions: usize) {
        let begun = Instant::now();
        while runtime.block_on(self.counts()) != (submissions, 0) {
            if begun.elapsed() > PATIENCE {
                let jobs =
                    runtime.block_on(self.store.jobs(JobFilter { limit: Some(20), ..JobFilter::default() })).unwrap();
                let left: Vec<String> = jobs
                    .iter()
                    .map(|view| format!("{} {} {:?}: {}", view.job.id, view.job.queue, view.job.state, view.reason))
                    .collect();
                panic!("submissions do not become final; left are\n{}", left.join("\n"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn start(&self, name: &str) -> WorkerProcess {
        WorkerProcess::start(Orders::new(&self.root, name))
    }

    pub(crate) fn close(&self) {
        std::fs::write(close_mark(&self.root), "").unwrap();
    }
}

/// A worker process; killed when dropped.
pub(crate) struct WorkerProcess {
    pub(crate) orders: Orders,
    process: Child,
}

impl WorkerProcess {
    pub(crate) fn start(orders: Orders) -> Self {
        let process = orders.command().spawn().unwrap();
        Self { orders, process }
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        self.process.try_wait().unwrap().is_none()
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    pub(crate) fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    pub(crate) fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    /// How it ended, if it has; what it said is in the panic if that was in good time.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.process.try_wait().unwrap()
    }

    /// Waits for the end in good order that [`Site::close`] asked for; returns how many jobs it finished.
    pub(crate) fn finish(mut self) -> u64 {
        wait_until("a worker that ends", || !self.is_alive());
        let finished = std::fs::read_to_string(self.orders.finished());
        finished.unwrap_or_else(|_| panic!("{} failed:\n{}", self.orders.name, self.log())).parse().unwrap()
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.orders.root.join(format!("{}.log", self.orders.name))).unwrap_or_default()
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        if self.is_alive() {
            self.kill();
        }
    }
}
