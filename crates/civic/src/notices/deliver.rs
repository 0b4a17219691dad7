//! Delivering messages: each is a job of the engine, whose processor sends it by mail or to a program.
//!
//! A message is its sender's while the job is held. Whoever dies with it loses it to the next one, so that a message may
//! come twice, with the same id; that it comes is what counts. What fails is tried again, later and later, and given up in
//! the end with its error: a dead letter.

use super::{
    eml::{self, Envelope},
    letter::Letter,
    mail::Mail,
    webhook::{self, Failed, Webhooks},
};
use crate::processing::store_trouble;
use crate::records::{Channel, Civic as _, Delivery, NOTIFY, NoticePayload, Notification};
use bindery_core::StepError;
use bindery_engine::{Extracted, Kind, Processor, context::StepContext, workflow::Target};
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

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

/// The processor of the queue of messages. Clones share what they count.
#[derive(Debug, Clone)]
pub(super) struct Notify {
    channels: Arc<Channels>,
    sending: Arc<Mutex<Sending>>,
}

impl Notify {
    pub(super) fn new(channels: Channels) -> Self {
        Self { channels: Arc::new(channels), sending: Arc::default() }
    }

    /// What became of messages since it was last asked.
    pub(super) fn take_sending(&self) -> Sending {
        std::mem::take(&mut *self.sending.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Stores what came of an attempt, while the job is held.
    fn settle(&self, context: &StepContext, message: &Notification, delivery: Delivery) -> Result<(), StepError> {
        let count: fn(&mut Sending) = match delivery {
            Delivery::Delivered => |sending| sending.delivered += 1,
            Delivery::Later(..) => |sending| sending.later += 1,
            Delivery::GivenUp(_) => |sending| sending.given_up += 1,
        };
        let civic = context.store()?.civic();
        let settled = civic.settle_notification(&message.key, context.claim(), context.attempt(), delivery);
        if !context.block_on(settled)?.map_err(store_trouble)? {
            return Err(StepError::retry("another worker has the message now; nothing was stored").named("LeaseLost"));
        }
        count(&mut self.sending.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }

    /// What fails is tried again when the stage says so, or later where the receiver wants that.
    fn failed(
        &self,
        context: &StepContext,
        message: &Notification,
        channel: &Channel,
        failed: Failed,
    ) -> Result<Value, StepError> {
        let stage = context.stage()?;
        // Jobs and events stay when a person and their messages are deleted.
        let told = failed.error.replace(&channel.address, "the address");
        if failed.is_final || context.attempt() >= stage.max_attempts {
            tracing::warn!(message = %message.key, error = %failed.error, "a message is given up");
            self.settle(context, message, Delivery::GivenUp(failed.error))?;
            return Err(if failed.is_final { StepError::reject(told) } else { StepError::retry(told) });
        }
        tracing::info!(message = %message.key, error = %failed.error, "a message is sent later");
        let usual = stage.backoff.random_delay(context.attempt());
        let pause = failed.after.unwrap_or_default().max(usual).min(stage.backoff.max);
        let at = context.store()?.clock().now() + pause;
        self.settle(context, message, Delivery::Later(at, failed.error))?;
        Err(StepError::retry_after(pause, told))
    }
}

impl Processor for Notify {
    fn name(&self) -> &str {
        NOTIFY
    }

    fn kind(&self) -> Kind {
        Kind::Io
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError> {
        let NoticePayload { key } = serde_json::from_value(input)
            .map_err(|error| StepError::reject(format!("payload of a message: {error}")).named("InvalidPayload"))?;
        let civic = context.store()?.civic();
        let found = context.block_on(civic.known_notifications(&[key]))?.map_err(store_trouble)?.pop();
        // It was deleted with the person whom it is for, or whoever sent it died before the job was ended.
        let Some(message) = found.filter(|message| message.sent_at.is_none()) else { return Ok(Value::Null) };
        let Some(channel) = message.channel.clone() else {
            return Err(StepError::reject("nobody is named who should get it"));
        };
        match send(&self.channels, &channel, &message) {
            Ok(()) => self.settle(context, &message, Delivery::Delivered).map(|()| Value::Null),
            Err(failed) => self.failed(context, &message, &channel, failed),
        }
    }

    fn extract(&self, _: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        Ok(Extracted { target: Some(Target::End), ..Extracted::new(processed) })
    }
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
    let letter = Letter::from_message(message)
        .ok_or_else(|| Failed::forever("it is not of a form that this version of the program knows"))?;
    let at = message.created_at.unwrap_or(bindery_core::Timestamp::from_millis(0));
    let envelope = Envelope { from: &channels.from, to, key: &message.key, at };
    let bytes = eml::write(&letter, &envelope).map_err(Failed::forever)?;
    channels.mail.send(&eml::id_of(&message.key), &bytes).map_err(Failed::for_now)
}
