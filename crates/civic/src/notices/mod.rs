//! What people are told: changes that cannot wait, and digests.
//!
//! ```text
//!  log of events ──► what happened to a meeting ──► who wants to hear of it (alerts, watches)
//!                                                        │
//!                cannot wait: due at once ◄──────────────┤
//!                waits for the next digest ◄─────────────┘
//!                        │ once a day, once a week
//!                        ▼
//!  outbox ──lease──► mail (a file, sendmail), webhook (signed) ──► sent, later, or given up
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
//! | `send`, `mail`, `webhook` | how it leaves |

mod compose;
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
mod send;
mod shown;
pub mod text;
mod webhook;
mod words;

pub use compose::{DigestRequest, digest};
pub use digest::Digest;
pub use mail::Mail;
pub use produce::{CONSUMER, Produced, produce};
pub use send::{Channels, Sending, send_due};
pub use webhook::Webhooks;

use crate::records::Notification;
use bindery_engine::StopSignal;
use bindery_store::Store;
use std::{sync::Arc, time::Duration};

/// How long it is waited after trouble with the store.
const AFTER_TROUBLE: Duration = Duration::from_secs(10);

/// Kept by the program for itself: nobody is told.
pub fn is_internal(message: &Notification) -> bool {
    message.kind == produce::BEGUN
}

/// Finds out what is to be told and sends it, whenever something has happened and at least every so often, until it is
/// told to stop.
pub async fn run(store: Arc<dyn Store>, channels: Channels, every: Duration, mut stop: StopSignal) {
    while !stop.is_stopping() {
        let mark = store.change_mark();
        let wait = match once(&*store, &channels, &stop).await {
            Ok(_) => every,
            Err(error) => {
                tracing::warn!(error = %error, "messages could not be found out or sent; trying again");
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
pub async fn once(
    store: &dyn Store,
    channels: &Channels,
    stop: &StopSignal,
) -> bindery_store::StoreResult<(Produced, Sending)> {
    let produced = produce(store).await?;
    Ok((produced, send_due(store, channels, stop).await?))
}
