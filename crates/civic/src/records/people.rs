//! Members of councils, and the bodies that they sit in.

use bindery_core::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A member of a council.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Person {
    pub id: String,
    #[serde(rename = "banana")]
    pub city_key: String,
    pub name: String,
    pub normalized_name: String,
    /// The vendor's own id.
    pub vendor_person_id: Option<String>,
    /// Other ways in which the name was written, in order, each once.
    pub aliases: Vec<String>,
    pub title: Option<String>,
    pub district: Option<String>,
    /// `active`, `former` or `unknown`.
    pub status: Option<String>,
    pub first_seen: Option<Timestamp>,
    pub last_seen: Option<Timestamp>,
    pub metadata: Map<String, Value>,
    /// Counted when it is read.
    pub sponsorship_count: i64,
    pub vote_count: i64,
}

/// A body that meets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Committee {
    pub id: String,
    #[serde(rename = "banana")]
    pub city_key: String,
    pub name: String,
    pub normalized_name: String,
    pub description: Option<String>,
    pub status: Option<String>,
    pub vendor_body_id: Option<String>,
}
