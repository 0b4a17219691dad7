//! Waiting for one's turn: the limiter's answers, sat through.

use super::{
    Trouble,
    limiter::{Limiter, Outcome, Place, Ticket, Turn},
    timer::Timer,
};
use bindery_engine::StopSignal;
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::Notify;

/// The limiter, and whoever waits for it.
#[derive(Debug)]
pub(super) struct Turns {
    limiter: Mutex<Limiter>,
    timer: Arc<dyn Timer>,
    /// Something has ended that others may wait for.
    freed: Notify,
}

impl Turns {
    pub(super) fn new(limiter: Limiter, timer: Arc<dyn Timer>) -> Self {
        Self { limiter: Mutex::new(limiter), timer, freed: Notify::new() }
    }

    pub(super) fn limiter(&self) -> MutexGuard<'_, Limiter> {
        self.limiter.lock().unwrap_or_else(PoisonError::into_inner)
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
                    () = turns.timer.wait_until(moment) => {}
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
            if turns.limiter().begin_city(vendor) {
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
    ticket: Ticket,
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
        self.turns.limiter().end_city(&self.vendor);
        self.turns.freed.notify_waiters();
    }
}
