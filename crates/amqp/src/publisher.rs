//! Publishing with confirms. A message counts as published only when the broker has said so; many may be under way.

use crate::{
    connect,
    error::{AmqpResult, detail},
};
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
    pub(crate) async fn open(connection: &Connection) -> AmqpResult<Self> {
        let opening = async {
            let channel = connection.create_channel().await?;
            channel.confirm_select(ConfirmSelectOptions::default()).await?;
            Ok(Self { channel })
        };
        connect::within_answer_limit(|| connection.status().connected(), opening).await
    }

    pub(crate) fn is_open(&self) -> bool {
        self.channel.status().connected()
    }

    /// Publishes them all at once and waits for the broker's word on each: taken, or why not. Where it is not taken it
    /// may have been stored all the same.
    pub(crate) async fn publish(&self, messages: Vec<Outgoing>) -> Vec<Result<(), String>> {
        let count = messages.len();
        let mut results = Vec::with_capacity(count);
        let publishing = async {
            let mut sent = Vec::with_capacity(count);
            for message in messages {
                let Outgoing { exchange, key, properties, body } = message;
                let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
                sent.push(self.channel.basic_publish(exchange, key, options, &body, properties).await);
            }
            for sent in sent {
                let confirmed = match sent {
                    Ok(confirm) => confirm.await,
                    Err(error) => Err(error),
                };
                results.push(check_confirmation(confirmed));
            }
        };
        let silence = tokio::select! {
            biased;
            () = publishing => None,
            () = connect::wait_until_closed(|| self.is_open()) => Some(connect::GONE.to_owned()),
            () = tokio::time::sleep(CONFIRM_WITHIN) => {
                Some(format!("no confirmation within {} s", CONFIRM_WITHIN.as_secs()))
            }
        };
        if let Some(why) = silence {
            results.resize(count, Err(why));
        }
        results
    }

    pub(crate) async fn publish_one(&self, message: Outgoing) -> Result<(), String> {
        self.publish(vec![message]).await.pop().unwrap_or_else(|| Err("it was not published".to_owned()))
    }
}

fn check_confirmation(confirmed: lapin::Result<Confirmation>) -> Result<(), String> {
    match confirmed {
        Ok(Confirmation::Ack(None)) => Ok(()),
        Ok(Confirmation::Ack(Some(returned)) | Confirmation::Nack(Some(returned))) => {
            Err(format!("no queue takes the routing key {:?}", returned.delivery.routing_key.as_str()))
        }
        Ok(_) => Err("the broker did not store it".to_owned()),
        Err(error) => Err(detail(&error)),
    }
}
