//! A whole engine on a store of its own in a temporary folder.

use crate::stores::{self, Domains, Time};

use bindery_core::{
    EventSeq, Name, StepError, SubmissionId,
    event::Event,
    job::{Job, JobState},
    submission::SubmissionStatus,
    time::{ManualClock, SystemClock},
};
use bindery_engine::{
    Engine, Extracted, Parts, Processor, Registry, Worker, WorkerOptions, aggregator,
    context::StepContext,
    feed::Consumed,
    intake::{Intake, IntakeFile},
    runner::Processes,
    stop_pair,
};
use bindery_store::{
    Store,
    blobs::{LayeredBlobs, LocalBlobs},
    query::{EventFilter, JobFilter},
};
use serde_json::Value;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// No test should ever wait this long; one that does has found something.
const PATIENCE: Duration = Duration::from_secs(60);

type Work = dyn Fn(&StepContext, Value) -> Result<Extracted, StepError> + Send + Sync;

/// A processor made from a closure, which runs as its last step.
pub(crate) struct Func {
    name: String,
    work: Box<Work>,
}

impl Func {
    pub(crate) fn new(
        name: &str,
        work: impl Fn(&StepContext, Value) -> Result<Extracted, StepError> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.to_owned(), work: Box::new(work) }
    }

    /// Hands its input on.
    pub(crate) fn echo(name: &str) -> Self {
        Self::new(name, |_, input| Ok(Extracted::new(input)))
    }
}

impl Processor for Func {
    fn name(&self) -> &str {
        &self.name
    }

    fn process(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
        Ok(input)
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        (self.work)(context, processed)
    }
}

/// An engine on its own store. Opening another on the same folder is another process, as far as the store can tell.
pub(crate) struct Rig {
    pub(crate) engine: Engine,
    pub(crate) store: Arc<dyn Store>,
    /// Moves only in a rig made with [`Rig::with_manual_clock`].
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) dir: Arc<TempDir>,
}

impl Rig {
    /// On the machine's clock.
    pub(crate) fn new(registry: Registry) -> Self {
        Self::with_domains(registry, &[])
    }

    /// On a clock that the test moves: for deadlines, back-off and time-outs of outside processors.
    pub(crate) fn with_manual_clock(registry: Registry) -> Self {
        Self::with_domains_and_manual_clock(registry, &[])
    }

    /// On the machine's clock, with the tables of domains.
    pub(crate) fn with_domains(registry: Registry, domains: Domains) -> Self {
        Self::build(registry, Arc::new(tempfile::tempdir().unwrap()), None, domains)
    }

    /// The same on a clock that the test moves.
    pub(crate) fn with_domains_and_manual_clock(registry: Registry, domains: Domains) -> Self {
        Self::build(registry, Arc::new(tempfile::tempdir().unwrap()), Some(Arc::default()), domains)
    }

    /// Another engine on the same store, as another process would have it.
    pub(crate) fn beside(other: &Self, registry: Registry) -> Self {
        Self::build(registry, Arc::clone(&other.dir), None, other.store.domains())
    }

    /// With children for what may hang, crash or swell.
    pub(crate) fn with_isolation(registry: Registry, children: Processes) -> Self {
        let rig = Self::new(registry.clone());
        let blobs = Arc::clone(rig.engine.blobs());
        let engine = Engine::new(Parts::new(Arc::clone(&rig.store), blobs, registry).with_isolation(children));
        Self { engine, ..rig }
    }

