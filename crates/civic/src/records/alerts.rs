//! What people want to be told, and what they are about to be told.

use bindery_core::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The `due_at` of a message that is not sent by itself: it waits for the next digest, which tells it.
pub const GATHERED: Timestamp = Timestamp::from_millis(253_370_764_800_000); // 9999-01-01

/// Somebody wants to hear of some things in some cities. The cities of all active alerts are the *watchlist*. An alert
/// without words, matters, committees and topics is about everything there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Alert {
    pub id: String,
    /// Whose it is: an address.
    pub owner: String,
    pub name: String,
    /// City keys.
    pub cities: Vec<String>,
    pub keywords: Vec<String>,
    /// Ids of matters.
    pub matters: Vec<String>,
    /// Ids of bodies that meet.
    pub committees: Vec<String>,
    /// Keys of topics.
    pub topics: Vec<String>,
    /// `daily`, `weekly`, or `immediate`: as soon as there is something.
    pub frequency: String,
    pub active: bool,
    pub channels: Vec<Channel>,
    /// Set by the store.
    pub created_at: Option<Timestamp>,
}

impl Default for Alert {
    fn default() -> Self {
        Self {
            id: String::new(),
            owner: String::new(),
            name: String::new(),
            cities: Vec::new(),
            keywords: Vec::new(),
            matters: Vec::new(),
            committees: Vec::new(),
            topics: Vec::new(),
            frequency: "weekly".to_owned(),
            active: true,
            channels: Vec::new(),
            created_at: None,
        }
    }
}

/// A way to reach somebody.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Channel {
    /// `mail`, `webhook`.
    pub kind: String,
    pub address: String,
}

/// Somebody follows one thing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Watch {
    pub owner: String,
    /// `matter`, `meeting`, `topic`, `city`, `committee` or `council_member`.
    pub entity_type: String,
    pub entity_id: String,
    /// Set by the store.
    pub created_at: Option<Timestamp>,
}

/// A message, and what became of it. One that is stored under a key that is there already is not stored again. Where it
/// has a channel and is due, a job of the engine delivers it ([`NOTICES_QUEUE`](super::NOTICES_QUEUE)).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Notification {
    pub key: String,
    /// What it is about: `city_activated`, `meeting_cancelled` …
    pub kind: String,
    #[serde(rename = "banana")]
    pub city_key: Option<String>,
    pub meeting_id: Option<String>,
    pub matter_id: Option<String>,
    pub alert_id: Option<String>,
    /// None: it is not delivered itself, and whoever makes messages finds out who is told.
    pub channel: Option<Channel>,
    pub body: Value,
    /// Set by the store. It is due until it was sent or given up; [`GATHERED`] where it waits for a digest.
    pub due_at: Option<Timestamp>,
    pub created_at: Option<Timestamp>,
    pub sent_at: Option<Timestamp>,
    pub attempts: u32,
    pub error: Option<String>,
    /// The key of the digest that told it.
    pub told_in: Option<String>,
}

impl Notification {
    /// It waits for a digest.
    pub fn is_gathered(&self) -> bool {
        self.due_at == Some(GATHERED)
    }
}

/// What came of an attempt to deliver a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    Delivered,
    /// Its job tries again at this time.
    Later(Timestamp, String),
    /// Its job is a dead letter, or there never was one.
    GivenUp(String),
}
