//! Granicus: listings of meetings, a feed beside them, and agendas in whatever form a city has chosen.
//!
//! A listing (`ViewPublisher.php?view_id=N`) names meetings by the number of an *event* while they lie ahead and by that
//! of a *clip* once they are recorded, so an id here is `event:N` or `clip:N`. The same meeting seen under both (or under
//! none, when no agenda is out yet) can be told by `same_as` among its raw values: a hash of title and day.
//!
//! `view_id` of the site's settings is a number, a list of numbers, or a list of `{view_id, body}`. Without it, the
//! views 1 to 60 are tried.

mod agenda_online;
mod feed;
mod grid;
mod listing;
mod outline;
mod prose;
mod viewer;

use super::{
    Adapter, FetchedPage, PageFault, PageReading, Request, Site, VendorMeeting, Window, address, fallback_id,
    pattern::pattern,
};
use jiff::civil::Date;
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

const DOMAIN: &str = "granicus.com";
/// A page with a list of meetings.
const LISTING: &str = "listing";
/// The same as RSS.
const FEED: &str = "feed";
/// Whatever a link to an agenda leads to.
const VIEWER: &str = "viewer";
/// The agenda of an `AgendaOnline` site, and one item of it.
const AGENDA_ONLINE: &str = "agenda_online";
const AGENDA_ONLINE_ITEM: &str = "agenda_online_item";
/// The page with the documents of one item of a Questys agenda.
const QUESTYS_DOCUMENTS: &str = "questys_documents";
/// How many views are tried when none is configured.
const VIEWS_TRIED: u32 = 60;

#[derive(Debug)]
pub struct Granicus;

impl Adapter for Granicus {
    fn name(&self) -> &'static str {
        "granicus"
    }

    fn begin(&self, site: &Site, _: &Window) -> Result<Vec<Request>, PageFault> {
        let origin = address::origin(site, DOMAIN)?;
        let listing = |id: u32| Request::get(format!("{origin}/ViewPublisher.php?view_id={id}"), LISTING);
        let mut requests = Vec::new();
        match views(site)? {
            views if views.is_empty() => {
                requests.extend((1..=VIEWS_TRIED).map(|id| listing(id).with_about(id.to_string()).optional()));
            }
            views => {
                for View { id, body } in views {
                    let feed = format!("{origin}/ViewPublisherRSS.php?view_id={id}&mode=agendas");
                    let both = [listing(id), Request::get(feed, FEED).optional()];
                    requests.extend(both.map(|request| {
                        let request = request.with_about(id.to_string());
                        body.iter().fold(request, Request::with_about)
                    }));
                }
            }
        }
        Ok(requests)
    }

    fn read(&self, site: &Site, window: &Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
        match page.purpose.as_ref() {
            LISTING => listing::read(site, *window, page),
            FEED => feed::read(*window, page),
            VIEWER => viewer::read(site, page),
            AGENDA_ONLINE => agenda_online::read(page),
            AGENDA_ONLINE_ITEM => agenda_online::read_item(page),
            QUESTYS_DOCUMENTS => prose::read_documents(page),
            _ => Err(PageFault::purpose(page, "Granicus")),
        }
    }

    fn recognise(&self, page: &FetchedPage) -> Option<&'static str> {
        let text = page.text();
        let start = text.trim_start();
        if start.starts_with("<?xml") || start.starts_with("<rss") {
            return text.contains("granicus").then_some(FEED);
        }
        if text.contains("loadAgendaItem(") {
            return Some(AGENDA_ONLINE);
        }
        // On an agenda, every item has its own number in the recording; on a listing, every meeting has.
        let is_agenda = text.contains("meta_id=") || text.contains("MsoNormal") || text.contains("grid-column-start");
        let ids = MEETING_ID.find_iter(&text).count();
        if ids > 0 && !is_agenda {
            return Some(LISTING);
        }
        let is_about_one = is_agenda || (text.contains("Agenda") && text.contains("</html"));
        is_about_one.then_some(VIEWER)
    }
}

struct View {
    id: u32,
    body: Option<String>,
}

fn views(site: &Site) -> Result<Vec<View>, PageFault> {
    let wrong = |value: &Value| {
        PageFault::Site(format!(
            "view_id of the site `{}` is {value}: expected a number, a list of numbers, or a list of {{view_id, body}}",
            site.slug
        ))
    };
    let one = |value: &Value| -> Result<View, PageFault> {
        let (id, body) = match value {
            Value::Object(fields) => (fields.get("view_id"), fields.get("body").and_then(Value::as_str)),
            plain => (Some(plain), None),
        };
        let id = id.and_then(|id| id.as_u64().or_else(|| id.as_str()?.trim().parse().ok()));
        let id = id.and_then(|id| u32::try_from(id).ok()).ok_or_else(|| wrong(value))?;
        Ok(View { id, body: body.map(str::to_owned) })
    };
    match site.settings.get("view_id").or_else(|| site.settings.get("view_ids")) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(values)) => values.iter().map(one).collect(),
        Some(value) => Ok(vec![one(value)?]),
    }
}

static MEETING_ID: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(clip|event)_id=([0-9a-f][0-9a-f-]*)|/player/(clip|event)/(\d+)"));
static HOUR: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\b\d{1,2}(?::\d{2})?\s*[ap]\.?m\b"));

/// The meeting that an address speaks of: `clip:281`.
fn meeting_id(address: &str) -> Option<String> {
    let found = MEETING_ID.captures(address)?;
    let kind = found.get(1).or_else(|| found.get(3))?.as_str().to_ascii_lowercase();
    let number = found.get(2).or_else(|| found.get(4))?.as_str();
    Some(format!("{kind}:{number}"))
}

/// The hour in a title such as `Finance Committee 8:30 AM`.
fn hour_in(title: &str) -> Option<jiff::civil::Time> {
    HOUR.find(title).and_then(|found| crate::dates::time(found.as_str()))
}

/// What tells a meeting under its next number.
fn mark_as_the_same(meeting: &mut VendorMeeting) {
    let date: Option<Date> = meeting.start.as_ref().map(|start| start.date);
    if let (Some(title), Some(date)) = (&meeting.title, date) {
        meeting.raw.insert("same_as".into(), fallback_id(title, Some(date)).into());
    }
}

/// The agenda of a meeting of the window, to be fetched.
fn agenda_request(window: Window, meeting: &VendorMeeting) -> Option<Request> {
    let url = meeting.agenda_url.as_deref()?;
    let date = meeting.start.as_ref()?.date;
    let request =
        || Request::get(url, VIEWER).with_about(&meeting.vendor_id).with_about(url).with_about(date.to_string());
    window.holds(meeting).then(|| request().optional())
}
