//! PrimeGov: two lists of meetings in JSON, each meeting with its documents, and agendas as HTML.
//!
//! A meeting's documents are compiled from templates: an agenda as HTML and as PDF, a packet, minutes, a notice of its
//! cancellation. A revised agenda takes the place of the one before; minutes and notices are never the packet.

mod agenda;
mod documents;

use super::{
    Adapter, FetchedPage, PageFault, PageReading, Request, Site, VendorMeeting, Window, address, json,
    model::MeetingStatus, open,
};
use crate::{dates, status};
use serde_json::Value;

#[derive(Debug)]
pub struct PrimeGov;

const DOMAIN: &str = "primegov.com";

impl Adapter for PrimeGov {
    fn name(&self) -> &'static str {
        "primegov"
    }

    fn begin(&self, site: &Site, window: &Window) -> Result<Vec<Request>, PageFault> {
        let api = format!("{}/api/v2/PublicPortal", address::origin(site, DOMAIN)?);
        let mut lists = vec![Request::get(format!("{api}/ListUpcomingMeetings"), "listing")];
        let years = window.from.year()..=window.to.year();
        lists.extend(years.map(|year| Request::get(format!("{api}/ListArchivedMeetings?year={year}"), "listing")));
        Ok(lists)
    }

    fn read(&self, site: &Site, window: &Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
        let root = address::origin(site, DOMAIN)?;
        match page.purpose.as_ref() {
            "listing" => listing(&root, *window, page),
            "agenda" => agenda::read(&root, page),
            _ => Err(PageFault::purpose(page, "PrimeGov")),
        }
    }

    fn recognise(&self, page: &FetchedPage) -> Option<&'static str> {
        let text = page.text();
        if text.trim_start().starts_with('[') {
            let entries = open::json_list(page, "meetings").ok()?;
            let first = entries.first()?;
            return (first.get("documentList").is_some() && first.get("meetingTypeId").is_some()).then_some("listing");
        }
        agenda::is_agenda(&text).then_some("agenda")
    }
}

fn listing(root: &str, window: Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let entries = open::json_list(page, "a list of meetings")?;
    let mut reading = PageReading::default();
    reading.landmark("documentList", entries.iter().filter(|entry| entry.get("documentList").is_some()).count());
    for (at, entry) in entries.iter().enumerate() {
        // The Spanish channel of a meeting is listed like a meeting.
        if json::text(entry, "title").is_some_and(|title| title.contains(" - SAP")) {
            continue;
        }
        let Some(mut meeting) = meeting(root, entry) else {
            reading.doubts.push(format!("entry {} of the list has no id", at + 1));
            continue;
        };
        if meeting.start.is_none() {
            reading.doubts.push(format!("meeting {} has no possible date", meeting.vendor_id));
        }
        let agendas = documents::sort(root, entry, &mut meeting);
        if window.holds(&meeting) {
            let request = |url: String| Request::get(url, "agenda").with_about(&meeting.vendor_id).optional();
            reading.follow.extend(agendas.into_iter().map(request));
        }
        reading.meeting(meeting);
    }
    Ok(reading)
}

fn meeting(root: &str, entry: &Value) -> Option<VendorMeeting> {
    const READ: [&str; 10] = [
        "id",
        "title",
        "dateTime",
        "date",
        "time",
        "committeeId",
        "documentList",
        "videoUrl",
        "location",
        "publishDate",
    ];
    let field = |name: &str| json::plain(entry, name);
    let mut meeting = VendorMeeting::new(field("id")?);
    let of_day = || dates::combine(&field("date")?, &field("time").unwrap_or_default());
    meeting.start = field("dateTime").and_then(|text| dates::start(&text)).or_else(of_day);
    meeting.title = field("title");
    meeting.body_id = field("committeeId").filter(|id| id != "0");
    meeting.location = field("location");
    meeting.video_url = json::text(entry, "videoUrl").and_then(|url| address::absolute(root, &url));
    let names =
        json::entries(entry, "documentList").iter().filter_map(|document| json::plain(document, "templateName"));
    let names: Vec<String> = names.collect();
    let title = meeting.title.clone().unwrap_or_default();
    // An agenda that was revised is named so; a recess is a meeting that does not take place.
    let revised = names.iter().any(|name| name.to_lowercase().contains("revised"));
    let recess =
        title.to_lowercase().contains("recess") || names.iter().any(|name| name.to_lowercase().contains("recess"));
    let told: Vec<&str> = names.iter().map(String::as_str).chain([title.as_str()]).collect();
    meeting.status = status::find(&told)
        .max(revised.then_some(MeetingStatus::Revised))
        .max(recess.then_some(MeetingStatus::Cancelled));
    meeting.raw = json::besides(entry, &READ);
    Some(meeting)
}
