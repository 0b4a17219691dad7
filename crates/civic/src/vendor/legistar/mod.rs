//! Legistar: the Web API (JSON, or XML where a client answers with that), and the public pages where there is no API.
//!
//! The API is asked first; when it cannot be read or knows no meetings, the calendar page is. The two number meetings and
//! matters differently: a city that changes from one to the other has its meetings joined by body and start.
//!
//! Settings of a site: `token` for the API; `source` = `calendar` to leave the API aside; `sponsors` = false to save a
//! request per matter.
//!
//! | purpose | page |
//! |---|---|
//! | `events`, `items`, `votes`, `roll_call`, `sponsors`, `attachments` | Web API, on the way through a sync |
//! | `matters`, `histories`, `matter_indexes`, `indexes`, `roster` | Web API, lists besides meetings |
//! | `calendar` | `Calendar.aspx`, `DepartmentDetail.aspx` |
//! | `rows` | rows of a calendar that somebody kept as JSON |
//! | `detail`, `accessible` | a meeting's agenda: `MeetingDetail.aspx`, the agenda for screen readers |
//! | `history` | `HistoryDetail.aspx`, the votes on an item |
//! | `legislation`, `legislation_list` | `LegislationDetail.aspx`, `Legislation.aspx` |
//! | `people` | `People.aspx` |

mod accessible;
mod api;
mod besides;
mod calendar;
mod detail;
mod grid;
mod history;
mod items;
mod legislation;
mod postback;
mod rows;
mod xml;

use super::{Adapter, FetchedPage, PageFault, PageReading, Request, Site, Window, address};
use crate::html::Html;
use serde_json::Value;

#[derive(Debug)]
pub struct Legistar;

const DOMAIN: &str = "legistar.com";
/// More than this is never sent at once.
const LARGEST_ANSWER: usize = 1000;

impl Adapter for Legistar {
    fn name(&self) -> &'static str {
        "legistar"
    }

    fn begin(&self, site: &Site, window: &Window) -> Result<Vec<Request>, PageFault> {
        let place = Place::from_site(site)?;
        let calendar = place.calendar();
        if place.client.is_empty() || site.settings.get("source").and_then(Value::as_str) == Some("calendar") {
            return Ok(vec![calendar]);
        }
        Ok(vec![place.events(*window, 0).or_else(calendar), place.roster(*window, 0)])
    }

    fn read(&self, site: &Site, window: &Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
        let place = Place::from_site(site)?;
        match page.purpose.as_ref() {
            "events" => api::events(&place, *window, page),
            "items" => items::items(&place, page),
            "votes" => items::votes(page),
            "roll_call" => items::roll_call(page),
            "sponsors" => items::sponsors(page),
            "attachments" => items::attachments(&place, page),
            "matters" => besides::matters(&place, page),
            "histories" => besides::histories(page),
            "matter_indexes" => besides::matter_indexes(page),
            "indexes" => besides::indexes(page),
            "roster" => besides::roster(&place, *window, page),
            "calendar" => calendar::read(&place, *window, page),
            "rows" => rows::read(&place, *window, page),
            "detail" => detail::read(&place, page),
            "history" => history::read(&place, page),
            "accessible" => accessible::read(&place, page),
            "legislation" => legislation::detail(&place, page),
            "legislation_list" => legislation::list(&place, page),
            "people" => besides::people(&place, page),
            _ => Err(PageFault::purpose(page, "Legistar")),
        }
    }

    fn recognise(&self, page: &FetchedPage) -> Option<&'static str> {
        let text = page.text();
        let start = text.trim_start();
        if start.starts_with(['[', '{']) || xml::is_xml(start) {
            return api::recognise(&api::records(page).ok()?);
        }
        start.starts_with('<').then(|| Html::parse(&text)).and_then(|html| recognise_page(&html, &text))
    }
}

