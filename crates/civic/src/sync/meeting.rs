//! The meeting's own row, and what has happened to it since it was last seen.
//!
//! What the vendor is silent about stays: a link that a listing loses for a day, an hour that another page knows. A
//! meeting that was cancelled stays cancelled until the vendor moves it or says something else of it.

use super::plan::Known;
use crate::records::{Attachment, ChangeKind, CivicChanges, Committee, Meeting, MeetingSnapshot, NewMeetingChange};
use crate::{
    committees::{self, KnownCommittee},
    hash::canonical_url,
    ids,
    vendor::{
        Attachment as VendorAttachment, VendorMeeting,
        model::{MeetingStatus, Start},
    },
};
use bindery_core::Timestamp;
use jiff::{
    civil::{Date, DateTime, Time},
    tz::TimeZone,
};
use serde_json::Value;

/// The row as it should be.
pub(super) fn row(
    known: &mut Known,
    id: &str,
    incoming: &VendorMeeting,
    stored: Option<&MeetingSnapshot>,
    changes: &mut CivicChanges,
) -> Meeting {
    let before = stored.map(|stored| &stored.meeting);
    let start = start(incoming.start.as_ref(), before);
    let moved = before.is_some_and(|before| before.starts_at_local != start.local);
    let body = committee(known, incoming, changes);
    let title = incoming.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
    let mut row = before.cloned().unwrap_or_default();
    id.clone_into(&mut row.id);
    known.city_key.as_str().clone_into(&mut row.city_key);
    row.vendor.clone_from(&known.vendor);
    row.vendor_id.clone_from(&incoming.vendor_id);
    match (title, &body) {
        (Some(title), _) => title.clone_into(&mut row.title),
        (None, Some((_, name))) if row.title.is_empty() => row.title.clone_from(name),
        (None, _) if row.title.is_empty() => "Meeting".clone_into(&mut row.title),
        (None, _) => {}
    }
    row.starts_at = start.local.as_deref().and_then(|local| instant(local, &known.zone));
    row.starts_at_local = start.local;
    row.start_note = start.note;
    row.tz.clone_from(&known.zone_name);
    row.status = status(incoming.status, before, moved);
    if let Some((committee_id, name)) = body {
        row.committee_id = Some(committee_id);
        row.body = Some(name);
    }
    take(&mut row.location, incoming.location.as_deref());
    take(&mut row.agenda_url, incoming.agenda_url.as_deref());
    take(&mut row.packet_url, incoming.packet_url.as_deref());
    take(&mut row.minutes_url, incoming.minutes_url.as_deref());
    take(&mut row.video_url, incoming.video_url.as_deref());
    take(&mut row.notes, incoming.notes.as_deref());
    if !incoming.documents.is_empty() {
        row.documents = incoming.documents.iter().map(|document| attachment(document, &row.documents)).collect();
    }
    row.removed_at = None;
    row
}

fn take(mine: &mut Option<String>, told: Option<&str>) {
    if let Some(told) = told.map(str::trim).filter(|told| !told.is_empty()) {
        *mine = Some(told.to_owned());
    }
}

struct LocalStart {
    local: Option<String>,
    note: Option<String>,
}

/// When it begins. A page that knows only the day does not take back the hour that another knew of that day.
fn start(told: Option<&Start>, before: Option<&Meeting>) -> LocalStart {
    let (known, known_note) =
        before.map_or((None, None), |before| (before.starts_at_local.clone(), before.start_note.clone()));
    let Some(told) = told else { return LocalStart { local: known, note: known_note } };
    let day = told.date.to_string();
    let local = match told.time {
        Some(time) => format!("{day}T{}", time.strftime("%H:%M:%S")),
        None => match known {
            Some(known) if told.note.is_none() && known.starts_with(&day) => known,
            _ => day,
        },
    };
    LocalStart { local: Some(local), note: told.note.clone() }
}

/// The moment that the clock on the wall means; of a day without an hour, its beginning.
pub(super) fn instant(local: &str, zone: &TimeZone) -> Option<Timestamp> {
    let begins: DateTime = match local.parse() {
        Ok(begins) => begins,
        Err(_) => local.parse::<Date>().ok()?.to_datetime(Time::midnight()),
    };
    let zoned = begins.to_zoned(zone.clone()).ok()?;
    Some(Timestamp::from_millis(zoned.timestamp().as_millisecond()))
}

fn status(told: Option<MeetingStatus>, before: Option<&Meeting>, moved: bool) -> Option<String> {
    match told {
        Some(status) => Some(status.as_str().to_owned()),
        // A meeting with a new time takes place again.
        None if moved => None,
        None => before.and_then(|before| before.status.clone()),
    }
}

