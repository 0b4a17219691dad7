//! CivicClerk: meetings and their agendas as JSON.
//!
//! Times are those on the wall, although they carry the `Z` of Greenwich; midnight means that nobody has said. The
//! addresses of blobs that attachments carry die within days, so that documents are asked for by their number.

mod agenda;

use super::{
    Adapter, Attachment, FetchedPage, PageFault, PageReading, Request, Site, VendorMeeting, Window, address, json,
    model::Start, open,
};
use crate::{dates, status};
use serde_json::Value;

#[derive(Debug)]
pub struct CivicClerk;

impl Adapter for CivicClerk {
    fn name(&self) -> &'static str {
        "civicclerk"
    }

    fn begin(&self, site: &Site, window: &Window) -> Result<Vec<Request>, PageFault> {
        let place = Place::from_site(site)?;
        let from = window.from.yesterday().unwrap_or(window.from);
        let to = window.to.tomorrow().unwrap_or(window.to);
        let filter = format!("startDateTime gt {from}T23:59:59Z and startDateTime lt {to}T00:00:00Z");
        let order = address::encoded("startDateTime asc, eventName asc");
        let url = format!("{}/v1/Events?$filter={}&$orderby={order}", place.api, address::encoded(&filter));
        Ok(vec![place.request(url, "listing")])
    }

    fn read(&self, site: &Site, window: &Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
        let place = Place::from_site(site)?;
        match page.purpose.as_ref() {
            "listing" => listing(&place, *window, page),
            "agenda" => agenda::read(&place, page),
            _ => Err(PageFault::purpose(page, "CivicClerk")),
        }
    }

    fn recognise(&self, page: &FetchedPage) -> Option<&'static str> {
        let answer = open::json(page, "events").ok()?;
        let first = json::entries(&answer, "value").first();
        if first.is_some_and(|event| event.get("startDateTime").is_some() && event.get("eventName").is_some()) {
            return Some("listing");
        }
        let item = json::entries(&answer, "items").first()?;
        item.get("agendaObjectItemName").is_some().then_some("agenda")
    }
}

/// Where a site's API and its pages are.
#[derive(Debug)]
struct Place {
    api: String,
    portal: String,
}

impl Place {
    fn from_site(site: &Site) -> Result<Self, PageFault> {
        let slug = site.slug.trim();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let name = slug.split('.').next().unwrap_or_default();
        let is_host = slug.ends_with(".civicclerk.com");
        if name.is_empty() || !name.chars().all(plain) || (slug.contains('.') && !is_host) {
            let hint = "expected the first part of NAME.portal.civicclerk.com";
            return Err(PageFault::Site(format!("the slug \"{slug}\" is no CivicClerk site: {hint}")));
        }
        let api = format!("https://{name}.api.civicclerk.com");
        Ok(Self { api, portal: format!("https://{name}.portal.civicclerk.com") })
    }

    /// The API answers who comes from the portal.
    fn request(&self, url: String, purpose: &'static str) -> Request {
        let request = Request::get(url, purpose).header("Accept", "application/json");
        request.header("Origin", &self.portal).header("Referer", format!("{}/", self.portal))
    }

    fn file(&self, id: &str) -> String {
        format!("{}/v1/Meetings/GetMeetingFileStream(fileId={id},plainText=false)", self.api)
    }
}

