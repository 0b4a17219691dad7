//! Services that are busy, down, slow or wrong: what is tried again, what is parked, what is final.

use crate::support::{Bench, gemini_config, good, openai_config};
use bindery_core::{StepError, error::Disposition};
use bindery_models::{
    Advice, ErrorKind,
    error::{CONFIGURATION, KEY, SERVICE},
    timer::Timer as _,
};
use bindery_testkit::model_server::{Reply, Server};
use serde_json::json;
use std::{fs, time::Duration};

fn busy(wait: Option<&str>) -> Reply {
    let reply = Reply::json(429, &json!({"error": {"message": "slow down"}}));
    wait.map_or(reply.clone(), |wait| reply.header("Retry-After", wait))
}

#[test]
fn a_busy_service_is_waited_for_as_long_as_it_asks_and_asked_more_slowly() {
    let server = Server::start(|seen, before| match before {
        0 => busy(Some("17")),
        _ => Reply::says(seen, &good(&seen.item())),
    });
    let mut config = openai_config(&server);
    config.requests_per_minute = Some(600);
    let bench = Bench::new(config);
    let from = bench.timer.now();
    bench.ask("item-7").unwrap();
    assert_eq!(bench.timer.now().since(from), Duration::from_secs(17));
    assert_eq!(bench.outcomes(), ["RateLimited", "answered"]);
    let from = bench.timer.now();
    bench.ask("item-8").unwrap();
    bench.ask("item-9").unwrap();
    let took = bench.timer.now().since(from).as_millis();
    assert!((300..=400).contains(&took), "half as fast as two calls in 0.2 s, and a little back: {took} ms");
}

#[test]
fn googles_delay_is_honoured_too() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    fs::write(&key, "k").unwrap();
    let server = Server::start(|seen, before| match before {
        0 => Reply::json(
            429,
            &json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Quota exceeded",
            "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "22s"}]}}),
        ),
        _ => Reply::says(seen, &good(&seen.item())),
    });
    let bench = Bench::new(gemini_config(&server, &key));
    let from = bench.timer.now();
    bench.ask("item-7").unwrap();
    assert_eq!(bench.timer.now().since(from), Duration::from_secs(23), "it is rounded down, so a second more");
}

