//! A circuit breaker without a clock of its own: a service that fails again and again is left alone for a while.
//!
//! ```text
//! closed ──failures in a row──► open ──time goes by──► half open: one call tries
//!   ▲                            ▲                         │ it fails     │ it works
//!   └────────────────────────────┼─────────────────────────┼──────────────┘
//!                                └─────────────────────────┘
//! ```
//! A call that began before the circuit changed has no say in what it is now. A call without a verdict (cancelled, say)
//! leaves the circuit as it was.

use crate::text::one_line;
use bindery_core::{Backoff, Timestamp};
use serde::Serialize;
use std::{collections::VecDeque, time::Duration};

/// While the one call tries, the others are told to come back after this: its end is near but not known.
const WHILE_TRYING: Duration = Duration::from_secs(1);

/// When a circuit opens, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerConfig {
    /// So many failures in a row open the circuit.
    pub failures: u32,
    /// Older failures are forgotten.
    pub within: Duration,
    /// How long it stays open before one call may try.
    pub open: Duration,
    /// It doubles, up to this, each time the call that tries has failed.
    pub longest_open: Duration,
}

impl Default for BreakerConfig {
    fn default() -> Self {
        let open = Duration::from_secs(30);
        Self { failures: 5, within: Duration::from_secs(60), open, longest_open: open }
    }
}

/// The states of a circuit breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CircuitState {
    Closed,
    Open,
    HalfOpen,
}

impl CircuitState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
        }
    }
}

/// The answer to a call that may not be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// When a call may try again.
    pub until: Timestamp,
    /// From now.
    pub left: Duration,
    pub open_for: Duration,
    pub failures: u32,
    pub last_error: String,
}

/// Leave to make one call, and the state of the circuit at that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leave {
    era: u64,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    Closed,
    Open { since: Timestamp, until: Timestamp },
    HalfOpen { since: Timestamp, trying: bool },
}

/// The state machine of one circuit.
#[derive(Debug)]
pub struct Circuit {
    config: BreakerConfig,
    phase: Phase,
    /// In a row, and recent enough to count.
    failures: u32,
    /// When the latest of them happened, oldest first; never more than open the circuit.
    recent: VecDeque<Timestamp>,
    /// How often it has opened without closing.
    openings: u32,
    last_error: Option<String>,
    /// Counts the changes of phase, so that a verdict on an earlier one can be told.
    era: u64,
}

impl Circuit {
    pub fn new(config: BreakerConfig) -> Self {
        let (failures, recent, openings, last_error, era) = (0, VecDeque::new(), 0, None, 0);
        Self { config, phase: Phase::Closed, failures, recent, openings, last_error, era }
    }

    pub fn state(&self) -> CircuitState {
        match self.phase {
            Phase::Closed => CircuitState::Closed,
            Phase::Open { .. } => CircuitState::Open,
            Phase::HalfOpen { .. } => CircuitState::HalfOpen,
        }
    }

    /// In a row, and recent enough to count.
    pub fn failures(&mut self, now: Timestamp) -> u32 {
        self.forget(now);
        self.failures
    }

    pub fn last_error(&self) -> Option<&str> {
        self.last_error.as_deref()
    }

    /// None while it is closed.
    pub fn opened_at(&self) -> Option<Timestamp> {
        match self.phase {
            Phase::Closed => None,
            Phase::Open { since, .. } | Phase::HalfOpen { since, .. } => Some(since),
        }
    }

    /// When a call may try; none unless it is open.
    pub fn retry_at(&self) -> Option<Timestamp> {
        match self.phase {
            Phase::Open { until, .. } => Some(until),
            Phase::Closed | Phase::HalfOpen { .. } => None,
        }
    }

    /// Whether a call would be let through now, without taking the place of the one that tries.
    pub fn check(&self, now: Timestamp) -> Result<(), Open> {
        let (since, until) = match self.phase {
            Phase::Open { since, until } if until > now => (since, until),
            Phase::HalfOpen { since, trying: true } => (since, now + WHILE_TRYING),
            _ => return Ok(()),
        };
        let last_error = self.last_error.clone().unwrap_or_else(|| "unknown".to_owned());
        Err(Open { until, left: until.since(now), open_for: now.since(since), failures: self.failures, last_error })
    }

    /// May a call be made now? Its end has to be told by one of the three below.
    pub fn enter(&mut self, now: Timestamp) -> Result<Leave, Open> {
        self.check(now)?;
        match self.phase {
            Phase::Closed => {}
            Phase::Open { since, .. } => self.turn(Phase::HalfOpen { since, trying: true }),
            Phase::HalfOpen { since, .. } => self.phase = Phase::HalfOpen { since, trying: true },
        }
        Ok(Leave { era: self.era })
    }

