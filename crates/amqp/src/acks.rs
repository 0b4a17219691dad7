//! Acknowledging the messages of one channel: together where they end in order, one by one where they do not, and never
//! one that is still being worked on.

use futures_util::future::try_join_all;
use lapin::{Channel, options::BasicAckOptions};
use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};
use tokio::sync::Notify;

#[derive(Debug, Default)]
struct State {
    /// Delivered and not yet acknowledged.
    open: BTreeSet<u64>,
    /// Those of them that may be.
    done: BTreeSet<u64>,
}

impl State {
    /// What to acknowledge now: everything up to a tag, and single ones behind it.
    fn take(&mut self) -> (Option<u64>, Vec<u64>) {
        let mut upto = None;
        while let Some(first) = self.open.first().copied().filter(|first| self.done.contains(first)) {
            self.open.remove(&first);
            self.done.remove(&first);
            upto = Some(first);
        }
        let single: Vec<u64> = std::mem::take(&mut self.done).into_iter().collect();
        for tag in &single {
            self.open.remove(tag);
        }
        (upto, single)
    }
}

/// The acknowledgements of one channel with one consumer, whose tags therefore come in order.
#[derive(Debug, Default)]
pub(crate) struct Acks {
    state: Mutex<State>,
    bell: Notify,
}

impl Acks {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message was delivered.
    pub(crate) fn delivered(self: &Arc<Self>, tag: u64) -> Ack {
        self.lock().open.insert(tag);
        Ack { tag, acks: Arc::clone(self), left: None }
    }

    /// Sends acknowledgements as they come due, until the channel is gone.
    pub(crate) async fn send(&self, channel: &Channel) -> lapin::Result<()> {
        loop {
            self.bell.notified().await;
            self.flush(channel).await?;
        }
    }

    pub(crate) async fn flush(&self, channel: &Channel) -> lapin::Result<()> {
        let (upto, single) = self.lock().take();
        let single = single.into_iter().map(|tag| (tag, false));
        let all = upto.map(|tag| (tag, true)).into_iter().chain(single);
        try_join_all(all.map(|(tag, multiple)| channel.basic_ack(tag, BasicAckOptions { multiple }))).await?;
        Ok(())
    }
}

/// A delivered message. Dropping it leaves the message with the broker, which delivers it again one day.
#[derive(Debug)]
pub(crate) struct Ack {
    tag: u64,
    acks: Arc<Acks>,
    /// Where the message carries several jobs: how many of them have not ended.
    left: Option<Arc<AtomicUsize>>,
}

impl Ack {
    /// One for each of the jobs that the message carries: it is acknowledged when all are done.
    pub(crate) fn split(self, jobs: usize) -> Vec<Self> {
        if jobs == 1 {
            return vec![self];
        }
        let left = Arc::new(AtomicUsize::new(jobs));
        let one = || Self { tag: self.tag, acks: Arc::clone(&self.acks), left: Some(Arc::clone(&left)) };
        (0..jobs).map(|_| one()).collect()
    }

    /// The message, or this job of it, is done with.
    pub(crate) fn done(self) {
        if self.left.is_some_and(|left| left.fetch_sub(1, Ordering::Relaxed) > 1) {
            return;
        }
        self.acks.lock().done.insert(self.tag);
        self.acks.bell.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_in_order_is_acknowledged_together() {
        let acks = Arc::new(Acks::default());
        let mut open: Vec<Option<Ack>> = (1..=6).map(|tag| Some(acks.delivered(tag))).collect();
        let mut end = |tags: &[usize]| {
            for tag in tags {
                open[tag - 1].take().unwrap().done();
            }
            acks.lock().take()
        };
        assert_eq!(end(&[3]), (None, vec![3]));
        assert_eq!(end(&[2, 1]), (Some(2), vec![]));
        assert_eq!(end(&[6, 4]), (Some(4), vec![6]));
        assert_eq!(end(&[]), (None, vec![]));
        assert_eq!(end(&[5]), (Some(5), vec![]));
        assert!(acks.lock().open.is_empty());
    }

    #[test]
    fn a_message_with_several_jobs_is_acknowledged_with_the_last_of_them() {
        let acks = Arc::new(Acks::default());
        let mut jobs = acks.delivered(1).split(3);
        jobs.pop().unwrap().done();
        drop(jobs.pop());
        jobs.pop().unwrap().done();
        assert_eq!(acks.lock().take(), (None, vec![]), "one was dropped: the broker delivers the message again");
        for job in acks.delivered(2).split(2) {
            assert!(acks.lock().done.is_empty());
            job.done();
        }
        assert_eq!(acks.lock().take(), (None, vec![2]));
    }
}
