//! Results of components outside, and new requests: messages without a job's token under a routing key.
//!
//! What the engine takes, or has no use for any more, is acknowledged. What nobody can ever use goes to the dead letters
//! with the reason, and is acknowledged when it is there. A store that is away is waited for; the message stays the
//! broker's until then.

use crate::{
    acks::Ack,
    publisher::{Outgoing, header},
    requests::{self, Refused},
    shared::Shared,
    topology::DEAD_LETTER_EXCHANGE,
};
use bindery_core::{Backoff, Name};
use bindery_engine::{
    EngineError,
    message::{PipelineMessage, Published, ROUTER_QUEUE},
};
use lapin::{BasicProperties, message::Delivery};
use std::time::Duration;

/// Why a message is among the dead letters, and which queue it came from.
pub const REASON_HEADER: &str = "bindery-reason";
pub const QUEUE_HEADER: &str = "bindery-queue";

/// A reason is for people.
const LONGEST_REASON: usize = 1_000;

/// What can become of a message.
enum Verdict {
    Done,
    Useless(String),
    /// The store is away.
    Later(String),
}

/// Takes a result in. Returns when the message is acknowledged, or never, if the broker is gone.
pub(crate) async fn take(shared: &Shared, queue: &Name, delivery: Delivery, ack: Ack) {
    let mut retries = Backoff::doubling(Duration::from_millis(100), Duration::from_secs(5)).retries();
    loop {
        match judge(shared, queue, &delivery).await {
            Verdict::Done => break,
            Verdict::Useless(reason) => {
                tracing::warn!(queue = %queue, reason = %reason, "a message goes to the dead letters");
                dead_letter(shared, queue, delivery, &reason).await;
                break;
            }
            Verdict::Later(why) => {
                // In place, as the broker counts what is handed back and gives up on it one day.
                tracing::warn!(queue = %queue, why = %why, "a result could not be stored; trying again");
                tokio::time::sleep(retries.next_delay()).await;
            }
        }
    }
    ack.done();
}

async fn judge(shared: &Shared, queue: &Name, delivery: &Delivery) -> Verdict {
    // The fields in a list, without their names, would be read as a message, too.
    if delivery.data.trim_ascii_start().first().is_some_and(|first| *first == b'[') {
        return Verdict::Useless("not a message of the pipeline: a list".to_owned());
    }
    let message: PipelineMessage = match serde_json::from_slice(&delivery.data) {
        Ok(message) => message,
        Err(error) => return Verdict::Useless(format!("not a message of the pipeline: {error}")),
    };
    if *queue == *ROUTER_QUEUE {
        return start(shared, message).await;
    }
    match shared.engine.publish(delivery.routing_key.as_str(), message).await {
        Ok(Published::Taken) => Verdict::Done,
        Ok(Published::Ignored) => {
            tracing::debug!(key = %delivery.routing_key, "nobody waits for this result (any more)");
            Verdict::Done
        }
        Err(EngineError::Store(error)) if error.is_transient() => Verdict::Later(error.to_string()),
        Err(EngineError::Blob(error)) => Verdict::Later(error.to_string()),
        Err(error) => Verdict::Useless(error.to_string()),
    }
}

async fn start(shared: &Shared, message: PipelineMessage) -> Verdict {
    let Some(requests) = &shared.options.requests else {
        return Verdict::Useless("nobody starts requests here".to_owned());
    };
    let request = match requests::read(message, shared.options.files.as_deref()) {
        Ok(request) => request,
        Err(reason) => return Verdict::Useless(reason),
    };
    match requests.start(request).await {
        Ok(()) => Verdict::Done,
        Err(Refused::Later(why)) => Verdict::Later(why),
        Err(Refused::Useless(reason)) => Verdict::Useless(reason),
    }
}

/// Publishes a message to the dead letters, as often as it takes.
async fn dead_letter(shared: &Shared, queue: &Name, delivery: Delivery, reason: &str) {
    let Delivery { routing_key, properties, data, .. } = delivery;
    let mut headers = properties.headers().clone().unwrap_or_default();
    header(&mut headers, REASON_HEADER, reason.chars().take(LONGEST_REASON).collect::<String>());
    header(&mut headers, QUEUE_HEADER, queue.as_str());
    let properties = properties_to_keep(&properties).with_headers(headers);
    loop {
        let message = Outgoing {
            exchange: shared.names.short(DEAD_LETTER_EXCHANGE),
            key: routing_key.clone(),
            properties: properties.clone(),
            body: data.clone(),
        };
        match shared.publisher().await.publish_one(message).await {
            Ok(()) => return,
            Err(why) => {
                tracing::warn!(why = %why, "a dead letter could not be published; trying again");
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        }
    }
}

/// The properties that a dead letter keeps. Its time to live is not among them, and neither is a user name, which the
/// broker would compare with ours.
fn properties_to_keep(properties: &BasicProperties) -> BasicProperties {
    let mut kept = BasicProperties::default().with_delivery_mode(2);
    if let Some(kind) = properties.content_type() {
        kept = kept.with_content_type(kind.clone());
    }
    if let Some(id) = properties.message_id() {
        kept = kept.with_message_id(id.clone());
    }
    if let Some(id) = properties.correlation_id() {
        kept = kept.with_correlation_id(id.clone());
    }
    kept
}
