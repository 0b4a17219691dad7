//! What is wrong is told, and put where a person finds it.

use crate::{
    docproc::{Docproc, EXTRACTED, default_yaml, outside},
    node::{self, Client, Node, eventually, header, options, prefix},
};
use bindery_amqp::{AmqpOptions, Transport, results::QUEUE_HEADER, results::REASON_HEADER};
use bindery_core::submission::SubmissionStatus;
use bindery_engine::Engine;
use bindery_testkit::{RabbitServer, process::free_port};
use lapin::{
    options::QueueDeclareOptions,
    types::{AMQPValue, FieldTable},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_that_nobody_can_use_become_dead_letters_with_their_reason() {
    let Some(broker) = node::broker() else { return };
    let prefix = prefix();
    let run = Docproc::received(&outside("extractor"), "invoice\n").await;
    let node = Node::start(&run.rig.engine, "worker", options(&broker, &prefix)).await.unwrap();
    let client = Client::connect(&broker, &prefix).await;
    client.get_soon("q.extractor").await;
    let queue = "q.extraction_aggregator";
    for (body, reason) in [
        (&b"\xff\x00 not JSON"[..], "not a message of the pipeline"),
        (br#"["a list"]"#, "not a message of the pipeline"),
        (br#"{"payload": {}}"#, "missing field `request_id`"),
        (br#"{"request_id": "request-1", "page_index": "one"}"#, "not a message of the pipeline"),
        (br#"{"request_id": "request-1", "payload": {"extracted_data": {}}}"#, "document_id is missing"),
        (br#"{"request_id": "request-1", "document_id": "uuid-doc-0"}"#, "the payload is missing"),
        (
            br#"{"request_id": "request-1", "document_id": "uuid-doc-0", "payload": {"extracted_data": "all"}}"#,
            "payload.extracted_data: expected an object",
        ),
        (br#"{"request_id": "request-1", "current_stage": "x", "payload": {}}"#, "there is no stage \"x\""),
        (br#"{"request_id": "nobody's"}"#, "there is no submission \"nobody's\""),
        (br#"{"request_id": "request-1", "document_id": "nothing"}"#, "there is no document \"nothing\""),
        (br#"{"request_id": "request-1", "page_index": 7}"#, "there is no page 7"),
    ] {
        client.publish("doc.direct", EXTRACTED, body).await;
        let dead = client.get_soon("q.dead_letters").await.delivery;
        assert_eq!(dead.data, body);
        let said = header(&dead.properties, REASON_HEADER).unwrap();
        assert!(said.contains(reason), "{said:?} for {}", String::from_utf8_lossy(body));
        assert_eq!(header(&dead.properties, QUEUE_HEADER).as_deref(), Some(queue));
    }
    // Straight into the queue: the routing key is the queue's name, which no stage has.
    let body = br#"{"request_id": "request-1", "document_id": "uuid-doc-0"}"#;
    client.publish_to_queue(queue, body).await;
    let dead = client.get_soon("q.dead_letters").await.delivery;
    let said = header(&dead.properties, REASON_HEADER).unwrap();
    assert!(said.contains("no stage with the routing key"), "{said}");
    // A result that nobody waits for is no trouble, and what comes after all that still counts.
    for message in run.messages().await {
        let body = serde_json::to_vec(&message).unwrap();
        client.publish("doc.direct", EXTRACTED, &body).await;
        client.publish("doc.direct", EXTRACTED, &body).await;
    }
    let completed = async || run.rig.status(run.id).await == SubmissionStatus::Completed;
    eventually("the submission is completed", completed).await;
    eventually("the duplicate is taken", async || client.depth(queue).await == 0).await;
    node.stop().await;
    assert_eq!(client.depth("q.dead_letters").await, 0);
    assert_eq!(run.consolidations(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_proves_who_it_is_is_spoken_to_in_private() {
    let Some(broker) = RabbitServer::start_encrypted() else { return };
    let run = Docproc::received(&default_yaml(), "invoice\n").await;
    let stranger = said(&run.rig.engine, AmqpOptions::at(broker.url())).await;
    assert!(stranger.contains("no encrypted connection") && stranger.contains("cacertfile"), "{stranger}");
    let known = format!("{}?cacertfile={}", broker.url(), broker.authority().display());
    let node = Node::start(&run.rig.engine, "worker", AmqpOptions::at(known)).await.unwrap();
    let completed = async || run.rig.status(run.id).await == SubmissionStatus::Completed;
    eventually("the submission is completed", completed).await;
    node.stop().await;
}

async fn said(engine: &Engine, options: AmqpOptions) -> String {
    let error = Transport::connect(engine.clone(), options).await.expect_err("a refusal");
    let said = error.to_string();
    assert!(!said.contains("s3cret") && !said.contains('\n'), "{said}");
    said
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_cannot_be_used_is_told_in_one_sentence() {
    let Some(broker) = node::broker() else { return };
    let prefix = prefix();
    let run = Docproc::received(&default_yaml(), "invoice\n").await;
    let engine = &run.rig.engine;

    let wrong = said(engine, AmqpOptions::at(broker.url_as("guest", "s3cret", "%2f"))).await;
    assert!(wrong.contains("refuses the name \"guest\" with this password"), "{wrong}");
    let nowhere = said(engine, AmqpOptions::at(format!("amqp://guest:s3cret@127.0.0.1:{}", free_port()))).await;
    assert!(nowhere.contains("no broker answers") && nowhere.contains("is RabbitMQ running"), "{nowhere}");
    let no_host = said(engine, AmqpOptions::at("amqp://guest:s3cret@no.such.host.invalid")).await;
    assert!(no_host.contains("no broker answers"), "{no_host}");
    let no_vhost = said(engine, AmqpOptions::at(broker.url_as("guest", "guest", "other"))).await;
    assert!(no_vhost.contains("there is no virtual host \"other\""), "{no_vhost}");
    let encrypted = broker.url().replace("amqp://", "amqps://");
    let not_tls = said(engine, AmqpOptions::at(encrypted)).await;
    assert!(not_tls.contains("does the port speak TLS"), "{not_tls}");

    // A queue of another program under our name.
    let client = Client::connect(&broker, &prefix).await;
    let durable = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
    let mut arguments = FieldTable::default();
    arguments.insert("x-queue-type".into(), AMQPValue::LongString("quorum".into()));
    arguments.insert("x-dead-letter-exchange".into(), AMQPValue::LongString(format!("{prefix}doc.dlx").into()));
    arguments.insert("x-message-ttl".into(), AMQPValue::LongInt(1_000));
    client.channel.queue_declare(format!("{prefix}q.ocr").into(), durable, arguments).await.unwrap();
    let conflict = said(engine, options(&broker, &prefix)).await;
    let expected = format!("the queue {prefix}q.ocr exists already, but its x-message-ttl is 1000, not 300000");
    assert!(conflict.starts_with(&expected) && conflict.contains("rabbitmqctl delete_queue"), "{conflict}");
}
