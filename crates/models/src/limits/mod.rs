//! What keeps us from asking more than a service takes: the rate limiter and the circuit breaker of `bindery_http`.

pub(crate) use bindery_http::{
    circuit::{Circuit, Leave, Open},
    rate::{Limiter, NoTurn, Turns, Verdict},
};

use bindery_http::BreakerConfig;
use std::time::Duration;

/// Five failures in a row; then half a minute, and longer each time the one call that tries fails, up to a quarter of an
/// hour. Callers get the time of the next try, so that jobs can be parked instead of using up their attempts.
pub(crate) const BREAKER: BreakerConfig = BreakerConfig {
    failures: 5,
    within: Duration::MAX,
    open: Duration::from_secs(30),
    longest_open: Duration::from_secs(15 * 60),
};
