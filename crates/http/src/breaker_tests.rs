use super::{
    CircuitState::{Closed, HalfOpen, Open as IsOpen},
    *,
};
use crate::timer::LeapingTimer;

/// A breaker of 3 failures within 10 s that stays open for 5 s, and its clock.
fn breaker() -> (Breaker, Arc<LeapingTimer>) {
    let (within, open) = (Duration::from_secs(10), Duration::from_secs(5));
    let config = BreakerConfig { failures: 3, within, open, longest_open: open };
    let timer = Arc::new(LeapingTimer::default());
    (Breaker::with_timer("ocr", config, Arc::clone(&timer) as Arc<dyn Timer>), timer)
}

fn fail(breaker: &Breaker) {
    breaker.enter().unwrap().failed("connection refused");
}

fn open_breaker() -> (Breaker, Arc<LeapingTimer>) {
    let (breaker, timer) = breaker();
    (0..3).for_each(|_| fail(&breaker));
    (breaker, timer)
}

fn pass(timer: &LeapingTimer, seconds: u64) {
    timer.advance(Duration::from_secs(seconds));
}

#[test]
fn failures_in_a_row_open_it_and_calls_fail_at_once() {
    let (breaker, hand) = breaker();
    fail(&breaker);
    fail(&breaker);
    assert_eq!(breaker.state().state, CircuitState::Closed);
    fail(&breaker);
    pass(&hand, 2);
    let open = breaker.enter().unwrap_err();
    let until = hand.now() + Duration::from_secs(3);
    let last_error = "connection refused".to_owned();
    assert_eq!(
        open,
        Open { until, left: Duration::from_secs(3), open_for: Duration::from_secs(2), failures: 3, last_error }
    );
    let expected = CircuitSnapshot {
        name: "ocr".into(),
        state: CircuitState::Open,
        failures: 3,
        opened_ms_ago: Some(2000),
        retry_in_ms: Some(3000),
        last_error: Some("connection refused".into()),
    };
    assert_eq!(breaker.state(), expected);
    assert_eq!(serde_json::to_value(expected).unwrap()["state"], "open");
}

#[test]
fn a_success_in_between_and_the_window_forget_failures() {
    let (breaker, hand) = breaker();
    fail(&breaker);
    fail(&breaker);
    breaker.enter().unwrap().succeeded();
    fail(&breaker);
    fail(&breaker);
    assert_eq!(breaker.state().failures, 2);
    pass(&hand, 11);
    assert_eq!(breaker.state().failures, 0);
    fail(&breaker);
    assert_eq!(breaker.state().state, CircuitState::Closed);
}

#[test]
fn after_a_while_one_call_tries_and_closes_it() {
    let (breaker, hand) = open_breaker();
    pass(&hand, 5);
    let permit = breaker.enter().unwrap();
    assert_eq!(breaker.state().state, CircuitState::HalfOpen);
    assert_eq!(breaker.enter().unwrap_err().until, hand.now() + Duration::from_secs(1));
    permit.succeeded();
    assert_eq!(breaker.state().state, CircuitState::Closed);
    assert_eq!(breaker.state().failures, 0);
    assert!(breaker.enter().is_ok());
}

#[test]
fn a_failed_try_opens_it_again_for_the_whole_time() {
    let (breaker, hand) = open_breaker();
    pass(&hand, 5);
    fail(&breaker);
    pass(&hand, 4);
    assert!(breaker.enter().is_err());
    assert_eq!(breaker.state().retry_in_ms, Some(1000));
    pass(&hand, 1);
    assert!(breaker.enter().is_ok());
}

#[test]
fn a_try_without_a_verdict_lets_the_next_one_try() {
    let (breaker, hand) = open_breaker();
    pass(&hand, 5);
    drop(breaker.enter().unwrap());
    assert_eq!(breaker.state().state, CircuitState::HalfOpen);
    breaker.enter().unwrap().succeeded();
    assert_eq!(breaker.state().state, CircuitState::Closed);
}

#[test]
fn calls_from_before_a_change_have_no_say() {
    let (breaker, hand) = breaker();
    let (late_success, late_failure) = (breaker.enter().unwrap(), breaker.enter().unwrap());
    (0..3).for_each(|_| fail(&breaker));
    late_success.succeeded();
    assert_eq!(breaker.state().state, CircuitState::Open);
    pass(&hand, 5);
    let trying = breaker.enter().unwrap();
    late_failure.failed("old");
    assert_eq!(breaker.state().state, CircuitState::HalfOpen);
    trying.succeeded();
    assert_eq!(breaker.state().state, CircuitState::Closed);
}

#[test]
fn observers_see_every_change_and_may_ask_for_the_state() {
    let (breaker, hand) = breaker();
    let breaker = Arc::new(breaker);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (asked, noted) = (Arc::downgrade(&breaker), Arc::clone(&seen));
    breaker.on_change(Box::new(move |snapshot| {
        assert_eq!(asked.upgrade().unwrap().state().state, snapshot.state);
        noted.lock().unwrap().push(snapshot.state);
    }));
    (0..3).for_each(|_| fail(&breaker));
    pass(&hand, 5);
    fail(&breaker);
    pass(&hand, 5);
    breaker.enter().unwrap().succeeded();
    assert_eq!(*seen.lock().unwrap(), [IsOpen, HalfOpen, IsOpen, HalfOpen, Closed]);
}

#[test]
fn of_many_threads_exactly_one_tries() {
    let (breaker, hand) = open_breaker();
    pass(&hand, 5);
    let entered: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(|| breaker.enter().map(std::mem::forget).is_ok())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(entered.iter().filter(|entered| **entered).count(), 1);
}
