//! When a host may be asked next: politeness as a state machine without a clock of its own.
//!
//! A vendor has slots, and each slot a gap from one request to the next. Within that, a host is asked by one request at
//! a time, one gap apart, so that the cities of a vendor share it evenly; only a host that serves all of them may use
//! all of it. Hosts of no vendor have a budget each: a city on its own domain waits for nobody.
//!
//! A host that answers with 429, 403 or 5xx is asked half as often, and recovers slowly. One that fails five times in a
//! row is left alone for a quarter of an hour; after that one more failure is enough.

use super::vendors::{self, Budget};
use bindery_core::time::Timestamp;
use std::{collections::HashMap, time::Duration};

/// So many failures in a row, and a host is left alone.
pub const FAILURES_ALLOWED: u32 = 5;
/// For so long.
pub const LEFT_ALONE: Duration = Duration::from_secs(15 * 60);
/// A `Retry-After` is honoured up to here.
pub const LONGEST_DEFERRAL: Duration = Duration::from_secs(120);
/// And a robots.txt's `Crawl-delay` up to here.
pub const LONGEST_CRAWL_DELAY: Duration = Duration::from_secs(60);

/// Full speed, and what one good answer gives back of it, in thousandths.
const FULL_PACE: u32 = 1000;
const RECOVERY: u32 = 50;
const SLOWEST_PACE: u32 = FULL_PACE / 32;

/// Who is to be asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    pub vendor: &'static str,
    pub host: String,
    /// For whom, e.g. a city: on a host that serves all, failures count for each apart.
    pub scope: String,
}

/// Whether it may be asked.
#[derive(Debug, PartialEq, Eq)]
pub enum Turn {
    /// At once. The ticket has to be given back by [`Limiter::finished`].
    Now(Ticket),
    /// Not before this.
    At(Timestamp),
    /// When a request that is under way has ended.
    Busy,
    /// It has failed too often.
    Down { until: Timestamp, failures: u32 },
}

/// The right to send one request.
#[derive(Debug, PartialEq, Eq)]
pub struct Ticket {
    place: Place,
    slot: usize,
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

/// What a vendor's hosts share.
#[derive(Debug)]
struct Pool {
    slots: Vec<Slot>,
    deferred_until: Timestamp,
}

#[derive(Debug)]
struct Host {
    under_way: usize,
    next_at: Timestamp,
    /// In thousandths of full speed.
    pace: u32,
    crawl_delay: Duration,
}

#[derive(Debug, Default)]
struct Health {
    failures: u32,
    down_until: Option<Timestamp>,
}

/// All that is known of all hosts.
#[derive(Debug)]
pub struct Limiter {
    chance: fastrand::Rng,
    overrides: HashMap<String, Budget>,
    pools: HashMap<String, Pool>,
    hosts: HashMap<String, Host>,
    health: HashMap<(String, String), Health>,
    cities_at_once: usize,
    cities: HashMap<String, usize>,
}

const LONG_AGO: Timestamp = Timestamp::from_millis(i64::MIN);

impl Limiter {
    /// `overrides` are budgets in place of those that vendors have.
    pub fn new(cities_at_once: usize, overrides: HashMap<String, Budget>, seed: u64) -> Self {
        let (pools, hosts, health, cities) = (HashMap::new(), HashMap::new(), HashMap::new(), HashMap::new());
        let chance = fastrand::Rng::with_seed(seed);
        Self { chance, overrides, pools, hosts, health, cities_at_once: cities_at_once.max(1), cities }
    }

    fn budget(&self, vendor: &str) -> Budget {
        self.overrides.get(vendor).copied().unwrap_or_else(|| vendors::budget(vendor))
    }