#[test]
fn a_service_that_stays_busy_parks_the_work_and_says_when_to_come_back() {
    let server = Server::start(|_, _| busy(Some("40")));
    let bench = Bench::openai(&server);
    let error = bench.ask("item-7").unwrap_err();
    assert_eq!(error.kind, ErrorKind::RateLimited);
    let retry_at = Some(bench.timer.wall_clock() + Duration::from_secs(40));
    assert_eq!(error.advice, Advice::Park { until: SERVICE, retry_at });
    assert_eq!(server.requests().len(), 3);
    let step = StepError::from(error);
    let parked = Disposition::Park { until: SERVICE.to_owned(), at: retry_at };
    assert_eq!(step.disposition, parked, "no attempt is used up, and the work wakes by itself");
    // Nobody holds a thread for longer than is configured.
    let server = Server::start(|_, _| busy(Some("3000")));
    let bench = Bench::openai(&server);
    assert_eq!(bench.ask("item-7").unwrap_err().kind, ErrorKind::RateLimited);
    assert_eq!(server.requests().len(), 1);
    let error = bench.ask("item-8").unwrap_err();
    assert!(error.message.contains("longest_wait_seconds"), "{error}");
    assert_eq!(server.requests().len(), 1, "the pause holds for everybody");
    bench.timer.advance(Duration::from_secs(3000));
    assert_eq!(bench.ask("item-8").unwrap_err().kind, ErrorKind::RateLimited);
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_429_for_ten_minutes_uses_up_no_attempt() {
    let server = Server::start(|seen, before| match before {
        0..60 => busy(None),
        _ => Reply::says(seen, &good(&seen.item())),
    });
    let bench = Bench::openai(&server);
    let answered = (0..100).find_map(|_| match bench.ask("item-7") {
        Ok(answer) => Some(answer),
        Err(error) => match error.advice {
            Advice::Park { retry_at: Some(moment), .. } => {
                bench.timer.advance(moment.since(bench.timer.now()));
                None
            }
            _ => panic!("{error:?}"),
        },
    });
    assert!(answered.is_some());
}

#[test]
fn a_spent_quota_is_no_matter_of_pace() {
    let server = Server::start(|_, _| {
        Reply::json(
            429,
            &json!({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}),
        )
    });
    let bench = Bench::openai(&server);
    let error = bench.ask("item-7").unwrap_err();
    assert_eq!((error.kind, server.requests().len()), (ErrorKind::QuotaSpent, 1));
    assert!(matches!(error.advice, Advice::Park { retry_at: Some(_), .. }));
}

#[test]
fn passing_faults_are_tried_again() {
    let server = Server::start(|seen, before| match before {
        0 => Reply::new(503, "<html>over capacity</html>"),
        1 => Reply::says(seen, &good(&seen.item())).breaks_off(),
        _ => Reply::says(seen, &good(&seen.item())),
    });
    let bench = Bench::openai(&server);
    bench.ask("item-7").unwrap();
    assert_eq!(bench.outcomes(), ["ServerFault", "Unreachable", "answered"]);
    assert!(bench.ledger.calls()[..2].iter().all(|call| call.cost_micros == 0));
}

#[test]
fn an_empty_body_and_a_page_instead_of_json_are_faults_of_the_service() {
    for (body, expected) in [
        ("", "answered nothing"),
        ("<html>Sign in</html>", "answered with no JSON: <html>Sign in</html>"),
        ("{}", "answered without `choices`: {}"),
    ] {
        let server = Server::start(move |_, _| Reply::new(200, body));
        let error = Bench::openai(&server).ask("item-7").unwrap_err();
        assert_eq!(
            (error.kind, error.advice.clone()),
            (ErrorKind::ServerFault, Advice::Retry { after: None }),
            "{body}"
        );
        assert!(error.message.contains(expected), "{error}");
    }
}

#[test]
fn what_is_refused_is_not_tried_again() {
    for status in [400, 413, 422] {
        let server =
            Server::start(move |_, _| Reply::json(status, &json!({"error": {"message": "the text is too long"}})));
        let error = Bench::openai(&server).ask("item-7").unwrap_err();
        assert_eq!((error.kind, error.advice.clone()), (ErrorKind::Refused, Advice::Final), "{status}");
        assert!(error.message.ends_with("the text is too long"), "{error}");
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn a_model_or_an_address_that_is_not_there_is_not_the_fault_of_the_item() {
    let parked = Advice::Park { until: CONFIGURATION, retry_at: None };
    let told = json!({"error": {"message": "model 'small-model' not found, try pulling it first"}});
    let server = Server::start(move |_, _| Reply::json(404, &told));
    let error = Bench::openai(&server).ask("item-7").unwrap_err();
    assert_eq!((error.kind, error.advice), (ErrorKind::Misconfigured, parked.clone()));
    assert!(error.message.ends_with("try pulling it first"), "{}", error.message);
    let server = Server::start(|_, _| Reply::new(301, "").header("Location", "https://elsewhere.example/"));
    let error = Bench::openai(&server).ask("item-7").unwrap_err();
    assert_eq!((error.kind, error.advice), (ErrorKind::Misconfigured, parked));
    assert!(error.message.contains("correct `base_url`"), "{}", error.message);
}

#[test]
fn an_answer_of_ten_megabytes_is_not_read() {
    let server = Server::start(|seen, _| Reply::says(seen, &"x".repeat(10_000_000)));
    let bench = Bench::openai(&server);
    let error = bench.ask("item-7").unwrap_err();
    assert_eq!((error.kind, error.advice.clone()), (ErrorKind::TooMuchOutput, Advice::Final));
    assert!(error.message.contains("4194304 bytes"), "{error}");
    assert!(bench.ledger.calls()[0].cost_micros > 1000, "it has to be paid for, so as much as it may have cost");
}

#[test]
fn a_hang_and_a_body_that_drips_end_at_the_time_limit() {
    for drips in [false, true] {
        let server =
            Server::start(
                move |seen, _| {
                    if drips { Reply::says(seen, &good(&seen.item())).drips() } else { Reply::silent() }
                },
            );
        let mut config = openai_config(&server);
        (config.timeout_seconds, config.tries) = (1, 1);
        let bench = Bench::new(config);
        let error = bench.ask("item-7").unwrap_err();
        assert_eq!(error.kind, ErrorKind::Timeout, "{error}");
        assert!(error.message.ends_with("did not answer within 1 s"), "{error}");
        assert_eq!(bench.outcomes(), ["Timeout"]);
    }
}

#[test]
fn a_service_that_is_down_opens_the_circuit_and_parks_the_work() {
    let server = Server::start(|seen, before| match before {
        0..5 => Reply::new(500, ""),
        _ => Reply::says(seen, &good(&seen.item())),
    });
    let bench = Bench::openai(&server);
    let error = bench.ask("item-1").unwrap_err();
    assert_eq!(error.advice, Advice::Retry { after: None }, "three failures may be this question's own");
    let error = bench.ask("item-2").unwrap_err();
    assert_eq!(error.kind, ErrorKind::CircuitOpen, "{error}");
    assert_eq!(server.requests().len(), 5);
    let Advice::Park { until: SERVICE, retry_at: Some(retry_at) } = error.advice else { panic!("{:?}", error.advice) };
    let error = bench.ask("item-3").unwrap_err();
    assert!(error.message.contains("failed 5 times in a row"), "{error}");
    assert_eq!(server.requests().len(), 5, "nobody was asked");
    bench.timer.advance(retry_at.since(bench.timer.now()));
    bench.ask("item-3").unwrap();
    bench.ask("item-4").unwrap();
    assert_eq!(server.requests().len(), 7, "the circuit is closed again");
}

#[test]
fn a_missing_key_parks_before_anybody_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|seen, _| Reply::says(seen, &good(&seen.item())));
    let bench = Bench::new(gemini_config(&server, &folder.path().join("key")));
    let error = bench.ask("item-7").unwrap_err();
    assert_eq!((error.kind, error.advice.clone()), (ErrorKind::NoKey, Advice::Park { until: KEY, retry_at: None }));
    assert!(server.requests().is_empty());
}

#[test]
fn a_key_that_is_revoked_in_the_middle_parks_and_a_new_one_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    fs::write(&path, "old").unwrap();
    let server = Server::start(|seen, before| match seen.header("x-goog-api-key") {
        // As Google says it.
        Some("old") if before > 0 => Reply::json(
            400,
            &json!({"error": {"code": 400, "message": "API key not valid.",
            "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}),
        ),
        _ => Reply::says(seen, &good(&seen.item())),
    });
    let bench = Bench::new(gemini_config(&server, &path));
    bench.ask("item-1").unwrap();
    let error = bench.ask("item-2").unwrap_err();
    assert_eq!(error.kind, ErrorKind::KeyRefused);
    assert!(matches!(error.advice, Advice::Park { until: KEY, retry_at: Some(_) }));
    assert_eq!(bench.ask("item-3").unwrap_err().kind, ErrorKind::KeyRefused);
    assert_eq!(server.requests().len(), 2, "the service is not asked again with the same key");
    fs::write(&path, "new").unwrap();
    bench.ask("item-2").unwrap();
    // And the same key is tried again after a while: services are wrong about keys at times.
    fs::write(&path, "old").unwrap();
    bench.timer.advance(Duration::from_secs(601));
    bench.ask("item-3").unwrap_err();
    assert_eq!(server.requests().len(), 4);
    for status in [401, 403] {
        let server = Server::start(move |_, _| Reply::json(status, &json!({"error": {"message": "bad key"}})));
        assert_eq!(Bench::new(gemini_config(&server, &path)).ask("item-1").unwrap_err().kind, ErrorKind::KeyRefused);
    }
}

#[test]
fn cancelled_work_does_not_wait_and_is_not_paid_for() {
    let server = Server::start(|_, _| busy(None));
    let bench = Bench::openai(&server);
    let request = crate::support::request("item-7");
    let error = bench.models.ask(&request, &|| true).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cancelled);
    assert!(server.requests().is_empty() && bench.ledger.calls().is_empty());
}

#[test]
fn a_connection_that_is_hung_up_at_once_is_tried_again() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let server = Server::start(|_, _| Reply::silent());
    let mut config = openai_config(&server);
    config.base_url = Some(format!("http://{address}/v1"));
    let bench = Bench::new(config);
    let error = bench.ask("item-7").unwrap_err();
    assert_eq!((error.kind, error.advice.clone()), (ErrorKind::Unreachable, Advice::Retry { after: None }), "{error}");
    assert_eq!(bench.outcomes(), ["Unreachable"; 3]);
}
