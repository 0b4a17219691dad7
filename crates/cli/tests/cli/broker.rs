//! `bindery worker` with RabbitMQ, as it is started by hand or by systemd.

use crate::support::{Desk, samples, stage};
use bindery_testkit::RabbitServer;
use lapin::{
    BasicProperties, Confirmation, Connection, ConnectionProperties,
    options::{BasicAckOptions, BasicGetOptions, BasicPublishOptions, ConfirmSelectOptions},
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// None, with a line that says so, where RabbitMQ is not installed.
#[allow(clippy::print_stderr, reason = "a test that is skipped says so")]
fn start() -> Option<RabbitServer> {
    let server = RabbitServer::start();
    if server.is_none() {
        eprintln!("{}", bindery_testkit::rabbitmq::NOT_INSTALLED);
    }
    server
}

#[test]
fn s002_03_a_worker_of_one_component_takes_its_messages_and_no_others() {
    let Some(broker) = start() else { return };
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

/// Takes one message from a queue, as a program outside does, and publishes what it makes of it.
async fn answer_one(url: &str, queue: &str, key: &str, work: impl Fn(&Value) -> Value) {
    let connection = Connection::connect(url, ConnectionProperties::default()).await.unwrap();
    let begun = Instant::now();
    let (channel, taken) = loop {
        assert!(begun.elapsed() < Duration::from_secs(60), "no message in {queue}");
        // Asking for a queue that is not there closes the channel.
        let channel = connection.create_channel().await.unwrap();
        if let Ok(Some(taken)) = channel.basic_get(queue.into(), BasicGetOptions::default()).await {
            break (channel, taken);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
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
    let Some(broker) = start() else { return };
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
