//! The jobs that the relay has claimed and published, and that nobody has adopted yet. Their leases are kept for them.

use bindery_core::{JobId, job::Token};
use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::Notify;

pub(crate) type Lease = (JobId, Token);

#[derive(Debug, Default)]
pub(crate) struct Outstanding {
    jobs: Mutex<HashMap<JobId, (Token, Instant)>>,
    /// Told when there is room again.
    freed: Notify,
    published: AtomicU64,
}

impl Outstanding {
    fn lock(&self) -> MutexGuard<'_, HashMap<JobId, (Token, Instant)>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    pub(crate) fn add(&self, leases: impl Iterator<Item = Lease>) {
        let now = Instant::now();
        let mut jobs = self.lock();
        let before = jobs.len();
        jobs.extend(leases.map(|(job, token)| (job, (token, now))));
        self.published.fetch_add((jobs.len() - before) as u64, Ordering::Relaxed);
    }

    /// These are not ours any more: adopted, given back or lost. A newer claim of the same job stays.
    pub(crate) fn remove(&self, leases: &[Lease]) {
        let mut jobs = self.lock();
        for (job, token) in leases {
            if jobs.get(job).is_some_and(|(held, _)| held == token) {
                jobs.remove(job);
            }
        }
        drop(jobs);
        self.freed.notify_one();
    }

    pub(crate) fn leases(&self) -> Vec<Lease> {
        self.lock().iter().map(|(job, (token, _))| (*job, *token)).collect()
    }

    /// Those that have waited longer than a message lives.
    pub(crate) fn older_than(&self, age: Duration) -> Vec<Lease> {
        let jobs = self.lock();
        jobs.iter().filter(|(_, (_, since))| since.elapsed() > age).map(|(job, (token, _))| (*job, *token)).collect()
    }

    pub(crate) fn published(&self) -> u64 {
        self.published.load(Ordering::Relaxed)
    }

    pub(crate) async fn freed(&self) {
        self.freed.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_lease_does_not_take_a_new_one_with_it() {
        let (job, old, new) = (JobId::from_raw(1), Token(1), Token(2));
        let outstanding = Outstanding::default();
        outstanding.add([(job, old)].into_iter());
        outstanding.add([(job, new)].into_iter());
        outstanding.remove(&[(job, old)]);
        assert_eq!(outstanding.leases(), [(job, new)]);
        assert_eq!(outstanding.older_than(Duration::from_secs(60)), []);
        assert_eq!(outstanding.older_than(Duration::ZERO), [(job, new)]);
        outstanding.remove(&[(job, new)]);
        assert_eq!((outstanding.len(), outstanding.published()), (0, 1));
    }
}
