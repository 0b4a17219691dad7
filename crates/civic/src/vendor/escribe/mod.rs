//! eScribe: the calendar's meetings as JSON, agendas as HTML.

mod agenda;

use super::{
    Adapter, Attachment, FetchedPage, PageFault, PageReading, Request, Site, VendorMeeting, Window, address, json,
    model::Start, open,
};
use crate::{dates, html::Html, status};
use jiff::{Timestamp, tz::TimeZone};
use serde_json::Value;

#[derive(Debug)]
pub struct Escribe;

const DOMAIN: &str = "escribemeetings.com";

impl Adapter for Escribe {
    fn name(&self) -> &'static str {
        "escribe"
    }

    fn begin(&self, site: &Site, window: &Window) -> Result<Vec<Request>, PageFault> {
        let url = format!("{}/MeetingsCalendarView.aspx/GetCalendarMeetings", address::origin(site, DOMAIN)?);
        let days = format!(r#"{{"calendarStartDate":"{}","calendarEndDate":"{}"}}"#, window.from, window.to);
        let listing = Request::get(url, "listing").post("application/json; charset=utf-8", days);
        Ok(vec![listing.header("X-Requested-With", "XMLHttpRequest")])
    }

    fn read(&self, site: &Site, window: &Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
        let root = address::origin(site, DOMAIN)?;
        match page.purpose.as_ref() {
            "listing" => listing(&root, &site.zone, *window, page),
            "agenda" => agenda::read(&root, page),
            _ => Err(PageFault::purpose(page, "eScribe")),
        }
    }

    fn recognise(&self, page: &FetchedPage) -> Option<&'static str> {
        let text = page.text();
        if text.trim_start().starts_with('{') {
            let answer = open::json(page, "meetings").ok()?;
            let first = json::entries(&answer, "d").first()?;
            return (first.get("MeetingName").is_some() && first.get("ID").is_some()).then_some("listing");
        }
        text.contains("AgendaItemContainer").then_some("agenda")
    }
}

fn listing(root: &str, zone: &TimeZone, window: Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let answer = open::json(page, "the calendar's meetings")?;
    let entries = json::required(page, &answer, "d", "the calendar's meetings")?;
    let mut reading = PageReading::default();
    reading.landmark("MeetingName", entries.iter().filter(|entry| entry.get("MeetingName").is_some()).count());
    for (at, entry) in entries.iter().enumerate() {
        let Some(mut meeting) = meeting(zone, entry) else {
            reading.doubts.push(format!("entry {} of the calendar has no id", at + 1));
            continue;
        };
        if meeting.start.is_none() {
            reading.doubts.push(format!("meeting {} has no possible date", meeting.vendor_id));
        }
        // Addresses in an entry are relative to the site that it names itself.
        let own =
            json::text(entry, "Url").and_then(|url| Some(format!("{}/", url.split("/MeetingsCalendarView").next()?)));
        let ours = format!("{root}/");
        let base = own.as_deref().map_or(ours.as_str(), |own| address::base_of(own, &ours));
        let agendas = take_documents(base, entry, &mut meeting);
        if window.holds(&meeting) && (json::flag(entry, "HasAgenda") == Some(true) || !agendas.is_empty()) {
            reading.follow.extend(agenda_request(base, &meeting.vendor_id, agendas));
        }
        reading.meeting(meeting);
    }
    Ok(reading)
}

fn meeting(zone: &TimeZone, entry: &Value) -> Option<VendorMeeting> {
    let field = |name: &str| json::plain(entry, name);
    let mut meeting = VendorMeeting::new(field("ID")?.to_lowercase());
    meeting.start = field("StartDate").and_then(|text| start(&text, zone));
    meeting.start = meeting.start.or_else(|| field("FormattedStart").and_then(|text| dates::start(&text)));
    let instead = field("TimeOverride");
    if let (Some(start), Some(said)) = (&mut meeting.start, &instead) {
        start.note = Some(said.clone());
    }
    meeting.title = field("MeetingName");
    meeting.body = field("MeetingType");
    meeting.location = field("Location").or_else(|| field("Description"));
    let told = [meeting.title.clone(), instead, field("Description")].map(Option::unwrap_or_default);
    meeting.status = status::find(&told.each_ref().map(String::as_str));
    let telling = ["MeetingPassed", "AllowPublicComments", "DelegationRequestLink", "EndDate", "PortalId"];
    meeting.raw.extend(json::picked(entry, &telling));
    Some(meeting)
}

