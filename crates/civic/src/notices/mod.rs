//! What people are told: changes that cannot wait, and digests.
//!
//! ```text
//!  log of events ──► what happened to a meeting ──► who wants to hear of it (alerts, watches)
//!                                                        │
//!                cannot wait: due at once ◄──────────────┤
//!                waits for the next digest ◄─────────────┘
//!                        │ once a day, once a week
//!                        ▼
//!  a job for each ──lease──► mail (a file, sendmail), webhook (signed) ──► sent, tried again, or a dead letter
//! ```
//!
//! Every message has a key that says what it is about, so each is made once, whoever makes it and however often. Sending
//! is at least once, with the same id.
//!
//! | module | what it owns |
//! |---|---|
//! | `words` | words that are looked for, whatever their case and their ending |
//! | `follower`, `matching` | who follows what, and what of a meeting that is |
//! | `produce`, `period`, `gather` | messages and digests, each once |
//! | [`digest`], `compose`, `shown`, `facts` | what a digest tells |
//! | [`html`], [`text`], `markdown`, [`letter`], [`eml`] | how it is written |
//! | `deliver`, `mail`, `webhook` | how it leaves: the processor of its job |

mod compose;
mod deliver;
pub mod digest;
pub mod eml;
mod facts;
mod follower;
mod gather;
pub mod html;
pub mod letter;
mod mail;
mod markdown;
mod matching;
mod period;
mod produce;
mod shown;
pub mod text;
mod webhook;
mod words;

pub use compose::{DigestRequest, digest};
pub use deliver::{Channels, Sending};
pub use digest::Digest;
pub use mail::Mail;
pub use produce::{CONSUMER, Produced, produce};
pub use webhook::Webhooks;

use crate::quiet::work_until_quiet;
use crate::records::{NOTICES_QUEUE, Notification};
use bindery_core::Name;
use bindery_engine::{Engine, Parts, Registry, StopSignal, Worker, WorkerOptions};
use bindery_store::{Store, StoreError, StoreResult, blobs::Blobs, query::JobFilter};
use deliver::Notify;
use std::{sync::Arc, time::Duration};

/// So many are delivered at the same time.
const AT_ONCE: usize = 8;

/// How long it is waited after trouble with the store.
const AFTER_TROUBLE: Duration = Duration::from_secs(10);

/// Kept by the program for itself: nobody is told.
pub fn is_internal(message: &Notification) -> bool {
    message.kind == produce::BEGUN
}

/// Finds out what is to be told, and delivers it.
#[derive(Debug, Clone)]
pub struct Sender {
    engine: Engine,
    notify: Notify,
    name: Name,
}

impl Sender {
    /// Known by this name among the workers of the store.
    pub fn new(store: Arc<dyn Store>, blobs: Arc<dyn Blobs>, channels: Channels, name: Name) -> Self {
        let notify = Notify::new(channels);
        let mut registry = Registry::default();
        registry.register(notify.clone());
        Self { engine: Engine::new(Parts::new(store, blobs, registry)), notify, name }
    }

    fn options(&self) -> WorkerOptions {
        WorkerOptions {
            name: self.name.clone(),
            queues: Some(vec![Name::from(NOTICES_QUEUE)]),
            threads: AT_ONCE,
            follow_reports: false,
            ..WorkerOptions::default()
        }
    }

    /// Looks for what is to be told whenever something has happened and at least every so often, and delivers what is
    /// due, until it is told to stop.
    pub async fn run(&self, every: Duration, stop: StopSignal) {
        let worker = Worker::new(self.engine.clone(), self.options());
        let (worked, ()) = tokio::join!(worker.run(stop.clone()), self.produce(every, stop));
        if let Err(error) = worked {
            tracing::error!(%error, "messages are not delivered any more");
        }
    }

    async fn produce(&self, every: Duration, mut stop: StopSignal) {
        let store = self.engine.store();
        while !stop.is_stopping() {
            let mark = store.change_mark();
            let wait = match produce(&**store).await {
                Ok(_) => every,
                Err(error) => {
                    tracing::warn!(%error, "what is to be told could not be found out; trying again");
                    AFTER_TROUBLE
                }
            };
            tokio::select! {
                () = stop.stopping() => return,
                () = async {
                    store.changed(mark, wait).await;
                    // While a city is visited there is always something new; a look now and then is enough.
                    tokio::time::sleep(Duration::from_secs(1)).await;
                } => {}
            }
        }
    }

    /// One pass: what is to be told, and what became of what is due.
    pub async fn run_once(&self, stop: &StopSignal) -> StoreResult<(Produced, Sending)> {
        let produced = produce(&**self.engine.store()).await?;
        Ok((produced, self.send_due(stop).await?))
    }

    /// Delivers everything that is due, until it is told to stop.
    pub async fn send_due(&self, stop: &StopSignal) -> StoreResult<Sending> {
        let meant = JobFilter { queue: Some(Name::from(NOTICES_QUEUE)), ..JobFilter::default() };
        let trouble = work_until_quiet(&self.engine, self.options(), meant, Duration::ZERO, stop).await?;
        match trouble {
            Some(why) => Err(StoreError::Invalid(format!("messages could not be delivered: {why}"))),
            None => Ok(self.notify.take_sending()),
        }
    }
}
