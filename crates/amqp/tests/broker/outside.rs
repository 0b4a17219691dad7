//! Programs and people outside take part.

use crate::{
    docproc::{Docproc, default_yaml, outside},
    node::{self, Client, Node, eventually, header, options, prefix},
};
use bindery_amqp::AmqpOptions;
use bindery_core::{outcome::OutcomeStatus, submission::SubmissionStatus};
use bindery_engine::message::PipelineMessage;
use serde_json::json;
use std::{
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

/// Ends with the test.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn completed(run: &Docproc) -> bool {
    run.rig.status(run.id).await == SubmissionStatus::Completed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_python_component_extracts() {
    let Some(broker) = node::broker() else { return };
    let Some(python) = bindery_testkit::process::python_with("pika") else {
        println!("skipped: Python's pika is not installed (make setup-test installs it)");
        return;
    };
    let prefix = prefix();
    let run = Docproc::received(&outside("extractor"), "invoice total 12.50\ninvoice two\nreceipt total 3\n").await;
    let node = Node::start(&run.rig.engine, "worker", options(&broker, &prefix)).await.unwrap();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/amqp/extractor.py");
    let mut command = Command::new(python);
    command.arg(program).env("AMQP_URL", broker.url()).env("AMQP_PREFIX", &prefix).stdout(Stdio::null());
    let _program = Program(command.spawn().unwrap());
    eventually("the submission is completed", async || completed(&run).await).await;
    node.stop().await;
    let documents = run.result().await["documents"].clone();
    assert_eq!(documents[0]["extracted_data"], json!({"words": 5, "total": "12.50"}), "{documents}");
    assert_eq!(documents[1]["extracted_data"], json!({"words": 3, "total": "3"}), "{documents}");
    assert_eq!(documents.as_array().unwrap().len(), 2);
    assert_eq!(run.counts("extraction").await, (2, 2, true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_review_goes_to_the_back_office_and_its_answer_counts() {
    let Some(broker) = node::broker() else { return };
    let prefix = prefix();
    let run = Docproc::received(&default_yaml(), "invoice\nreceipt?\n").await;
    let node = Node::start(&run.rig.engine, "worker", options(&broker, &prefix)).await.unwrap();
    let client = Client::connect(&broker, &prefix).await;
    let asked = client.get_soon("q.backoffice.classification").await.delivery;
    assert_eq!(asked.exchange.as_str(), format!("{prefix}doc.backoffice"));
    assert_eq!(header(&asked.properties, "request_id").as_deref(), Some("request-1"));
    let mut message: PipelineMessage = serde_json::from_slice(&asked.data).unwrap();
    assert_eq!((message.current_stage.as_deref(), message.page_index), (Some("classify"), Some(1)));
    assert_eq!(message.payload["task_type"], "classification");
    assert_eq!(message.payload["input_data"]["doc_type"], "receipt");
    message.payload = json!({"doc_type": "id_card"});
    client.publish("doc.direct", "page.classified", &serde_json::to_vec(&message).unwrap()).await;
    eventually("the submission is completed", async || completed(&run).await).await;
    node.stop().await;
    let types: Vec<_> = run.documents().await.into_iter().map(|document| document.label.unwrap()).collect();
    assert_eq!(types, ["invoice", "id_card"]);
    assert_eq!(client.depth("q.backoffice.classification").await, 0, "published once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nobody_reads_is_announced_again_and_what_expires_is_published_again() {
    let Some(broker) = node::broker() else { return };
    let prefix = prefix();
    let run = Docproc::received(&outside("extractor"), "invoice\nreceipt\n").await;
    let short = AmqpOptions { message_ttl: Duration::from_secs(2), prefetch: 1, ..options(&broker, &prefix) };
    let client = {
        // The relay publishes the first job, and no worker takes it. One message is with the consumer here; it does not
        // expire, but its job is given back all the same.
        let mut idle = bindery_amqp::Transport::connect(run.rig.engine.clone(), short.clone()).await.unwrap();
        let _source = idle.start();
        let job = async || run.queued("q.splitter").await.into_iter().next().unwrap();
        let client = Client::connect(&broker, &prefix).await;
        eventually("the first job is claimed", async || job().await.worker.is_some()).await;
        let before = job().await.lease_until;
        eventually("its lease is kept, or it is published again", async || job().await.lease_until > before).await;
        idle.stop().await;
        assert_eq!(job().await.attempt, 0, "nobody has tried it");
        client
    };
    let node = Node::start(&run.rig.engine, "worker", short).await.unwrap();
    // Four messages for two documents: the announcements of the first time have expired.
    eventually("announcements expire", async || client.depth("q.dead_letters").await >= 2).await;
    eventually("they are made again", async || client.depth("q.extractor").await >= 2).await;
    for message in run.messages().await {
        client.publish("doc.direct", "doc.extracted", &serde_json::to_vec(&message).unwrap()).await;
    }
    eventually("the submission is completed", async || completed(&run).await).await;
    node.stop().await;
    let statuses: Vec<_> = run.outcomes("extract").await.into_iter().map(|outcome| outcome.status).collect();
    assert_eq!(statuses, [OutcomeStatus::Completed; 2]);
    assert_eq!(run.consolidations(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_submission_keeps_the_queues_and_keys_of_the_workflow_it_began_with() {
    let Some(broker) = node::broker() else { return };
    let prefix = prefix();
    let run = Docproc::received(&default_yaml(), "invoice\nreceipt\n").await;
    // The next version has another component in one stage and another routing key in the next.
    let newer = default_yaml()
        .replace("version: 2", "version: 3")
        .replace("component: ocr", "component: reader")
        .replace("routing_key: page.classify\n", "routing_key: page.sort\n");
    run.rig.workflow(&newer).await;
    let node = Node::start(&run.rig.engine, "worker", options(&broker, &prefix)).await.unwrap();
    eventually("the submission is completed", async || completed(&run).await).await;
    node.stop().await;
    assert_eq!(run.outcomes("ocr").await.len(), 2);
}

#[test]
fn the_message_in_the_documentation_is_one() {
    let page = include_str!("../../../../docs/rabbitmq.md");
    let example = page.split("```json").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let message: PipelineMessage = serde_json::from_str(example).unwrap();
    assert_eq!(message.document_id.as_deref(), Some("uuid-doc-0"));
}
