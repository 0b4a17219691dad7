//! One row of a calendar, be it from the page or from a file in which a scraper has kept the rows.

use super::{Place, api};
use crate::{
    dates, status,
    vendor::{
        Attachment, FetchedPage, PageFault, PageReading, Request, VendorMeeting, Window, address, fallback_id, json,
        model::Start, pattern::pattern,
    },
};
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// A cell, whatever it was read from.
#[derive(Debug, Default)]
pub(super) struct Cell {
    /// In lower case.
    pub(super) header: String,
    pub(super) text: String,
    /// What is said in small print below.
    pub(super) note: Option<String>,
    pub(super) links: Vec<Link>,
}

#[derive(Debug)]
pub(super) struct Link {
    pub(super) label: String,
    pub(super) url: String,
    /// What the page's own name for the link says it is: `Agenda`, `Video`.
    pub(super) role: String,
}

/// What a link in a calendar leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Body,
    Detail,
    Calendar,
    Agenda,
    Accessible,
    Packet,
    Minutes,
    Video,
    Audio,
    Comment,
    Other,
}

fn kind(link: &Link, header: &str) -> Kind {
    let file = link.url.split('?').next().unwrap_or_default();
    if file.ends_with("DepartmentDetail.aspx") {
        return Kind::Body;
    }
    if file.ends_with("MeetingDetail.aspx") {
        return Kind::Detail;
    }
    match address::value(&link.url, "M").unwrap_or_default().to_uppercase().as_str() {
        "A" => return Kind::Agenda,
        "AADA" => return Kind::Accessible,
        "PA" => return Kind::Packet,
        "M" => return Kind::Minutes,
        "MADA" => return Kind::Other,
        "IC" => return Kind::Calendar,
        _ => {}
    }
    let told = if link.role.is_empty() { header.to_owned() } else { link.role.to_lowercase() };
    let says = |word: &str| told.contains(word) || (told.starts_with("extra") && header.contains(word));
    if says("ical") {
        Kind::Calendar
    } else if says("packet") && !says("minutes") {
        Kind::Packet
    } else if says("accessible") {
        Kind::Other
    } else if says("agenda") {
        Kind::Agenda
    } else if says("packet") {
        // That of the minutes.
        Kind::Other
    } else if says("minutes") || says("recap") {
        Kind::Minutes
    } else if says("video") {
        Kind::Video
    } else if says("audio") {
        Kind::Audio
    } else if says("comment") {
        Kind::Comment
    } else {
        Kind::Other
    }
}

/// Recordings stand in some grids as rows of their own, named by their length.
static LENGTH: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\d+h\s+\d+m$"));

/// The meeting of a row; none if the row is none. `body` is the one that the whole page is about.
pub(super) fn meeting(cells: &[Cell], body: Option<&str>, doubts: &mut Vec<String>) -> Option<VendorMeeting> {
    let below = |name: &str| cells.iter().find(|cell| cell.header.contains(name));
    let named =
        cells.iter().find(|cell| matches!(cell.header.as_str(), "name" | "body" | "meeting body" | "meeting name"));
    let title = named.map(|cell| cell.text.clone()).filter(|text| !text.is_empty()).or_else(|| body.map(str::to_owned));
    let Some(title) = title else {
        doubts.push("a row of the calendar names no body".to_owned());
        return None;
    };
    if LENGTH.is_match(&title) {
        return None;
    }
    let time = below("time").map(|cell| cell.text.clone()).unwrap_or_default();
    let start = start(cells, &time);
    let mut meeting = VendorMeeting { start, ..VendorMeeting::default() };
    let links = cells.iter().flat_map(|cell| cell.links.iter().map(move |link| (kind(link, &cell.header), cell, link)));
    for (kind, cell, link) in links {
        take_link(&mut meeting, kind, cell, link);
    }
    if let Some(place) = below("location") {
        meeting.location = Some(place.text.clone()).filter(|text| !text.is_empty());
        meeting.notes.clone_from(&place.note);
    }
    let topic = below("topic").map(|cell| cell.text.clone()).filter(|text| !text.is_empty());
    meeting.notes = meeting.notes.or(topic);
    meeting.status = status::find(&[
        &title,
        &time,
        meeting.location.as_deref().unwrap_or_default(),
        meeting.notes.as_deref().unwrap_or_default(),
    ]);
    if meeting.vendor_id.is_empty() {
        meeting.vendor_id = fallback_id(&title, meeting.start.as_ref().map(|start| start.date));
    }
    if meeting.start.is_none() {
        let dates: Vec<&str> = below("date").map(|cell| cell.text.as_str()).into_iter().collect();
        doubts.push(format!(
            "meeting {} ({title}) has no possible date, only \"{}\"",
            meeting.vendor_id,
            dates.join("")
        ));
    }
    meeting.body = Some(title.clone());
    meeting.title = Some(title);
    Some(meeting)
}

