//! The jobs in flight: claimed by a worker, and not committed yet.

use super::source::Source;
use crate::context::CancelFlag;
use bindery_core::{AwakeInstant, JobId, job::Token};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// A claim: the job, and the token that tells this claim from every other of the same job.
pub(super) type Claim = (JobId, Token);

/// A claimed job.
#[derive(Debug)]
struct Entry {
    token: Token,
    cancel: CancelFlag,
    /// When its steps began, and how long they may take.
    begun: Option<(AwakeInstant, Duration)>,
    /// Its steps have ended, or it has none: what is left is to store what came of it.
    worked: bool,
}

/// The jobs, and how many of them are worked on.
#[derive(Debug, Default)]
struct Jobs {
    jobs: HashMap<JobId, Entry>,
    worked: usize,
}

impl Jobs {
    fn remove(&mut self, job: JobId) -> Option<Entry> {
        let removed = self.jobs.remove(&job);
        self.worked -= usize::from(removed.as_ref().is_some_and(|entry| entry.worked));
        removed
    }

    fn find(&mut self, (job, token): Claim) -> Option<&mut Entry> {
        self.jobs.get_mut(&job).filter(|entry| entry.token == token)
    }

    fn mark_worked(&mut self, claim: Claim) {
        let newly = self.find(claim).is_some_and(|entry| !std::mem::replace(&mut entry.worked, true));
        self.worked += usize::from(newly);
    }
}

/// The claimed jobs of a worker, from the claim until the commit.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    jobs: Mutex<Jobs>,
    /// Notified of each job that is no longer in flight.
    source: Option<Arc<dyn Source>>,
}

impl InFlight {
    pub(super) fn new(source: Option<Arc<dyn Source>>) -> Self {
        Self { jobs: Mutex::default(), source }
    }

    fn lock(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn len(&self) -> usize {
        self.lock().jobs.len()
    }

    /// How many wait for their steps, or are in them.
    pub(super) fn at_work(&self) -> usize {
        let all = self.lock();
        all.jobs.len() - all.worked
    }

    pub(super) fn insert(&self, jobs: impl Iterator<Item = Claim>) {
        let mut all = self.lock();
        for (job, token) in jobs {
            all.remove(job);
            all.jobs.insert(job, Entry { token, cancel: CancelFlag::default(), begun: None, worked: false });
        }
    }

    /// The steps begin now. None if the job is not ours any more.
    pub(super) fn begin(&self, job: JobId, token: Token, may_take: Duration) -> Option<CancelFlag> {
        let mut all = self.lock();
        let entry = all.find((job, token))?;
        entry.begun = Some((AwakeInstant::now(), may_take));
        Some(entry.cancel.clone())
    }

    /// The steps have ended: the clock stops, the lease is still held for the commit. False if they were given up for
    /// taking too long, or the job is not ours any more; the token tells an attempt that was given up from the next one.
    pub(super) fn end(&self, job: JobId, token: Token) -> bool {
        let mut all = self.lock();
        match all.find((job, token)) {
            Some(entry) if !entry.cancel.is_cancelled() => {
                entry.begun = None;
                all.mark_worked((job, token));
                true
            }
            _ => false,
        }
    }

    /// The job needs no steps, or they were given up.
    pub(super) fn skip_steps(&self, claim: Claim) {
        self.lock().mark_worked(claim);
    }

    /// What the claim was for is settled. A newer claim of the same job, which may be in hand before the old one is
    /// settled, stays.
    pub(super) fn remove(&self, (job, token): Claim) -> Option<CancelFlag> {
        if let Some(source) = &self.source {
            source.job_left(job, token);
        }
        let mut all = self.lock();
        let ours = all.find((job, token)).is_some();
        if ours { all.remove(job).map(|entry| entry.cancel) } else { None }
    }

    pub(super) fn leases(&self) -> Vec<Claim> {
        self.lock().jobs.iter().map(|(job, entry)| (*job, entry.token)).collect()
    }

    /// Jobs that have taken longer than they may. They are cancelled; each is returned once.
    pub(super) fn take_overdue(&self) -> Vec<(Claim, Duration)> {
        let mut overdue = Vec::new();
        for (job, entry) in &mut self.lock().jobs {
            if let Some((begun, may_take)) = entry.begun
                && begun.elapsed() > may_take
            {
                entry.begun = None;
                entry.cancel.cancel();
                overdue.push(((*job, entry.token), may_take));
            }
        }
        overdue
    }

    /// Somebody else has the job now: what is done here counts for nothing.
    pub(super) fn drop_lost(&self, claim: Claim) {
        if let Some(cancel) = self.remove(claim) {
            cancel.cancel();
        }
    }

    pub(super) fn cancel_all(&self) {
        self.lock().jobs.values().for_each(|entry| entry.cancel.cancel());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_claim_that_is_settled_late_leaves_the_new_one_in_hand() {
        let in_flight = InFlight::default();
        let (job, old, new) = (JobId::from_raw(7), Token(1), Token(2));
        in_flight.insert([(job, old)].into_iter());
        in_flight.insert([(job, new)].into_iter());
        assert!(in_flight.remove((job, old)).is_none());
        in_flight.drop_lost((job, old));
        assert_eq!(in_flight.leases(), [(job, new)]);
        assert!(in_flight.begin(job, new, Duration::MAX).is_some());
        assert!(!in_flight.end(job, old), "the old claim ended the new one's steps");
        assert_eq!(in_flight.at_work(), 1);
        assert!(in_flight.end(job, new));
        assert_eq!((in_flight.at_work(), in_flight.len()), (0, 1), "it is held until it is stored");
        assert!(in_flight.remove((job, new)).is_some());
        assert_eq!(in_flight.len(), 0);
    }
}
