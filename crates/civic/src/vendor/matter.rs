//! What some vendors list besides meetings: the matters that a council deals with, and the people who sit on it.

use super::model::Attachment;
use jiff::civil::Date;
use serde::Serialize;
use serde_json::{Map, Value};

/// A matter in a vendor's list of legislation, or a piece of what is known of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct VendorMatter {
    /// The vendor's own id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matter_id: Option<String>,
    /// The public number: `Int 1299-2018`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matter_file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matter_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The body that has it in hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub introduced: Option<Date>,
    /// The day of the final action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided: Option<Date>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sponsors: Vec<String>,
    /// What a person opens to see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// The vendor's own index words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<String>,
    /// What was done with it, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<MatterAction>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub raw: Map<String, Value>,
}

/// One step of a matter.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct MatterAction {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<Date>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// As the vendor names it: `Referred`, `Passed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The vendor's ids of the meeting and of the item in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meeting_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_id: Option<String>,
}

/// Somebody who sits on a body.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct VendorPerson {
    pub name: String,
    /// The vendor's own id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person_id: Option<String>,
    /// `Chairperson`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The body of that title, where the page says which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Date>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Date>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub raw: Map<String, Value>,
}
