//! A vendor whose pages are lines of text: `meeting ID DAY TITLE`, `item MEETING NUMBER TITLE`, and
//! `document MEETING NUMBER PATH`, `follow PATH PURPOSE [optional]`. Nothing else in the project knows it.

use crate::server::Server;
use bindery_civic::{
    client::{Client, LeapingTimer, Network, Settings},
    vendor::{
        Adapter, Attachment, FetchedPage, PageFault, PageReading, Request, Site, VendorItem, VendorMeeting, Window,
        model::Start,
    },
    visit::{Driver, Known, VisitLimits},
};
use jiff::{civil::date, tz::TimeZone};
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Lines;

pub(crate) static LINES: Lines = Lines;

impl Adapter for Lines {
    fn name(&self) -> &'static str {
        "lines"
    }

    fn begin(&self, site: &Site, _: &Window) -> Result<Vec<Request>, PageFault> {
        if site.slug.contains(' ') {
            return Err(PageFault::Site(format!("the slug {:?} has a space in it", site.slug)));
        }
        Ok(vec![Request::get(format!("{}/listing", site.slug), "listing")])
    }

    fn read(&self, site: &Site, _: &Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
        let text = page.text();
        if text.starts_with('<') {
            return Err(PageFault::new_unexpected(&page.url, "lines", "HTML"));
        }
        assert!(!text.contains("stumble"), "as an adapter with a mistake in it does");
        let mut reading = PageReading::default();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["meeting", id, day, ref title @ ..] => {
                    let mut meeting = VendorMeeting::new(id);
                    meeting.title = Some(title.join(" "));
                    meeting.start = day.parse().ok().map(|date| Start { date, time: None, note: None });
                    reading.meetings.push(meeting);
                }
                ["item", meeting, number, ref title @ ..] => {
                    let mut piece = VendorMeeting::new(meeting);
                    piece.has_agenda = true;
                    let (id, title) = (format!("{meeting}-{number}"), title.join(" "));
                    let sequence = number.parse().unwrap_or(0);
                    piece.items.push(VendorItem { vendor_item_id: Some(id), title, sequence, ..VendorItem::default() });
                    reading.meetings.push(piece);
                }
                ["document", meeting, number, path] => {
                    let mut piece = VendorMeeting::new(meeting);
                    let vendor_item_id = Some(format!("{meeting}-{number}"));
                    let mut item = VendorItem { vendor_item_id, ..VendorItem::default() };
                    let (name, url) = ("Staff Report".to_owned(), format!("{}{path}", site.slug));
                    item.attach(Attachment { name, url, ..Attachment::default() });
                    piece.items.push(item);
                    reading.meetings.push(piece);
                }
                ["follow", path, purpose, ref rest @ ..] => {
                    let purposes = ["listing", "agenda", "detail"];
                    let purpose = purposes.into_iter().find(|known| *known == purpose).unwrap_or("detail");
                    let mut request = Request::get(format!("{}{path}", site.slug), purpose);
                    request.is_optional = rest.contains(&"optional");
                    request.about = rest.iter().map(|word| (*word).to_owned()).collect();
                    if let Some(other) = rest.iter().find_map(|word| word.strip_prefix("or=")) {
                        request = request.or_else(Request::get(format!("{}{other}", site.slug), purpose));
                    }
                    reading.follow.push(request);
                }
                _ => reading.doubts.push(format!("the line {line:?} says nothing")),
            }
        }
        for kind in ["meeting", "item", "follow"] {
            reading.landmark(kind, text.lines().filter(|line| line.starts_with(kind)).count());
        }
        Ok(reading)
    }

    fn recognise(&self, _: &FetchedPage) -> Option<&'static str> {
        Some("listing")
    }
}

/// February 2026.
pub(crate) const WINDOW: Window = Window { from: date(2026, 2, 1), to: date(2026, 2, 28) };

pub(crate) fn site(server: &Server) -> Site {
    Site { slug: server.address.clone(), zone: TimeZone::UTC, settings: serde_json::Map::new() }
}

/// Over the network, without sitting through its politeness.
pub(crate) fn client(settings: &Settings) -> Client {
    let settings = Settings { allow_private: true, ..settings.clone() };
    Client::new(&settings, Arc::new(Network::new(&settings)), Arc::new(LeapingTimer::default()))
}

pub(crate) fn driver<'a>(client: &'a Client, site: &'a Site, known: &'a Known) -> Driver<'a> {
    let limits = VisitLimits::default();
    Driver { client, adapter: &LINES, site, window: WINDOW, city: "testvilleCA", known, limits }
}
