//! `command:` and `http:` in YAML: defaults, values and mistakes.

use bindery_processors::outside::{
    CommandConfig, HttpConfig,
    config::{AnswerShape, Framing, Method, Mode},
    parse,
};
use bindery_yaml::{self as yaml, Fields, Problems};
use std::{path::Path, time::Duration};

fn read<T>(text: &str, read: impl Fn(&Fields<'_>, &mut Problems) -> Option<T>) -> Result<T, String> {
    let mut problems = Problems::default();
    let root = yaml::read(text, yaml::Wanted { what: "processor", least: "`name`" }, &mut problems).unwrap();
    let fields = Fields::open(&root, "", &["command", "http"], &mut problems).unwrap();
    let config = read(&fields, &mut problems);
    if problems.is_empty() { Ok(config.unwrap()) } else { Err(problems.into_error(Some("p.yaml")).to_string()) }
}

fn command(text: &str) -> Result<CommandConfig, String> {
    read(text, |fields, problems| parse::command(fields, Path::new("/processors"), problems))
}

fn http(text: &str) -> Result<HttpConfig, String> {
    read(text, parse::http)
}

#[test]
fn a_command_has_defaults() {
    let config = command("command: {run: [python3, tone.py, -v]}").unwrap();
    assert_eq!((config.program.as_str(), &config.arguments[..]), ("python3", &["tone.py".into(), "-v".into()][..]));
    assert_eq!(config.folder, Path::new("/processors"));
    assert_eq!((config.mode, config.framing), (Mode::PerInput, Framing::Lines));
    assert_eq!((config.timeout, config.memory_bytes), (Duration::from_secs(30), None));
    assert_eq!(config.max_output_bytes, 64 * 1024 * 1024);
    assert_eq!(config.common.retry.max_attempts, 1);
    let breaker = config.common.breaker.unwrap();
    assert_eq!((breaker.failures, breaker.within.as_secs(), breaker.open.as_secs()), (5, 60, 30));
    assert!(!config.inherit_environment && config.environment.is_empty());
}

#[test]
fn every_key_of_a_command_is_read() {
    let config = command(
        "command:\n  run: [./run.sh]\n  mode: persistent\n  framing: length\n  env: {TZ: UTC, KEY: 'x ${SECRET}'}\n  \
         inherit_env: true\n  timeout_seconds: 5\n  memory_mb: 512\n  max_output_mb: 2\n  concurrency: 7\n  \
         retry: {max_attempts: 4, initial_seconds: 0.5, factor: 3, max_seconds: 9, jitter: 0}\n  \
         circuit_breaker: false\n",
    )
    .unwrap();
    assert_eq!((config.mode, config.framing), (Mode::Persistent, Framing::Length));
    let names: Vec<&str> = config.environment.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["TZ", "KEY"]);
    assert!(config.inherit_environment);
    assert_eq!((config.timeout.as_secs(), config.memory_bytes), (5, Some(512 << 20)));
    assert_eq!((config.max_output_bytes, config.common.concurrency), (2 << 20, 7));
    let retry = config.common.retry;
    assert_eq!(
        (retry.max_attempts, retry.backoff.initial, retry.backoff.max.as_secs()),
        (4, Duration::from_millis(500), 9)
    );
    assert!(config.common.breaker.is_none());
}

#[test]
fn every_key_of_an_endpoint_is_read() {
    let config = http(
        "http:\n  url: https://example.com/a?b=c\n  method: PATCH\n  headers: {X-Key: '${KEY}'}\n  answer: bare\n  \
         timeout_seconds: 5\n  max_response_mb: 1\n  concurrency: 2\n  \
         circuit_breaker: {failures: 2, within_seconds: 1.5, open_seconds: 3}\n",
    )
    .unwrap();
    assert_eq!((config.method, config.answer), (Method::Patch, AnswerShape::Bare));
    assert_eq!((config.headers.len(), config.max_response_bytes, config.common.concurrency), (1, 1 << 20, 2));
    assert_eq!(config.common.breaker.unwrap().within, Duration::from_millis(1500));
    let config = http("http: {url: 'http://localhost:8080/'}").unwrap();
    assert_eq!((config.method, config.answer, config.common.concurrency), (Method::Post, AnswerShape::Envelope, 16));
}

#[test]
fn mistakes_are_told_with_their_line_and_what_to_do() {
    let cases = [
        ("command: {}", "1:10: command: `run` is missing"),
        ("command: {run: python3 tone.py}", "command.run: expected a list, found the text \"python3 tone.py\""),
        ("command: {run: []}", "command.run: there is no program here"),
        ("command: {run: [sleep, 5]}", "command.run[1]: expected a text, found the number 5\n  hint: put it in quotes"),
        ("command: {run: [a], tiemout_seconds: 5}", "did you mean `timeout_seconds`?"),
        ("command: {run: [a], mode: forever}", "expected per_input or persistent, found the text \"forever\""),
        ("command: {run: [a], framing: lines}", "only a persistent program has framing"),
        ("command: {run: [a], env: [A-B]}", "command.env[0]: expected the name of an environment variable"),
        ("command: {run: [a], env: {A: '${B'}}", "command.env.A: `${` has no closing `}`"),
        ("command: {run: [a], env: {A: 5}}", "command.env.A: expected a text\n  hint: put it in quotes"),
        ("command: {run: [a], concurrency: 0}", "command.concurrency: expected at least 1, found 0"),
        ("command: {run: [a], memory_mb: lots}", "expected a whole number of megabytes, found the text \"lots\""),
        ("command: {run: [a], retry: {max_seconds: 0.1}}", "the longest wait of 100ms is shorter than the first of 1s"),
        (
            "command: {run: [a], circuit_breaker: {open_seconds: 0}}",
            "circuit_breaker.open_seconds: expected more than 0",
        ),
    ];
    for (text, expected) in cases {
        let error = command(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let cases = [
        ("http: {}", "http: `url` is missing"),
        ("http: {url: example.com/x}", "begins with http:// or https://"),
        ("http: {url: 'ftp://example.com'}", "begins with http:// or https://"),
        ("http: {url: 'http://me:pass@example.com'}", "there is a user name in this address"),
        ("http: {url: 'http://a b'}", "this is not an address"),
        ("http: {url: 'http://a', method: GET}", "expected POST, PUT or PATCH, found the text \"GET\""),
        ("http: {url: 'http://a', headers: {'a b': c}}", "\"a b\" is not the name of a header"),
        ("http: {url: 'http://a', headers: {a: b, A: c}}", "this header is already there"),
    ];
    for (text, expected) in cases {
        let error = http(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
        assert!(!error.contains("pass@"), "{error}");
    }
}
