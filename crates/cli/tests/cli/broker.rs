//! `bindery worker` with RabbitMQ, as it is started by hand or by systemd.

use crate::support::{Desk, samples, stage};
use bindery_testkit::RabbitServer;

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
