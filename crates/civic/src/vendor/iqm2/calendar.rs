//! The calendar: one block per meeting. What a person sees when pointing at the date (board, type, status, place) stands
//! in the title of the link.

use super::DETAIL;
use crate::{
    dates,
    html::{Element, Html},
    status,
    vendor::{
        Attachment, FetchedPage, PageFault, PageReading, Request, VendorMeeting, Window, address, model::MeetingStatus,
        open,
    },
};
use std::collections::HashMap;

pub(super) fn read(window: Window, page: &FetchedPage, base: &str) -> Result<PageReading, PageFault> {
    let html = open::html(page, "a calendar of meetings")?;
    let rows = html.select("div.MeetingRow");
    let mut reading = PageReading::default();
    reading.landmark("div.MeetingRow", rows.len());
    let bodies = bodies(&html);
    for row in &rows {
        let Some(meeting) = meeting(*row, base, &bodies, &mut reading.doubts) else { continue };
        reading.meeting(meeting);
    }
    let cancelled = reading.meetings.iter().filter(|meeting| meeting.status == Some(MeetingStatus::Cancelled)).count();
    reading.landmark("cancelled meetings", cancelled);
    let is_calendar = html.first("[id*=pnlMeetings], [id*=ctlMeetings], .MonthHeader").is_some();
    if rows.is_empty() && !is_calendar {
        return Err(open::other_page(page, &html, "a calendar of meetings"));
    }
    for meeting in &reading.meetings {
        let has_agenda = meeting.agenda_url.is_some() || meeting.packet_url.is_some() || meeting.minutes_url.is_some();
        let url = address::absolute(base, &format!("Detail_Meeting.aspx?ID={}", meeting.vendor_id));
        if let Some(url) = url.filter(|_| has_agenda && window.holds(meeting)) {
            reading.follow.push(Request::get(url, DETAIL).with_about(&meeting.vendor_id).optional());
        }
    }
    Ok(reading)
}

/// The boards that the page lets one choose from: name and the vendor's id.
fn bodies(html: &Html) -> HashMap<String, String> {
    let options = html.select("select option[value]").into_iter().filter_map(|option| {
        let id = option.attribute("value").filter(|id| id.chars().all(|c| c.is_ascii_digit()) && *id != "0")?;
        Some((option.text(), id.to_owned()))
    });
    options.filter(|(name, id)| !name.is_empty() && !id.is_empty()).collect()
}

fn meeting(
    row: Element<'_>,
    base: &str,
    bodies: &HashMap<String, String>,
    doubts: &mut Vec<String>,
) -> Option<VendorMeeting> {
    let Some(link) = row.first("a[href*='Detail_Meeting.aspx']") else {
        doubts.push(format!("a row leads to no meeting: \"{}\"", row.text().chars().take(80).collect::<String>()));
        return None;
    };
    let Some(id) = link.attribute("href").and_then(|href| address::parameter(href, "ID")) else {
        doubts.push(format!("the meeting of {} has no ID in its link", link.text()));
        return None;
    };
    let mut meeting = VendorMeeting::new(id);
    let hint = Hint::parse(link.attribute("title").unwrap_or_default());
    meeting.start = dates::start(&link.text()).or_else(|| dates::start(&hint.when));
    if meeting.start.is_none() {
        doubts.push(format!("the meeting {id} has the date \"{}\"", link.text()));
    }
    let shown = row.first("div.RowDetails").map(|details| details.text()).filter(|text| !text.is_empty());
    meeting.title = shown.or_else(|| hint.title());
    meeting.body_id = hint.board.as_ref().and_then(|board| bodies.get(board)).cloned();
    let marks: Vec<String> = row.select("span.MeetingCancelled, .RowRight > span").iter().map(Element::text).collect();
    let mut told: Vec<&str> = marks.iter().map(String::as_str).collect();
    told.extend(hint.status.as_deref());
    told.extend(meeting.title.as_deref());
    meeting.status = status::find(&told);
    for (key, value) in [("type", &hint.kind), ("status", &hint.status)] {
        if let Some(value) = value {
            meeting.raw.insert(key.into(), value.as_str().into());
        }
    }
    meeting.body = hint.board;
    meeting.location = hint.place;
    files(row, base, &mut meeting);
    Some(meeting)
}

/// What the title of a link says.
#[derive(Default)]
struct Hint {
    when: String,
    board: Option<String>,
    kind: Option<String>,
    status: Option<String>,
    place: Option<String>,
}

impl Hint {
    fn parse(text: &str) -> Self {
        let mut hint = Self::default();
        let mut place = Vec::new();
        for line in text.split(['\r', '\n']).map(str::trim).filter(|line| !line.is_empty()) {
            let value = |label: &str| line.strip_prefix(label).map(|rest| rest.trim().to_owned());
            if let Some(board) = value("Board:") {
                hint.board = Some(board).filter(|board| !board.is_empty());
            } else if let Some(kind) = value("Type:") {
                hint.kind = Some(kind).filter(|kind| !kind.is_empty());
            } else if let Some(status) = value("Status:") {
                hint.status = Some(status).filter(|status| !status.is_empty());
            } else if hint.when.is_empty() {
                line.clone_into(&mut hint.when);
            } else {
                place.push(line.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        }
        hint.place = Some(place.join(", ")).filter(|place| !place.is_empty());
        hint
    }

    fn title(&self) -> Option<String> {
        match (&self.board, &self.kind) {
            (Some(board), Some(kind)) => Some(format!("{board} - {kind}")),
            (one, other) => one.clone().or_else(|| other.clone()),
        }
    }
}

/// The files that a row links to, by what the link says and by their type.
fn files(row: Element<'_>, base: &str, meeting: &mut VendorMeeting) {
    for link in row.select("a") {
        if link.has_class("HiddenDocumentLink") {
            continue;
        }
        let name = link.text();
        let href = link.attribute("href").unwrap_or_default();
        if link.attribute("id").is_some_and(|id| id.contains("MeetingVideo")) {
            let player =
                Some(href).filter(|href| !href.starts_with('#')).and_then(|href| address::absolute(base, href));
            meeting.video_url = player.or_else(|| {
                let id = &meeting.vendor_id;
                address::absolute(base, &format!("SplitView.aspx?Mode=Video&MeetingID={id}"))
            });
            continue;
        }
        if !href.contains("FileOpen.aspx") {
            continue;
        }
        let Some(url) = address::absolute(base, href) else { continue };
        match (name.to_lowercase().as_str(), address::parameter(&url, "Type")) {
            ("agenda packet", _) | ("", Some("1")) => meeting.packet_url = Some(url),
            ("agenda", _) | ("", Some("14")) => meeting.agenda_url = Some(url),
            ("minutes", _) | ("", Some("12")) => meeting.minutes_url = Some(url),
            _ => meeting.documents.push(Attachment { name, url, ..Attachment::default() }),
        }
    }
}
