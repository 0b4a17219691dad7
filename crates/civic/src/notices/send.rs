//! Sending what is due: by mail, and to the programs of those who want it so.
//!
//! A message is the sender's for some time. Whoever dies with it loses it to the next one, so that a message may come
//! twice, with the same id; that it comes is what counts. What fails is tried again, later and later, and given up in the
//! end with its error.

use super::{
    eml::{self, Envelope},
    letter::Letter,
    mail::Mail,
    produce,
    webhook::{self, Failed, Webhooks},
};
use crate::records::{Channel, Civic as _, Notification, Sent};
use bindery_core::Backoff;
use bindery_engine::StopSignal;
use bindery_store::{Store, StoreResult};
use futures_util::future::join_all;
use serde::Serialize;
use serde_json::json;
use std::{sync::Arc, time::Duration};

/// So many are sent at the same time.
const AT_ONCE: usize = 8;

/// Longer than any attempt.
const LEASE: Duration = Duration::from_mins(5);

/// Tried so often, over about four days.
const MOST_ATTEMPTS: u32 = 10;

const FIRST_PAUSE: Duration = Duration::from_mins(1);
const LONGEST_PAUSE: Duration = Duration::from_hours(24);

/// The ways out.
#[derive(Debug, Clone)]
pub struct Channels {
    pub mail: Mail,
    /// Who mails are from.
    pub from: String,
    pub webhooks: Webhooks,
}

/// What became of what was due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Sending {
    pub delivered: usize,
    /// Tried again later.
    pub later: usize,
    pub given_up: usize,
}

/// Sends everything that is due, until it is told to stop.
pub async fn send_due(store: &dyn Store, channels: &Channels, stop: &StopSignal) -> StoreResult<Sending> {
    let channels = Arc::new(channels.clone());
    let mut sending = Sending::default();
    while !stop.is_stopping() {
        let due = store.civic().take_notifications(AT_ONCE, LEASE).await?;
        if due.is_empty() {
            break;
        }
        let outcomes = due.iter().map(|message| deliver(store, &channels, message));
        let outcomes = join_all(outcomes).await;
        for (message, outcome) in due.iter().zip(outcomes) {
            let sent = match outcome? {
                Ok(()) => {
                    sending.delivered += 1;
                    Sent::Delivered
                }
                Err(failed) if failed.is_final || message.attempts >= MOST_ATTEMPTS => {
                    tracing::warn!(message = %message.key, error = %failed.error, "a message is given up");
                    sending.given_up += 1;
                    Sent::GivenUp(failed.error)
                }
                Err(failed) => {
                    tracing::info!(message = %message.key, error = %failed.error, "a message is sent later");
                    sending.later += 1;
                    let pause = failed.after.unwrap_or_default().max(pause(message.attempts)).min(LONGEST_PAUSE);
                    Sent::Later(store.clock().now() + pause, failed.error)
                }
            };
            store.civic().settle_notification(&message.key, sent).await?;
        }
    }
    Ok(sending)
}

/// After so many attempts: a minute, four, a quarter of an hour … a day.
fn pause(attempts: u32) -> Duration {
    Backoff { factor: 4.0, ..Backoff::doubling(FIRST_PAUSE, LONGEST_PAUSE).exact() }.random_delay(attempts)
}

async fn deliver(
    store: &dyn Store,
    channels: &Arc<Channels>,
    message: &Notification,
) -> StoreResult<Result<(), Failed>> {
    let Some(channel) = message.channel.clone() else {
        return match message.kind.as_str() {
            "city_activated" => produce::activated(store, message).await.map(|_| Ok(())),
            _ => Ok(Err(Failed::forever("nobody is named who should get it"))),
        };
    };
    let (channels, message) = (Arc::clone(channels), message.clone());
    let sent = tokio::task::spawn_blocking(move || send(&channels, &channel, &message)).await;
    Ok(sent.unwrap_or_else(|_| Err(Failed::for_now("the attempt broke off"))))
}

/// Blocks the thread.
fn send(channels: &Channels, channel: &Channel, message: &Notification) -> Result<(), Failed> {
    match channel.kind.as_str() {
        "mail" => mail(channels, &channel.address, message),
        "webhook" => {
            let body = json!({
                "id": webhook::id_of(&message.key), "kind": message.kind, "created_at": message.created_at,
                "city": message.city_key, "meeting_id": message.meeting_id, "matter_id": message.matter_id,
                "alert_id": message.alert_id, "data": message.body,
            });
            channels.webhooks.post(&channel.address, &message.key, &body)
        }
        other => Err(Failed::forever(format!("{other:?} is no way to send; known are mail and webhook"))),
    }
}

fn mail(channels: &Channels, to: &str, message: &Notification) -> Result<(), Failed> {
    let letter = Letter::of(message)
        .ok_or_else(|| Failed::forever("it is not of a form that this version of the program knows"))?;
    let at = message.created_at.unwrap_or(bindery_core::Timestamp::from_millis(0));
    let envelope = Envelope { from: &channels.from, to, key: &message.key, at };
    let bytes = eml::write(&letter, &envelope).map_err(Failed::forever)?;
    channels.mail.send(&eml::id_of(&message.key), &bytes).map_err(Failed::for_now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_from_a_minute_to_a_day() {
        assert_eq!(pause(1), Duration::from_mins(1));
        assert_eq!(pause(2), Duration::from_mins(4));
        assert_eq!(pause(5), Duration::from_mins(256));
        assert_eq!(pause(40), Duration::from_hours(24));
    }
}
