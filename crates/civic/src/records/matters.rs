//! Matters, where they appeared, and how they were voted on.

use super::meetings::Attachment;
use bindery_core::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A bill, resolution or other thing that a council decides on, over all its appearances.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Matter {
    /// `{city_key}_{hash}`.
    pub id: String,
    #[serde(rename = "banana")]
    pub city_key: String,
    /// The vendor's own id.
    pub vendor_matter_id: Option<String>,
    /// The public number.
    pub matter_file: Option<String>,
    pub matter_type: Option<String>,
    pub title: String,
    pub sponsors: Vec<String>,
    pub canonical_summary: Option<String>,
    pub canonical_topics: Vec<String>,
    pub attachments: Vec<Attachment>,
    pub attachment_hash: Option<String>,
    /// The attachment hash that the canonical summary was made from.
    pub summary_hash: Option<String>,
    pub metadata: Map<String, Value>,
    pub first_seen: Option<Timestamp>,
    pub last_seen: Option<Timestamp>,
    /// In how many meetings. Counted by the store.
    pub appearance_count: i64,
    /// `active`, `passed`, `failed`, `tabled`, `withdrawn`, `referred`, `amended`, `vetoed` or `enacted`.
    pub status: Option<String>,
    pub final_vote_at: Option<Timestamp>,
    pub quality_score: Option<f64>,
    pub rating_count: i64,
    /// Set by the store.
    pub created_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
}

/// A matter on the agenda of a meeting.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Appearance {
    pub matter_id: String,
    pub meeting_id: String,
    pub item_id: String,
    pub appeared_at: Option<Timestamp>,
    pub committee: Option<String>,
    pub committee_id: Option<String>,
    pub action: Option<String>,
    /// `passed`, `failed`, `tabled`, `withdrawn`, `referred`, `amended`, `unknown` or `no_vote`.
    pub vote_outcome: Option<String>,
    pub vote_tally: BTreeMap<String, i64>,
    pub sequence: i64,
}

/// Who stands behind a matter.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sponsorship {
    pub matter_id: String,
    pub person_id: String,
    pub is_primary: bool,
    pub sponsor_order: i64,
}

/// One motion that was voted on. Two on the same item are two.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct VoteEvent {
    pub id: String,
    #[serde(rename = "banana")]
    pub city_key: String,
    pub meeting_id: String,
    pub item_id: Option<String>,
    pub matter_id: Option<String>,
    pub motion: Option<String>,
    /// Its place among the votes on the item.
    pub ordinal: i64,
    pub result: Option<String>,
    pub mover: Option<String>,
    pub seconder: Option<String>,
    pub tally: BTreeMap<String, i64>,
    pub voted_at: Option<Timestamp>,
    /// All of them: a corrected vote replaces the ballots that were there.
    pub ballots: Vec<Ballot>,
    /// Set by the store.
    pub created_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
}

/// How one member voted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ballot {
    pub person_id: String,
    /// As the vendor writes it.
    pub name: String,
    /// `yes`, `no`, `abstain`, `absent`, `present`, `recused` or `not_voting`.
    pub vote: String,
}

/// A ballot as it is found from the person who cast it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CastBallot {
    pub vote_event_id: String,
    pub person_id: String,
    pub meeting_id: String,
    pub matter_id: Option<String>,
    pub vote: String,
    pub voted_at: Option<Timestamp>,
}
