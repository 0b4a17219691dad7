//! When the next call may go out, by requests and by tokens per minute: a state machine without a clock of its own.
//!
//! Calls are spaced evenly. Each reserves a moment, one gap behind the one before it, and the gaps are planned, not
//! measured: a thread that wakes late delays nobody else. Tokens are charged by estimate at the beginning and corrected
//! by what the call really took.
//!
//! A 429 halves the pace, once for all calls that were under way together, and every good answer gives a little of it
//! back. All reservations that are not used by then are void and made anew.

use super::pace::Pace;
use bindery_core::Timestamp;
use std::time::Duration;

/// What one good answer gives back of full speed, in thousandths.
const RECOVERY: u32 = 20;
/// The longest wait that a service may ask for.
const LONGEST_DEFERRAL: Duration = Duration::from_secs(60 * 60);
const MICROS_PER_MINUTE: f64 = 60_000_000.0;
/// Far more than a sum of moments is ever off, in microseconds.
const ROUNDING: f64 = 1.0;

/// The moment at which a call may go out, unless the pace changes before.
#[derive(Debug, PartialEq, Eq)]
pub struct Reservation {
    pub at: Timestamp,
    tokens: u64,
    epoch: u64,
}

/// A call that is under way.
#[derive(Debug, PartialEq, Eq)]
pub struct Ticket {
    tokens: u64,
    epoch: u64,
}

/// What a call says about the pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The service keeps up.
    Good,
    /// It asks for less, and perhaps for a pause.
    TooFast { wait: Option<Duration> },
    /// Nothing.
    None,
}

/// One of the two rates.
#[derive(Debug)]
struct Lane {
    per_minute: f64,
    /// When the next one may go out, in microseconds since 1970.
    next: f64,
    /// What is reserved and not begun.
    reserved: f64,
}

impl Lane {
    fn new(per_minute: u64) -> Self {
        Self { per_minute: per_minute as f64, next: 0.0, reserved: 0.0 }
    }

    fn micros(&self, amount: f64, pace: Pace) -> f64 {
        amount * MICROS_PER_MINUTE / (self.per_minute * pace.share()).max(f64::MIN_POSITIVE)
    }

    fn reserve(&mut self, amount: f64, at: f64, pace: Pace) {
        self.next = at + self.micros(amount, pace);
        self.reserved += amount;
    }

    fn give_back(&mut self, amount: f64, now: f64, pace: Pace) {
        self.next = (self.next - self.micros(amount, pace)).max(now.min(self.next));
    }

    /// Forgets what is reserved and not begun.
    fn clear(&mut self, now: f64, pace: Pace) {
        let reserved = std::mem::take(&mut self.reserved);
        self.give_back(reserved, now, pace);
    }
}

/// All that is known of the pace of one service. A rate that is not limited is not waited for.
#[derive(Debug)]
pub struct Limiter {
    requests: Option<Lane>,
    tokens: Option<Lane>,
    pace: Pace,
    /// Counts the changes for the worse.
    epoch: u64,
    deferred_until: f64,
}

fn micros(moment: Timestamp) -> f64 {
    moment.as_millis() as f64 * 1000.0
}

impl Limiter {
    pub fn new(requests_per_minute: Option<u64>, tokens_per_minute: Option<u64>) -> Self {
        let lane = |rate: Option<u64>| rate.filter(|rate| *rate > 0).map(Lane::new);
        Self {
            requests: lane(requests_per_minute),
            tokens: lane(tokens_per_minute),
            pace: Pace::full(RECOVERY),
            epoch: 0,
            deferred_until: 0.0,
        }
    }

    fn lanes(&mut self, tokens: u64) -> impl Iterator<Item = (&mut Lane, f64)> {
        let requests = self.requests.as_mut().map(|lane| (lane, 1.0));
        requests.into_iter().chain(self.tokens.as_mut().map(|lane| (lane, tokens as f64)))
    }

