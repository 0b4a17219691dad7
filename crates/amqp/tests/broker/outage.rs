//! Duplicates, losses, and a broker that is away: nothing is lost, nothing counts twice.

use crate::{
    docproc::{Docproc, default_yaml},
    node::{self, Client, Node, eventually, options, prefix},
    support::Func,
};
use bindery_amqp::{AmqpOptions, Transport};
use bindery_core::{EventSeq, Name, SubmissionId, event::kind, item::ItemKind, submission::SubmissionStatus};
use bindery_engine::{
    Child, Children, Engine, Extracted, Parts, Registry, Worker, WorkerOptions,
    intake::{Intake, IntakeFile},
    stop_pair,
};
use bindery_store::{
    Store,
    blobs::LocalBlobs,
    postgres::{PostgresOptions, PostgresStore},
    query::{ClaimRequest, EventFilter, JoinFilter},
};
use bindery_testkit::{PostgresServer, RabbitServer};
use serde_json::json;
use std::{sync::Arc, time::Duration};
use tempfile::TempDir;

const PARTS: usize = 2_000;

const FAN: &str = "
name: fan
version: 1
stages:
  - {name: split, component: splitter, over: file, parallel: true}
  - {name: noop, component: noop, over: page, parallel: true}
  - {name: done, component: extraction_aggregator, aggregation: {type: fan_in, collect_by: request_id, expect_count_from: page_count}}
";

fn parts() -> Registry {
    let mut registry = Registry::with_builtin();
    registry.register(Func::new("splitter", |_, _| {
        let children = Children::generate(ItemKind::Page, PARTS, |_| Child::default());
        Ok(Extracted::new(json!({})).with_children(children))
    }));
    registry.register(Func::echo("noop"));
    registry
}

/// An engine on a PostgreSQL server, as another process would have it.
async fn engine(server: &PostgresServer, folder: &TempDir) -> Engine {
    let store = PostgresStore::open(PostgresOptions::at(server.url())).await.unwrap();
    let blobs = LocalBlobs::open(folder.path().join("blobs")).unwrap();
    Engine::new(Parts::new(Arc::new(store) as Arc<dyn Store>, Arc::new(blobs), parts()))
}

async fn submit(engine: &Engine) -> SubmissionId {
    engine.register_workflow(FAN, None).await.unwrap();
    let stored = engine.blobs().put(b"a file".to_vec()).await.unwrap();
    let file = IntakeFile {
        name: "file".to_owned(),
        content: stored.hash,
        size: stored.size,
        media_type: "text/plain".to_owned(),
        key: None,
    };
    engine.submit(Intake::new("fan", vec![file])).await.unwrap().id()
}

