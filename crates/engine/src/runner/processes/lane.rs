//! One thread of the parent and its child: orders go out, answers come in, and when the child dies another takes over.

use super::{
    Options,
    child::{ChildProcess, LARGE, Received},
    death::{Death, cancelled},
    pile::{Next, Pending, Pile},
    pool::{Pool, START_BACKOFF, START_TRIES, Seat},
    vitals::Rules,
    wire::{self, Answer},
};
use crate::runner::{Ran, Task};
use bindery_core::StepError;
use std::{
    collections::VecDeque,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc::Sender,
    },
    time::Instant,
};

/// What the lanes of one run have seen.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) workers: AtomicUsize,
    pub(super) replaced: AtomicU64,
    peak_memory: Mutex<Option<u64>>,
}

impl Tally {
    pub(super) fn peak_memory(&self) -> Option<u64> {
        *self.peak_memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn saw(&self, peak: Option<u64>) {
        let mut most = self.peak_memory.lock().unwrap_or_else(PoisonError::into_inner);
        *most = peak.max(*most);
    }
}

/// How talking to a child ended.
enum Talk {
    /// Nothing is left, and the child can be kept.
    Over(ChildProcess),
    /// The child is gone, and perhaps for this input.
    Died(Option<Pending>),
}

fn pop_if_at(flight: &mut VecDeque<Pending>, place: Option<usize>) -> Option<Pending> {
    if flight.front().map(|pending| pending.place) == place { flight.pop_front() } else { None }
}

/// One thread's share of a run.
#[derive(Debug)]
pub(super) struct Lane<'a> {
    pub(super) pool: &'a Pool,
    pub(super) options: &'a Options,
    pub(super) task: &'a Task,
    pub(super) setup: &'a [u8],
    pub(super) pile: &'a Pile,
    pub(super) tally: &'a Tally,
    pub(super) results: Sender<(usize, Ran)>,
}

