//! OnBase Agenda Online.
//!
//! The search lists meetings. A meeting's page comes first, because the site ties what follows to the visit; then the
//! outline of its agenda, and each item's own page with its files.

mod agenda;
mod listing;

use super::{Adapter, FetchedPage, PageFault, PageReading, Request, Site, Window, address};
use jiff::civil::Date;

const LISTING: &str = "listing";
const MEETING: &str = "meeting";
const AGENDA: &str = "agenda";
const ITEM: &str = "item";

#[derive(Debug)]
pub(super) struct OnBase;

impl Adapter for OnBase {
    fn name(&self) -> &'static str {
        "onbase"
    }

    fn begin(&self, site: &Site, window: &Window) -> Result<Vec<Request>, PageFault> {
        let moment = |day: Date, hour: &str| address::encoded(&format!("{} {hour}", day.strftime("%m/%d/%Y")));
        let (from, to) = (moment(window.from, "00:00:00"), moment(window.to, "23:59:59"));
        let types = site.settings.get("meeting_types").and_then(|types| types.as_str());
        let types = types.map(|types| format!("&mtids={types}")).unwrap_or_default();
        // 11 is a range of one's own.
        let url = format!("{}/Meetings/Search?dropid=11{types}&dropsv={from}&dropev={to}", base(site)?);
        Ok(vec![Request::get(url, LISTING)])
    }

    fn read(&self, site: &Site, window: &Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
        match page.purpose.as_ref() {
            MEETING => agenda::read_meeting(page, &base_of(page, site)),
            AGENDA => agenda::read(page, &base_of(page, site)),
            ITEM => agenda::read_item(page, &base_of(page, site)),
            LISTING => listing::read(page, &base_of(page, site), *window),
            _ => Err(PageFault::purpose(page, "OnBase")),
        }
    }

    fn recognise(&self, page: &FetchedPage) -> Option<&'static str> {
        let text = page.text();
        if text.contains("meeting-row") || text.contains("new SearchResults(") || text.contains("meetings-list") {
            return Some(LISTING);
        }
        if text.contains("javascript:loadAgendaItem(") || text.contains("accessible-item") {
            return Some(AGENDA);
        }
        text.contains("Agenda Online").then_some(MEETING)
    }
}

/// `https://host/path` of the slug `host/path`.
fn base(site: &Site) -> Result<String, PageFault> {
    let slug = site.slug.trim_matches('/');
    let (host, path) = slug.split_once('/').unwrap_or((slug, "OnBaseAgendaOnline"));
    let is_plain =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
    if host.contains('.') && is_plain(host) && is_plain(path) {
        return Ok(format!("https://{host}/{path}"));
    }
    let hint = "expected a host and a path, like 'docs.springfield.gov/OnBaseAgendaOnline'";
    Err(PageFault::Site(format!("slug '{}': {hint}", site.slug)))
}

/// What stands in front of `/Meetings/…` or `/Documents/…` in a page's address.
fn base_of(page: &FetchedPage, site: &Site) -> String {
    let own = ["/Meetings", "/Documents"].iter().find_map(|folder| page.url.find(folder));
    match own.and_then(|at| page.url.get(..at)).filter(|base| address::root(base).is_some()) {
        Some(base) => base.to_owned(),
        None => base(site).unwrap_or_default(),
    }
}
