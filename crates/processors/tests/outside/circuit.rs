//! Tries within a call and the circuit breaker, over real calls.

use crate::{
    server::{Server, response},
    support::{OutputOf as _, context, shell},
};
use bindery_core::error::ErrorClass;
use bindery_engine::workflow::Backoff;
use bindery_processors::outside::{
    CircuitState, HttpConfig, Outside, circuits,
    config::{BreakerConfig, Retry},
};
use serde_json::{Value, json};
use std::time::Duration;

const QUICK: Backoff =
    Backoff { initial: Duration::from_millis(1), factor: 1.0, max: Duration::from_millis(1), jitter: 0.0 };

fn breaker(failures: u32, open: Duration) -> BreakerConfig {
    BreakerConfig { failures, within: Duration::from_secs(600), open, longest_open: open }
}

#[test]
fn a_call_tries_again_until_it_works() {
    let server = Server::start(Box::new(|number, _| {
        Some(if number < 2 { response("500 Oops", "", "") } else { response("200 OK", "", r#"{"output": 3}"#) })
    }));
    let mut config = HttpConfig::new(server.url());
    config.common.retry = Retry { max_attempts: 3, backoff: QUICK };
    assert_eq!(Outside::http("third", 1, config).output_of(&context(), Value::Null).unwrap(), json!(3));
    assert_eq!(server.asked().len(), 3);
}

#[test]
fn tries_end_with_the_attempts_the_deadline_and_a_refusal() {
    let server = Server::start(Box::new(|_, _| Some(response("500 Oops", "", ""))));
    let mut config = HttpConfig::new(server.url());
    config.common.retry = Retry { max_attempts: 2, backoff: QUICK };
    let outside = Outside::http("second", 1, config.clone());
    assert_eq!(outside.output_of(&context(), Value::Null).unwrap_err().kind, "HttpStatus");
    assert_eq!(server.asked().len(), 2);

    // The next try would come after the deadline, so the failure is returned at once.
    config.common.retry.backoff =
        Backoff { initial: Duration::from_secs(3000), max: Duration::from_secs(3000), ..QUICK };
    let soon = context().with_deadline(Some(bindery_core::AwakeInstant::now() + Duration::from_secs(60)));
    assert_eq!(Outside::http("late", 1, config).output_of(&soon, Value::Null).unwrap_err().kind, "HttpStatus");
    assert_eq!(server.asked().len(), 3);

    let (_folder, mut config) = shell("echo x >> calls; echo '{\"error\": {\"class\": \"reject\"}}'");
    config.common.retry = Retry { max_attempts: 5, backoff: QUICK };
    let calls = config.folder.join("calls");
    let error = Outside::command("refusing", 1, config).output_of(&context(), Value::Null).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Reject);
    assert_eq!(std::fs::read_to_string(calls).unwrap().lines().count(), 1);
}

#[test]
fn s004_33_a_failing_program_opens_its_circuit_and_is_left_alone() {
    let (_folder, mut config) = shell("echo x >> calls; echo no disk >&2; exit 1");
    config.common.breaker = Some(breaker(3, Duration::from_secs(600)));
    let calls = config.folder.join("calls");
    let outside = Outside::command("circuit-test", 1, config);
    for _ in 0..3 {
        assert_eq!(outside.output_of(&context(), Value::Null).unwrap_err().kind, "ExitCode");
    }
    let error = outside.output_of(&context(), Value::Null).unwrap_err();
    assert_eq!((error.kind.as_str(), error.class()), ("CircuitOpen", ErrorClass::Retry));
    let end = "after 3 failures: the program /bin/sh ended with exit code 1: no disk";
    assert!(error.message.starts_with("the circuit of circuit-test is open since "), "{error}");
    assert!(error.message.ends_with(end), "{error}");
    assert_eq!(std::fs::read_to_string(calls).unwrap().lines().count(), 3);
    let listed = circuits().into_iter().find(|circuit| circuit.name == "circuit-test").unwrap();
    assert_eq!((listed.state, listed.failures), (CircuitState::Open, 3));
}

#[test]
fn refused_inputs_keep_the_circuit_closed_and_a_good_try_closes_it() {
    let server = Server::start(Box::new(|number, _| {
        Some(match number {
            0..5 => response("422 Unprocessable", "", ""),
            5 => response("500 Oops", "", ""),
            _ => response("200 OK", "", r#"{"output": 1}"#),
        })
    }));
    let mut config = HttpConfig::new(server.url());
    config.common.breaker = Some(breaker(1, Duration::from_nanos(1)));
    let outside = Outside::http("recovering", 1, config);
    let state = || outside.breaker().unwrap().state().state;
    for _ in 0..5 {
        assert_eq!(outside.output_of(&context(), Value::Null).unwrap_err().class(), ErrorClass::Reject);
        assert_eq!(state(), CircuitState::Closed);
    }
    assert!(outside.output_of(&context(), Value::Null).is_err());
    assert_eq!(state(), CircuitState::Open);
    assert_eq!(outside.output_of(&context(), Value::Null).unwrap(), json!(1));
    assert_eq!(state(), CircuitState::Closed);
}
