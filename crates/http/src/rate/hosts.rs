//! When a host may be asked next: politeness towards sites that nobody has promised us anything about, as a state machine
//! without a clock of its own.
//!
//! Hosts share the budget of a pool: slots, and for each slot a gap from one request to the next. Within that, a host is
//! asked by one request at a time, one gap apart, so that the hosts of a pool share it evenly; only a host that serves a
//! whole pool may use all of it.
//!
//! A host that answers with 429, 403 or 5xx is asked half as often, and recovers slowly. One that fails five times in a
//! row is left alone for a quarter of an hour; after that one more failure is enough.

use super::pace::Pace;
use crate::circuit::{BreakerConfig, Circuit, CircuitState, Leave};
use bindery_core::time::Timestamp;
use std::{collections::HashMap, time::Duration};

/// For so long a host is left alone.
pub const LEFT_ALONE: Duration = Duration::from_secs(15 * 60);
/// A `Retry-After` is honoured up to here.
pub const LONGEST_DEFERRAL: Duration = Duration::from_secs(120);
/// And a robots.txt's `Crawl-delay` up to here.
pub const LONGEST_CRAWL_DELAY: Duration = Duration::from_secs(60);

const BREAKER: BreakerConfig =
    BreakerConfig { failures: 5, within: Duration::MAX, open: LEFT_ALONE, longest_open: LEFT_ALONE };

/// What one good answer gives back of the full pace, in thousandths.
const RECOVERY: u32 = 50;

/// What may be asked of the hosts of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Requests at the same time.
    pub slots: usize,
    /// From one request to the next in the same slot.
    pub gap: Duration,
    /// Up to this much is added to a gap by chance, so that requests do not march in step.
    pub jitter: Duration,
}

/// Who is to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub host: String,
    /// Who shares the budget.
    pub pool: String,
    pub budget: Budget,
    /// It serves the whole pool, and may use the whole budget.
    pub serves_pool: bool,
    /// For whom it is asked: failures count for each apart. Empty: for all together.
    pub scope: String,
}

impl Place {
    /// How many requests the host may have at the same time.
    fn side_by_side(&self) -> usize {
        if self.serves_pool { self.budget.slots.max(1) } else { 1 }
    }

    fn circuit_key(&self) -> (String, String) {
        (self.host.clone(), self.scope.clone())
    }
}

/// Whether it may be asked.
#[derive(Debug)]
pub enum Turn {
    /// At once. The ticket has to be given back by [`HostLimiter::finished`].
    Now(HostTicket),
    /// Not before this.
    At(Timestamp),
    /// When a request that is under way has ended.
    Busy,
    /// It has failed too often.
    Down { until: Timestamp, failures: u32 },
}

/// The right to send one request.
#[derive(Debug)]
pub struct HostTicket {
    place: Place,
    slot: usize,
    leave: Leave,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The host is well, whatever it said.
    Good,
    /// 429, 403 or 5xx: it has had enough.
    Refused,
    /// No answer.
    Failed,
    /// It was not waited for.
    Abandoned,
}

impl Outcome {
    pub fn of_status(status: u16) -> Self {
        if matches!(status, 403 | 429 | 500..) { Self::Refused } else { Self::Good }
    }
}

#[derive(Debug)]
struct Slot {
    is_busy: bool,
    free_at: Timestamp,
}

/// What its hosts share.
#[derive(Debug)]
struct Pool {
    slots: Vec<Slot>,
    deferred_until: Timestamp,
}

#[derive(Debug)]
struct Host {
    under_way: usize,
    next_at: Timestamp,
    pace: Pace,
    crawl_delay: Duration,
}

/// All that is known of all hosts.
#[derive(Debug)]
pub struct HostLimiter {
    chance: fastrand::Rng,
    pools: HashMap<String, Pool>,
    hosts: HashMap<String, Host>,
    circuits: HashMap<(String, String), Circuit>,
}

const LONG_AGO: Timestamp = Timestamp::from_millis(i64::MIN);

impl HostLimiter {
    /// Chance comes from the seed.
    pub fn new(seed: u64) -> Self {
        let (pools, hosts, circuits) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { chance: fastrand::Rng::with_seed(seed), pools, hosts, circuits }
    }

