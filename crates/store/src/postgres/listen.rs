//! One connection that hears of other processes' changes, and tells of ours that were not told when they were made.
//!
//! Our own changes are known already, so only what carries another process's tag counts. While the connection is down,
//! waiting callers look more often, each at its own moment.

use super::{news::TELL_EVERY, session::Db};
use bindery_core::Backoff;
use futures_util::{StreamExt, stream};
use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::task::JoinHandle;
use tokio_postgres::AsyncMessage;

/// How often a caller that waits looks by itself: behind a connection that listens, and without one.
const BEHIND: Duration = Duration::from_secs(5);
const ALONE: Duration = Duration::from_millis(300);

/// The task that listens. Ends with the store.
#[derive(Debug)]
pub(super) struct Listener {
    task: JoinHandle<()>,
    state: Arc<State>,
}

/// What is known of the connection. It breaks when all others do.
#[derive(Debug, Default)]
struct State {
    listening: AtomicBool,
    /// How often it has listened since the start.
    connections: AtomicU64,
}

impl Listener {
    pub(super) fn start(db: &Arc<Db>) -> Self {
        let state = Arc::new(State::default());
        let task = tokio::spawn(listen(Arc::downgrade(db), Arc::clone(&state)));
        Self { task, state }
    }

    /// How often it has come back.
    pub(super) fn reconnects(&self) -> u64 {
        self.state.connections.load(Ordering::Relaxed).saturating_sub(1)
    }

    /// How long to wait before looking again, a little different each time, so that processes do not look together.
    pub(super) fn pause(&self) -> Duration {
        let pause = if self.state.listening.load(Ordering::Relaxed) { BEHIND } else { ALONE };
        pause.mul_f64(0.75 + fastrand::f64() / 2.0)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listen(db: Weak<Db>, state: Arc<State>) {
    let mut retries = Backoff::doubling(Duration::from_millis(150), Duration::from_secs(15)).retries();
    while let Some(strong) = db.upgrade() {
        let connected = strong.setup.config.connect(strong.setup.tls.clone()).await;
        let command = format!("LISTEN {}", strong.setup.channel);
        let (tag, tell, news) = (strong.tag.clone(), strong.notify(), Arc::clone(&strong.news));
        drop(strong);
        match connected {
            Ok((client, mut connection)) => {
                let mut messages = stream::poll_fn(move |context| connection.poll_message(context));
                let hear = async {
                    while let Some(Ok(message)) = messages.next().await {
                        let AsyncMessage::Notification(notification) = message else { continue };
                        let Some(db) = db.upgrade() else { return };
                        if notification.payload() != tag {
                            db.announce();
                        }
                    }
                };
                let ask = async {
                    if client.batch_execute(&command).await.is_err() {
                        return;
                    }
                    state.listening.store(true, Ordering::Relaxed);
                    state.connections.fetch_add(1, Ordering::Relaxed);
                    retries.reset();
                    // What was told while nobody listened may be news.
                    if let Some(db) = db.upgrade() {
                        db.announce();
                    }
                    loop {
                        news.wait_for_news().await;
                        if client.batch_execute(&tell).await.is_err() {
                            // The next connection tells it.
                            return news.tell_soon();
                        }
                        tokio::time::sleep(TELL_EVERY).await;
                    }
                };
                // The client is kept until the connection ends: dropping it would end it.
                tokio::select! {
                    () = hear => {}
                    () = ask => {}
                }
            }
            Err(error) => tracing::debug!(error = %error, "cannot listen for changes; trying again"),
        }
        state.listening.store(false, Ordering::Relaxed);
        tokio::time::sleep(retries.next_delay()).await;
    }
}
