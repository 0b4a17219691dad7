//! Programs and people outside take part.

use crate::{
    docproc::{Docproc, default_yaml, outside},
    node::{self, Client, Node, eventually, header, options, prefix},
};
use bindery_amqp::AmqpOptions;
use bindery_core::{outcome::OutcomeStatus, submission::SubmissionStatus};
use bindery_engine::{intake::Intake, message::PipelineMessage};
use futures_util::StreamExt;
use lapin::{
    options::{BasicAckOptions, BasicConsumeOptions, BasicQosOptions, QueueDeclareOptions},
    types::FieldTable,
};
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
    let Some(python) = bindery_testkit::process::python_with("pika") else { return };
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
        .replace("version: 3", "version: 4")
        .replace("component: ocr", "component: reader")
        .replace("routing_key: page.classify\n", "routing_key: page.sort\n");
    run.rig.workflow(&newer).await;
    let node = Node::start(&run.rig.engine, "worker", options(&broker, &prefix)).await.unwrap();
    eventually("the submission is completed", async || completed(&run).await).await;
    node.stop().await;
    assert_eq!(run.outcomes("ocr").await.len(), 2);
}

/// The extractor with a time limit of its own, on top of [`outside`].
fn impatient(seconds: u64) -> String {
    let outside = outside("extractor").replace("timeout_seconds: 15\n    parallel: true\n    confidence", "confidence");
    outside.replace(
        "    routing_key: doc.extract\n",
        &format!(
            "    routing_key: doc.extract\n    parallel: true\n    timeout_seconds: {seconds}\n    max_attempts: 1\n"
        ),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_time_limit_of_a_component_counts_from_the_delivery() {
    let Some(broker) = node::broker() else { return };
    let prefix = prefix();
    // Three documents, one at a time, each slower than half of what one may take: the last is delivered long after a
    // limit that counted from its announcement.
    let run = Docproc::received(&impatient(3), "invoice\nreceipt\ninvoice\n").await;
    let node = Node::start(&run.rig.engine, "worker", options(&broker, &prefix)).await.unwrap();
    let client = Client::connect(&broker, &prefix).await;
    client.channel.basic_qos(1, BasicQosOptions::default()).await.unwrap();
    let queue = format!("{prefix}q.extractor").into();
    let consuming = BasicConsumeOptions::default();
    let mut deliveries =
        client.channel.basic_consume(queue, "".into(), consuming, FieldTable::default()).await.unwrap();
    for _ in 0..3 {
        let asked = deliveries.next().await.unwrap().unwrap();
        tokio::time::sleep(Duration::from_millis(1_700)).await;
        let mut message: PipelineMessage = serde_json::from_slice(&asked.data).unwrap();
        message.payload = json!({"extracted_data": {}, "extraction_confidence": 0.9});
        client.publish("doc.direct", "doc.extracted", &serde_json::to_vec(&message).unwrap()).await;
        asked.ack(BasicAckOptions::default()).await.unwrap();
    }
    eventually("the submission is completed", async || completed(&run).await).await;
    let statuses: Vec<_> = run.outcomes("extract").await.into_iter().map(|outcome| outcome.status).collect();
    assert_eq!(statuses, [OutcomeStatus::Completed; 3]);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_component_that_takes_its_work_and_does_not_answer_is_given_up() {
    let Some(broker) = node::broker() else { return };
    let prefix = prefix();
    let run = Docproc::received(&impatient(2), "invoice\nreceipt\n").await;
    let node = Node::start(&run.rig.engine, "worker", options(&broker, &prefix)).await.unwrap();
    let client = Client::connect(&broker, &prefix).await;
    client.channel.basic_qos(1, BasicQosOptions::default()).await.unwrap();
    let queue = format!("{prefix}q.extractor").into();
    let consuming = BasicConsumeOptions::default();
    let mut deliveries =
        client.channel.basic_consume(queue, "".into(), consuming, FieldTable::default()).await.unwrap();
    let taken = deliveries.next().await.unwrap().unwrap();
    let failed = async || run.outcomes("extract").await.iter().any(|one| one.status == OutcomeStatus::Failed);
    eventually("the one that was taken has failed", failed).await;
    let outcomes = run.outcomes("extract").await;
    assert_eq!(outcomes.len(), 1, "the other one waits behind it, and its time has not begun: {outcomes:?}");
    assert_eq!(outcomes[0].error.as_ref().unwrap().message, "extractor did not report within 2 s");
    // Too late to be waited for, and still a result.
    let mut message: PipelineMessage = serde_json::from_slice(&taken.data).unwrap();
    message.payload = json!({"extracted_data": {"late": true}, "extraction_confidence": 0.9});
    client.publish("doc.direct", "doc.extracted", &serde_json::to_vec(&message).unwrap()).await;
    let kept = async || run.outcomes("extract").await[0].status == OutcomeStatus::Completed;
    eventually("it is kept in the place of the failure", kept).await;
    node.stop().await;
    assert_eq!(client.depth("q.dead_letters").await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fields_that_nobody_knows_reach_the_next_component() {
    let Some(broker) = node::broker() else { return };
    let prefix = prefix();
    let verify = "  - {name: verify, routing_key: doc.verify, component: verifier, parallel: true}\n\n";
    let sign =
        "  - {name: sign, routing_key: doc.sign, parallel: true, processors: [{name: signer, external: true}]}\n\n";
    let yaml = outside("extractor")
        .replace("  - name: extraction_aggregation\n", &format!("{verify}{sign}  - name: extraction_aggregation\n"));
    let (mut registry, _) = crate::docproc::registry();
    registry.register(crate::support::Func::echo("verifier"));
    let run = Docproc::on(|_| crate::support::Rig::new(registry.clone()), &yaml, "invoice\n").await;
    let node = Node::start(&run.rig.engine, "worker", options(&broker, &prefix)).await.unwrap();
    let client = Client::connect(&broker, &prefix).await;
    let asked = client.get_soon("q.extractor").await.delivery;
    let mut message: PipelineMessage = serde_json::from_slice(&asked.data).unwrap();
    message.payload = json!({"extracted_data": {"total": "7"}, "extraction_confidence": 0.9});
    message.others.insert("tenant".to_owned(), json!({"id": 7}));
    client.publish("doc.direct", "doc.verify", &serde_json::to_vec(&message).unwrap()).await;
    let asked = client.get_soon("q.sign").await.delivery;
    let next: PipelineMessage = serde_json::from_slice(&asked.data).unwrap();
    assert_eq!(next.others["tenant"], json!({"id": 7}));
    assert_eq!(next.payload, message.payload, "and not in the payload");
    node.stop().await;
    assert_eq!(client.depth("q.dead_letters").await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_of_two_workflows_makes_no_copies() {
    let Some(broker) = node::broker() else { return };
    let prefix = prefix();
    let run = Docproc::received(&outside("extractor"), "invoice\n").await;
    // Nobody ever takes from q.other, q.reader or q.copier.
    let clashing = "name: clashing\nstages:\n- {name: ocr, component: reader, routing_key: page.ocr}\n\
                    - {name: extract, component: copier, routing_key: doc.extract, processors: [{name: x, external: true}]}\n";
    run.rig.workflow(clashing).await;
    let only: Vec<_> =
        ["q.splitter", "q.ocr", "q.classifier", "q.classification_aggregator", "q.extraction_aggregator"]
            .into_iter()
            .chain(["q.consolidator", "q.engine"])
            .map(Into::into)
            .collect();
    let options = AmqpOptions { queues: Some(only), ..options(&broker, &prefix) };
    let node = Node::start(&run.rig.engine, "worker", options).await.unwrap();
    let client = Client::connect(&broker, &prefix).await;
    let asked = client.get_soon("q.extractor").await.delivery;
    let mut message: PipelineMessage = serde_json::from_slice(&asked.data).unwrap();
    message.payload = json!({"extracted_data": {}, "extraction_confidence": 0.9});
    client.publish("doc.direct", "doc.extracted", &serde_json::to_vec(&message).unwrap()).await;
    eventually("the submission is completed", async || completed(&run).await).await;
    node.stop().await;
    for queue in ["q.reader", "q.copier", "q.dead_letters"] {
        assert_eq!(client.depth(queue).await, 0, "{queue}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_queues_of_workflows_in_use_are_declared() {
    let Some(broker) = node::broker() else { return };
    let prefix = prefix();
    let (mut registry, _) = crate::docproc::registry();
    for shipped in [
        ("civic", include_str!("../../../../workflows/civic.yaml")),
        ("default", include_str!("../../../../workflows/default.yaml")),
        ("question", include_str!("../../../../workflows/question.yaml")),
        ("words", include_str!("../../../../workflows/words.yaml")),
    ] {
        registry.register_workflow(shipped);
    }
    let rig = crate::support::Rig::new(registry);
    rig.engine.register_builtin_workflows().await.unwrap();
    rig.workflow("name: mine\nstages: [{name: own}]\n").await;
    let node = Node::start(&rig.engine, "worker", options(&broker, &prefix)).await.unwrap();
    let client = Client::connect(&broker, &prefix).await;
    let exists = async |queue: &str| {
        // Asking for a queue that is not there closes the channel.
        let client = Client::connect(&broker, &prefix).await;
        let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
        client.channel.queue_declare(format!("{prefix}{queue}").into(), options, FieldTable::default()).await.is_ok()
    };
    assert!(exists("q.own").await && exists("q.workflow_router").await && exists("q.dead_letters").await);
    for queue in ["q.splitter", "q.text_splitter", "q.civic", "q.question"] {
        assert!(!exists(queue).await, "{queue}");
    }
    // A submission makes its workflow one in use.
    let mut intake = Intake::new("default", vec![rig.file("scan.txt", "invoice\n").await]);
    intake.external_id = Some("request-1".to_owned());
    let id = rig.submit(intake).await;
    eventually("it is completed", async || rig.status(id).await == SubmissionStatus::Completed).await;
    node.stop().await;
    assert!(exists("q.splitter").await && !exists("q.text_splitter").await);
    assert_eq!(client.depth("q.dead_letters").await, 0);
}

#[test]
fn the_message_in_the_documentation_is_one() {
    let page = include_str!("../../../../docs/rabbitmq.md");
    let example = page.split("```json").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let message: PipelineMessage = serde_json::from_str(example).unwrap();
    assert_eq!(message.document_id.as_deref(), Some("uuid-doc-0"));
}