    pub fn succeeded(&mut self, leave: Leave) {
        if leave.era != self.era {
            return;
        }
        (self.failures, self.openings) = (0, 0);
        self.recent.clear();
        if !matches!(self.phase, Phase::Closed) {
            self.turn(Phase::Closed);
        }
    }

    pub fn failed(&mut self, leave: Leave, error: &str, now: Timestamp) {
        if leave.era != self.era {
            return;
        }
        self.forget(now);
        self.last_error = Some(one_line(error));
        self.failures = self.failures.saturating_add(1);
        self.recent.push_back(now);
        let limit = self.config.failures.max(1);
        while self.recent.len() > limit as usize {
            self.recent.pop_front();
        }
        if self.failures >= limit || !matches!(self.phase, Phase::Closed) {
            self.openings = self.openings.saturating_add(1);
            let pause = Backoff::doubling(self.config.open, self.config.longest_open).exact();
            self.turn(Phase::Open { since: now, until: now + pause.random_delay(self.openings) });
        }
    }

    /// The call ended without saying anything about the service.
    pub fn released(&mut self, leave: Leave) {
        if let Phase::HalfOpen { since, .. } = self.phase
            && leave.era == self.era
        {
            self.phase = Phase::HalfOpen { since, trying: false };
        }
    }

    /// Counts the changes of phase.
    pub(crate) fn era(&self) -> u64 {
        self.era
    }

    fn turn(&mut self, phase: Phase) {
        self.phase = phase;
        self.era += 1;
    }

    /// Of a closed circuit, failures that lie too far back.
    fn forget(&mut self, now: Timestamp) {
        if !matches!(self.phase, Phase::Closed) {
            return;
        }
        while self.recent.front().is_some_and(|failure| now.since(*failure) > self.config.within) {
            self.recent.pop_front();
            self.failures = u32::try_from(self.recent.len()).unwrap_or(u32::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_767_225_600_000);
    const LONGEST: Duration = Duration::from_secs(15 * 60);
    const CONFIG: BreakerConfig =
        BreakerConfig { failures: 5, within: Duration::MAX, open: Duration::from_secs(30), longest_open: LONGEST };

    fn after(seconds: u64) -> Timestamp {
        START + Duration::from_secs(seconds)
    }

    fn open_circuit() -> Circuit {
        let mut circuit = Circuit::new(CONFIG);
        for _ in 0..CONFIG.failures {
            let leave = circuit.enter(START).unwrap();
            circuit.failed(leave, "down", START);
        }
        circuit
    }

    #[test]
    fn failures_in_a_row_open_it_and_one_success_forgets_them() {
        let mut circuit = Circuit::new(CONFIG);
        for n in 0..20 {
            let leave = circuit.enter(START).unwrap();
            if n % CONFIG.failures == CONFIG.failures - 1 {
                circuit.succeeded(leave);
            } else {
                circuit.failed(leave, "down", START);
            }
        }
        assert_eq!(circuit.state(), CircuitState::Closed);
        let mut circuit = open_circuit();
        let open = circuit.enter(after(29)).unwrap_err();
        assert_eq!((open.until, open.failures, open.last_error.as_str()), (after(30), 5, "down"));
        assert_eq!(circuit.retry_at(), Some(after(30)));
    }

    #[test]
    fn one_call_tries_and_the_pause_doubles_as_long_as_it_fails() {
        let mut circuit = open_circuit();
        let leave = circuit.enter(after(30)).unwrap();
        assert!(circuit.enter(after(30)).is_err(), "one is enough");
        circuit.failed(leave, "still down", after(31));
        assert_eq!(circuit.retry_at(), Some(after(31 + 60)));
        let mut now = after(91);
        for _ in 0..10 {
            let leave = circuit.enter(now).unwrap();
            circuit.failed(leave, "down", now);
            now = circuit.retry_at().unwrap();
        }
        let leave = circuit.enter(now).unwrap();
        circuit.failed(leave, "down", now);
        assert_eq!(circuit.retry_at(), Some(now + LONGEST));
        assert_eq!(circuit.failures(now), 17, "all in a row");
        let leave = circuit.enter(now + LONGEST).unwrap();
        circuit.released(leave);
        let leave = circuit.enter(now + LONGEST).unwrap();
        circuit.succeeded(leave);
        assert!(circuit.state() == CircuitState::Closed && circuit.enter(now).is_ok());
    }

    #[test]
    fn calls_that_began_before_it_opened_have_no_say() {
        let mut circuit = Circuit::new(CONFIG);
        let early: Vec<Leave> = (0..20).map(|_| circuit.enter(START).unwrap()).collect();
        for leave in &early[..19] {
            circuit.failed(*leave, "down", START);
        }
        assert_eq!(circuit.failures(START), CONFIG.failures);
        circuit.succeeded(early[19]);
        assert_eq!(circuit.state(), CircuitState::Open);
    }
}
