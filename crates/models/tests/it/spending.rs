//! Money and turns, with many threads at once.

use crate::support::{Bench, good, openai_config, request};
use bindery_models::{
    Advice, ErrorKind, Request,
    error::BUDGET,
    ledger::{Ledger as _, Receipt, day_of},
    timer::Timer as _,
};
use bindery_testkit::model_server::{Reply, Server};
use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

#[test]
fn the_daily_cap_is_checked_before_the_call_and_lifted_at_midnight() {
    let server = Server::start(|seen, _| Reply::says(seen, &good(&seen.item())));
    let mut config = openai_config(&server);
    config.daily_cost_cap = Some(0.002);
    let bench = Bench::new(config);
    bench.ask("item-1").unwrap();
    let error = bench.ask("item-2").and_then(|_| bench.ask("item-3")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::CostCap);
    assert!(error.message.contains("would exceed the daily cost cap of 0.0020"), "{error}");
    let Advice::Park { until, retry_at: Some(midnight) } = error.advice else { panic!("{:?}", error.advice) };
    assert_eq!((until, midnight.to_string().as_str()), (BUDGET, "2026-01-02T00:00:00.000Z"));
    let asked = server.requests().len();
    let today = day_of(bench.timer.wall_clock());
    assert_eq!(bench.ledger.spent_micros(today), Ok(500 * asked as i64));
    bench.timer.advance(midnight.since(bench.timer.now()));
    bench.ask("item-3").unwrap();
    assert_eq!(server.requests().len(), asked + 1);
    assert_eq!(bench.ledger.spent_micros(today), Ok(500 * asked as i64), "another day, another account");
}

#[test]
fn a_hundred_calls_at_once_stay_below_the_cap_together() {
    let server = Server::start(|seen, _| Reply::says(seen, &good(&seen.item())));
    let mut config = openai_config(&server);
    config.daily_cost_cap = Some(0.02);
    let bench = Bench::new(config);
    let refused = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for worker in 0..20 {
            let (bench, refused) = (&bench, &refused);
            scope.spawn(move || {
                for n in 0..5 {
                    if let Err(error) = bench.ask(&format!("item-{worker}-{n}")) {
                        assert_eq!(error.kind, ErrorKind::CostCap);
                        refused.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    let spent = bench.ledger.spent_micros(day_of(bench.timer.wall_clock())).unwrap();
    assert!((1..=20_000).contains(&spent), "{spent}");
    assert_eq!(spent, 500 * server.requests().len() as i64);
    assert_eq!(server.requests().len() + refused.into_inner(), 100);
    // What was set aside is free again, so the rest of the money can be spent.
    while bench.ask(&format!("item-{}", server.requests().len())).is_ok() {}
    let spent = bench.ledger.spent_micros(day_of(bench.timer.wall_clock())).unwrap();
    assert!((18_000..=20_000).contains(&spent), "{spent}");
}

#[test]
fn money_that_is_set_aside_for_a_call_under_way_is_waited_for_and_free_afterwards() {
    let server = Server::start(|seen, _| Reply::says(seen, &good(&seen.item())));
    let mut config = openai_config(&server);
    config.daily_cost_cap = Some(0.003);
    let bench = Bench::new(config);
    let now = bench.timer.wall_clock();
    let other = Receipt::new(day_of(now), 2900);
    bench.ledger.set_aside(&other, now + Duration::from_secs(600), Some(3000)).unwrap();
    let error = bench.ask("item-9").unwrap_err();
    assert_eq!(error.kind, ErrorKind::CostCap, "the other call has it all");
    let soon = now + Duration::from_secs(60);
    assert_eq!(error.advice, Advice::Park { until: BUDGET, retry_at: Some(soon) }, "nothing is spent yet");
    bench.ledger.settle(&other, None).unwrap();
    assert_eq!(bench.ledger.spent_micros(day_of(now)), Ok(0));
    bench.ask("item-9").unwrap();
}

#[test]
fn an_estimate_asks_nobody() {
    let server = Server::start(|_, _| Reply::silent());
    let bench = Bench::openai(&server);
    let estimate = bench.models.estimate(&request("item-7")).unwrap();
    assert_eq!((estimate.model.as_str(), estimate.is_kept), ("small-model", false));
    assert_eq!(estimate.most_micros, estimate.input_tokens as i64 + 1000);
    assert!(server.requests().is_empty());
}

#[test]
fn two_hundred_callers_share_one_rate() {
    let server = Server::start(|seen, _| Reply::says(seen, &good(&seen.item())));
    let mut config = openai_config(&server);
    (config.requests_per_minute, config.longest_wait_seconds) = (Some(600), 3600);
    let bench = Bench::new(config);
    let from = bench.timer.now();
    std::thread::scope(|scope| {
        for worker in 0..200 {
            let bench = &bench;
            scope.spawn(move || bench.ask(&format!("item-{worker}")).unwrap());
        }
    });
    assert_eq!(bench.timer.now().since(from), Duration::from_millis(100 * 199), "the first goes out at once");
}

#[test]
fn tokens_per_minute_hold_back_calls_by_what_the_others_took() {
    let server = Server::start(|seen, _| Reply::says(seen, &good(&seen.item())));
    let mut config = openai_config(&server);
    // A call is said to take 300.
    config.tokens_per_minute = Some(3000);
    let bench = Bench::new(config);
    let from = bench.timer.now();
    for n in 0..11 {
        bench.ask(&format!("item-{n}")).unwrap();
    }
    assert_eq!(bench.timer.now().since(from), Duration::from_secs(60));
}

#[test]
fn a_question_that_is_too_long_is_refused_before_it_is_paid_for() {
    let server = Server::start(|_, _| Reply::silent());
    let mut config = openai_config(&server);
    config.small.max_input_tokens = 1000;
    let bench = Bench::new(config);
    let mut long = request("item-7");
    long.user = "word ".repeat(2000);
    let error = bench.models.ask(&long, &|| false).unwrap_err();
    assert_eq!((error.kind, error.advice.clone()), (ErrorKind::TooLong, Advice::Final));
    assert!(error.message.contains("small-model takes 1000"), "{error}");
    assert!(server.requests().is_empty());
}

#[test]
fn the_same_question_by_many_at_once_is_paid_for_once() {
    let server = Server::start(|seen, _| Reply::says(seen, &good(&seen.item())));
    let bench = Bench::openai(&server);
    std::thread::scope(|scope| {
        for worker in 0..20 {
            let bench = &bench;
            scope.spawn(move || {
                let request = Request { item: format!("item-{worker}"), ..request("the same") };
                assert_eq!(bench.models.ask(&request, &|| false).unwrap().value["topics"][0], "parks");
            });
        }
    });
    assert_eq!(server.requests().len(), 1);
}
