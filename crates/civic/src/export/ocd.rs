//! Meetings as events of Open Civic Data, the form in which civic programs exchange them.
//!
//! An event has its agenda with the bills that are on it, who meets, its documents and recordings, and where all that was
//! found. What the form has no place for stands under `extras`.

use super::{Begins, Shape, Whole, city_name, is_off, is_open, page};
use crate::ids;
use crate::records::{AgendaItem, Attachment, Jurisdiction, Meeting, VoteEvent};
use bindery_core::Timestamp;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

pub(super) struct Events {
    city: Value,
    now: Timestamp,
    count: usize,
}

impl Events {
    pub(super) fn new(city: &Jurisdiction, now: Timestamp) -> Self {
        let city = json!({"banana": city.city_key, "name": city_name(city), "classification": city.kind});
        Self { city, now, count: 0 }
    }
}

impl Shape for Events {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"[")
    }

    fn meeting(&mut self, out: &mut dyn Write, whole: &Whole) -> io::Result<()> {
        // An event has to begin some day.
        let Some(begins) = Begins::from_meeting(&whole.meeting) else { return Ok(()) };
        let comma = if self.count == 0 { "" } else { "," };
        self.count += 1;
        let event = event(whole, &begins, &self.city, self.now);
        write!(out, "{comma}\n{}", serde_json::to_string(&event)?)
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"\n]\n")
    }
}

fn event(whole: &Whole, begins: &Begins, city: &Value, now: Timestamp) -> Value {
    let meeting = &whole.meeting;
    let listed = whole.items.iter().filter(|item| item.removed_at.is_none());
    let agenda: Vec<Value> = listed.enumerate().map(|(order, item)| agenda_item(order, item, &whole.votes)).collect();
    let host = meeting.body.as_deref().map(|body| {
        json!({"note": "host", "name": body, "entity_type": "organization", "entity_name": body,
            "entity_id": meeting.committee_id})
    });
    let location = meeting.location.as_deref().unwrap_or("TBD");
    json!({
        "_type": "event",
        "_id": format!("ocd-event/{}", uuid(&meeting.id)),
        "name": meeting.title,
        "description": meeting.summary.as_deref().or(meeting.notes.as_deref()).unwrap_or_default(),
        "classification": if meeting.committee_id.is_some() { "committee-meeting" } else { "event" },
        "start_date": start_date(begins),
        "end_date": "",
        "all_day": begins.time.is_none(),
        "timezone": begins.zone.as_ref().map(|(name, _)| name),
        "status": status(meeting, now),
        "location": {"name": location, "url": "", "coordinates": null},
        "upstream_id": meeting.vendor_id,
        "participants": host.into_iter().collect::<Vec<_>>(),
        "agenda": agenda,
        "documents": documents(meeting),
        "media": media(meeting),
        "links": page(meeting).map(|url| json!({"note": "agenda", "url": url})).into_iter().collect::<Vec<_>>(),
        "sources": sources(meeting),
        "created_at": meeting.created_at,
        "updated_at": meeting.updated_at,
        "extras": without_nulls(json!({
            "jurisdiction": city, "meeting_id": meeting.id, "vendor": meeting.vendor, "status": meeting.status,
            "start_note": meeting.start_note, "removed_at": meeting.removed_at, "superseded_by": meeting.superseded_by,
            "revision": meeting.revision, "topics": meeting.topics,
        })),
    })
}

fn agenda_item(order: usize, item: &AgendaItem, votes: &[VoteEvent]) -> Value {
    let bill = item.matter_file.as_deref().or(item.matter_id.as_deref()).map(|name| {
        json!({"entity_type": "bill", "name": name, "entity_name": name, "entity_id": item.matter_id,
            "note": item.matter_type.as_deref().unwrap_or_default()})
    });
    let voted = votes.iter().filter(|vote| vote.item_id.as_ref() == Some(&item.id)).map(|vote| {
        let motion = vote.motion.as_deref().unwrap_or("vote");
        json!({"entity_type": "vote_event", "name": motion, "entity_name": motion, "entity_id": vote.id,
            "note": vote.result.as_deref().unwrap_or_default()})
    });
    let sponsors = item
        .sponsors
        .iter()
        .map(|name| json!({"entity_type": "person", "name": name, "entity_name": name, "note": "sponsor"}));
    let notes: Vec<&str> = [&item.summary, &item.action].into_iter().flatten().map(String::as_str).collect();
    json!({
        "order": order.to_string(),
        "description": item.title,
        "classification": item.is_consent.filter(|is| *is).map(|_| "consent-agenda").into_iter().collect::<Vec<_>>(),
        "subjects": item.topics,
        "notes": notes,
        "related_entities": bill.into_iter().chain(voted).chain(sponsors).collect::<Vec<_>>(),
        "media": item.attachments.iter().map(document).collect::<Vec<_>>(),
        "extras": without_nulls(json!({
            "item_id": item.id, "agenda_number": item.agenda_number, "section": item.section,
            "filter_reason": item.filter_reason, "passed": item.passed,
        })),
    })
}

/// With its offset where the hour and the zone are known, else what is known of it.
fn start_date(begins: &Begins) -> String {
    if let Some(zoned) = begins.zoned() {
        return zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
    }
    match begins.time {
        Some(time) => format!("{}T{}", begins.date, time.strftime("%H:%M:%S")),
        None => begins.date.to_string(),
    }
}

fn status(meeting: &Meeting, now: Timestamp) -> &'static str {
    match () {
        () if is_off(meeting) => "cancelled",
        () if is_open(meeting) => "tentative",
        () if meeting.starts_at.is_some_and(|at| at < now) => "passed",
        () => "confirmed",
    }
}

fn documents(meeting: &Meeting) -> Vec<Value> {
    let own = [("Packet", &meeting.packet_url), ("Minutes", &meeting.minutes_url)];
    let own =
        own.into_iter().filter_map(|(note, url)| Some(linked(note, url.as_deref()?, media_type(url.as_deref()?))));
    own.chain(meeting.documents.iter().map(document)).collect()
}

fn media(meeting: &Meeting) -> Vec<Value> {
    meeting.video_url.as_deref().map(|url| linked("Recording", url, "")).into_iter().collect()
}

fn document(attachment: &Attachment) -> Value {
    let by_kind = match attachment.kind.as_str() {
        "pdf" => "application/pdf",
        "html" => "text/html",
        _ => "",
    };
    linked(&attachment.name, &attachment.url, by_kind)
}

/// Only where the address says it.
fn media_type(url: &str) -> &'static str {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    if path.to_ascii_lowercase().ends_with(".pdf") { "application/pdf" } else { "" }
}

fn linked(note: &str, url: &str, media_type: &str) -> Value {
    json!({"note": note, "date": "", "links": [{"url": url, "media_type": media_type, "text": ""}]})
}

fn sources(meeting: &Meeting) -> Vec<Value> {
    let pages = [&meeting.agenda_url, &meeting.packet_url, &meeting.minutes_url, &meeting.video_url];
    pages.into_iter().flatten().map(|url| json!({"url": url, "note": meeting.vendor})).collect()
}

fn without_nulls(value: Value) -> Map<String, Value> {
    let Value::Object(fields) = value else { return Map::new() };
    let is_said = |value: &Value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty());
    fields.into_iter().filter(|(_, value)| is_said(value)).collect()
}

/// The same for the same meeting, wherever it is exported. Version 8: made by a rule of our own.
fn uuid(meeting_id: &str) -> String {
    let digits = ids::digest(&format!("ocd-event:{meeting_id}"), 32);
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    format!("{}-{}-8{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}
