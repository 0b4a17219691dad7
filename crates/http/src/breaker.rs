//! The circuit breaker that all threads of a process share: a [`Circuit`] with a clock, a name and observers.

use crate::{
    circuit::{BreakerConfig, Circuit, Leave, Open},
    timer::{SystemTimer, Timer},
};
use bindery_core::Timestamp;
use serde::Serialize;
use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

pub use crate::circuit::CircuitState;

/// A circuit as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CircuitSnapshot {
    /// Whose it is, e.g. a processor's name.
    pub name: String,
    pub state: CircuitState,
    /// In a row, and recent enough to count.
    pub failures: u32,
    /// Since it opened; none while it is closed.
    pub opened_ms_ago: Option<u64>,
    /// Until a call may try; none unless it is open.
    pub retry_in_ms: Option<u64>,
    pub last_error: Option<String>,
}

pub type Observer = Box<dyn Fn(&CircuitSnapshot) + Send + Sync>;

/// One circuit breaker, shared by all who call the same service.
pub struct Breaker {
    name: String,
    timer: Arc<dyn Timer>,
    circuit: Mutex<Circuit>,
    observers: Mutex<Vec<Observer>>,
}

/// Leave to make one call. Dropped without a verdict it leaves the circuit as it was.
#[derive(Debug)]
pub struct Permit<'b> {
    breaker: &'b Breaker,
    leave: Leave,
}

impl Breaker {
    pub fn new(name: impl Into<String>, config: BreakerConfig) -> Self {
        Self::with_timer(name, config, Arc::new(SystemTimer::default()))
    }

    /// With a clock of the caller's own.
    pub fn with_timer(name: impl Into<String>, config: BreakerConfig, timer: Arc<dyn Timer>) -> Self {
        Self { name: name.into(), timer, circuit: Mutex::new(Circuit::new(config)), observers: Mutex::default() }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    fn circuit(&self) -> MutexGuard<'_, Circuit> {
        self.circuit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Told of every change of state, on the thread whose call changed it.
    pub fn on_change(&self, observer: Observer) {
        self.observers.lock().unwrap_or_else(PoisonError::into_inner).push(observer);
    }

    pub fn state(&self) -> CircuitSnapshot {
        self.snapshot(&mut self.circuit(), self.timer.now())
    }

    fn snapshot(&self, circuit: &mut Circuit, now: Timestamp) -> CircuitSnapshot {
        CircuitSnapshot {
            name: self.name.clone(),
            state: circuit.state(),
            failures: circuit.failures(now),
            opened_ms_ago: circuit.opened_at().map(|since| millis(now.since(since))),
            retry_in_ms: circuit.retry_at().map(|until| millis(until.since(now))),
            last_error: circuit.last_error().map(ToOwned::to_owned),
        }
    }

    /// Would a call be let through now? The error says when to come back.
    pub fn check(&self) -> Result<(), Open> {
        self.circuit().check(self.timer.now())
    }

    /// May a call be made now? The error says when to come back.
    pub fn enter(&self) -> Result<Permit<'_>, Open> {
        let leave = self.change(Circuit::enter)?;
        Ok(Permit { breaker: self, leave })
    }

    /// Lets go of the lock before anybody is told: an observer may ask for the state.
    fn change<T>(&self, change: impl FnOnce(&mut Circuit, Timestamp) -> T) -> T {
        let now = self.timer.now();
        let mut circuit = self.circuit();
        let before = circuit.era();
        let result = change(&mut circuit, now);
        let snapshot = (circuit.era() != before).then(|| self.snapshot(&mut circuit, now));
        drop(circuit);
        if let Some(snapshot) = snapshot {
            tracing::warn!(
                circuit = snapshot.name,
                state = snapshot.state.as_str(),
                failures = snapshot.failures,
                retry_in_ms = snapshot.retry_in_ms,
                last_error = snapshot.last_error,
                "the circuit changed"
            );
            for observer in self.observers.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                observer(&snapshot);
            }
        }
        result
    }
}

impl Permit<'_> {
    pub fn succeeded(self) {
        self.breaker.change(|circuit, _| circuit.succeeded(self.leave));
    }

    pub fn failed(self, error: &str) {
        self.breaker.change(|circuit, now| circuit.failed(self.leave, error, now));
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        // After a verdict the era is another one, or the circuit is closed; then this changes nothing.
        self.breaker.circuit().released(self.leave);
    }
}

impl fmt::Debug for Breaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Breaker").field(&self.state()).finish()
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "breaker_tests.rs"]
mod tests;
