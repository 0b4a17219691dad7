//! Through the real worker: a file is taken apart, a no-op runs on every part, a join collects them.

use crate::bench::{Measured, Outcome, Scratch, Stopwatch, runtime};
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

/// An engine with a submission that will be taken apart into this many parts.
async fn submission(scratch: &Scratch, parts: usize) -> Outcome<(Engine, SubmissionId)> {
    let mut registry = Registry::with_builtin();
    registry.register(Splitter(parts));
    registry.register(Noop);
    let engine = scratch.engine(registry)?;
    engine.register_workflow(WORKFLOW, None).await?;
    let stored = engine.blobs().put(b"a file".to_vec()).await?;
    let file = IntakeFile {
        name: "file".to_owned(),
        content: stored.hash,
        size: stored.size,
        media_type: "text/plain".to_owned(),
        key: None,
    };
    let id = engine.submit(Intake::new("fan", vec![file])).await?.id();
    Ok((engine, id))
}

fn start(engine: &Engine, queues: Option<Vec<Name>>) -> (StopHandle, JoinHandle<()>) {
    let (handle, stop) = stop_pair();
    let worker = Worker::new(engine.clone(), WorkerOptions { queues, ..WorkerOptions::default() });
    let running = tokio::spawn(async move {
        // A worker that fails leaves the submission as it is, and the wait for it says so.
        let _ = worker.run(stop).await;
    });
    (handle, running)
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
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// From the intake until every part has been collected.
pub(crate) fn out_and_in(scratch: &Scratch, parts: usize) -> Outcome<Measured> {
    runtime()?.block_on(async {
        let (engine, id) = submission(scratch, parts).await?;
        let stopwatch = Stopwatch::start()?;
        let (handle, running) = start(&engine, None);
        wait_for(&engine, id).await?;
        let measured = stopwatch.stop(parts)?;
        handle.stop();
        running.await?;
        Ok(measured)
    })
}

/// No-op jobs: the parts are there before the clock starts.
pub(crate) fn noop_jobs(scratch: &Scratch, jobs: usize) -> Outcome<Measured> {
    runtime()?.block_on(async {
        let (engine, id) = submission(scratch, jobs).await?;
        let (handle, running) = start(&engine, Some(vec![Name::from("q.splitter")]));
        let splitting = JobFilter { queue: Some(Name::from("q.splitter")), ..JobFilter::default() };
        while !engine.store().jobs(splitting.clone()).await?.is_empty() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        handle.stop();
        running.await?;
        let stopwatch = Stopwatch::start()?;
        let (handle, running) = start(&engine, None);
        wait_for(&engine, id).await?;
        let measured = stopwatch.stop(jobs)?;
        handle.stop();
        running.await?;
        Ok(measured)
    })
}
