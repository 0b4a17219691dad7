//! `bindery worker` with RabbitMQ, as it is started by hand or by systemd.

use crate::support::{Desk, samples, stage};
use bindery_testkit::RabbitServer;
use lapin::{
    BasicProperties, Confirmation, Connection, ConnectionProperties,
    options::{BasicAckOptions, BasicGetOptions, BasicPublishOptions, ConfirmSelectOptions},
};
use serde_json::{Value, json};
use std::{
    process::Command,
    time::{Duration, Instant},
};

#[test]
fn s002_03_a_worker_of_one_component_takes_its_messages_and_no_others() {
    let Some(broker) = RabbitServer::start() else { return };
    let desk = Desk::new().with_env("BINDERY_AMQP", broker.url());
    desk.bindery(&["submit", "--workflow", "words", &samples(), "--external-id", "monday"]).ok();
    let mut alone = desk.command(&["worker", "--until-idle"]);
    assert!(alone.env("DOCPROC_COMPONENT_NAME", "text_splitter").status().unwrap().success());
    let status = desk.status("monday");
    assert_eq!((&stage(&status, "split")["completed"], &stage(&status, "count")["waiting"]), (&5.into(), &6.into()));
    desk.bindery(&["worker", "--until-idle"]).ok();
    assert_eq!(desk.bindery(&["result", "monday", "--json"]).ok().json()["totals"]["words"], 748);
}

#[test]
fn a_broker_that_cannot_be_used_is_one_sentence_without_its_password() {
    let desk = Desk::new();
    let ran = desk.bindery(&["worker", "--amqp", "amqp://ann:s3cret@127.0.0.1:1/"]).fails_with(20, "no broker answers");
    assert!(!ran.err.contains("s3cret"), "{ran:?}");
    desk.bindery(&["worker", "--amqp", "http://127.0.0.1/"]).fails_with(2, "amqp://");
}

/// A workflow whose pages are counted by a program outside.
const COUNTED_OUTSIDE: &str = "
name: seed
version: 1
stages:
  - {name: split, component: text_splitter, over: file, parallel: true}
  - name: count
    component: counter
    routing_key: page.count
    over: page
    parallel: true
    processors: [{name: counter, external: true}]
    result: {words: integer}
  - name: done
    component: extraction_aggregator
    routing_key: page.counted
    aggregation: {collect_by: request_id, expect_count_from: page_count}
";

/// A program as those of seed 002 are: declares its own queue, sends a request, and does its work. Of each page it sends a
/// message that is no result before the right one.
const COUNTER: &str = r#"
import json, os, sys, time
import pika

def channel():
    return pika.BlockingConnection(pika.URLParameters(os.environ["BROKER"])).channel()

begun = time.time()
while True:
    try:
        ch = channel()
        ch.exchange_declare("doc.direct", exchange_type="direct", durable=True)
        ch.queue_declare("q.workflow_router", passive=True)
        break
    except (pika.exceptions.ChannelClosedByBroker, pika.exceptions.AMQPConnectionError):
        if time.time() - begun > 60:
            raise
        time.sleep(0.1)
arguments = json.loads(os.environ["ARGUMENTS"])
ch.confirm_delivery()
ch.queue_declare("q.counter", durable=True, arguments=arguments)
request = {
    "request_id": "request-7", "workflow_name": "seed", "tenant": "t-1",
    "payload": {"file_path": "request-7/note.txt", "original_filename": "letter.txt", "channel": "mail", "metadata": {"from": "ann"}},
}
for again in range(2):
    ch.basic_publish("doc.direct", "request.new", json.dumps(request), mandatory=True)
ch.basic_publish("doc.direct", "request.new", json.dumps({"request_id": "r", "payload": {"file_path": "/etc/passwd"}}))
for method, properties, body in ch.consume("q.counter", inactivity_timeout=60):
    message = json.loads(body)
    about = {"request_id": message["request_id"], "document_id": message["document_id"]}
    ch.basic_publish("doc.direct", "page.counted", json.dumps(about), mandatory=True)
    message["payload"] = {"words": 3}
    ch.basic_publish("doc.direct", "page.counted", json.dumps(message), mandatory=True)
    ch.basic_ack(method.delivery_tag)
    break
reasons = []
while len(reasons) < 2 and time.time() - begun < 120:
    method, properties, body = ch.basic_get("q.dead_letters", auto_ack=True)
    if method:
        reasons.append(properties.headers["bindery-reason"])
    else:
        time.sleep(0.05)
print(json.dumps(sorted(reasons)))
"#;

