//! A circuit breaker: when the other side fails again and again, calls fail at once for a while instead of waiting for
//! one more failure each.
//!
//! ```text
//! closed ──failures in a row──► open ──time goes by──► half open: one call tries
//!   ▲                            ▲                         │ it fails     │ it works
//!   └────────────────────────────┼─────────────────────────┼──────────────┘
//!                                └─────────────────────────┘
//! ```
//! One breaker serves all threads of the process. A call that began before the circuit changed has no say in what it is
//! now. A call without a verdict (cancelled, say) leaves the circuit as it was.

use super::{config::BreakerConfig, pipes::one_line};
use bindery_core::StepError;
use serde::Serialize;
use std::{
    collections::VecDeque,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// While the one call tries, the others are told to come back after this.
const WHILE_TRYING: Duration = Duration::from_secs(1);

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

/// A circuit as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CircuitSnapshot {
    /// The processor's.
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
type Clock = Box<dyn Fn() -> Instant + Send + Sync>;

pub struct Breaker {
    name: String,
    config: BreakerConfig,
    clock: Clock,
    inner: Mutex<Inner>,
    observers: Mutex<Vec<Observer>>,
}

struct Inner {
    phase: Phase,
    /// When the recent failures happened, oldest first; none lies before a success.
    failures: VecDeque<Instant>,
    last_error: Option<String>,
    /// Counts the changes of phase, so that a verdict on an earlier one can be told.
    era: u64,
}

#[derive(Clone, Copy)]
enum Phase {
    Closed,
    Open { since: Instant },
    HalfOpen { since: Instant, trying: bool },
}

/// Leave to make one call. Dropped without a verdict it leaves the circuit as it was.
#[derive(Debug)]
pub(super) struct Permit<'b> {
    breaker: &'b Breaker,
    era: u64,
}

impl Breaker {
    pub fn new(name: impl Into<String>, config: BreakerConfig) -> Self {
        Self::with_clock(name, config, Instant::now)
    }

    /// With a clock of the caller's own.
    pub fn with_clock(
        name: impl Into<String>,
        config: BreakerConfig,
        clock: impl Fn() -> Instant + Send + Sync + 'static,
    ) -> Self {
        let inner = Inner { phase: Phase::Closed, failures: VecDeque::new(), last_error: None, era: 0 };
        Self {
            name: name.into(),
            config,
            clock: Box::new(clock),
            inner: Mutex::new(inner),
            observers: Mutex::default(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Told of every change of state, on the thread whose call changed it.
    pub fn on_change(&self, observer: Observer) {
        self.observers.lock().unwrap_or_else(PoisonError::into_inner).push(observer);
    }

    pub fn state(&self) -> CircuitSnapshot {
        let now = (self.clock)();
        self.snapshot(&mut self.inner(), now)
    }

    fn snapshot(&self, inner: &mut Inner, now: Instant) -> CircuitSnapshot {
        if matches!(inner.phase, Phase::Closed) {
            inner.forget_before(now, self.config.within);
        }
        let (state, since) = match inner.phase {
            Phase::Closed => (CircuitState::Closed, None),
            Phase::Open { since } => (CircuitState::Open, Some(since)),
            Phase::HalfOpen { since, .. } => (CircuitState::HalfOpen, Some(since)),
        };
        let open_for = since.map(|since| now.saturating_duration_since(since));
        CircuitSnapshot {
            name: self.name.clone(),
            state,
            failures: u32::try_from(inner.failures.len()).unwrap_or(u32::MAX),
            opened_ms_ago: open_for.map(millis),
            retry_in_ms: open_for
                .filter(|_| state == CircuitState::Open)
                .map(|open_for| millis(self.config.open.saturating_sub(open_for))),
            last_error: inner.last_error.clone(),
        }
    }

    /// May a call be made now? The error says when to come back.
    pub(super) fn enter(&self) -> Result<Permit<'_>, StepError> {
        let now = (self.clock)();
        let mut inner = self.inner();
        match inner.phase {
            Phase::Closed => Ok(Permit { breaker: self, era: inner.era }),
            Phase::Open { since } => {
                let open_for = now.saturating_duration_since(since);
                let left = self.config.open.saturating_sub(open_for);
                if !left.is_zero() {
                    return Err(self.refusal(&inner, open_for, left));
                }
                let era = inner.turn(Phase::HalfOpen { since, trying: true });
                self.tell(inner, now);
                Ok(Permit { breaker: self, era })
            }
            Phase::HalfOpen { since, trying: true } => {
                Err(self.refusal(&inner, now.saturating_duration_since(since), WHILE_TRYING))
            }
            Phase::HalfOpen { since, trying: false } => {
                inner.phase = Phase::HalfOpen { since, trying: true };
                Ok(Permit { breaker: self, era: inner.era })
            }
        }
    }

    fn refusal(&self, inner: &Inner, open_for: Duration, left: Duration) -> StepError {
        let message = format!(
            "the circuit of {} is open since {:.1} s after {} failures: {}",
            self.name,
            open_for.as_secs_f64(),
            inner.failures.len(),
            inner.last_error.as_deref().unwrap_or("unknown")
        );
        StepError::retry_after(left, message).named("CircuitOpen")
    }

    /// Lets go of the lock before anybody is told: an observer may ask for the state.
    fn tell(&self, mut inner: MutexGuard<'_, Inner>, now: Instant) {
        let snapshot = self.snapshot(&mut inner, now);
        drop(inner);
        tracing::warn!(
            processor = snapshot.name,
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

    fn succeeded(&self, era: u64) {
        let now = (self.clock)();
        let mut inner = self.inner();
        if inner.era != era {
            return;
        }
        inner.failures.clear();
        if matches!(inner.phase, Phase::HalfOpen { .. }) {
            inner.turn(Phase::Closed);
            self.tell(inner, now);
        }
    }

    fn failed(&self, era: u64, error: &StepError) {
        let now = (self.clock)();
        let mut inner = self.inner();
        if inner.era != era {
            return;
        }
        inner.last_error = Some(one_line(&error.message));
        if matches!(inner.phase, Phase::Closed) {
            inner.forget_before(now, self.config.within);
        }
        inner.failures.push_back(now);
        let limit = self.config.failures.max(1) as usize;
        let enough = inner.failures.len() >= limit;
        // Tries of an open circuit go on failing for as long as the other side is away; they need not pile up.
        let surplus = inner.failures.len().saturating_sub(limit);
        inner.failures.drain(..surplus);
        if enough || matches!(inner.phase, Phase::HalfOpen { .. }) {
            inner.turn(Phase::Open { since: now });
            self.tell(inner, now);
        }
    }

    fn released(&self, era: u64) {
        let mut inner = self.inner();
        if let Phase::HalfOpen { since, .. } = inner.phase
            && inner.era == era
        {
            inner.phase = Phase::HalfOpen { since, trying: false };
        }
    }
}

impl Inner {
    fn turn(&mut self, phase: Phase) -> u64 {
        self.phase = phase;
        self.era += 1;
        self.era
    }

    fn forget_before(&mut self, now: Instant, within: Duration) {
        while self.failures.front().is_some_and(|failure| now.saturating_duration_since(*failure) > within) {
            self.failures.pop_front();
        }
    }
}

impl Permit<'_> {
    pub(super) fn succeeded(self) {
        self.breaker.succeeded(self.era);
    }

    pub(super) fn failed(self, error: &StepError) {
        self.breaker.failed(self.era, error);
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        // After a verdict the era is another one, or the circuit is closed; then this changes nothing.
        self.breaker.released(self.era);
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