fn listing(place: &Place, window: Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let answer = open::json(page, "a page of events")?;
    let events = json::required(page, &answer, "value", "a page of events")?;
    let mut reading = PageReading::default();
    reading.landmark("startDateTime", events.iter().filter(|event| event.get("startDateTime").is_some()).count());
    for (at, event) in events.iter().enumerate() {
        let hidden = json::text(event, "isPublished").is_some_and(|said| said != "Published");
        if json::flag(event, "isDeleted") == Some(true) || hidden {
            continue;
        }
        let Some(meeting) = meeting(place, event) else {
            reading.doubts.push(format!("event {} of the page has no id", at + 1));
            continue;
        };
        if meeting.start.is_none() {
            reading.doubts.push(format!("event {} has no possible date", meeting.vendor_id));
        }
        let agenda = json::number(event, "agendaId").filter(|id| *id > 0);
        if let Some(agenda) = agenda.filter(|_| window.holds(&meeting) && json::flag(event, "hasAgenda") != Some(false))
        {
            let url = format!("{}/v1/Meetings/{agenda}", place.api);
            reading.follow.push(place.request(url, "agenda").with_about(&meeting.vendor_id).optional());
        }
        reading.meeting(meeting);
    }
    if let Some(next) = json::text(&answer, "@odata.nextLink").and_then(|next| address::absolute(&place.api, &next)) {
        reading.follow.push(place.request(next, "listing"));
    }
    Ok(reading)
}

fn meeting(place: &Place, event: &Value) -> Option<VendorMeeting> {
    let field = |name: &str| json::plain(event, name);
    let mut meeting = VendorMeeting::new(field("id")?);
    let said = field("startDateTime").or_else(|| field("eventDate"));
    meeting.start = said.and_then(|text| dates::start(&text)).map(Start::without_midnight);
    meeting.title = field("eventName");
    meeting.body = field("categoryName").or_else(|| field("eventCategoryName"));
    meeting.body_id = field("categoryId").filter(|id| id != "0");
    meeting.location = event.get("eventLocation").and_then(location);
    meeting.notes = field("eventNotice").or_else(|| field("eventDescription"));
    let told = [meeting.title.as_deref().unwrap_or_default(), meeting.notes.as_deref().unwrap_or_default()];
    meeting.status = status::find(&told);
    let link = |name: &str| json::text(event, name).and_then(|url| address::absolute(&place.api, &url));
    let tube = || field("youtubeVideoId").map(|id| format!("https://www.youtube.com/watch?v={id}"));
    meeting.video_url = link("externalMediaUrl").or_else(tube).or_else(|| link("mediaStreamPath"));
    for file in json::entries(event, "publishedFiles") {
        take_file(place, &mut meeting, file);
    }
    // Most fields are about streaming and uploading; these say something about the meeting.
    let telling = ["agendaId", "hasAgenda", "eventTemplateName", "publishedAgendaTimeStamp", "zoomMeetingId"];
    meeting.raw.extend(json::picked(event, &telling));
    Some(meeting)
}

fn location(place: &Value) -> Option<String> {
    let mut lines: Vec<String> = Vec::new();
    for name in ["name", "address1", "address2", "city"] {
        let line = json::plain(place, name).filter(|line| !lines.contains(line));
        lines.extend(line);
    }
    let state = [json::plain(place, "state"), json::plain(place, "zipCode")];
    let state = state.into_iter().flatten().collect::<Vec<_>>().join(" ");
    lines.extend(Some(state).filter(|state| !state.is_empty()));
    (!lines.is_empty()).then(|| lines.join(", "))
}

fn take_file(place: &Place, meeting: &mut VendorMeeting, file: &Value) {
    let Some(id) = json::text(file, "fileId").filter(|id| id != "0") else { return };
    let kind = json::plain(file, "type").unwrap_or_default();
    let url = place.file(&id);
    let slot = match kind.as_str() {
        "Agenda" => &mut meeting.agenda_url,
        "Agenda Packet" => &mut meeting.packet_url,
        "Minutes" => &mut meeting.minutes_url,
        _ => &mut None,
    };
    if slot.is_none() {
        *slot = Some(url.clone());
    }
    let name = json::plain(file, "name").unwrap_or(kind);
    let portal_url = Some(format!("{}/event/{}/files/agenda/{id}", place.portal, meeting.vendor_id));
    meeting.attach(Attachment { name, url, portal_url, vendor_id: Some(id) });
}
