//! What a worker has in hand.

use super::source::Source;
use crate::context::CancelFlag;
use bindery_core::{AwakeInstant, JobId, job::Token};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// A claim: the job, and the token that tells this claim from every other of the same job.
pub(super) type Held = (JobId, Token);

/// A claimed job.
#[derive(Debug)]
struct Aboard {
    token: Token,
    cancel: CancelFlag,
    /// When its steps began, and how long they may take.
    begun: Option<(AwakeInstant, Duration)>,
    /// Its steps have ended, or it has none: what is left is to store what came of it.
    worked: bool,
}

/// The jobs, and how many of them are worked on.
#[derive(Debug, Default)]
struct Manifest {
    jobs: HashMap<JobId, Aboard>,
    worked: usize,
}

impl Manifest {
    fn remove(&mut self, job: JobId) -> Option<Aboard> {
        let removed = self.jobs.remove(&job);
        self.worked -= usize::from(removed.as_ref().is_some_and(|aboard| aboard.worked));
        removed
    }

    fn of_claim(&mut self, (job, token): Held) -> Option<&mut Aboard> {
        self.jobs.get_mut(&job).filter(|aboard| aboard.token == token)
    }

    fn mark_worked(&mut self, held: Held) {
        let newly = self.of_claim(held).is_some_and(|aboard| !std::mem::replace(&mut aboard.worked, true));
        self.worked += usize::from(newly);
    }
}

/// The claimed jobs of a worker, from the claim until the commit.
#[derive(Debug, Default)]
pub(super) struct Flight {
    aboard: Mutex<Manifest>,
    /// Told of every landing.
    source: Option<Arc<dyn Source>>,
}

impl Flight {
    pub(super) fn told(source: Option<Arc<dyn Source>>) -> Self {
        Self { aboard: Mutex::default(), source }
    }

    fn lock(&self) -> MutexGuard<'_, Manifest> {
        self.aboard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn len(&self) -> usize {
        self.lock().jobs.len()
    }

    /// How many wait for their steps, or are in them.
    pub(super) fn at_work(&self) -> usize {
        let aboard = self.lock();
        aboard.jobs.len() - aboard.worked
    }

    pub(super) fn board(&self, jobs: impl Iterator<Item = Held>) {
        let mut aboard = self.lock();
        for (job, token) in jobs {
            aboard.remove(job);
            aboard.jobs.insert(job, Aboard { token, cancel: CancelFlag::default(), begun: None, worked: false });
        }
    }

    /// The steps begin now. None if the job is not ours any more.
    pub(super) fn begin(&self, job: JobId, token: Token, may_take: Duration) -> Option<CancelFlag> {
        let mut aboard = self.lock();
        let entry = aboard.of_claim((job, token))?;
        entry.begun = Some((AwakeInstant::now(), may_take));
        Some(entry.cancel.clone())
    }

    /// The steps have ended: the clock stops, the lease is still held for the commit. False if they were given up for
    /// taking too long, or the job is not ours any more; the token tells an attempt that was given up from the next one.
    pub(super) fn end(&self, job: JobId, token: Token) -> bool {
        let mut aboard = self.lock();
        match aboard.of_claim((job, token)) {
            Some(entry) if !entry.cancel.is_cancelled() => {
                entry.begun = None;
                aboard.mark_worked((job, token));
                true
            }
            _ => false,
        }
    }

    /// The job needs no steps, or they were given up.
    pub(super) fn without_steps(&self, held: Held) {
        self.lock().mark_worked(held);
    }

    /// What the claim was for is settled. A newer claim of the same job, which may be in hand before the old one has
    /// landed, stays.
    pub(super) fn land(&self, (job, token): Held) -> Option<CancelFlag> {
        if let Some(source) = &self.source {
            source.landed(job, token);
        }
        let mut aboard = self.lock();
        let ours = aboard.of_claim((job, token)).is_some();
        if ours { aboard.remove(job).map(|entry| entry.cancel) } else { None }
    }

    pub(super) fn leases(&self) -> Vec<Held> {
        self.lock().jobs.iter().map(|(job, aboard)| (*job, aboard.token)).collect()
    }

    /// Jobs that have taken longer than they may. They are cancelled; each is returned once.
    pub(super) fn overdue(&self) -> Vec<(Held, Duration)> {
        let mut overdue = Vec::new();
        for (job, aboard) in &mut self.lock().jobs {
            if let Some((begun, may_take)) = aboard.begun
                && begun.elapsed() > may_take
            {
                aboard.begun = None;
                aboard.cancel.cancel();
                overdue.push(((*job, aboard.token), may_take));
            }
        }
        overdue
    }

    /// Somebody else has the job now: what is done here counts for nothing.
    pub(super) fn lost(&self, held: Held) {
        if let Some(cancel) = self.land(held) {
            cancel.cancel();
        }
    }

    pub(super) fn cancel_all(&self) {
        self.lock().jobs.values().for_each(|aboard| aboard.cancel.cancel());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_claim_that_lands_late_leaves_the_new_one_in_hand() {
        let flight = Flight::default();
        let (job, old, new) = (JobId::from_raw(7), Token(1), Token(2));
        flight.board([(job, old)].into_iter());
        flight.board([(job, new)].into_iter());
        assert!(flight.land((job, old)).is_none());
        flight.lost((job, old));
        assert_eq!(flight.leases(), [(job, new)]);
        assert!(flight.begin(job, new, Duration::MAX).is_some());
        assert!(!flight.end(job, old), "the old claim ended the new one's steps");
        assert_eq!(flight.at_work(), 1);
        assert!(flight.end(job, new));
        assert_eq!((flight.at_work(), flight.len()), (0, 1), "it is held until it is stored");
        assert!(flight.land((job, new)).is_some());
        assert_eq!(flight.len(), 0);
    }
}