    /// Asks for the right to send one request now.
    pub fn ask(&mut self, place: &Place, now: Timestamp) -> Turn {
        if let Some(Health { failures, down_until: Some(until) }) = self.health.get(&health_key(place))
            && *until > now
        {
            return Turn::Down { until: *until, failures: *failures };
        }
        let budget = self.budget(place.vendor);
        let pool = self.pools.entry(pool_key(place)).or_insert_with(|| Pool::new(budget.slots));
        if pool.deferred_until > now {
            return Turn::At(pool.deferred_until);
        }
        let host = self.hosts.entry(place.host.clone()).or_default();
        let side_by_side = side_by_side(place, budget);
        if host.under_way >= side_by_side {
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
        let jitter = Duration::from_millis(self.chance.u64(0..=budget.jitter.as_millis() as u64));
        if let Some(slot) = pool.slots.get_mut(slot) {
            *slot = Slot { is_busy: true, free_at: now + budget.gap + jitter };
        }
        host.under_way += 1;
        host.next_at = now + host.pause(budget, side_by_side) + jitter;
        Turn::Now(Ticket { place: place.clone(), slot })
    }

    /// Gives a ticket back.
    pub fn finished(&mut self, ticket: &Ticket, outcome: Outcome, now: Timestamp) {
        let place = &ticket.place;
        let budget = self.budget(place.vendor);
        if let Some(slot) = self.pools.get_mut(&pool_key(place)).and_then(|pool| pool.slots.get_mut(ticket.slot)) {
            slot.is_busy = false;
        }
        let host = self.hosts.entry(place.host.clone()).or_default();
        host.under_way = host.under_way.saturating_sub(1);
        match outcome {
            Outcome::Good => host.pace = (host.pace + RECOVERY).min(FULL_PACE),
            Outcome::Refused => {
                host.pace = (host.pace / 2).max(SLOWEST_PACE);
                host.next_at = host.next_at.max(now + host.pause(budget, side_by_side(place, budget)));
            }
            Outcome::Failed | Outcome::Abandoned => {}
        }
        let health = self.health.entry(health_key(place)).or_default();
        match outcome {
            Outcome::Good => *health = Health::default(),
            Outcome::Refused | Outcome::Failed => {
                health.failures += 1;
                if health.failures >= FAILURES_ALLOWED {
                    health.down_until = Some(now + LEFT_ALONE);
                }
            }
            Outcome::Abandoned => {}
        }
    }

    /// The vendor wants to be left alone for a while.
    pub fn defer(&mut self, place: &Place, wait: Duration, now: Timestamp) {
        let budget = self.budget(place.vendor);
        let pool = self.pools.entry(pool_key(place)).or_insert_with(|| Pool::new(budget.slots));
        pool.deferred_until = pool.deferred_until.max(now + wait.min(LONGEST_DEFERRAL));
    }

    /// The host's robots.txt wants so much time between requests.
    pub fn crawl_delay(&mut self, place: &Place, delay: Duration) {
        self.hosts.entry(place.host.clone()).or_default().crawl_delay = delay.min(LONGEST_CRAWL_DELAY);
    }

    /// A city of a vendor is begun, if not too many of them are under way.
    pub fn begin_city(&mut self, vendor: &str) -> bool {
        let under_way = self.cities.entry(vendor.to_owned()).or_default();
        let may = *under_way < self.cities_at_once;
        *under_way += usize::from(may);
        may
    }

    pub fn end_city(&mut self, vendor: &str) {
        if let Some(under_way) = self.cities.get_mut(vendor) {
            *under_way = under_way.saturating_sub(1);
        }
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
        Self { under_way: 0, next_at: LONG_AGO, pace: FULL_PACE, crawl_delay: Duration::ZERO }
    }
}

impl Host {
    /// From one request to the next.
    fn pause(&self, budget: Budget, side_by_side: usize) -> Duration {
        let gap =
            budget.gap.saturating_mul(FULL_PACE) / self.pace.max(1) / u32::try_from(side_by_side).unwrap_or(1).max(1);
        gap.max(self.crawl_delay)
    }
}

/// Hosts of no vendor share nothing.
fn pool_key(place: &Place) -> String {
    if place.vendor == vendors::UNKNOWN { format!("host {}", place.host) } else { place.vendor.to_owned() }
}

fn health_key(place: &Place) -> (String, String) {
    let scope = if vendors::serves_all(&place.host) { place.scope.clone() } else { String::new() };
    (place.host.clone(), scope)
}

/// How many requests a host may have at the same time.
fn side_by_side(place: &Place, budget: Budget) -> usize {
    if vendors::serves_all(&place.host) { budget.slots.max(1) } else { 1 }
}

#[cfg(test)]
mod tests;
