//! How many messages a second pass one stage over RabbitMQ, with the state in PostgreSQL: claimed, published and
//! confirmed, delivered, adopted, worked on (which is nothing here), committed, acknowledged. Both servers are private and
//! keep what they promise on the disk. The same without a broker is measured beside it.
//!
//! `MESSAGES` says how many (default 60,000).

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use bindery_amqp::{AmqpOptions, Transport};
use bindery_core::{Name, StepError, SubmissionId, item::ItemKind, job::ENGINE_QUEUE};
use bindery_engine::{
    Child, Children, Engine, Extracted, Parts, Processor, Registry, Worker, WorkerOptions,
    context::StepContext,
    intake::{Intake, IntakeFile},
    stop_pair,
};
use bindery_store::{
    Store,
    blobs::LocalBlobs,
    postgres::{PostgresOptions, PostgresStore},
};
use bindery_testkit::{PostgresServer, RabbitServer};
use serde_json::{Value, json};
use std::{
    error::Error,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const WORKFLOW: &str = "
name: fan
version: 1
stages:
  - {name: split, component: splitter, over: file, parallel: true}
  - {name: noop, component: noop, over: page, parallel: true}
  - {name: done, component: extraction_aggregator, aggregation: {type: fan_in, collect_by: request_id, expect_count_from: page_count}}
";

const STAGE: &str = "q.noop";

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

async fn engine(url: &str, schema: &str, folder: &Path, messages: usize) -> Outcome<Engine> {
    let options = PostgresOptions { schema: schema.to_owned(), ..PostgresOptions::at(url) };
    let store = Arc::new(PostgresStore::open(options).await?) as Arc<dyn Store>;
    let mut registry = Registry::with_builtin();
    registry.register(Splitter(messages));
    registry.register(Noop);
    Ok(Engine::new(Parts::new(store, Arc::new(LocalBlobs::open(folder.join(schema))?), registry)))
}

/// A submission whose parts wait in the stage's queue.
async fn prepare(engine: &Engine, messages: usize) -> Outcome<SubmissionId> {
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
    let queues = Some(vec![Name::from("q.splitter"), ENGINE_QUEUE.into()]);
    let worker = Worker::new(engine.clone(), WorkerOptions { queues, ..WorkerOptions::default() });
    let (handle, stop) = stop_pair();
    let running = tokio::spawn(async move { worker.run(stop).await });
    let waiting = async || {
        let queues = engine.store().queues().await?;
        Ok(queues.iter().any(|queue| queue.queue == STAGE && queue.ready == messages as u64))
    };
    wait_until(waiting).await?;
    handle.stop();
    running.await??;
    Ok(id)
}

async fn wait_until(reached: impl AsyncFn() -> Outcome<bool>) -> Outcome<()> {
    let begun = Instant::now();
    while !reached().await? {
        if begun.elapsed() > Duration::from_secs(300) {
            return Err("not reached within five minutes".into());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// Every part has arrived, and the stage behind them has run: one row to look at, so that looking costs nothing.
async fn is_done(engine: &Engine, id: SubmissionId) -> Outcome<bool> {
    Ok(engine.store().submission(id).await?.is_some_and(|submission| submission.status.is_final()))
}

/// Straight from the store, for comparison.
async fn without_broker(engine: &Engine, id: SubmissionId, messages: usize) -> Outcome<f64> {
    let (handle, stop) = stop_pair();
    let worker = Worker::new(engine.clone(), WorkerOptions::default());
    let begun = Instant::now();
    let running = tokio::spawn(async move { worker.run(stop).await });
    wait_until(async || is_done(engine, id).await).await?;
    let rate = messages as f64 / begun.elapsed().as_secs_f64();
    handle.stop();
    running.await??;
    Ok(rate)
}

async fn over_broker(engine: &Engine, id: SubmissionId, url: &str, messages: usize) -> Outcome<f64> {
    // As docs/rabbitmq.md says for stages whose jobs take no time.
    let options = AmqpOptions { window: 4_000, prefetch: 100, batch: 100, ..AmqpOptions::at(url) };
    let mut transport = Transport::connect(engine.clone(), options).await?;
    let (handle, stop) = stop_pair();
    let options = WorkerOptions { queues: Some(vec![ENGINE_QUEUE.into()]), ..WorkerOptions::default() };
    let begun = Instant::now();
    let worker = Worker::new(engine.clone(), options).with_source(transport.start());
    let running = tokio::spawn(async move { worker.run(stop).await });
    wait_until(async || is_done(engine, id).await).await?;
    let rate = messages as f64 / begun.elapsed().as_secs_f64();
    handle.stop();
    running.await??;
    transport.stop().await;
    Ok(rate)
}

#[tokio::main]
async fn main() -> Outcome<()> {
    tracing_subscriber::fmt().with_env_filter(tracing_subscriber::EnvFilter::from_default_env()).init();
    let messages = std::env::var("MESSAGES").ok().and_then(|text| text.parse().ok()).unwrap_or(60_000);
    let Some(server) = PostgresServer::start_durable(tempfile::tempdir()?, &[]) else { return Ok(()) };
    let Some(broker) = RabbitServer::start() else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let plain = engine(&server.url(), "plain", folder.path(), messages).await?;
    let id = prepare(&plain, messages).await?;
    let direct = without_broker(&plain, id, messages).await?;
    println!("{messages} jobs of one stage straight from PostgreSQL: {direct:.0} a second");
    let carried = engine(&server.url(), "carried", folder.path(), messages).await?;
    let id = prepare(&carried, messages).await?;
    let rate = over_broker(&carried, id, &broker.url(), messages).await?;
    let done = carried.store().outcomes(id, Some(&Name::from("noop"))).await?.len();
    if done != messages {
        return Err(format!("{done} of {messages} have an outcome").into());
    }
    println!("{messages} jobs of one stage over RabbitMQ: {rate:.0} a second");
    println!("BENCH amqp_direct_per_s={direct:.0} amqp_per_s={rate:.0}");
    Ok(())
}
