//! What the log is told, in the transaction of what it tells of. The events are of the jurisdiction's submission.

use bindery_core::{Name, event::NewEvent};
use serde_json::{Value, json};

/// An item, or what it has become since its summary, was summarised.
pub const ITEM_SUMMARISED: &str = "CivicItemSummarisedEvent";
/// A meeting was read to its end.
pub const MEETING_PROCESSED: &str = "CivicMeetingProcessedEvent";
/// A matter has a new summary.
pub const MATTER_SUMMARISED: &str = "CivicMatterSummarisedEvent";

fn event(kind: &str, data: &Value) -> NewEvent {
    NewEvent::new(Name::from(kind), None, data.to_string())
}

/// Whether something has a summary that had none, or another one.
pub(super) fn is_summary(event: &NewEvent) -> bool {
    matches!(event.kind.as_str(), ITEM_SUMMARISED | MATTER_SUMMARISED)
}

pub(super) struct ItemSummarised<'a> {
    pub(super) city_key: &'a str,
    pub(super) meeting_id: &'a str,
    pub(super) item_id: &'a str,
    pub(super) matter_id: Option<&'a str>,
    pub(super) title: &'a str,
    pub(super) topics: &'a [String],
    pub(super) method: &'a str,
    /// 0: the item itself; else the number of what it has become.
    pub(super) revision: i64,
}

impl ItemSummarised<'_> {
    pub(super) fn event(&self) -> NewEvent {
        event(
            ITEM_SUMMARISED,
            &json!({
                "banana": self.city_key, "meetingId": self.meeting_id, "itemId": self.item_id, "matterId": self.matter_id,
                "title": self.title, "topics": self.topics, "method": self.method, "revision": self.revision,
            }),
        )
    }
}

pub(super) fn meeting_processed(
    city_key: &str,
    meeting_id: &str,
    title: &str,
    topics: &[String],
    items: u64,
) -> NewEvent {
    let data = json!({"banana": city_key, "meetingId": meeting_id, "title": title, "topics": topics, "items": items});
    event(MEETING_PROCESSED, &data)
}

pub(super) fn matter_summarised(city_key: &str, matter_id: &str, topics: &[String], method: &str) -> NewEvent {
    let data = json!({"banana": city_key, "matterId": matter_id, "topics": topics, "method": method});
    event(MATTER_SUMMARISED, &data)
}
