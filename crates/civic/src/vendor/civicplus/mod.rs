//! CivicPlus Agenda Center.
//!
//! The search for a range of days lists all bodies with their agendas, and has the same rows as the Agenda Center's own
//! page. Some sites also have the agenda as HTML, which gives the items; on the others there is the PDF alone.

mod agenda;
mod listing;

use super::{Adapter, FetchedPage, PageFault, PageReading, Request, Site, Window, address};
use jiff::civil::Date;

const DOMAIN: &str = "civicplus.com";
const LISTING: &str = "listing";
const AGENDA: &str = "agenda";

#[derive(Debug)]
pub(super) struct CivicPlus;

impl Adapter for CivicPlus {
    fn name(&self) -> &'static str {
        "civicplus"
    }

    fn begin(&self, site: &Site, window: &Window) -> Result<Vec<Request>, PageFault> {
        let origin = address::origin(site, DOMAIN)?;
        let (from, to) = (day(window.from), day(window.to));
        let query = format!("term=&CIDs=all&startDate={from}&endDate={to}&dateRange=&dateSelector=");
        Ok(vec![Request::get(format!("{origin}/AgendaCenter/Search/?{query}"), LISTING)])
    }

    fn read(&self, site: &Site, window: &Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
        let base = address::base(page, site, DOMAIN);
        match page.purpose.as_ref() {
            AGENDA => agenda::read(page, &base),
            LISTING => listing::read(page, &base, *window),
            _ => Err(PageFault::purpose(page, "CivicPlus")),
        }
    }

    fn recognise(&self, page: &FetchedPage) -> Option<&'static str> {
        let text = page.text();
        if text.contains("divItems") && text.contains("level1") {
            return Some(AGENDA);
        }
        text.contains("/AgendaCenter/").then_some(LISTING)
    }
}

/// As the search wants it: `08%2F29%2F2020`.
fn day(date: Date) -> String {
    address::encoded(&date.strftime("%m/%d/%Y").to_string())
}
