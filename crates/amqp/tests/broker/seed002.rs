//! Seed 002 on the broker it was written for: each test begins with the id of the requirement that it is about.

use crate::{
    docproc::{Docproc, EXTRACTED, Runs, default_yaml, outside, registry},
    node::{self, Client, Node, eventually, header, options, prefix},
    support::Rig,
};
use bindery_amqp::{AmqpOptions, topology::Topology};
use bindery_core::{Name, submission::SubmissionStatus};
use bindery_engine::{message::PipelineMessage, workflow::Workflow};
use lapin::{
    Connection, ConnectionProperties,
    options::QueueDeclareOptions,
    types::{AMQPValue, FieldTable},
};
use std::sync::atomic::Ordering;

const DOCUMENTS: usize = 24;

/// As many pages of alternating types, so that each is a document of its own.
fn pages() -> String {
    (0..DOCUMENTS).map(|page| if page % 2 == 0 { "invoice\n" } else { "receipt\n" }).collect()
}

async fn completed(run: &Docproc) -> bool {
    run.rig.status(run.id).await == SubmissionStatus::Completed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_01_the_queue_is_bound_to_its_key() {
    let Some(broker) = node::broker() else { return };
    let prefix = prefix();
    let run = Docproc::received(&outside("extractor"), "invoice\n").await;
    // Declared on connecting; nothing is started, so that nobody takes the message away.
    let transport = bindery_amqp::Transport::connect(run.rig.engine.clone(), options(&broker, &prefix)).await.unwrap();
    drop(bindery_amqp::Transport::connect(run.rig.engine.clone(), options(&broker, &prefix)).await.unwrap());
    let client = Client::connect(&broker, &prefix).await;
    for (exchange, key, queue) in [
        ("doc.direct", EXTRACTED, "q.extraction_aggregator"),
        ("doc.direct", "page.ocr", "q.ocr"),
        ("doc.direct", "request.consolidate", "q.consolidator"),
        ("doc.backoffice", "task.extraction", "q.backoffice.extraction"),
        ("doc.backoffice", "task.classification", "q.backoffice.classification"),
        ("doc.dlx", "anything", "q.dead_letters"),
    ] {
        client.publish(exchange, key, b"to whom it may concern").await;
        let got = client.get_soon(queue).await;
        assert_eq!(got.delivery.routing_key.as_str(), key);
    }
    // Quorum, with these arguments: the broker refuses to declare it in any other way, and accepts this one.
    let connection = Connection::connect(&broker.url(), ConnectionProperties::default()).await.unwrap();
    let exact = [
        ("x-queue-type", AMQPValue::LongString("quorum".into())),
        ("x-dead-letter-exchange", AMQPValue::LongString(format!("{prefix}doc.dlx").into())),
        ("x-message-ttl", AMQPValue::LongInt(300_000)),
    ];
    for left_out in 0..=exact.len() {
        let mut arguments = FieldTable::default();
        for (index, (name, value)) in exact.iter().enumerate() {
            if index != left_out {
                arguments.insert((*name).into(), value.clone());
            }
        }
        let channel = connection.create_channel().await.unwrap();
        let durable = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
        let queue = format!("{prefix}q.extraction_aggregator").into();
        let accepted = channel.queue_declare(queue, durable, arguments).await.is_ok();
        assert_eq!(accepted, left_out == exact.len(), "without {:?}", exact.get(left_out));
    }
    transport.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s002_03_a_worker_for_one_component_leaves_the_others_alone() {
    let Some(broker) = node::broker() else { return };
    let prefix = prefix();
    let run = Docproc::received(&default_yaml(), "invoice\nreceipt\n").await;
    let all = Topology::from_workflows([&Workflow::parse(&default_yaml(), None).unwrap()]).own(None);
    let aggregator = Name::from("q.extraction_aggregator");
    let others: Vec<Name> = all.into_iter().filter(|queue| *queue != aggregator).collect();
    let without = AmqpOptions { queues: Some(others), ..options(&broker, &prefix) };
    let only = AmqpOptions { queues: Some(vec![aggregator.clone()]), ..options(&broker, &prefix) };
    let first = Node::start(&run.rig.engine, "others", without).await.unwrap();
    // Everything before the aggregation is done, and its own job waits for a worker of this component.
    eventually("the aggregation waits", async || !run.queued(&aggregator).await.is_empty()).await;
    let client = Client::connect(&broker, &prefix).await;
    assert_eq!((client.depth(&aggregator).await, completed(&run).await), (0, false), "nobody has published it");
    let second = Node::start(&run.rig.engine, "aggregator", only).await.unwrap();
    eventually("the submission is completed", async || completed(&run).await).await;
    let (others, aggregated) = (first.stop().await, second.stop().await);
    assert!(aggregated >= 1, "the aggregation ran where its component runs");
    assert!(others >= 5, "the others ran elsewhere: {others}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s002_15_every_message_twice_at_several_workers_completes_once() {
    let Some(broker) = node::broker() else { return };
    let prefix = prefix();
    let run = Docproc::received(&outside("extractor"), &pages()).await;
    let beside: Vec<(Rig, Runs)> = (0..2)
        .map(|_| {
            let (registry, runs) = registry();
            (Rig::beside(&run.rig, registry), runs)
        })
        .collect();
    let mut nodes = Vec::new();
    for (number, rig) in beside.iter().map(|(rig, _)| rig).chain([&run.rig]).enumerate() {
        let options = options(&broker, &prefix);
        nodes.push(Node::start(&rig.engine, &format!("worker-{number}"), options).await.unwrap());
    }
    // The extractor outside: takes each announcement and answers it twice, the last first.
    let client = Client::connect(&broker, &prefix).await;
    let mut answers = Vec::new();
    for _ in 0..DOCUMENTS {
        let asked = client.get_soon("q.extractor").await.delivery;
        assert_eq!(header(&asked.properties, "component").as_deref(), Some("extractor"));
        assert_eq!(header(&asked.properties, "request_id").as_deref(), Some("request-1"));
        assert_eq!(header(&asked.properties, "bindery-job"), None);
        let mut message: PipelineMessage = serde_json::from_slice(&asked.data).unwrap();
        assert_eq!(message.current_stage.as_deref(), Some("extract"));
        assert_eq!(message.document_count, Some(DOCUMENTS as i64));
        message.payload["extracted_data"] = serde_json::json!({"of": message.document_id});
        message.payload["extraction_confidence"] = 0.91.into();
        message.source_component = Some("extractor".to_owned());
        answers.push(serde_json::to_vec(&message).unwrap());
    }
    for answer in answers.iter().rev().chain(&answers) {
        client.publish("doc.direct", EXTRACTED, answer).await;
    }
    eventually("the submission is completed", async || completed(&run).await).await;
    let queue = "q.extraction_aggregator";
    eventually("every duplicate is taken off the queue", async || client.depth(queue).await == 0).await;
    for node in nodes {
        node.stop().await;
    }
    let all = DOCUMENTS as i64;
    assert_eq!(run.counts("extraction").await, (all, all, true));
    assert_eq!(run.completions("extraction_aggregation").await, 1);
    assert_eq!(run.outcomes("consolidate").await.len(), 1);
    let elsewhere: usize = beside.iter().map(|(_, runs)| runs.load(Ordering::SeqCst)).sum();
    assert_eq!(run.consolidations() + elsewhere, 1);
    assert_eq!(run.result().await["documents"].as_array().unwrap().len(), DOCUMENTS);
    assert_eq!(client.depth("q.dead_letters").await, 0);
}
