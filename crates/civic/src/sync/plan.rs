//! One meeting, decided: what is stored and what the vendor says go in, one change comes out.

use super::{SyncStats, items, matters, meeting, queueing};
use crate::records::{
    AgendaItem, ChangeKind, CivicChanges, CivicSnapshot, Jurisdiction, MeetingSnapshot, NewMeetingChange, Notification,
    SkippedMeeting,
};
use crate::{city_key::CityKey, filter, ids, vendor::VendorMeeting};
use bindery_core::{Name, Timestamp, event::NewEvent};
use jiff::tz::TimeZone;
use serde_json::json;

/// What is known of a city while its meetings are decided, one after another: what one of them brings is known to the
/// next.
#[derive(Debug)]
pub struct Known {
    pub(super) city_key: CityKey,
    pub(super) vendor: String,
    pub(super) zone_name: Option<String>,
    pub(super) zone: TimeZone,
    pub(super) city_name: String,
    pub(super) snapshot: CivicSnapshot,
}

impl Known {
    pub fn new(city: &Jurisdiction, city_key: CityKey, vendor: &str, snapshot: CivicSnapshot) -> Self {
        let zone = city.tz.as_deref().and_then(|name| TimeZone::get(name).ok());
        Self {
            city_key,
            vendor: vendor.to_owned(),
            zone_name: city.tz.clone().filter(|_| zone.is_some()),
            zone: zone.unwrap_or(TimeZone::UTC),
            city_name: format!("{}, {}", city.name, city.state),
            snapshot,
        }
    }

    fn stored(&self, vendor_id: &str) -> Option<&MeetingSnapshot> {
        self.snapshot.meetings.get(&(self.vendor.clone(), vendor_id.to_owned()))
    }
}

/// What is to be stored of one meeting, and what it amounts to.
#[derive(Debug, Clone)]
pub struct Planned {
    pub changes: CivicChanges,
    pub stats: SyncStats,
}

/// Decides about one meeting. Nothing here looks at a clock or a store.
pub fn plan(known: &mut Known, incoming: &VendorMeeting, now: Timestamp) -> Planned {
    let title = incoming.title.as_deref().unwrap_or_default().trim();
    let Some(id) = ids::meeting_id(&known.city_key, &known.vendor, &incoming.vendor_id) else {
        return skipped(known, incoming, "missing_vendor_id", None);
    };
    let trial = filter::meetings::decide(title);
    if trial.is_skipped() {
        return skipped(known, incoming, &trial.reason, Some(trial.rule));
    }
    let stored = known.stored(&incoming.vendor_id).cloned();
    let revision = stored.as_ref().map_or(0, |stored| stored.meeting.revision);
    let mut changes = CivicChanges::of_meeting(known.city_key.as_str(), &id, revision);
    let mut stats = SyncStats { meetings_processed: 1, ..SyncStats::default() };

    let mut row = meeting::row(known, &id, incoming, stored.as_ref(), &mut changes);
    let agenda = items::agenda(&row, incoming, stored.as_ref(), (&known.snapshot.replaced, now), &mut changes);
    let mut linked = matters::link(known, &row, incoming, agenda, stored.as_ref(), &mut changes, &mut stats);
    items::mark_duplicates(&mut linked.items);
    row.content_hash = Some(queueing::content_hash(&row, &linked.items));
    queueing::enqueue(known, &row, &linked, stored.as_ref(), now, &mut changes);

    match &stored {
        None => {
            let added = json!({"title": row.title, "starts_at": row.starts_at_local, "status": row.status});
            changes.history.insert(0, NewMeetingChange::new(ChangeKind::Added, (), added));
            if !known.snapshot.has_meetings {
                changes.notifications.push(first_meeting(known, &id, &row.title));
            }
        }
        Some(stored) => {
            let mut told = meeting::history(&stored.meeting, &row);
            told.append(&mut changes.history);
            changes.history = told;
        }
    }
    stats.items_stored = linked.items.iter().filter(|item| item.removed_at.is_none()).count() as u64;
    stats.items_skipped_procedural = linked.items.iter().filter(|item| is_procedural(item)).count() as u64;
    stats.jobs_enqueued = changes.jobs.len() as u64;
    stats.meetings_changed = u64::from(!changes.history.is_empty());
    changes.events =
        changes.history.iter().map(|change| event(known, (&id, revision + 1), &row.title, change)).collect();
    changes.items = linked.items;
    changes.meeting = Some(row);
    known.snapshot.has_meetings = true;
    Planned { changes, stats }
}

fn is_procedural(item: &AgendaItem) -> bool {
    item.filter_reason.as_deref() == Some(filter::Class::Procedural.as_str())
}

/// The meeting is not taken, which is kept with its reason.
fn skipped(known: &Known, incoming: &VendorMeeting, reason: &str, rule: Option<&str>) -> Planned {
    let title = incoming.title.clone().unwrap_or_default();
    let vendor_id = if incoming.vendor_id.trim().is_empty() { title.clone() } else { incoming.vendor_id.clone() };
    let mut changes = CivicChanges::of_city(known.city_key.as_str());
    changes.skipped.push(SkippedMeeting {
        city_key: known.city_key.to_string(),
        vendor: known.vendor.clone(),
        vendor_id,
        title: title.clone(),
        reason: reason.to_owned(),
        rule: rule.map(str::to_owned),
        seen_at: None,
    });
    let (skip_reason, skipped_title) = (Some(reason.to_owned()), Some(title));
    Planned { changes, stats: SyncStats { meetings_skipped: 1, skip_reason, skipped_title, ..SyncStats::default() } }
}

/// Whoever asked for the city is told once, whatever happens.
fn first_meeting(known: &Known, meeting_id: &str, title: &str) -> Notification {
    Notification {
        key: format!("city_activated:{}", known.city_key),
        kind: "city_activated".to_owned(),
        city_key: Some(known.city_key.to_string()),
        meeting_id: Some(meeting_id.to_owned()),
        body: json!({"city": known.city_name, "first_meeting": title}),
        ..Notification::default()
    }
}

/// What happened, for whoever follows the log: to which meeting, and the revision that it leads to.
pub(super) fn event(
    known: &Known,
    (meeting_id, revision): (&str, i64),
    title: &str,
    change: &NewMeetingChange,
) -> NewEvent {
    let kind = serde_json::to_value(change.kind).unwrap_or_default();
    let data = json!({
        "banana": known.city_key.as_str(), "meetingId": meeting_id, "revision": revision, "title": title, "change": kind,
        "itemId": change.item_id, "before": change.before, "after": change.after,
    });
    NewEvent::new(Name::from(EVENT), None, data.to_string())
}

/// The kind of every event about a meeting.
pub const EVENT: &str = "CivicMeetingChangedEvent";