/// The committee that meets, made known where it is new.
fn committee(known: &mut Known, incoming: &VendorMeeting, changes: &mut CivicChanges) -> Option<(String, String)> {
    let all: Vec<KnownCommittee> = known
        .snapshot
        .committees
        .iter()
        .map(|one| KnownCommittee {
            id: one.id.clone(),
            name: one.name.clone(),
            vendor_body_id: one.vendor_body_id.clone(),
        })
        .collect();
    let (body_id, body, title) = (incoming.body_id.as_deref(), incoming.body.as_deref(), incoming.title.as_deref());
    let found = committees::resolve(&known.city_key, body_id, body, title, &all)?;
    if found.is_new || found.gains_body_id {
        let committee = Committee {
            id: found.id.clone(),
            city_key: known.city_key.to_string(),
            name: found.name.clone(),
            normalized_name: ids::normalized_name(&found.name),
            vendor_body_id: incoming.body_id.clone(),
            status: Some("active".to_owned()),
            ..Committee::default()
        };
        known.snapshot.committees.retain(|one| one.id != committee.id);
        known.snapshot.committees.push(committee.clone());
        changes.committees.push(committee);
    }
    Some((found.id, found.name))
}

/// What has happened to the meeting itself.
pub(super) fn history(before: &Meeting, after: &Meeting) -> Vec<NewMeetingChange> {
    let mut told = Vec::new();
    let mut tell = |kind, before: Value, after: Value| told.push(NewMeetingChange::new(kind, before, after));
    let value = |text: &Option<String>| Value::from(text.clone());
    if before.removed_at.is_some() {
        tell(ChangeKind::Returned, Value::Null, Value::Null);
    }
    if before.title != after.title {
        tell(ChangeKind::Renamed, before.title.clone().into(), after.title.clone().into());
    }
    if before.starts_at_local != after.starts_at_local {
        tell(ChangeKind::Moved, value(&before.starts_at_local), value(&after.starts_at_local));
    }
    if before.status != after.status {
        let is_cancelled = after.status.as_deref() == Some(MeetingStatus::Cancelled.as_str());
        let kind = if is_cancelled { ChangeKind::Cancelled } else { ChangeKind::StatusChanged };
        tell(kind, value(&before.status), value(&after.status));
    }
    if before.location.is_some() && before.location != after.location {
        tell(ChangeKind::LocationChanged, value(&before.location), value(&after.location));
    }
    if before.committee_id.is_some() && before.committee_id != after.committee_id {
        tell(ChangeKind::BodyChanged, value(&before.body), value(&after.body));
    }
    for (kind, before, after) in [
        (ChangeKind::AgendaPosted, &before.agenda_url, &after.agenda_url),
        (ChangeKind::PacketPosted, &before.packet_url, &after.packet_url),
        (ChangeKind::MinutesPosted, &before.minutes_url, &after.minutes_url),
        (ChangeKind::VideoPosted, &before.video_url, &after.video_url),
    ] {
        if before.is_none() && after.is_some() {
            tell(kind, Value::Null, value(after));
        }
    }
    if let (Some(old), Some(new)) = (&before.agenda_url, &after.agenda_url)
        && old != new
    {
        tell(ChangeKind::AgendaRevised, old.clone().into(), new.clone().into());
    }
    told
}

/// A document as it is stored: what was learned of it earlier stays with it.
pub(super) fn attachment(told: &VendorAttachment, known: &[Attachment]) -> Attachment {
    // Signatures in addresses change from visit to visit.
    let same = |known: &&Attachment| canonical_url(&known.url) == canonical_url(&told.url);
    let found = known.iter().find(|known| known.url == told.url).or_else(|| known.iter().find(same));
    let mut attachment = found.cloned().unwrap_or_default();
    attachment.name.clone_from(&told.name);
    attachment.url.clone_from(&told.url);
    kind_of(&told.name, &told.url).clone_into(&mut attachment.kind);
    if told.portal_url.is_some() {
        attachment.portal_url.clone_from(&told.portal_url);
    }
    if told.vendor_id.is_some() {
        attachment.vendor_id.clone_from(&told.vendor_id);
    }
    attachment
}

/// What kind of document it is, by its name and address.
fn kind_of(name: &str, url: &str) -> &'static str {
    let text = format!("{name} {url}").to_lowercase();
    let has = |ending: &str| text.contains(ending);
    match () {
        () if has(".pdf") => "pdf",
        () if has(".doc") => "doc",
        () if has(".xls") => "spreadsheet",
        () if has(".ppt") => "presentation",
        () if has(".htm") => "html",
        () => "unknown",
    }
}