    /// Asks for the right to send one request now.
    pub fn ask(&mut self, place: &Place, now: Timestamp) -> Turn {
        let circuit = self.circuits.entry(place.circuit_key()).or_insert_with(|| Circuit::new(BREAKER));
        if let Err(open) = circuit.check(now) {
            let is_tried = circuit.state() == CircuitState::HalfOpen;
            return if is_tried {
                Turn::At(open.until)
            } else {
                Turn::Down { until: open.until, failures: open.failures }
            };
        }
        let budget = place.budget;
        let pool = self.pools.entry(place.pool.clone()).or_insert_with(|| Pool::new(budget.slots));
        if pool.deferred_until > now {
            return Turn::At(pool.deferred_until);
        }
        let host = self.hosts.entry(place.host.clone()).or_default();
        if host.under_way >= place.side_by_side() {
            return Turn::Busy;
        }
        if host.next_at > now {
            return Turn::At(host.next_at);
        }
        let free = pool.slots.iter().enumerate().filter(|(_, slot)| !slot.is_busy).min_by_key(|(_, slot)| slot.free_at);
        let Some((slot, free_at)) = free.map(|(number, slot)| (number, slot.free_at)) else { return Turn::Busy };
        if free_at > now {
            return Turn::At(free_at);
        }
        let Ok(leave) = circuit.enter(now) else { return Turn::Busy };
        let jitter = Duration::from_millis(self.chance.u64(0..=budget.jitter.as_millis() as u64));
        if let Some(slot) = pool.slots.get_mut(slot) {
            *slot = Slot { is_busy: true, free_at: now + budget.gap + jitter };
        }
        host.under_way += 1;
        host.next_at = now + host.pause(place) + jitter;
        Turn::Now(HostTicket { place: place.clone(), slot, leave })
    }

    /// Gives a ticket back.
    pub fn finished(&mut self, ticket: &HostTicket, outcome: Outcome, now: Timestamp) {
        let place = &ticket.place;
        if let Some(slot) = self.pools.get_mut(&place.pool).and_then(|pool| pool.slots.get_mut(ticket.slot)) {
            slot.is_busy = false;
        }
        let host = self.hosts.entry(place.host.clone()).or_default();
        host.under_way = host.under_way.saturating_sub(1);
        let circuit = self.circuits.entry(place.circuit_key()).or_insert_with(|| Circuit::new(BREAKER));
        match outcome {
            Outcome::Good => {
                host.pace.recover();
                circuit.succeeded(ticket.leave);
            }
            Outcome::Refused => {
                host.pace.slow_down();
                host.next_at = host.next_at.max(now + host.pause(place));
                circuit.failed(ticket.leave, "it has had enough", now);
            }
            Outcome::Failed => circuit.failed(ticket.leave, "it did not answer", now),
            Outcome::Abandoned => circuit.released(ticket.leave),
        }
    }

    /// The whole pool wants to be left alone for a while.
    pub fn defer(&mut self, place: &Place, wait: Duration, now: Timestamp) {
        let pool = self.pools.entry(place.pool.clone()).or_insert_with(|| Pool::new(place.budget.slots));
        pool.deferred_until = pool.deferred_until.max(now + wait.min(LONGEST_DEFERRAL));
    }

    /// The host's robots.txt wants so much time between requests.
    pub fn crawl_delay(&mut self, host: &str, delay: Duration) {
        self.hosts.entry(host.to_owned()).or_default().crawl_delay = delay.min(LONGEST_CRAWL_DELAY);
    }
}

impl Pool {
    fn new(slots: usize) -> Self {
        let slots = (0..slots.max(1)).map(|_| Slot { is_busy: false, free_at: LONG_AGO }).collect();
        Self { slots, deferred_until: LONG_AGO }
    }
}

impl Default for Host {
    fn default() -> Self {
        Self { under_way: 0, next_at: LONG_AGO, pace: Pace::full(RECOVERY), crawl_delay: Duration::ZERO }
    }
}

impl Host {
    /// From one request to the next.
    fn pause(&self, place: &Place) -> Duration {
        let side_by_side = u32::try_from(place.side_by_side()).unwrap_or(1).max(1);
        (self.pace.slowed(place.budget.gap) / side_by_side).max(self.crawl_delay)
    }
}

#[cfg(test)]
#[path = "hosts_tests.rs"]
mod tests;
