//! The heartbeat: how a process shows, at an interval, that it is alive, and extends the leases that it holds. Workers,
//! stand-alone runs and executors of state machines all have this one.

use bindery_core::Timestamp;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Whoever has not left, and was not seen for this long, is gone.
pub const SILENT_AFTER: Duration = Duration::from_secs(30);

/// How often leases of this length are extended. However long they are, people see within half a minute that a process
/// is gone.
pub(crate) fn interval_for(lease: Duration) -> Duration {
    (lease / 3).min(SILENT_AFTER / 3)
}

/// Whether whoever was seen then may still be there. One that was seen in the future had a wrong clock, and may be gone
/// for long.
pub(crate) fn is_alive(seen_at: Timestamp, now: Timestamp) -> bool {
    now.since(seen_at) < SILENT_AFTER && seen_at.since(now) < SILENT_AFTER
}

/// A task that beats at an interval until it is dropped.
#[derive(Debug)]
pub(crate) struct Heartbeat(JoinHandle<()>);

impl Heartbeat {
    /// The first beat comes after one interval: whoever starts has just claimed, or said that it begins.
    pub(crate) fn start<F>(interval: Duration, mut beat: impl FnMut() -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send,
    {
        Self(tokio::spawn(async move {
            loop {
                tokio::time::sleep(interval).await;
                beat().await;
            }
        }))
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;

    #[tokio::test]
    async fn it_beats_at_its_interval_until_it_is_dropped() {
        let (beats, mut seen) = mpsc::unbounded_channel();
        let heartbeat = Heartbeat::start(Duration::from_millis(5), move || {
            let sent = beats.send(());
            async move { sent.unwrap() }
        });
        for _ in 0..3 {
            seen.recv().await.unwrap();
        }
        drop(heartbeat);
        // The sender goes with the task, so that this ends.
        while seen.recv().await.is_some() {}
    }

    #[test]
    fn whoever_is_silent_for_too_long_or_seen_in_the_future_is_gone() {
        let now = Timestamp::from_millis(1_000_000);
        assert!(is_alive(now, now) && is_alive(now - Duration::from_secs(29), now));
        assert!(!is_alive(now - SILENT_AFTER, now) && !is_alive(now + SILENT_AFTER, now));
        assert_eq!(interval_for(Duration::from_secs(6)), Duration::from_secs(2));
        assert_eq!(interval_for(Duration::from_secs(3_600)), Duration::from_secs(10));
    }
}
