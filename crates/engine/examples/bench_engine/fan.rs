//! Through the real worker: a file is taken apart, a no-op runs on every part, a join collects them. On any store.

use crate::bench::Outcome;
use bindery_core::{Name, StepError, SubmissionId, item::ItemKind, submission::SubmissionStatus};
use bindery_engine::{
    Child, Children, Engine, Extracted, Processor, Registry, StopHandle, Worker, WorkerOptions,
    context::StepContext,
    intake::{Intake, IntakeFile},
    stop_pair,
};
use bindery_store::query::JobFilter;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// Where the job waits that takes the file apart.
const SPLITTING: &str = "q.splitter";

const WORKFLOW: &str = "
name: fan
version: 1
stages:
  - {name: split, component: splitter, over: file, parallel: true}
  - {name: noop, component: noop, over: page, parallel: true}
  - {name: done, component: extraction_aggregator, aggregation: {type: fan_in, collect_by: request_id, expect_count_from: page_count}}
";

struct Splitter(usize);

impl Processor for Splitter {
    fn name(&self) -> &'static str {
        "splitter"
    }

    fn process(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
        Ok(input)
    }

    fn extract(&self, _context: &StepContext, _processed: Value) -> Result<Extracted, StepError> {
        let children = Children::generate(ItemKind::Page, self.0, |_| Child::default());
        Ok(Extracted::new(json!({})).with_children(children))
    }
}

struct Noop;

impl Processor for Noop {
    fn name(&self) -> &'static str {
        "noop"
    }

    fn process(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
        Ok(input)
    }
}

/// The processors of the workflow; the file is taken apart into this many parts.
pub(crate) fn registry(parts: usize) -> Registry {
    let mut registry = Registry::with_builtin();
    registry.register(Splitter(parts));
    registry.register(Noop);
    registry
}

/// A submission of one file.
pub(crate) async fn submission(engine: &Engine) -> Outcome<SubmissionId> {
    engine.register_workflow(WORKFLOW, None).await?;
    let stored = engine.blobs().put(b"a file".to_vec()).await?;
    let file = IntakeFile {
        name: "file".to_owned(),
        content: stored.hash,
        size: stored.size,
        media_type: "text/plain".to_owned(),
        key: None,
    };
    Ok(engine.submit(Intake::new("fan", vec![file])).await?.id())
}

/// A worker under way.
pub(crate) struct Running(StopHandle, JoinHandle<()>);

impl Running {
    /// Returns when it has ended.
    pub(crate) async fn stop(self) -> Outcome<()> {
        self.0.stop();
        Ok(self.1.await?)
    }
}

pub(crate) fn start(engine: &Engine, queues: Option<Vec<Name>>) -> Running {
    let (handle, stop) = stop_pair();
    let worker = Worker::new(engine.clone(), WorkerOptions { queues, ..WorkerOptions::default() });
    let running = tokio::spawn(async move {
        // A worker that fails leaves the submission as it is, and the wait for it says so.
        let _ = worker.run(stop).await;
    });
    Running(handle, running)
}

async fn wait_for(engine: &Engine, id: SubmissionId) -> Outcome<()> {
    let limit = Duration::from_secs(600);
    let begun = Instant::now();
    loop {
        let status = engine.store().submission(id).await?.ok_or("the submission is gone")?.status;
        if status == SubmissionStatus::Completed {
            return Ok(());
        }
        if status.is_final() || begun.elapsed() > limit {
            return Err(format!("the submission is {status} after {:?}", begun.elapsed()).into());
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Takes the file apart and leaves the parts waiting.
pub(crate) async fn split(engine: &Engine) -> Outcome<()> {
    let worker = start(engine, Some(vec![Name::from(SPLITTING)]));
    let splitting = JobFilter { queue: Some(Name::from(SPLITTING)), ..JobFilter::default() };
    while !engine.store().jobs(splitting.clone()).await?.is_empty() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    worker.stop().await
}

/// Works until the submission is complete. The worker is still there then.
pub(crate) async fn work(engine: &Engine, id: SubmissionId) -> Outcome<Running> {
    let worker = start(engine, None);
    wait_for(engine, id).await?;
    Ok(worker)
}