fn recognise_page(html: &Html, text: &str) -> Option<&'static str> {
    const FORMS: [(&str, &str); 7] = [
        ("HistoryDetail.aspx", "history"),
        ("MeetingDetail.aspx", "detail"),
        ("LegislationDetail.aspx", "legislation"),
        ("Legislation.aspx", "legislation_list"),
        ("People.aspx", "people"),
        ("Calendar.aspx", "calendar"),
        ("DepartmentDetail.aspx", "calendar"),
    ];
    let action = html.first("form#aspnetForm").and_then(|form| form.attribute("action")).unwrap_or_default();
    let by_form = FORMS.iter().find(|(file, _)| action.contains(file)).map(|(_, purpose)| *purpose);
    by_form.or_else(|| {
        let headers: Vec<String> = grid::grids(html).into_iter().flat_map(|grid| grid.headers).collect();
        let has = |name: &str| headers.iter().any(|header| header == name);
        if has("meeting date") {
            Some("calendar")
        } else if has("vote") {
            Some("history")
        } else if has("person name") {
            Some("people")
        } else if has("file #") {
            Some(if has("action") || has("agenda #") || has("ver.") { "detail" } else { "legislation_list" })
        } else if html.first("[id$=_tblAttachments]").is_some() {
            Some("legislation")
        } else {
            let positioned = text.contains("position:absolute") || text.contains("position: absolute");
            (positioned && (text.contains("legistar") || text.contains("Attachments:"))).then_some("accessible")
        }
    })
}

/// The part of a query that leaves out what was sent before.
fn skipping(count: usize) -> String {
    if count == 0 { String::new() } else { format!("&$skip={count}") }
}

/// Where a jurisdiction's API and pages are.
#[derive(Debug)]
struct Place {
    /// The client's name in the API; empty if only pages are known.
    client: String,
    /// `https://client.legistar.com`
    pages: String,
    token: Option<String>,
    /// Who brought matters in is asked for.
    wants_sponsors: bool,
}

impl Place {
    fn from_site(site: &Site) -> Result<Self, PageFault> {
        let pages = address::origin(site, DOMAIN)?;
        let token = site.settings.get("token").and_then(Value::as_str).map(str::to_owned);
        let wants_sponsors = site.settings.get("sponsors").and_then(Value::as_bool) != Some(false);
        let client = match site.slug.trim().split_once('.') {
            Some((client, DOMAIN)) => client,
            Some(_) => "",
            None => site.slug.trim(),
        };
        Ok(Self { client: client.to_owned(), pages, token, wants_sponsors })
    }

    /// An address of the API; the path begins behind the client's name.
    fn api(&self, path: &str, query: &str, purpose: &'static str) -> Request {
        let mut url = format!("https://webapi.legistar.com/v1/{}/{path}", self.client);
        let token = self.token.as_ref().map(|token| format!("token={}", address::encoded(token)));
        let query = [query.to_owned()].into_iter().chain(token).filter(|part| !part.is_empty()).collect::<Vec<_>>();
        if !query.is_empty() {
            url = format!("{url}?{}", query.join("&"));
        }
        Request::get(url, purpose).header("Accept", "application/json")
    }

    fn events(&self, window: Window, skip: usize) -> Request {
        let behind = window.to.tomorrow().unwrap_or(window.to);
        let filter = format!("EventDate ge datetime'{}' and EventDate lt datetime'{behind}'", window.from);
        let query = format!(
            "$filter={}&$orderby={}&$top={LARGEST_ANSWER}{}",
            address::encoded(&filter),
            address::encoded("EventDate desc"),
            skipping(skip)
        );
        self.api("Events", &query, "events").with_about(skip.to_string())
    }

    /// Who sits where, at the window's begin or later.
    fn roster(&self, window: Window, skip: usize) -> Request {
        let filter = format!("OfficeRecordEndDate ge datetime'{}'", window.from);
        let query = format!("$filter={}&$top={LARGEST_ANSWER}{}", address::encoded(&filter), skipping(skip));
        self.api("OfficeRecords", &query, "roster").with_about(skip.to_string()).optional()
    }

    fn calendar(&self) -> Request {
        Request::get(format!("{}/Calendar.aspx", self.pages), "calendar")
    }

    /// What links on a page are read against.
    fn base(&self, page: &FetchedPage) -> String {
        let ours = format!("{}/", self.pages);
        address::base_of(&page.url, &ours).to_owned()
    }
}
