//! HTTP endpoints, against a real server.

use crate::{
    server::{Server, response},
    support::{OutputOf as _, context},
};
use bindery_core::{
    StepError,
    error::{Disposition, ErrorClass},
};
use bindery_engine::{
    context::{CancelFlag, StepContext},
    work_id::WorkId,
};
use bindery_processors::outside::{
    HttpConfig, Outside, Template,
    config::{AnswerShape, Method},
};
use serde_json::{Value, json};
use std::{net::TcpListener, sync::Arc, time::Duration};

/// The result of one call that the server answers so.
fn answer(status: &'static str, headers: &'static str, body: &'static str) -> Result<Value, StepError> {
    let server = Server::start(Box::new(move |_, _| Some(response(status, headers, body))));
    call(HttpConfig::new(server.url()))
}

fn call(config: HttpConfig) -> Result<Value, StepError> {
    Outside::http("endpoint", 1, config).output_of(&context(), json!({"text": "hello"}))
}

fn after(error: &StepError) -> Option<Duration> {
    match error.disposition {
        Disposition::Retry { after } => after,
        _ => panic!("{error:?}"),
    }
}

#[test]
fn the_request_is_sent_with_its_headers_and_the_answer_read() {
    let server = Server::start(Box::new(|_, _| Some(response("200 OK", "", r#"{"output": {"tone": 1}}"#))));
    let mut config = HttpConfig::new(server.url());
    config.method = Method::Put;
    let of_ours = std::env::var("CARGO_PKG_NAME").unwrap();
    config.headers = vec![
        ("Authorization".into(), Template::parse("Bearer ${CARGO_PKG_NAME}").unwrap()),
        ("Content-Type".into(), Template::parse("application/vnd.example+json").unwrap()),
    ];
    assert!(!format!("{config:?}").contains("Bearer"));
    assert_eq!(call(config).unwrap(), json!({"tone": 1}));
    let asked = server.asked();
    let head = &asked[0].head;
    assert!(head.starts_with("put /work http/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("\r\nauthorization: bearer {of_ours}\r\n")), "{head}");
    assert_eq!(head.matches("content-type").count(), 1, "{head}");
    assert!(head.contains("content-type: application/vnd.example+json"), "{head}");
    let body: Value = serde_json::from_str(&asked[0].body).unwrap();
    let key = context().idempotency_key("endpoint", &json!({"text": "hello"}));
    let expected = json!({
        "processor": "endpoint", "version": 1, "attempt": 1, "job": null, "idempotency_key": key, "settings": {},
        "input": {"text": "hello"},
    });
    assert_eq!(body, expected);
    assert!(head.contains(&format!("\r\nidempotency-key: {key}\r\n")), "{head}");
    assert!(head.contains("\r\nbindery-attempt: 1\r\n") && !head.contains("bindery-job"), "{head}");
}

#[test]
fn every_try_of_the_same_work_has_the_same_idempotency_key() {
    let server = Server::start(Box::new(|number, _| {
        Some(if number == 0 { response("503 Busy", "", "") } else { response("200 OK", "", r#"{"output": 1}"#) })
    }));
    let mut config = HttpConfig::new(server.url());
    config.common.retry.max_attempts = 2;
    config.common.retry.backoff.initial = Duration::from_millis(1);
    let endpoint = Outside::http("endpoint", 1, config);
    let ask = |attempt, about: &str, text: &str| {
        let work = WorkId { job: format!("job_{about}"), about: about.to_owned() };
        let context = StepContext::standalone(Arc::default(), attempt, CancelFlag::default()).with_work(Some(work));
        endpoint.output_of(&context, json!({"text": text})).unwrap();
    };
    ask(1, "a", "hello");
    ask(2, "a", "hello");
    ask(1, "a", "changed");
    ask(1, "b", "hello");
    let asked = server.asked();
    let header = |number: usize, name: &str| {
        let head: &str = &asked[number].head;
        head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap_or_default().to_owned()
    };
    let keys: Vec<String> = (0..5).map(|number| header(number, "idempotency-key")).collect();
    assert!(keys[0] == keys[1] && keys[0] == keys[2] && keys[0].len() == 32, "{keys:?}");
    assert!(keys[3] != keys[0] && keys[4] != keys[0] && keys[3] != keys[4], "{keys:?}");
    let told: Vec<_> =
        (0..3).map(|number| (header(number, "bindery-job"), header(number, "bindery-attempt"))).collect();
    let said = |attempt: &str| ("job_a".to_owned(), attempt.to_owned());
    assert_eq!(told, [said("1"), said("1"), said("2")], "a try within an attempt is the same attempt");
}

#[test]
fn a_missing_variable_parks_the_work_before_anything_is_sent() {
    let server = Server::start(Box::new(|_, _| None));
    let mut config = HttpConfig::new(server.url());
    config.headers = vec![("x-key".into(), Template::parse("${NO_SUCH_VARIABLE_HERE}").unwrap())];
    let error = call(config).unwrap_err();
    let until = "environment variable NO_SUCH_VARIABLE_HERE".to_owned();
    assert_eq!(error.disposition, Disposition::Park { until, at: None });
    assert!(server.asked().is_empty());
}

#[test]
fn a_bare_answer_is_the_output() {
    let server = Server::start(Box::new(|_, _| Some(response("200 OK", "", "[1, 2]"))));
    let mut config = HttpConfig::new(server.url());
    config.answer = AnswerShape::Bare;
    assert_eq!(call(config).unwrap(), json!([1, 2]));
    assert_eq!(answer("200 OK", "", "[1, 2]").unwrap_err().kind, "BadAnswer");
}

#[test]
fn errors_in_the_envelope_are_those_of_commands() {
    let error = answer("200 OK", "", r#"{"error": {"kind": "Empty", "message": "no text", "class": "review"}}"#);
    let error = error.unwrap_err();
    assert_eq!((error.kind.as_str(), error.class()), ("Empty", ErrorClass::Review));
}

#[test]
fn busy_and_broken_servers_are_tried_again() {
    let error = answer("429 Too Many Requests", "Retry-After: 17\r\n", "slow down").unwrap_err();
    assert_eq!(after(&error), Some(Duration::from_secs(17)));
    assert!(error.message.ends_with("/work answered with status 429 Too Many Requests: slow down"), "{error}");
    let error = answer("503 Service Unavailable", "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n", "").unwrap_err();
    assert_eq!(after(&error), Some(Duration::ZERO));
    for status in ["500 Internal Server Error", "502 Bad Gateway", "408 Request Timeout", "425 Too Early"] {
        assert_eq!(after(&answer(status, "", "").unwrap_err()), None, "{status}");
    }
}

#[test]
fn a_refused_input_is_rejected_with_the_beginning_of_the_reason() {
    let error = answer("422 Unprocessable Entity", "", "the text is empty").unwrap_err();
    assert_eq!((error.kind.as_str(), error.class()), ("HttpStatus", ErrorClass::Reject));
    for status in ["401 Unauthorized", "403 Forbidden", "407 Proxy Authentication Required"] {
        let error = answer(status, "", "who are you?").unwrap_err();
        assert_eq!((error.kind.as_str(), error.class()), ("NoAccess", ErrorClass::Park), "{status}");
    }
    assert!(error.message.ends_with("status 422 Unprocessable Entity: the text is empty"), "{error}");
}

#[test]
fn redirects_are_told_and_not_followed() {
    let server =
        Server::start(Box::new(|_, _| Some(response("302 Found", "Location: http://127.0.0.1:9/elsewhere\r\n", ""))));
    let error = call(HttpConfig::new(server.url() + "?key=secret")).unwrap_err();
    assert!(error.message.contains("/work redirects to http://127.0.0.1:9/elsewhere (status 302 Found)"), "{error}");
    assert!(!error.message.contains("secret"), "{error}");
    assert_eq!((error.kind.as_str(), server.asked().len()), ("Redirected", 1));
}

#[test]
fn nobody_there_hanging_up_and_silence_are_tried_again() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = call(HttpConfig::new(format!("http://{closed}/"))).unwrap_err();
    assert_eq!((error.kind.as_str(), error.class()), ("Unreachable", ErrorClass::Retry));
    assert!(error.message.contains("could not be reached"), "{error}");

    let hanging_up = Server::start(Box::new(|_, _| None));
    let error = call(HttpConfig::new(hanging_up.url())).unwrap_err();
    assert_eq!((error.kind.as_str(), error.class()), ("Unreachable", ErrorClass::Retry));

    // Connections wait in its queue, and nobody takes them.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut config = HttpConfig::new(format!("http://{}/", silent.local_addr().unwrap()));
    config.timeout = Duration::from_millis(300);
    let error = call(config).unwrap_err();
    assert_eq!((error.kind.as_str(), error.class()), ("Timeout", ErrorClass::Retry));
    assert!(error.message.ends_with("took longer than 0.3 s"), "{error}");
}

#[test]
fn half_and_overlong_bodies_do_no_harm() {
    let half = Server::start(Box::new(|_, _| {
        Some("HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\n{\"output\": ".into())
    }));
    assert_eq!(call(HttpConfig::new(half.url())).unwrap_err().class(), ErrorClass::Retry);

    let overlong = Server::start(Box::new(|_, _| Some(response("200 OK", "", &" ".repeat(3_000_000)))));
    let mut config = HttpConfig::new(overlong.url());
    config.max_response_bytes = 1024 * 1024;
    let error = call(config).unwrap_err();
    assert_eq!(error.kind, "TooMuchOutput");
    assert!(error.message.ends_with("answered with more than the 1 MB allowed"), "{error}");
    assert_eq!(answer("200 OK", "", "<html>").unwrap_err().kind, "BadAnswer");
    assert!(answer("204 No Content", "", "").unwrap_err().message.ends_with("answered nothing"));
}