fn start(cells: &[Cell], time: &str) -> Option<Start> {
    match cells.iter().find(|cell| cell.header.contains("date")) {
        Some(cell) => dates::combine(&cell.text, time),
        None => cells.iter().find_map(|cell| dates::combine(&cell.text, time)),
    }
}

fn take_link(meeting: &mut VendorMeeting, kind: Kind, cell: &Cell, link: &Link) {
    let is_ours = !matches!(kind, Kind::Body | Kind::Video | Kind::Audio | Kind::Comment);
    if let Some(id) = address::value(&link.url, "ID").filter(|_| is_ours && meeting.vendor_id.is_empty()) {
        meeting.vendor_id = id;
        if let Some(guid) = address::value(&link.url, "GUID") {
            meeting.raw.insert("guid".into(), Value::String(guid.to_uppercase()));
        }
    }
    let url = link.url.clone();
    match kind {
        Kind::Body => meeting.body_id = address::value(&url, "ID"),
        Kind::Detail => {
            meeting.raw.insert("detail_url".into(), Value::String(url));
        }
        Kind::Calendar => {}
        Kind::Agenda => meeting.agenda_url = meeting.agenda_url.take().or(Some(url)),
        Kind::Packet => meeting.packet_url = meeting.packet_url.take().or(Some(url)),
        Kind::Minutes => meeting.minutes_url = meeting.minutes_url.take().or(Some(url)),
        Kind::Video => meeting.video_url = meeting.video_url.take().or(Some(url)),
        Kind::Audio => {
            meeting.raw.entry("audio_url").or_insert(Value::String(url));
        }
        Kind::Comment => {
            meeting.raw.insert("comment_url".into(), Value::String(url));
        }
        Kind::Accessible | Kind::Other => {
            let name = if link.label.is_empty() { cell.header.clone() } else { link.label.clone() };
            meeting.attach(Attachment { name, url: url.clone(), ..Attachment::default() });
            if kind == Kind::Accessible {
                meeting.raw.insert("accessible_url".into(), Value::String(url));
            }
        }
    }
}

/// The agendas of the meetings in the window.
pub(super) fn follow(reading: &mut PageReading, window: Window) {
    for meeting in &reading.meetings {
        let said = |name: &str| meeting.raw.get(name).and_then(Value::as_str).unwrap_or_default();
        if !window.holds(meeting) || said("detail_url").is_empty() {
            continue;
        }
        let detail = Request::get(said("detail_url"), "detail")
            .with_about(&meeting.vendor_id)
            .with_about(said("accessible_url"));
        reading.follow.push(detail.optional());
    }
}

/// Rows that a scraper has kept as JSON: a text per header, or a label and an address; small print between `--em--`.
pub(super) fn read(place: &Place, window: Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let mut reading = PageReading::default();
    let records = api::records(page)?;
    reading.landmark("rows", records.len());
    for (at, record) in records.iter().enumerate() {
        let row = record.get(0).unwrap_or(record);
        let Some(fields) = row.as_object() else {
            reading.doubts.push(format!("row {} is {}, not a row of a calendar", at + 1, json::kind(row)));
            continue;
        };
        let cells: Vec<Cell> = fields.iter().map(|(header, value)| kept_cell(place, header, value)).collect();
        if let Some(meeting) = meeting(&cells, None, &mut reading.doubts) {
            reading.meeting(meeting);
        }
    }
    follow(&mut reading, window);
    Ok(reading)
}

fn kept_cell(place: &Place, header: &str, value: &Value) -> Cell {
    let header = header.replace('\u{a0}', " ").to_lowercase();
    let said = value.as_str().map(str::to_owned).or_else(|| json::text(value, "label")).unwrap_or_default();
    let neat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut pieces = said.split("--em--");
    let text = neat(pieces.next().unwrap_or_default());
    let note = pieces.next().map(neat).filter(|note| !note.is_empty());
    let mut links = Vec::new();
    if let Some(url) = json::text(value, "url") {
        // Some were joined without the stroke between host and file.
        let url = url.replace(".legistar.comVideo.aspx", ".legistar.com/Video.aspx");
        if let Some(url) = address::absolute(&format!("{}/", place.pages), &url) {
            links.push(Link { label: text.clone(), url, role: String::new() });
        }
    }
    Cell { header, text, note, links }
}