impl Lane<'_> {
    /// Takes from the pile until nothing is left.
    pub(super) fn work(&self) {
        let failed = self.pool.seat(|| self.pile.has_more()).and_then(|mut seat| self.work_at(&mut seat));
        // Others may still have children that work; the last one has to say that there are none.
        let Some(error) = self.pile.leave(failed) else { return };
        while let Some(next) = self.pile.next() {
            match next {
                Next::Send(pending) => self.hand_over(pending.place, pending.failed(error.clone())),
                Next::Failed(place, ran) => self.hand_over(place, *ran),
            }
        }
    }

    /// Returns why no child comes up, where that is why it ended.
    fn work_at(&self, seat: &mut Seat<'_>) -> Option<StepError> {
        let mut suspect: Option<Pending> = None;
        let mut failed_starts = 0;
        let mut used = false;
        while suspect.is_some() || self.pile.has_more() {
            if let Some(pending) = suspect.take_if(|_| self.task.cancel.is_cancelled()) {
                self.hand_over(pending.place, pending.failed(cancelled()));
                break;
            }
            let child = match seat.child() {
                Ok(child) => child,
                Err(error) => {
                    failed_starts += 1;
                    tracing::warn!(reason = error.reason, failed_starts, "a child did not start");
                    if error.hopeless || failed_starts == START_TRIES {
                        self.pile.give_back(suspect.into_iter());
                        return Some(error.error());
                    }
                    std::thread::sleep(START_BACKOFF.random_delay(failed_starts));
                    continue;
                }
            };
            failed_starts = 0;
            if !std::mem::replace(&mut used, true) {
                self.tally.workers.fetch_add(1, Ordering::Relaxed);
            }
            match self.talk(child, suspect.take()) {
                Talk::Over(child) => {
                    self.tally.saw(child.peak_memory());
                    seat.keep(child);
                }
                Talk::Died(pending) => suspect = pending,
            }
        }
        None
    }

    /// Hands the child one input after the other. An input over which a child has died goes first, alone.
    fn talk(&self, mut child: ChildProcess, suspect: Option<Pending>) -> Talk {
        let mut flight: VecDeque<Pending> = VecDeque::new();
        let mut usable = true;
        let mut stopped = false;
        child.set_up(self.setup);
        if let Some(pending) = suspect {
            self.send(&mut child, &mut flight, pending);
        }
        loop {
            if usable && flight.front().is_none_or(|pending| pending.deaths == 0) {
                self.send_ahead(&mut child, &mut flight);
            }
            if flight.is_empty() {
                if usable {
                    return Talk::Over(child);
                }
                return self.end_child(child, None, flight);
            }
            if !stopped && self.task.cancel.is_cancelled() {
                stopped = true;
                child.stop();
            }
            child.flush();
            let answer = match child.receive() {
                Received::Answer(answer) => answer,
                Received::Alive => continue,
                Received::Ended => return self.end_child(child, None, flight),
                Received::Garbled(why) => return self.end_child(child, Some(why), flight),
            };
            let place = match &answer {
                Answer::Done { place, .. } | Answer::NotBegun { place } => Some(*place),
                Answer::Ready { .. } => None,
            };
            let Some(pending) = pop_if_at(&mut flight, place) else {
                return self.end_child(child, Some("an answer to another question".to_owned()), flight);
            };
            let (peak, go_on) = child.end_answer();
            usable = go_on;
            if let Answer::Done { result, times, costs, .. } = answer {
                let mut ran = wire::to_ran(*result, times, costs);
                ran.peak_memory = peak;
                self.hand_over(pending.place, ran);
            }
        }
    }

    fn send_ahead(&self, child: &mut ChildProcess, flight: &mut VecDeque<Pending>) {
        let window = child.window();
        // Fewer and larger writes: when half of what was sent is done, the rest is sent at once.
        if flight.len() > window / 2 {
            return;
        }
        let mut bytes: usize = flight.iter().map(|pending| pending.frame.len()).sum();
        while flight.len() < window && (flight.is_empty() || bytes < LARGE) {
            match self.pile.next() {
                // Not behind others: it goes alone, or back.
                Some(Next::Send(pending)) if pending.deaths > 0 && !flight.is_empty() => {
                    return self.pile.give_back(std::iter::once(pending));
                }
                Some(Next::Send(pending)) => {
                    bytes += pending.frame.len();
                    let alone = pending.deaths > 0;
                    self.send(child, flight, pending);
                    if alone {
                        return;
                    }
                }
                Some(Next::Failed(place, ran)) => self.hand_over(place, *ran),
                None => return,
            }
        }
    }

    fn send(&self, child: &mut ChildProcess, flight: &mut VecDeque<Pending>, mut pending: Pending) {
        if flight.is_empty() {
            let Options { silent_for, cancel_grace, .. } = *self.options;
            let rules = Rules { limits: self.task.limits, silent_for, cancel: self.task.cancel.clone(), cancel_grace };
            self.pool.watch().begin(child.vitals(), rules);
        }
        pending.sent = Instant::now();
        child.queue(&pending.frame);
        flight.push_back(pending);
    }

    /// Finds out how the child ended. The first input without an answer was under way; the others it had not begun.
    fn end_child(&self, child: ChildProcess, garbled: Option<String>, mut flight: VecDeque<Pending>) -> Talk {
        let pid = child.pid();
        let since = flight.front().map_or_else(Instant::now, |pending| pending.sent);
        let death = child.into_death(garbled, since);
        self.tally.replaced.fetch_add(1, Ordering::Relaxed);
        self.tally.saw(death.peak_memory);
        let suspect = flight.pop_front();
        self.pile.give_back(flight.into_iter());
        let place = suspect.as_ref().map(|pending| pending.place);
        tracing::warn!(
            pid,
            place,
            reason = %death.cause,
            memory = death.peak_memory,
            said = death.said.as_deref(),
            "a child is gone; another takes its place"
        );
        Talk::Died(suspect.and_then(|pending| self.judge(pending, &death)))
    }

    /// An input that may be tried again.
    fn judge(&self, mut pending: Pending, death: &Death) -> Option<Pending> {
        if self.task.cancel.is_cancelled() {
            self.hand_over(pending.place, pending.failed(cancelled()));
            return None;
        }
        if !death.blames_input {
            self.pile.give_back(std::iter::once(pending));
            return None;
        }
        pending.deaths += 1;
        if pending.deaths < self.options.tries {
            return Some(pending);
        }
        let mut ran = pending.failed(death.error(self.task.limits, pending.deaths));
        ran.peak_memory = death.peak_memory;
        self.hand_over(pending.place, ran);
        None
    }

    fn hand_over(&self, place: usize, ran: Ran) {
        if self.results.send((place, ran)).is_err() {
            // Whoever asked has gone: it panicked, and waits for this thread.
            self.pile.close();
        }
    }
}