/// Local words, or milliseconds of a true instant in older answers: `/Date(1766020500000)/`.
fn start(text: &str, zone: &TimeZone) -> Option<Start> {
    let Some(inside) = text.strip_prefix("/Date(") else { return dates::start(text) };
    let digits: String = inside.chars().take_while(|c| c.is_ascii_digit() || *c == '-').collect();
    Some(Start::at(Timestamp::from_millisecond(digits.parse().ok()?).ok()?, zone))
}

/// Gives a meeting its documents; answers with its agendas as HTML, the one to be read first in front.
fn take_documents(base: &str, entry: &Value, meeting: &mut VendorMeeting) -> Vec<String> {
    // Each with its rank: the lowest counts.
    let (mut agendas, mut packets, mut minutes) = (Vec::new(), Vec::new(), Vec::new());
    for document in json::entries(entry, "MeetingDocumentLink") {
        let Some(url) = json::text(document, "Url").and_then(|url| address::absolute(base, &url)) else { continue };
        let kind = json::text(document, "Type").unwrap_or_default();
        let is_html = json::text(document, "Format").is_some_and(|format| format.eq_ignore_ascii_case("html"));
        let is_english = json::text(document, "LanguageCode").is_none_or(|code| code.contains("en"));
        let foreign = if is_english { 0 } else { 10 };
        match (kind.as_str(), is_html) {
            ("PostAgenda", true) => agendas.push((foreign, url.clone())),
            ("Agenda", true) => agendas.push((foreign + 1, url.clone())),
            ("Merged" | "AgendaPackage", false) => packets.push((foreign, url.clone())),
            ("PostAgenda", false) => packets.push((foreign + 1, url.clone())),
            ("Agenda", false) => packets.push((foreign + 2, url.clone())),
            ("PostMinutes" | "Minutes", is_html) => minutes.push((foreign + usize::from(is_html), url.clone())),
            _ => {}
        }
        let name = json::plain(document, "Title").unwrap_or(kind);
        let vendor_id = address::value(&url, "DocumentId");
        meeting.attach(Attachment { name, url, vendor_id, portal_url: None });
    }
    for list in [&mut agendas, &mut packets, &mut minutes] {
        list.sort_by_key(|(rank, _)| *rank);
    }
    let first = |list: &[(usize, String)]| list.first().map(|(_, url)| url.clone());
    meeting.packet_url = first(&packets);
    meeting.agenda_url = first(&agendas).or_else(|| first(&packets));
    meeting.minutes_url = first(&minutes);
    if ["HasVideo", "HasLiveVideo"].iter().any(|name| json::flag(entry, name) == Some(true)) {
        let link = json::text(entry, "LiveVideoStandAloneLink").map(|link| Html::parse(&link));
        let link = link.as_ref().and_then(|link| link.first("a"));
        meeting.video_url = link.and_then(|link| address::target(base, link));
    }
    agendas.into_iter().map(|(_, url)| url).collect()
}

/// The agenda as HTML: as listed, and otherwise under the names that it can have.
fn agenda_request(base: &str, meeting: &str, listed: Vec<String>) -> Option<Request> {
    let named = ["Merged", "Agenda", "PostAgenda"]
        .map(|kind| format!("{base}Meeting.aspx?Id={meeting}&Agenda={kind}&lang=English"));
    let urls = if listed.is_empty() { named.to_vec() } else { listed };
    let requests = urls.into_iter().map(|url| Request::get(url, "agenda").with_about(meeting).optional());
    requests.rev().reduce(|later, earlier| earlier.or_else(later))
}