    /// Takes the next free moment for a call of about so many tokens.
    pub fn reserve(&mut self, tokens: u64, now: Timestamp) -> Reservation {
        let (pace, now) = (self.pace, micros(now));
        let mut at = now.max(self.deferred_until);
        for (lane, _) in self.lanes(tokens) {
            at = at.max(lane.next);
        }
        for (lane, amount) in self.lanes(tokens) {
            // Both from the same moment: a lane that was free while the other one was not has nothing saved up.
            lane.reserve(amount, at, pace);
        }
        // A whole millisecond, and not before the planned moment but for what adding up rounds.
        let at = Timestamp::from_millis(((at - ROUNDING) / 1000.0).ceil() as i64);
        Reservation { at, tokens, epoch: self.epoch }
    }

    /// Begins the call whose moment has come; `Err` when it has to reserve anew, because the pace has changed.
    pub fn begin(&mut self, reservation: &Reservation, now: Timestamp) -> Result<Ticket, Reservation> {
        if reservation.epoch != self.epoch || micros(now) < self.deferred_until {
            let tokens = reservation.tokens;
            self.abandon(reservation, now);
            return Err(self.reserve(tokens, now));
        }
        for (lane, amount) in self.lanes(reservation.tokens) {
            lane.reserved = (lane.reserved - amount).max(0.0);
        }
        Ok(Ticket { tokens: reservation.tokens, epoch: self.epoch })
    }

    /// Gives up a moment that was not used.
    pub fn abandon(&mut self, reservation: &Reservation, now: Timestamp) {
        // What was reserved at another pace is gone already.
        if reservation.epoch == self.epoch {
            let pace = self.pace;
            for (lane, amount) in self.lanes(reservation.tokens) {
                lane.reserved = (lane.reserved - amount).max(0.0);
                lane.give_back(amount, micros(now), pace);
            }
        }
    }

    /// A call has ended and took so many tokens.
    pub fn finished(&mut self, ticket: &Ticket, verdict: Verdict, tokens_used: u64, now: Timestamp) {
        let (pace, at) = (self.pace, micros(now));
        if let Some(lane) = &mut self.tokens {
            let surplus = tokens_used as f64 - ticket.tokens as f64;
            if surplus > 0.0 {
                lane.next = lane.next.max(at) + lane.micros(surplus, pace);
            } else {
                lane.give_back(-surplus, at, pace);
            }
        }
        match verdict {
            Verdict::Good => self.pace.recover(),
            Verdict::None => {}
            Verdict::TooFast { wait } => {
                // Calls that were under way together are one complaint, not many.
                if ticket.epoch == self.epoch {
                    for (lane, _) in self.lanes(0) {
                        lane.clear(at, pace);
                    }
                    self.pace.slow_down();
                    self.epoch += 1;
                }
                if let Some(wait) = wait {
                    let until = at + wait.min(LONGEST_DEFERRAL).as_micros() as f64;
                    self.deferred_until = self.deferred_until.max(until);
                }
            }
        }
    }

