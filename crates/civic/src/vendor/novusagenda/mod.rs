//! NovusAgenda: a grid of meetings (or the same as JSON), an agenda page with a link per item, and a cover sheet per item.

mod agenda;
mod grid;
mod listing;

use super::{Adapter, FetchedPage, PageFault, PageReading, Request, Site, VendorMeeting, Window, address};

const DOMAIN: &str = "novusagenda.com";
const LISTING: &str = "listing";
const AGENDA: &str = "agenda";
const COVER_SHEET: &str = "cover_sheet";

#[derive(Debug)]
pub struct NovusAgenda;

impl Adapter for NovusAgenda {
    fn name(&self) -> &'static str {
        "novusagenda"
    }

    fn begin(&self, site: &Site, _: &Window) -> Result<Vec<Request>, PageFault> {
        let folder = format!("{}/agendapublic/", address::origin(site, DOMAIN)?);
        // The first page shows what the city has chosen to; the second, half a year on either side.
        let wider = format!("{folder}meetingsgeneral.aspx?MeetingType=1&Date=6ms");
        Ok(vec![Request::get(folder, LISTING), Request::get(wider, LISTING).optional()])
    }

    fn read(&self, site: &Site, window: &Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
        let base = folder(page, site);
        match page.purpose.as_ref() {
            LISTING if page.text().trim_start().starts_with('{') => listing::read(*window, page, &base),
            LISTING => grid::read(*window, page, &base),
            AGENDA => agenda::read(page, &base),
            COVER_SHEET => agenda::read_cover_sheet(page, &base),
            _ => Err(PageFault::purpose(page, "NovusAgenda")),
        }
    }

    fn recognise(&self, page: &FetchedPage) -> Option<&'static str> {
        let text = page.text();
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if has(&["radGridMeetings", "\"dtItm\"", "\"dtMtg\""]) {
            Some(LISTING)
        } else if is_cover_sheet(&text) {
            Some(AGENDA)
        } else if has(&["ns-ContentArea", "AttachmentViewer.ashx"]) {
            Some(COVER_SHEET)
        } else {
            has(&["DisplayAgendaPDF.ashx"]).then_some(LISTING)
        }
    }
}

/// The address, or a text with one, leads to a cover sheet; its name is written in two ways.
fn is_cover_sheet(text: &str) -> bool {
    text.contains("CoverSheet.aspx") || text.contains("Coversheet.aspx")
}

/// What links are seen from; those of a kept file, from the folder that all pages are in.
fn folder(page: &FetchedPage, site: &Site) -> String {
    let base = address::base(page, site, DOMAIN);
    if base == page.url { base } else { format!("{base}agendapublic/") }
}

/// The agenda pages of the meetings that are asked about.
fn agendas(window: Window, meetings: &[VendorMeeting]) -> Vec<Request> {
    let asked = meetings.iter().filter(|meeting| window.holds(meeting));
    let pages = asked.filter_map(|meeting| {
        let url = meeting.agenda_url.as_deref().filter(|url| url.contains("MeetingView.aspx"))?;
        Some(Request::get(url, AGENDA).with_about(&meeting.vendor_id).optional())
    });
    pages.collect()
}