/// A program of seed 002 takes part on queues of this kind, which it declares with these arguments.
fn takes_part(kind: &str, arguments: &Value) {
    let Some(broker) = RabbitServer::start() else { return };
    let Some(python) = bindery_testkit::process::python_with("pika") else { return };
    let desk = Desk::new();
    desk.write("workflows/seed.yaml", COUNTED_OUTSIDE);
    desk.write("inbox/request-7/note.txt", "one two three\n");
    let address = format!("{}?queues={kind}&files={}", broker.url(), desk.path("inbox").display());
    let worker = desk.start(&["worker", "--amqp", &address]);
    let program = desk.write("counter.py", COUNTER);
    let mut counter = Command::new(python);
    counter.arg(program).env("BROKER", broker.url()).env("ARGUMENTS", arguments.to_string());
    let ran = counter.output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let reasons: Vec<String> = serde_json::from_slice(&ran.stdout).unwrap();
    assert!(reasons[0].contains("the payload is missing"), "{reasons:?}");
    assert!(reasons[1].contains("/etc/passwd is not below the folder"), "{reasons:?}");
    let begun = Instant::now();
    let status = loop {
        let status = desk.status("request-7");
        if status["status"] == "completed" {
            break status;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{status}");
        std::thread::sleep(Duration::from_millis(50));
    };
    worker.kill();
    assert_eq!(stage(&status, "count")["completed"], 1);
    let events = desk.bindery(&["events", "--json"]).ok().out;
    assert!(events.contains("letter.txt"), "the file goes by its original name: {events}");
    assert!(events.contains(r#""channel":"mail""#), "{events}");
    assert_eq!(events.matches("SubmissionCreated").count(), 1, "the same request again is the same: {events}");
}

#[test]
fn s002_01_a_program_of_the_seed_declares_its_queue_and_starts_a_request() {
    takes_part("classic", &json!({"x-message-ttl": 300_000, "x-dead-letter-exchange": "doc.dlx"}));
}

#[test]
fn s002_01_a_program_that_declares_durable_queues_only_takes_part() {
    takes_part("plain", &json!(null));
}

/// Takes one message from a queue, as a program outside does, and publishes what it makes of it.
async fn answer_one(url: &str, queue: &str, key: &str, work: impl Fn(&Value) -> Value) {
    let begun = Instant::now();
    let (_connection, channel, taken) = loop {
        assert!(begun.elapsed() < Duration::from_secs(60), "no message in {queue}");
        // Asking for a queue that is not there closes the channel, and a new one on the same connection may be refused.
        let connection = Connection::connect(url, ConnectionProperties::default()).await.unwrap();
        let channel = connection.create_channel().await.unwrap();
        if let Ok(Some(taken)) = channel.basic_get(queue.into(), BasicGetOptions::default()).await {
            break (connection, channel, taken);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let mut message: Value = serde_json::from_slice(&taken.delivery.data).unwrap();
    message["payload"] = work(&message["payload"]);
    channel.confirm_select(ConfirmSelectOptions::default()).await.unwrap();
    let (body, options) =
        (message.to_string(), BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() });
    let sent =
        channel.basic_publish("doc.direct".into(), key.into(), options, body.as_bytes(), BasicProperties::default());
    assert_eq!(sent.await.unwrap().await.unwrap(), Confirmation::Ack(None), "the message is routed and stored");
    taken.delivery.ack(BasicAckOptions::default()).await.unwrap();
}

#[test]
fn a_task_of_a_machine_goes_out_as_a_message_and_its_answer_comes_back() {
    let Some(broker) = RabbitServer::start() else { return };
    let desk = Desk::new().with_env("BINDERY_AMQP", broker.url());
    desk.write("bindery.toml", "[machines.functions]\nresize = { queue = \"q.resize\" }\n");
    let machine = json!({"StartAt": "Resize", "States": {"Resize": {"Type": "Task", "End": true,
        "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
        "Parameters": {"FunctionName": "resize", "Payload.$": "$"}}}});
    let file = desk.write("resize.asl.json", machine.to_string());
    desk.bindery(&["machine", "start", file.to_str().unwrap(), "--input", r#"{"width": 320}"#]).ok();
    let worker = desk.start(&["worker"]);
    let twice = |payload: &Value| {
        assert!(payload["task_token"].is_string(), "{payload}");
        json!({"width": payload["input"]["width"].as_i64().unwrap() * 2})
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(answer_one(&broker.url(), "q.resize", "task.answered", twice));
    let begun = Instant::now();
    let ended = loop {
        let said = desk.bindery(&["machine", "status", "exec_1", "--json"]).ok().json();
        if said["status"] != "RUNNING" {
            break said;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{said}");
        std::thread::sleep(Duration::from_millis(20));
    };
    worker.kill();
    assert_eq!((&ended["status"], &ended["output"]), (&json!("SUCCEEDED"), &json!(r#"{"width":640}"#)));
}