    /// The share of the full rate at which calls go out now, from 0 to 1.
    pub fn pace(&self) -> f64 {
        self.pace.share()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    fn after(millis: u64) -> Timestamp {
        START + Duration::from_millis(millis)
    }

    fn begin_call(limiter: &mut Limiter, tokens: u64, now: Timestamp) -> Ticket {
        let reservation = limiter.reserve(tokens, now);
        assert_eq!(reservation.at, now, "its moment has come");
        limiter.begin(&reservation, now).unwrap()
    }

    #[test]
    fn requests_are_one_gap_apart_and_never_bunched() {
        let mut limiter = Limiter::new(Some(90), None);
        let moments: Vec<u64> = (0..4).map(|_| limiter.reserve(1, START).at.since(START).as_millis() as u64).collect();
        assert_eq!(moments, [0, 667, 1334, 2000], "two thirds of a second, without adding up what is rounded");
        let late = limiter.reserve(1, after(600_000));
        assert_eq!(late.at, after(600_000), "time without calls is not saved up");
        assert_eq!(limiter.reserve(1, after(600_000)).at, after(600_667));
    }

    #[test]
    fn tokens_are_charged_by_estimate_and_corrected_by_what_was_used() {
        let mut limiter = Limiter::new(None, Some(60_000));
        let ticket = begin_call(&mut limiter, 10_000, START);
        let next = limiter.reserve(1000, START);
        assert_eq!(next.at, after(10_000));
        limiter.abandon(&next, START);
        limiter.finished(&ticket, Verdict::Good, 2000, after(1000));
        assert_eq!(limiter.reserve(1000, after(1000)).at, after(2000));
        let mut limiter = Limiter::new(None, Some(60_000));
        let ticket = begin_call(&mut limiter, 1000, START);
        limiter.finished(&ticket, Verdict::Good, 5000, after(100));
        assert_eq!(limiter.reserve(1, after(100)).at, after(5000));
    }

    #[test]
    fn a_call_above_the_rate_goes_out_alone_and_is_paid_for_by_those_behind_it() {
        let mut limiter = Limiter::new(None, Some(1000));
        begin_call(&mut limiter, 3000, START);
        assert_eq!(limiter.reserve(1, START).at, after(180_000));
    }

    #[test]
    fn a_complaint_halves_the_pace_once_and_good_answers_give_it_back() {
        let mut limiter = Limiter::new(Some(60), None);
        let first = begin_call(&mut limiter, 1, START);
        let second = begin_call(&mut limiter, 1, after(1000));
        let waiting = limiter.reserve(1, after(1000));
        let verdict = Verdict::TooFast { wait: None };
        limiter.finished(&first, verdict, 0, after(1500));
        limiter.finished(&second, verdict, 0, after(1600));
        assert_eq!(limiter.pace().to_bits(), 0.5_f64.to_bits(), "both were under way at the old pace");
        let again = limiter.begin(&waiting, after(2000)).unwrap_err();
        assert_eq!(again.at, after(2000), "nobody else has gone out since");
        let third = limiter.begin(&again, after(2000)).unwrap();
        assert_eq!(limiter.reserve(1, after(2000)).at, after(4000), "half as often");
        limiter.finished(&third, Verdict::Good, 0, after(2100));
        assert!(limiter.pace() > 0.5);
        for _ in 0..40 {
            limiter.finished(&Ticket { tokens: 0, epoch: 1 }, Verdict::Good, 0, after(9000));
        }
        assert_eq!(limiter.pace().to_bits(), 1.0_f64.to_bits());
    }

    #[test]
    fn a_pause_that_the_service_asks_for_holds_for_all_but_not_for_ever() {
        let mut limiter = Limiter::new(Some(60_000), None);
        let ticket = begin_call(&mut limiter, 1, START);
        let waiting = limiter.reserve(1, START);
        let wait = Some(Duration::from_secs(17));
        limiter.finished(&ticket, Verdict::TooFast { wait }, 0, START);
        let again = limiter.begin(&waiting, after(5)).unwrap_err();
        assert_eq!(again.at, after(17_000));
        assert!(limiter.begin(&again, after(17_000)).is_ok());
        let ticket = begin_call(&mut limiter, 1, after(18_000));
        let wait = Some(Duration::from_secs(1_000_000));
        limiter.finished(&ticket, Verdict::TooFast { wait }, 0, after(18_000));
        assert_eq!(limiter.reserve(1, after(18_000)).at, after(18_000) + LONGEST_DEFERRAL);
    }

    #[test]
    fn the_pace_has_a_floor_and_no_rate_is_no_wait() {
        let mut limiter = Limiter::new(Some(60), Some(0));
        for n in 0..100 {
            let ticket = Ticket { tokens: 0, epoch: n };
            limiter.finished(&ticket, Verdict::TooFast { wait: None }, 0, START);
        }
        assert_eq!(limiter.reserve(1_000_000, START).at, START);
        assert!(limiter.reserve(1, START).at.since(START) <= Duration::from_secs(33));
        let mut limiter = Limiter::new(None, None);
        assert!((0..1000).all(|_| limiter.reserve(1_000_000, START).at == START));
    }

    #[test]
    fn a_moment_that_is_given_up_is_not_lost() {
        let mut limiter = Limiter::new(Some(60), None);
        let reservations: Vec<Reservation> = (0..3).map(|_| limiter.reserve(1, START)).collect();
        limiter.abandon(&reservations[1], START);
        assert_eq!(limiter.reserve(1, START).at, after(2000), "instead of three seconds");
    }
}
