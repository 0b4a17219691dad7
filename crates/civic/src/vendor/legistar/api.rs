//! The Web API's list of meetings, and what all its answers have in common.

use super::{LARGEST_ANSWER, Place, xml};
use crate::{
    dates, status,
    vendor::{FetchedPage, PageFault, PageReading, Request, VendorMeeting, Window, address, json, open},
};
use serde_json::Value;

/// The records of an answer, from JSON or XML; a single one counts as a list of one.
pub(super) fn records(page: &FetchedPage) -> Result<Vec<Value>, PageFault> {
    let text = page.text();
    let start = text.trim_start();
    if xml::is_xml(start) {
        return xml::records(page, start);
    }
    match open::json(page, "records of the Web API")? {
        Value::Array(records) => Ok(records),
        Value::Object(fields) if fields.contains_key("value") => Ok(json::entries(&fields.into(), "value").to_vec()),
        record if recognise(std::slice::from_ref(&record)).is_some() => Ok(vec![record]),
        other => Err(PageFault::new_unexpected(&page.url, "records of the Web API", json::kind(&other))),
    }
}

/// What an answer is, told by the fields of its first record.
pub(super) fn recognise(records: &[Value]) -> Option<&'static str> {
    const FIELDS: [(&str, &str); 12] = [
        ("EventId", "events"),
        ("EventItemId", "items"),
        ("VotePersonName", "votes"),
        ("RollCallPersonName", "roll_call"),
        ("MatterSponsorName", "sponsors"),
        ("MatterAttachmentName", "attachments"),
        ("MatterHistoryId", "histories"),
        ("MatterIndexId", "matter_indexes"),
        ("IndexId", "indexes"),
        ("OfficeRecordId", "roster"),
        ("MatterId", "matters"),
        ("Meeting Date", "rows"),
    ];
    // Rows of a calendar are sometimes kept as pairs of the row and its details.
    let first = records.first().map(|record| record.get(0).unwrap_or(record))?;
    FIELDS.iter().find(|(field, _)| first.get(field).is_some()).map(|(_, purpose)| *purpose)
}

/// The fields of a meeting that have a place of their own.
const EVENT_FIELDS: [&str; 14] = [
    "EventId",
    "EventGuid",
    "EventBodyId",
    "EventBodyName",
    "EventDate",
    "EventTime",
    "EventLocation",
    "EventAgendaFile",
    "EventMinutesFile",
    "EventComment",
    "EventVideoPath",
    "EventItems",
    // These change without anything having changed for a reader.
    "EventRowVersion",
    "EventLastModifiedUtc",
];

pub(super) fn events(place: &Place, window: Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let records = records(page)?;
    let mut reading = PageReading::default();
    reading.landmark("EventId", records.iter().filter(|record| record.get("EventId").is_some()).count());
    for (at, record) in records.iter().enumerate() {
        match event(place, record) {
            Ok((meeting, doubt)) => {
                reading.doubts.extend(doubt);
                reading.meeting(meeting);
            }
            Err(why) => reading.doubts.push(format!("event {} of the list {why}", at + 1)),
        }
    }
    let skipped: usize = page.about.first().and_then(|skip| skip.parse().ok()).unwrap_or(0);
    // A client that knows no meetings here may still show some on its pages.
    if records.is_empty() && skipped == 0 {
        reading.follow.push(place.calendar().optional());
    }
    if records.len() >= LARGEST_ANSWER && !page.about.is_empty() {
        reading.follow.push(place.events(window, skipped + records.len()));
    }
    // Some clients leave the filter aside.
    let asked = reading.meetings.iter().filter(|meeting| window.holds(meeting));
    let follow: Vec<Request> = asked.flat_map(|meeting| pages_of(place, meeting)).collect();
    reading.follow.extend(follow);
    Ok(reading)
}

/// The items of a meeting, and its page where the API does not know the agenda.
fn pages_of(place: &Place, meeting: &VendorMeeting) -> Vec<Request> {
    let id = &meeting.vendor_id;
    let mut pages = vec![
        place
            .api(&format!("Events/{id}/EventItems"), "AgendaNote=1&MinutesNote=1&Attachments=1", "items")
            .with_about(id)
            .with_about(detail_address(place, meeting).unwrap_or_default())
            .optional(),
    ];
    if meeting.agenda_url.is_none()
        && let Some(url) = detail_address(place, meeting)
    {
        pages.push(Request::get(url, "detail").with_about(id).with_about("").with_about("links").optional());
    }
    pages
}

/// The meeting's own page.
fn detail_address(place: &Place, meeting: &VendorMeeting) -> Option<String> {
    let said = |name: &str| meeting.raw.get(name).and_then(Value::as_str);
    said("EventInSiteURL")
        .map(str::to_owned)
        .or_else(|| Some(format!("{}/MeetingDetail.aspx?GUID={}", place.pages, said("guid")?)))
}

fn event(place: &Place, record: &Value) -> Result<(VendorMeeting, Option<String>), String> {
    let field = |name: &str| json::text(record, name);
    let id = field("EventId").ok_or("has no EventId")?;
    let mut meeting = VendorMeeting::new(id);
    let date = field("EventDate");
    let time = field("EventTime").unwrap_or_default();
    meeting.start = date.as_deref().and_then(|date| dates::combine(date, &time));
    let doubt = meeting.start.is_none().then(|| {
        let found = date.map_or_else(|| "no date".to_owned(), |date| format!("the impossible date \"{date}\""));
        format!("event {} has {found}", meeting.vendor_id)
    });
    meeting.body = json::plain(record, "EventBodyName");
    meeting.title.clone_from(&meeting.body);
    meeting.body_id = field("EventBodyId");
    meeting.location = json::plain(record, "EventLocation");
    meeting.notes = field("EventComment");
    let agenda_status = field("EventAgendaStatusName").unwrap_or_default();
    meeting.status = status::find(&[
        &agenda_status,
        meeting.notes.as_deref().unwrap_or_default(),
        meeting.title.as_deref().unwrap_or_default(),
        &time,
    ]);
    let link = |name: &str| field(name).and_then(|link| address::absolute(&place.pages, &link));
    meeting.agenda_url = link("EventAgendaFile");
    meeting.minutes_url = link("EventMinutesFile");
    meeting.video_url = link("EventVideoPath").or_else(|| video(place, &field("EventMedia")?));
    meeting.raw = json::besides(record, &EVENT_FIELDS);
    if let Some(guid) = field("EventGuid") {
        meeting.raw.insert("guid".into(), Value::String(guid.to_uppercase()));
    }
    Ok((meeting, doubt))
}

/// Media are named by an address, or by a number of the video player.
fn video(place: &Place, media: &str) -> Option<String> {
    if media.chars().all(|c| c.is_ascii_digit()) {
        return Some(format!("{}/Video.aspx?Mode=Granicus&ID1={media}&Mode2=Video", place.pages));
    }
    media.starts_with("http").then(|| address::absolute(&place.pages, media)).flatten()
}
