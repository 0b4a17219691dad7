//! At most so many at once: waiting ends when a place is free, the time is over or the work is cancelled.

use super::failure::Failed;
use bindery_engine::context::StepContext;
use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// A cancellation wakes nobody, so those who wait look up this often.
const LOOK: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(super) struct Gate {
    free: Mutex<usize>,
    freed: Condvar,
}

/// A place that is taken until this is dropped.
#[derive(Debug)]
pub(super) struct Taken<'g>(&'g Gate);

impl Gate {
    pub(super) fn new(places: usize) -> Self {
        Self { free: Mutex::new(places.max(1)), freed: Condvar::new() }
    }

    fn free(&self) -> MutexGuard<'_, usize> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn enter(&self, context: &StepContext) -> Result<Taken<'_>, Failed> {
        let mut free = self.free();
        loop {
            if context.is_cancelled() {
                return Err(Failed::stopped(context, "it waited for its turn"));
            }
            if *free > 0 {
                *free -= 1;
                return Ok(Taken(self));
            }
            free = self.freed.wait_timeout(free, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        *self.0.free() += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outside::failure::Verdict;
    use bindery_core::AwakeInstant;
    use bindery_engine::context::CancelFlag;
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    fn context(cancel: &CancelFlag) -> StepContext {
        StepContext::standalone(Arc::default(), 1, cancel.clone())
    }

    #[test]
    fn no_more_than_the_places_are_inside_and_everyone_gets_in() {
        let gate = Gate::new(3);
        let (inside, most, entered) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let _taken = gate.enter(&context(&CancelFlag::default())).unwrap();
                        most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        entered.fetch_add(1, Ordering::SeqCst);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(entered.into_inner(), 800);
        assert!(most.into_inner() <= 3);
        assert_eq!(*gate.free(), 3);
    }

    #[test]
    fn who_waits_is_told_that_the_time_is_over_or_the_work_cancelled() {
        let gate = Gate::new(1);
        let cancel = CancelFlag::default();
        let _taken = gate.enter(&context(&cancel)).unwrap();
        let soon = context(&cancel).with_deadline(Some(AwakeInstant::now() + Duration::from_millis(5)));
        let failed = gate.enter(&soon).unwrap_err();
        assert_eq!((failed.error.kind.as_str(), failed.verdict), ("Timeout", Verdict::None));
        cancel.cancel();
        let failed = gate.enter(&context(&cancel)).unwrap_err();
        assert_eq!((failed.error.kind.as_str(), failed.verdict), ("Cancelled", Verdict::None));
    }
}
