//! Waiting for one's turn: the limiter's answers, sat through.

use super::{Trouble, want::Settings};
use bindery_engine::StopSignal;
use bindery_http::{
    Timer,
    rate::hosts::{HostLimiter, HostTicket, Outcome, Place, Turn},
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::Notify;

/// The limiter, and whoever waits for it.
#[derive(Debug)]
pub(super) struct Turns {
    limiter: Mutex<HostLimiter>,
    timer: Arc<dyn Timer>,
    cities_at_once: usize,
    /// Under way, by vendor.
    cities: Mutex<HashMap<String, usize>>,
    /// Something has ended that others may wait for.
    freed: Notify,
}

impl Turns {
    pub(super) fn new(settings: &Settings, timer: Arc<dyn Timer>) -> Self {
        let (limiter, cities) = (Mutex::new(HostLimiter::new(settings.seed)), Mutex::default());
        Self { limiter, timer, cities_at_once: settings.cities_at_once.max(1), cities, freed: Notify::new() }
    }

    pub(super) fn limiter(&self) -> MutexGuard<'_, HostLimiter> {
        self.limiter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cities(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.cities.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A city of a vendor is begun, if not too many of them are under way.
    fn try_begin_city(&self, vendor: &str) -> bool {
        let mut cities = self.cities();
        let under_way = cities.entry(vendor.to_owned()).or_default();
        let may = *under_way < self.cities_at_once;
        *under_way += usize::from(may);
        may
    }

    /// Waits until a place may be asked.
    pub(super) async fn wait(turns: &Arc<Self>, place: &Place, stop: &StopSignal) -> Result<MyTurn, Trouble> {
        let mut stop = stop.clone();
        loop {
            // Before the limiter is looked at, so that nothing that ends in between is missed.
            let freed = turns.freed.notified();
            if stop.is_stopping() {
                return Err(Trouble::Stopped);
            }
            let turn = turns.limiter().ask(place, turns.timer.now());
            match turn {
                Turn::Now(ticket) => {
                    let turns = Arc::clone(turns);
                    return Ok(MyTurn { turns, place: place.clone(), ticket, outcome: Outcome::Abandoned });
                }
                Turn::Down { until, failures } => {
                    return Err(Trouble::HostDown { host: place.host.clone(), until, failures });
                }
                Turn::At(moment) => tokio::select! {
                    biased;
                    () = stop.stopping() => {}
                    () = turns.timer.sleep_until(moment) => {}
                },
                Turn::Busy => tokio::select! {
                    biased;
                    () = stop.stopping() => {}
                    () = freed => {}
                },
            }
        }
    }

    pub(super) async fn begin_city(turns: &Arc<Self>, vendor: &str, stop: &StopSignal) -> Option<CityPass> {
        let mut stop = stop.clone();
        loop {
            let freed = turns.freed.notified();
            if stop.is_stopping() {
                return None;
            }
            if turns.try_begin_city(vendor) {
                return Some(CityPass { turns: Arc::clone(turns), vendor: vendor.to_owned() });
            }
            tokio::select! {
                biased;
                () = stop.stopping() => return None,
                () = freed => {}
            }
        }
    }
}

/// The right to send one request; given back when dropped, however that comes about.
#[derive(Debug)]
pub(super) struct MyTurn {
    turns: Arc<Turns>,
    place: Place,
    ticket: HostTicket,
    outcome: Outcome,
}

impl MyTurn {
    pub(super) fn ended(&mut self, outcome: Outcome) {
        self.outcome = outcome;
    }

    pub(super) fn defer(&self, wait: Duration) {
        self.turns.limiter().defer(&self.place, wait, self.turns.timer.now());
    }
}

impl Drop for MyTurn {
    fn drop(&mut self) {
        self.turns.limiter().finished(&self.ticket, self.outcome, self.turns.timer.now());
        self.turns.freed.notify_waiters();
    }
}

/// The right to visit one city of a vendor, for as long as it is held.
#[derive(Debug)]
pub struct CityPass {
    turns: Arc<Turns>,
    vendor: String,
}

impl Drop for CityPass {
    fn drop(&mut self) {
        if let Some(under_way) = self.turns.cities().get_mut(&self.vendor) {
            *under_way = under_way.saturating_sub(1);
        }
        self.turns.freed.notify_waiters();
    }
}
