//! Stopping what runs for long: workers and consumers.

use tokio::sync::watch;

/// Stops a worker: a first call lets running work finish, a second one does not.
#[derive(Debug, Clone)]
pub struct StopHandle(watch::Sender<Stop>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    No,
    Drain,
    Now,
}

impl StopHandle {
    pub fn stop(&self) {
        self.0.send_modify(|stop| *stop = if *stop == Stop::No { Stop::Drain } else { Stop::Now });
    }
}

/// A worker's stop signal and the handle that gives it.
#[derive(Debug, Clone)]
pub struct StopSignal(watch::Receiver<Stop>);

/// A fresh pair.
pub fn stop_pair() -> (StopHandle, StopSignal) {
    let (sender, receiver) = watch::channel(Stop::No);
    (StopHandle(sender), StopSignal(receiver))
}

impl StopSignal {
    pub fn is_stopping(&self) -> bool {
        *self.0.borrow() != Stop::No
    }

    /// Returns when it should end.
    pub async fn stopping(&mut self) {
        // A dropped handle can never ask to stop.
        if self.0.wait_for(|stop| *stop != Stop::No).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Returns when it should not even wait for running work.
    pub async fn now(&mut self) {
        if self.0.wait_for(|stop| *stop == Stop::Now).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
