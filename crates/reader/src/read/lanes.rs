//! How much is read at once, over all files that are read side by side.

use std::sync::{Condvar, Mutex, PoisonError};

/// Files that share lanes may each have as many threads as they like: no more than `count` of them work at a moment.
#[derive(Debug)]
pub struct Lanes {
    count: usize,
    taken: Mutex<usize>,
    freed: Condvar,
}

/// The right to work, until it is dropped.
#[derive(Debug)]
pub struct Lane<'a>(&'a Lanes);

impl Lanes {
    /// At least one.
    pub fn new(count: usize) -> Self {
        Self { count: count.max(1), taken: Mutex::new(0), freed: Condvar::new() }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// Waits until one is free. Whoever holds one should not ask for another.
    pub fn take(&self) -> Lane<'_> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken =
            self.freed.wait_while(taken, |taken| *taken >= self.count).unwrap_or_else(PoisonError::into_inner);
        *taken += 1;
        Lane(self)
    }
}

impl Drop for Lane<'_> {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        thread,
    };

    #[test]
    fn no_more_work_at_once_than_there_are_lanes() {
        let lanes = Lanes::new(2);
        let (working, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let _lane = lanes.take();
                        most.fetch_max(working.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        thread::yield_now();
                        working.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(most.into_inner() <= 2);
        assert_eq!(*lanes.taken.lock().unwrap(), 0);
    }
}
