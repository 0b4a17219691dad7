//! What a worker answers over HTTP.

use crate::support::{Desk, PATIENCE, SLOW, Started, samples};
use bindery_testkit::PostgresServer;
use rustix::process::Signal;
use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    time::{Duration, Instant},
};

/// The address that a worker with `--listen 127.0.0.1:0` says it answers on.
fn address(desk: &Desk) -> String {
    let begun = Instant::now();
    loop {
        let log = fs::read_to_string(desk.path("worker.log")).unwrap_or_default();
        if let Some(line) = log.lines().find_map(|line| line.strip_prefix("answers on http://")) {
            return line.to_owned();
        }
        assert!(begun.elapsed() < PATIENCE, "it does not answer: {log}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The status and the body; none when nobody answers.
pub(crate) fn get(address: &str, path: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
}

/// Asks until the answer satisfies something.
fn wait_for(address: &str, path: &str, holds: impl Fn(u16, &str) -> bool) -> (u16, String) {
    let begun = Instant::now();
    loop {
        let answer = get(address, path);
        if let Some((status, body)) = answer.clone().filter(|(status, body)| holds(*status, body)) {
            return (status, body);
        }
        assert!(begun.elapsed() < PATIENCE, "{path} of {address} does not become what it should: {answer:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn listening(desk: &Desk, more: &[&str]) -> (Started, String) {
    let started = desk.start(&[&["worker", "--listen", "127.0.0.1:0"], more].concat());
    let address = address(desk);
    (started, address)
}

#[test]
fn a_worker_says_how_it_is_and_what_it_has_done() {
    let desk = Desk::new();
    desk.bindery(&["submit", "--workflow", "words", &samples()]).ok();
    desk.bindery(&["pause", "word_consolidator"]).ok();
    let (worker, address) = listening(&desk, &[]);
    assert_eq!(get(&address, "/livez"), Some((200, "ok\n".to_owned())));
    assert_eq!(get(&address, "/health"), Some((200, r#"{"status":"ok"}"#.to_owned())));
    wait_for(&address, "/readyz", |status, _| status == 200);
    assert_eq!(get(&address, "/ready"), Some((200, r#"{"status":"ready"}"#.to_owned())));
    assert_eq!(get(&address, "/nothing").map(|(status, _)| status), Some(404));
    let waiting = "bindery_queue_jobs{queue=\"q.word_consolidator\",state=\"ready\"} 1\n";
    let (_, metrics) = wait_for(&address, "/metrics", |_, body| body.contains(waiting));
    for (name, kind) in [
        ("bindery_jobs_finished_total", "counter"),
        ("bindery_jobs_claimed_total", "counter"),
        ("bindery_job_retries_total", "counter"),
        ("bindery_job_errors_total", "counter"),
        ("bindery_commit_seconds", "histogram"),
        ("bindery_queue_jobs", "gauge"),
        ("bindery_queue_oldest_ready_seconds", "gauge"),
    ] {
        assert!(metrics.contains(&format!("# TYPE {name} {kind}\n")), "{name} is missing: {metrics}");
        assert!(metrics.contains(&format!("# HELP {name} ")), "{name} has no help: {metrics}");
    }
    assert!(metrics.contains("bindery_queue_paused{queue=\"q.word_consolidator\"} 1\n"), "{metrics}");
    assert!(metrics.contains("bindery_commit_seconds_bucket{le=\"+Inf\"} "), "{metrics}");
    let done = metrics.lines().find_map(|line| line.strip_prefix("bindery_jobs_finished_total{result=\"done\"} "));
    assert!(done.unwrap().parse::<u64>().unwrap() >= 11, "5 files and 6 pages: {metrics}");
    worker.signal(Signal::TERM);
    assert_eq!(worker.wait(), Some(0));
}

#[test]
fn a_worker_that_drains_is_not_ready() {
    let desk = Desk::new();
    desk.write("workflows/slow.yaml", SLOW.replace("delay_ms: 20", "delay_ms: 3000"));
    desk.write("a.txt", "one\ntwo\nthree");
    desk.bindery(&["submit", "a.txt", "--workflow", "slow"]).ok();
    let (worker, address) = listening(&desk, &["--threads", "2"]);
    wait_for(&address, "/metrics", |_, body| {
        body.contains("bindery_queue_jobs{queue=\"q.word_counter\",state=\"running\"}")
            && !body.contains("bindery_queue_jobs{queue=\"q.word_counter\",state=\"running\"} 0\n")
    });
    worker.signal(Signal::TERM);
    let (_, why) = wait_for(&address, "/readyz", |status, _| status == 503);
    assert_eq!(why, "not ready: the worker finishes what is under way and stops\n");
    assert_eq!(worker.wait(), Some(0));
}

#[test]
fn a_worker_without_its_database_lives_and_is_not_ready() {
    let Some(server) = PostgresServer::start() else { return };
    let desk = Desk::new().with_env("BINDERY_STORE", server.url()).with_env("BINDERY_BLOBS", "blobs");
    let (_worker, address) = listening(&desk, &[]);
    wait_for(&address, "/readyz", |status, _| status == 200);
    drop(server);
    wait_for(&address, "/ready", |status, body| status == 503 && body == r#"{"status":"not_ready"}"#);
    assert_eq!(get(&address, "/livez").map(|(status, _)| status), Some(200));
    let (_, metrics) = wait_for(&address, "/metrics", |_, body| body.contains("bindery_store_up 0\n"));
    assert!(metrics.contains("bindery_store_reconnects_total 0\n"), "{metrics}");
}

#[test]
fn an_address_that_cannot_be_used_is_told() {
    let desk = Desk::new();
    let ran = desk.bindery(&["worker", "--until-idle", "--listen", "nonsense"]);
    ran.fails_with(2, "--listen or BINDERY_LISTEN: \"nonsense\" cannot be listened on");
}
