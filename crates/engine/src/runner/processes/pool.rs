//! The children of one [`Processes`](super::Processes): at most so many, kept for the next time.

use super::{child::ChildProcess, command::ChildCommand, death::StartError, watch::Watch};
use bindery_core::{Backoff, StepError};
use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// How often someone who waits for a seat looks whether there is still something to do.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// So many children that do not come up, one after the other, and no more are started.
pub(super) const START_TRIES: u32 = 5;

/// The wait after the first that did not; doubled after each.
pub(super) const START_BACKOFF: Backoff = Backoff::doubling(Duration::from_millis(50), Duration::from_secs(1)).exact();

#[derive(Debug, Default)]
struct Seats {
    taken: usize,
    /// Children that nobody uses.
    idle: Vec<ChildProcess>,
}

#[derive(Debug)]
pub(super) struct Pool {
    command: ChildCommand,
    size: usize,
    seats: Mutex<Seats>,
    freed: Condvar,
    // Dropped after the children above.
    watch: Watch,
}

impl Pool {
    pub(super) fn new(command: ChildCommand, size: usize) -> Self {
        let size = size.max(1);
        Self { command, size, seats: Mutex::default(), freed: Condvar::new(), watch: Watch::default() }
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn watch(&self) -> &Watch {
        &self.watch
    }

    fn lock(&self) -> MutexGuard<'_, Seats> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The right to use one child. Waits while all are in use; none if it is not wanted any more.
    pub(super) fn seat(&self, still_wanted: impl Fn() -> bool) -> Option<Seat<'_>> {
        self.take(still_wanted, |_| None)
    }

    /// The same for a request of a key: an idle child that knows the key is preferred.
    pub(super) fn seat_for(&self, key: u64) -> Option<Seat<'_>> {
        self.take(|| true, |idle| idle.iter().position(|child| child.knows(key)))
    }

    fn take(
        &self,
        still_wanted: impl Fn() -> bool,
        preferred: impl Fn(&[ChildProcess]) -> Option<usize>,
    ) -> Option<Seat<'_>> {
        let mut seats = self.lock();
        loop {
            if !still_wanted() {
                return None;
            }
            if seats.taken < self.size {
                seats.taken += 1;
                let child = match preferred(&seats.idle) {
                    Some(place) => Some(seats.idle.swap_remove(place)),
                    None => seats.idle.pop(),
                };
                drop(seats);
                return Some(Seat { pool: self, child });
            }
            seats = self.freed.wait_timeout(seats, LOOK_EVERY).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The right to use one child, and the child once it has been started.
#[derive(Debug)]
pub(super) struct Seat<'a> {
    pool: &'a Pool,
    child: Option<ChildProcess>,
}

impl Seat<'_> {
    /// A child that lives; started if there is none.
    pub(super) fn child(&mut self) -> Result<ChildProcess, StartError> {
        if let Some(child) = self.child.take() {
            if !child.has_ended() {
                return Ok(child);
            }
            tracing::warn!(pid = child.pid(), "an idle child has ended; starting another");
        }
        ChildProcess::start(&self.pool.command, &self.pool.watch)
    }

    /// The same; where it does not come up, it is tried again a few times.
    pub(super) fn started(&mut self) -> Result<ChildProcess, StepError> {
        let mut failed_starts = 0;
        loop {
            let error = match self.child() {
                Ok(child) => return Ok(child),
                Err(error) => error,
            };
            failed_starts += 1;
            tracing::warn!(reason = error.reason, failed_starts, "a child did not start");
            if error.hopeless || failed_starts == START_TRIES {
                return Err(error.error());
            }
            std::thread::sleep(START_BACKOFF.random_delay(failed_starts));
        }
    }

    /// Keeps a child for the next time.
    pub(super) fn keep(&mut self, child: ChildProcess) {
        child.vitals().rest();
        self.child = Some(child);
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut seats = self.pool.lock();
        seats.taken -= 1;
        seats.idle.extend(self.child.take());
        drop(seats);
        self.pool.freed.notify_one();
    }
}
