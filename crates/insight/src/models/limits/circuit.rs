//! A circuit breaker without a clock of its own: a service that fails again and again is left alone for a while, and
//! whoever asks is told until when, so that jobs can be parked instead of using up their attempts.
//!
//! It stays open longer each time the one call that tries it fails, up to a quarter of an hour.

use bindery_core::Timestamp;
use serde::Serialize;
use std::time::Duration;

/// So many failures in a row open the circuit.
pub(super) const FAILURES_ALLOWED: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);

/// A circuit as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CircuitState {
    pub is_open: bool,
    /// In a row.
    pub failures: u32,
    /// When a call may try again; none while it is closed.
    pub retry_at: Option<Timestamp>,
    pub last_error: Option<String>,
}

/// The answer to a call that may not be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    pub until: Timestamp,
    pub failures: u32,
    pub last_error: String,
}

/// Leave to make one call, and the state of the circuit at that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leave {
    era: u64,
}

#[derive(Debug, Default)]
pub struct Circuit {
    failures: u32,
    /// How often it has opened without closing.
    openings: u32,
    open_until: Option<Timestamp>,
    /// Whether a call is trying the open circuit now.
    is_tried: bool,
    last_error: Option<String>,
    /// Counts openings and closings, so that calls that began before have no say.
    era: u64,
}

impl Circuit {
    pub fn state(&self) -> CircuitState {
        CircuitState {
            is_open: self.open_until.is_some(),
            failures: self.failures,
            retry_at: self.open_until,
            last_error: self.last_error.clone(),
        }
    }

    /// Whether a call would be let through now, without taking the place of the one that tries.
    pub fn check(&self, now: Timestamp) -> Result<(), Open> {
        match self.open_until {
            Some(until) if until > now || self.is_tried => Err(Open {
                // While one call tries, its end is near but not known.
                until: until.max(now + Duration::from_secs(1)),
                failures: self.failures,
                last_error: self.last_error.clone().unwrap_or_default(),
            }),
            _ => Ok(()),
        }
    }

    /// May a call be made now? Its end has to be told by one of the three below.
    pub fn enter(&mut self, now: Timestamp) -> Result<Leave, Open> {
        self.check(now)?;
        self.is_tried = self.open_until.is_some();
        Ok(Leave { era: self.era })
    }

    pub fn succeeded(&mut self, leave: Leave) {
        if leave.era == self.era {
            self.era += u64::from(self.open_until.is_some());
            (self.failures, self.openings, self.open_until, self.is_tried) = (0, 0, None, false);
        }
    }

    pub fn failed(&mut self, leave: Leave, error: &str, now: Timestamp) {
        if leave.era != self.era {
            return;
        }
        self.failures = self.failures.saturating_add(1);
        self.last_error = Some(error.to_owned());
        if self.failures >= FAILURES_ALLOWED || self.open_until.is_some() {
            let pause = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(self.openings)).min(LONGEST_PAUSE);
            self.openings += 1;
            self.open_until = Some(now + pause);
            self.is_tried = false;
            self.era += 1;
        }
    }

    /// The call ended without saying anything about the service.
    pub fn released(&mut self, leave: Leave) {
        if leave.era == self.era {
            self.is_tried = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    fn after(seconds: u64) -> Timestamp {
        START + Duration::from_secs(seconds)
    }

    fn opened() -> Circuit {
        let mut circuit = Circuit::default();
        for _ in 0..FAILURES_ALLOWED {
            let leave = circuit.enter(START).unwrap();
            circuit.failed(leave, "down", START);
        }
        circuit
    }

    #[test]
    fn failures_in_a_row_open_it_and_one_success_forgets_them() {
        let mut circuit = Circuit::default();
        for n in 0..20 {
            let leave = circuit.enter(START).unwrap();
            if n % FAILURES_ALLOWED == FAILURES_ALLOWED - 1 {
                circuit.succeeded(leave);
            } else {
                circuit.failed(leave, "down", START);
            }
        }
        assert!(!circuit.state().is_open);
        let mut circuit = opened();
        let open = circuit.enter(after(29)).unwrap_err();
        assert_eq!((open.until, open.failures, open.last_error.as_str()), (after(30), 5, "down"));
        assert_eq!(circuit.state().retry_at, Some(after(30)));
    }

    #[test]
    fn one_call_tries_and_the_pause_doubles_as_long_as_it_fails() {
        let mut circuit = opened();
        let leave = circuit.enter(after(30)).unwrap();
        assert!(circuit.enter(after(30)).is_err(), "one is enough");
        circuit.failed(leave, "still down", after(31));
        assert_eq!(circuit.state().retry_at, Some(after(31 + 60)));
        let mut now = after(91);
        for _ in 0..10 {
            let leave = circuit.enter(now).unwrap();
            circuit.failed(leave, "down", now);
            now = circuit.state().retry_at.unwrap();
        }
        let leave = circuit.enter(now).unwrap();
        circuit.failed(leave, "down", now);
        assert_eq!(circuit.state().retry_at, Some(now + LONGEST_PAUSE));
        let leave = circuit.enter(now + LONGEST_PAUSE).unwrap();
        circuit.released(leave);
        let leave = circuit.enter(now + LONGEST_PAUSE).unwrap();
        circuit.succeeded(leave);
        assert!(!circuit.state().is_open && circuit.enter(now).is_ok());
    }

    #[test]
    fn calls_that_began_before_it_opened_have_no_say() {
        let mut circuit = Circuit::default();
        let early: Vec<Leave> = (0..20).map(|_| circuit.enter(START).unwrap()).collect();
        for leave in &early[..19] {
            circuit.failed(*leave, "down", START);
        }
        assert_eq!(circuit.state().failures, FAILURES_ALLOWED);
        circuit.succeeded(early[19]);
        assert!(circuit.state().is_open);
    }
}