    fn build(registry: Registry, dir: Arc<TempDir>, manual: Option<Arc<ManualClock>>, domains: Domains) -> Self {
        let moving = manual.clone().unwrap_or_default();
        let time = match manual {
            Some(manual) => Time::Moved(manual),
            None => Time::Own(Arc::new(SystemClock)),
        };
        let store = stores::open_with_domains(dir.path(), time, domains);
        let files = Arc::new(LocalBlobs::open(dir.path().join("blobs")).unwrap());
        let blobs = LayeredBlobs::of_store(&store, files);
        let engine = Engine::new(Parts::new(Arc::clone(&store), blobs, registry));
        Self { engine, store, clock: moving, dir }
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    pub(crate) async fn workflow(&self, yaml: &str) {
        self.engine.register_workflow(yaml, None).await.unwrap();
    }

    /// A file with this text, in the blob store.
    pub(crate) async fn file(&self, name: &str, text: &str) -> IntakeFile {
        let stored = self.engine.blobs().put(text.as_bytes().to_vec()).await.unwrap();
        IntakeFile {
            name: name.to_owned(),
            content: stored.hash,
            size: stored.size,
            media_type: "text/plain".to_owned(),
            key: None,
        }
    }

    /// Files named a, b, c … with one line each.
    pub(crate) async fn files(&self, count: usize) -> Vec<IntakeFile> {
        let mut files = Vec::new();
        for index in 0..count {
            files.push(self.file(&format!("file-{index}.txt"), &format!("text of file {index}\n")).await);
        }
        files
    }

    pub(crate) async fn submit(&self, intake: Intake) -> SubmissionId {
        self.engine.submit(intake).await.unwrap().id()
    }

    #[expect(clippy::unused_self, reason = "reads as what it is: the options for a worker of this rig")]
    pub(crate) fn worker_options(&self) -> WorkerOptions {
        WorkerOptions {
            threads: 2,
            lease: Duration::from_secs(30),
            sweep_every: Duration::from_millis(50),
            ..WorkerOptions::default()
        }
    }

    /// Runs a worker until nothing is ready or running and the followers have read everything.
    pub(crate) async fn drain(&self) {
        self.drain_with(self.worker_options()).await;
    }

    pub(crate) async fn drain_with(&self, options: WorkerOptions) {
        let (handle, stop) = stop_pair();
        let worker = Worker::new(self.engine.clone(), options);
        let running = tokio::spawn(async move { worker.run(stop).await });
        let begun = Instant::now();
        while !self.is_idle().await {
            assert!(begun.elapsed() < PATIENCE, "still at work: {:#?}", self.jobs().await);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        handle.stop();
        running.await.unwrap().unwrap();
    }

    async fn is_idle(&self) -> bool {
        if let Some(newest) = stores::newest_event(self.dir.path()).await
            && self.store.last_event().await.unwrap().raw() < newest
        {
            return false;
        }
        // Reports first: following them can make new work.
        while !matches!(aggregator::step(&self.engine).await.unwrap(), Consumed::Nothing) {}
        let states = vec![JobState::Ready, JobState::Running, JobState::Scheduled];
        let open = self.store.queues().await.unwrap();
        let paused: Vec<Name> = open.into_iter().filter(|queue| queue.paused).map(|queue| queue.queue).collect();
        let jobs = self.store().jobs(JobFilter { states, ..JobFilter::default() }).await.unwrap();
        // A retry without a wait is due at once; one with a wait is nobody's work yet.
        let now = self.engine.clock().now();
        let later = |job: &Job| job.state == JobState::Scheduled && job.run_at.is_some_and(|at| at > now);
        jobs.iter().all(|view| later(&view.job) || paused.contains(&view.job.queue))
    }

    pub(crate) async fn jobs(&self) -> Vec<bindery_store::query::JobView> {
        self.store().jobs(JobFilter::default()).await.unwrap()
    }

    pub(crate) async fn status(&self, id: SubmissionId) -> SubmissionStatus {
        self.store().submission(id).await.unwrap().unwrap().status
    }

    pub(crate) async fn events(&self) -> Vec<Event> {
        let newest = stores::newest_event(self.dir.path()).await.unwrap_or(0);
        let begun = Instant::now();
        loop {
            let all = self.store().read_events(EventSeq::START, EventFilter::default(), usize::MAX).await.unwrap();
            if all.last().map_or(0, |event| event.seq.raw()) >= newest {
                return all;
            }
            assert!(begun.elapsed() < PATIENCE, "the newest events do not appear");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub(crate) async fn events_of(&self, kind: &str) -> Vec<Event> {
        self.events().await.into_iter().filter(|event| event.kind == kind).collect()
    }
}
