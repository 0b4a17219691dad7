//! Ctrl-C and SIGTERM, which mean the same: a first one asks to finish, a second one to stop at once.

use crate::notice::{Notice, Observer};
use bindery_engine::{StopHandle, StopSignal, stop_pair};
use std::{future::Future, io, pin::pin};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals of this process. Made before anything is waited for, so that none finds the process unprepared.
#[derive(Debug)]
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub fn new() -> io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// Waits for work that the handle can stop. Each signal is passed on to it with the next notice; when there is none
    /// left, the work is not waited for any more: then none.
    pub async fn attend<T>(
        &mut self,
        handle: &StopHandle,
        notices: &[Notice],
        observer: &dyn Observer,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let mut work = pin!(work);
        for notice in notices {
            tokio::select! {
                done = &mut work => return Some(done),
                () = self.next() => {
                    observer.notice(notice);
                    handle.stop();
                }
            }
        }
        tokio::select! {
            done = work => Some(done),
            () = self.next() => None,
        }
    }
}

/// A stop signal that the first signal of the process gives. For work that nobody attends.
pub fn stop_on_signal() -> io::Result<StopSignal> {
    let mut signals = Signals::new()?;
    let (handle, stop) = stop_pair();
    tokio::spawn(async move {
        signals.next().await;
        handle.stop();
    });
    Ok(stop)
}