async fn done(engine: &Engine, id: SubmissionId) -> usize {
    engine.store().outcomes(id, Some(&Name::from("noop"))).await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_broker_that_is_killed_in_the_middle_loses_nothing_and_repeats_nothing() {
    // Not the shared one: this one is killed.
    let (Some(broker), Some(server)) = (RabbitServer::start(), PostgresServer::start()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let first = engine(&server, &folder).await;
    let id = submit(&first).await;
    let second = engine(&server, &folder).await;
    let few = || AmqpOptions { window: 300, prefetch: 50, ..AmqpOptions::at(broker.url()) };
    let nodes =
        [Node::start(&first, "first", few()).await.unwrap(), Node::start(&second, "second", few()).await.unwrap()];
    for share in 1..=3 {
        let enough = PARTS * share / 5;
        eventually("work goes on", async || done(&first, id).await >= enough).await;
        broker.kill();
        broker.start_again();
    }
    let completed = async || first.store().submission(id).await.unwrap().unwrap().status == SubmissionStatus::Completed;
    eventually("the submission is completed", completed).await;
    let client = Client::connect(&broker, "").await;
    eventually("stale messages are dropped", async || client.depth("q.noop").await == 0).await;
    for node in nodes {
        node.stop().await;
    }
    assert_eq!(done(&first, id).await, PARTS);
    let joins = first.store().joins(id, JoinFilter::default()).await.unwrap();
    let counts: Vec<_> = joins.iter().map(|join| (join.arrived, join.failed, join.expected)).collect();
    assert!(counts.contains(&(PARTS as i64, 0, PARTS as i64)), "each part arrived once: {counts:?}");
    let events = async |kind: &str| {
        let filter = EventFilter { kinds: vec![Name::from(kind)], submission: Some(id) };
        first.store().read_events(EventSeq::START, filter, 10).await.unwrap()
    };
    let closed = events(kind::STAGE_CLOSED).await;
    assert_eq!(closed.iter().filter(|event| event.data.contains("\"done\"")).count(), 1, "{closed:?}");
    assert_eq!(events(kind::JOB_RETRIED).await, [], "an outage is nobody's failed attempt");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn duplicates_in_the_wrong_order_run_each_job_once() {
    let Some(broker) = node::broker() else { return };
    let prefix = prefix();
    let pages = "invoice\n".repeat(40);
    let run = Docproc::received(&default_yaml(), &pages).await;
    // Split without a broker; the pages wait.
    run.pause("q.ocr").await;
    run.rig.drain().await;
    run.resume("q.ocr").await;
    let one = AmqpOptions { prefetch: 1, ..options(&broker, &prefix) };
    let mut transport = Transport::connect(run.rig.engine.clone(), one).await.unwrap();
    let source = transport.start();
    let client = Client::connect(&broker, &prefix).await;
    // One message is with the consumer; the others are taken off the queue and come back twice, the last first.
    let mut taken = Vec::new();
    while taken.len() < 39 {
        taken.push(client.get_soon("q.ocr").await.delivery);
    }
    for _ in 0..2 {
        for message in taken.iter().rev() {
            client.publish_with("doc.direct", "page.ocr", &message.data, message.properties.clone()).await;
        }
    }
    let options = WorkerOptions { queues: Some(vec!["q.engine".into()]), ..run.rig.worker_options() };
    let worker = Worker::new(run.rig.engine.clone(), options).with_source(source);
    let (stop, signal) = stop_pair();
    let running = tokio::spawn(async move { worker.run(signal).await });
    let completed = async || run.rig.status(run.id).await == SubmissionStatus::Completed;
    eventually("the submission is completed", completed).await;
    eventually("the duplicates are dropped", async || client.depth("q.ocr").await == 0).await;
    stop.stop();
    running.await.unwrap().unwrap();
    transport.stop().await;
    let outcomes = run.outcomes("ocr").await;
    assert_eq!((outcomes.len(), outcomes.iter().map(|outcome| outcome.attempts).max()), (40, Some(1)));
    assert_eq!(run.completions("classification_aggregation").await, 1);
    assert_eq!(run.consolidations(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_relay_that_dies_between_claiming_and_publishing_loses_nothing() {
    let Some(broker) = node::broker() else { return };
    let prefix = prefix();
    let run = Docproc::received(&default_yaml(), "invoice\nreceipt\n").await;
    let request = ClaimRequest {
        worker: "a relay that died".into(),
        queues: None,
        submissions: None,
        max: 10,
        lease: Duration::from_millis(500),
        counts: false,
    };
    let claimed = run.rig.store().claim(request).await.unwrap();
    assert_eq!(claimed.len(), 1, "the first job is claimed, and its message never written");
    let node = Node::start(&run.rig.engine, "worker", options(&broker, &prefix)).await.unwrap();
    let completed = async || run.rig.status(run.id).await == SubmissionStatus::Completed;
    eventually("the submission is completed", completed).await;
    node.stop().await;
    let attempts: Vec<_> = run.outcomes("split").await.iter().map(|outcome| outcome.attempts).collect();
    assert_eq!(attempts, [1], "what the relay did was no attempt");
}
