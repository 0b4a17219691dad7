//! Publishing with confirms. A message counts as published only when the broker has said so; many may be under way.

use crate::error::{AmqpResult, detail};
use futures_util::future::join_all;
use lapin::{
    BasicProperties, Channel, Confirmation, Connection,
    options::{BasicPublishOptions, ConfirmSelectOptions},
    types::{AMQPValue, FieldTable, ShortString},
};
use std::time::Duration;

/// A broker that is short of memory or disk takes no messages; nobody waits longer than this for it.
const CONFIRM_WITHIN: Duration = Duration::from_secs(30);

/// Survives a restart of the broker.
const PERSISTENT: u8 = 2;

/// A message to be published.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) exchange: ShortString,
    pub(crate) key: ShortString,
    pub(crate) properties: BasicProperties,
    pub(crate) body: Vec<u8>,
}

impl Outgoing {
    /// A JSON message with these headers.
    pub(crate) fn json(exchange: ShortString, key: &str, id: String, headers: FieldTable, body: Vec<u8>) -> Self {
        let properties = BasicProperties::default()
            .with_content_type("application/json".into())
            .with_delivery_mode(PERSISTENT)
            .with_message_id(id.into())
            .with_headers(headers);
        Self { exchange, key: key.into(), properties, body }
    }
}

/// Adds a header with a text.
pub(crate) fn header(headers: &mut FieldTable, name: &str, value: impl Into<String>) {
    headers.insert(name.into(), AMQPValue::LongString(value.into().into()));
}

/// A channel in confirm mode.
#[derive(Debug, Clone)]
pub(crate) struct Publisher {
    channel: Channel,
}

impl Publisher {
    pub(crate) async fn on(connection: &Connection) -> AmqpResult<Self> {
        let channel = connection.create_channel().await?;
        channel.confirm_select(ConfirmSelectOptions::default()).await?;
        Ok(Self { channel })
    }

    pub(crate) fn is_open(&self) -> bool {
        self.channel.status().connected()
    }

    /// Publishes them all at once and waits for the broker's word on each: taken, or why not. Where it is not taken it
    /// may have been stored all the same.
    pub(crate) async fn publish(&self, messages: Vec<Outgoing>) -> Vec<Result<(), String>> {
        join_all(messages.into_iter().map(|message| self.publish_one(message))).await
    }

    pub(crate) async fn publish_one(&self, message: Outgoing) -> Result<(), String> {
        let publishing = async {
            let Outgoing { exchange, key, properties, body } = message;
            let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
            let confirm = self.channel.basic_publish(exchange, key, options, &body, properties).await?;
            confirm.await
        };
        match tokio::time::timeout(CONFIRM_WITHIN, publishing).await {
            Ok(Ok(Confirmation::Ack(None))) => Ok(()),
            Ok(Ok(Confirmation::Ack(Some(returned)) | Confirmation::Nack(Some(returned)))) => {
                Err(format!("no queue takes the routing key {:?}", returned.delivery.routing_key.as_str()))
            }
            Ok(Ok(_)) => Err("the broker did not store it".to_owned()),
            Ok(Err(error)) => Err(detail(&error)),
            Err(_) => Err(format!("no confirmation within {} s", CONFIRM_WITHIN.as_secs())),
        }
    }
}
