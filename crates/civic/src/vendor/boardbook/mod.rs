//! BoardBook, the sites of school districts.
//!
//! One page lists the meetings of an organisation, another has a meeting's agenda with all its files. A district that
//! keeps its meetings in a calendar of its own site (Finalsite) is read there: the setting `calendar_url` says where.

mod agenda;
mod calendar;
mod listing;

use super::{Adapter, FetchedPage, PageFault, PageReading, Request, Site, Window, address};

const LISTING: &str = "listing";
const AGENDA: &str = "agenda";
const CALENDAR: &str = "calendar";
const HOST: &str = "https://meetings.boardbook.org";

#[derive(Debug)]
pub(super) struct BoardBook;

impl Adapter for BoardBook {
    fn name(&self) -> &'static str {
        "boardbook"
    }

    fn begin(&self, site: &Site, _: &Window) -> Result<Vec<Request>, PageFault> {
        if let Some(calendar) = site.settings.get("calendar_url").and_then(|url| url.as_str()) {
            return Ok(vec![Request::get(calendar, CALENDAR)]);
        }
        if site.slug.is_empty() || !site.slug.chars().all(|c| c.is_ascii_alphanumeric()) {
            let hint = "expected the number of an organisation, like '1810'";
            return Err(PageFault::Site(format!("slug '{}': {hint}", site.slug)));
        }
        Ok(vec![Request::get(format!("{HOST}/Public/Organization/{}", site.slug), LISTING)])
    }

    fn read(&self, site: &Site, window: &Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
        match page.purpose.as_ref() {
            AGENDA => agenda::read(page, site),
            CALENDAR => calendar::read(page),
            LISTING => listing::read(page, *window),
            _ => Err(PageFault::purpose(page, "BoardBook")),
        }
    }

    fn recognise(&self, page: &FetchedPage) -> Option<&'static str> {
        let text = page.text();
        let known =
            [("PublicMeetingsTable", LISTING), ("agenda-item-information", AGENDA), ("fsCalendarEventLink", CALENDAR)];
        known.into_iter().find(|(mark, _)| text.contains(mark)).map(|(_, purpose)| purpose)
    }
}

/// The address that links of a page are seen from; a kept file is seen from the vendor's host.
fn base(page: &FetchedPage) -> &str {
    address::base_of(&page.url, HOST)
}
