//! Waiting for one's turn: the limiter's moments, sat through by threads.

use super::limiter::{Limiter, Reservation, Ticket, Verdict};
use crate::timer::{Cancelled, Timer};
use bindery_core::Timestamp;
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The one limiter of a service, shared by all who call it.
#[derive(Debug)]
pub struct Turns {
    limiter: Mutex<Limiter>,
    timer: Arc<dyn Timer>,
}

/// Why a call did not get its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoTurn {
    Cancelled,
    /// It would have been so long that nobody should hold a thread for it.
    TooLong(Duration),
}

impl Turns {
    pub fn new(limiter: Limiter, timer: Arc<dyn Timer>) -> Self {
        Self { limiter: Mutex::new(limiter), timer }
    }

    fn limiter(&self) -> MutexGuard<'_, Limiter> {
        self.limiter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The share of the full rate at which calls go out now.
    pub fn pace(&self) -> f64 {
        self.limiter().pace()
    }

    /// Waits until a call of about so many tokens may go out, unless that takes longer than `longest`.
    pub fn wait(&self, tokens: u64, longest: Duration, cancelled: Cancelled<'_>) -> Result<MyTurn<'_>, NoTurn> {
        let from = self.timer.now();
        let mut reservation = self.limiter().reserve(tokens, from);
        loop {
            let wait = reservation.at.since(from);
            if wait > longest {
                self.give_up(&reservation);
                return Err(NoTurn::TooLong(wait));
            }
            if !self.timer.wait_until(reservation.at, cancelled) {
                self.give_up(&reservation);
                return Err(NoTurn::Cancelled);
            }
            let now = self.timer.now();
            match self.limiter().begin(&reservation, now) {
                Ok(ticket) => return Ok(MyTurn { turns: self, ticket, verdict: Verdict::None, tokens: 0 }),
                Err(later) => reservation = later,
            }
        }
    }

    fn give_up(&self, reservation: &Reservation) {
        let now: Timestamp = self.timer.now();
        self.limiter().abandon(reservation, now);
    }
}

/// A call that is under way; the limiter hears of its end when this is dropped, however that comes about.
#[derive(Debug)]
pub struct MyTurn<'t> {
    turns: &'t Turns,
    ticket: Ticket,
    verdict: Verdict,
    tokens: u64,
}

impl MyTurn<'_> {
    pub fn ended(mut self, verdict: Verdict, tokens: u64) {
        self.verdict = verdict;
        self.tokens = tokens;
    }
}

impl Drop for MyTurn<'_> {
    fn drop(&mut self) {
        let now = self.turns.timer.now();
        self.turns.limiter().finished(&self.ticket, self.verdict, self.tokens, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timer::LeapingTimer;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn two_hundred_threads_keep_to_the_rate() {
        let timer = Arc::new(LeapingTimer::default());
        let turns = Turns::new(Limiter::new(Some(600), None), Arc::clone(&timer) as Arc<dyn Timer>);
        let (from, count) = (timer.now(), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..200 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        let turn = turns.wait(100, Duration::from_secs(3600), &|| false).unwrap();
                        count.fetch_add(1, Ordering::SeqCst);
                        turn.ended(Verdict::Good, 100);
                    }
                });
            }
        });
        assert_eq!(count.into_inner(), 2000);
        // The first goes out at once.
        assert_eq!(timer.now().since(from), Duration::from_millis(100 * 1999));
    }

    #[test]
    fn nobody_waits_longer_than_they_want_to_or_after_they_were_cancelled() {
        let timer = Arc::new(LeapingTimer::default());
        let turns = Turns::new(Limiter::new(Some(1), None), timer);
        drop(turns.wait(0, Duration::ZERO, &|| false).unwrap());
        let refused = turns.wait(0, Duration::from_secs(30), &|| false).unwrap_err();
        assert_eq!(refused, NoTurn::TooLong(Duration::from_secs(60)));
        assert_eq!(turns.wait(0, Duration::from_secs(90), &|| true).unwrap_err(), NoTurn::Cancelled);
        assert!(turns.wait(0, Duration::from_secs(60), &|| false).is_ok(), "neither of them took the moment along");
    }
}
