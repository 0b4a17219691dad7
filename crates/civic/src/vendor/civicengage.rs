//! CivicEngage Archive Center: files by category, each named with its day.
//!
//! There are no meetings here, only their agendas and packets. The categories that hold agendas are told by their names;
//! where a body has one for packets and one for agendas, the packets are taken. A search for the days of the window comes
//! first; on sites where it finds nothing, the whole category is read.

use super::{
    Adapter, FetchedPage, PageFault, PageReading, Request, Site, VendorMeeting, Window, address, open, pattern::pattern,
};
use crate::{dates, status};
use regex::Regex;
use std::sync::LazyLock;

const DOMAIN: &str = "civicplus.com";
const CATEGORIES: &str = "categories";
const SEARCH: &str = "search";
const CATEGORY: &str = "category";
/// Where most sites have their council's agendas.
const USUAL: &str = "30";

static HOLDS_AGENDAS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)agenda|committee|commission|\bforum\b|\bboard\b.*agenda|zoning administrator"));
static HOLDS_OTHERS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)minutes|audio|video|budget|audit|scanned|general plan$"));
/// What is behind the name of a body.
static KIND: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)[\s:–-]*\b(?:(?:meeting|agendas?|packets?|and|archives?|current)\b[\s&/–-]*)+$"));

#[derive(Debug)]
pub(super) struct CivicEngage;

impl Adapter for CivicEngage {
    fn name(&self) -> &'static str {
        "civicengage"
    }

    fn begin(&self, site: &Site, window: &Window) -> Result<Vec<Request>, PageFault> {
        let origin = address::origin(site, DOMAIN)?;
        let Some(chosen) = site.settings.get("categories").and_then(|chosen| chosen.as_array()) else {
            return Ok(vec![Request::get(format!("{origin}/Archive.aspx"), CATEGORIES)]);
        };
        let ids = chosen
            .iter()
            .filter_map(|id| id.as_u64().map(|id| id.to_string()).or_else(|| id.as_str().map(str::to_owned)));
        Ok(ids.map(|id| search(&origin, &id, "", *window)).collect())
    }

    fn read(&self, site: &Site, window: &Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
        let base = address::base(page, site, DOMAIN);
        match page.purpose.as_ref() {
            CATEGORIES => categories(page, &base, *window),
            SEARCH | CATEGORY => files(page, &base),
            _ => Err(PageFault::purpose(page, "CivicEngage")),
        }
    }

    fn recognise(&self, page: &FetchedPage) -> Option<&'static str> {
        let text = page.text();
        if text.contains("ADID=") {
            return Some(CATEGORY);
        }
        text.contains("lngArchiveMasterID").then_some(CATEGORIES)
    }
}

fn search(origin: &str, category: &str, name: &str, window: Window) -> Request {
    let day = |date: jiff::civil::Date| address::encoded(&date.strftime("%m/%d/%Y").to_string());
    let query = format!(
        "ysnExecuteSearch=1&txtKeywords=&lngArchiveMasterID={category}&txtDateRange=&dtiStartDate={}&dtiEndDate={}",
        day(window.from),
        day(window.to)
    );
    Request::get(format!("{origin}/Archive.aspx?{query}"), SEARCH).with_about(category).with_about(name)
}

fn categories(page: &FetchedPage, base: &str, window: Window) -> Result<PageReading, PageFault> {
    let html = open::html(page, "an Archive Center")?;
    let options = html.select("select[name=lngArchiveMasterID] option");
    let mut reading = PageReading::default();
    reading.landmark("select[name=lngArchiveMasterID] option", options.len());
    if options.is_empty() && html.first("a[href*='Archive.aspx']").is_none() {
        return Err(open::other_page(page, &html, "an Archive Center"));
    }
    let mut chosen: Vec<(String, String)> = Vec::new();
    for option in options {
        let (id, name) = (option.attribute("value").unwrap_or_default().trim(), option.text());
        let is_id = !id.is_empty() && id != "0" && id.chars().all(|c| c.is_ascii_digit());
        if is_id && HOLDS_AGENDAS.is_match(&name) && !HOLDS_OTHERS.is_match(&name) {
            chosen.push((id.to_owned(), name));
        }
    }
    let packets: Vec<String> = chosen.iter().filter(|(_, name)| is_packet(name)).map(|(_, name)| body(name)).collect();
    chosen.retain(|(_, name)| is_packet(name) || !packets.contains(&body(name)));
    if chosen.is_empty() {
        chosen.push((USUAL.to_owned(), String::new()));
    }
    reading.landmark("categories of agendas", chosen.len());
    if let Some(origin) = address::root(base) {
        reading.follow = chosen.iter().map(|(id, name)| search(origin, id, name, window)).collect();
    }
    Ok(reading)
}

fn is_packet(category: &str) -> bool {
    category.to_lowercase().contains("packet")
}

/// `City Council` of `City Council Agendas`.
fn body(category: &str) -> String {
    KIND.replace(category.trim(), "").trim().to_owned()
}

fn files(page: &FetchedPage, base: &str) -> Result<PageReading, PageFault> {
    let html = open::html(page, "files of an Archive Center")?;
    let found = html.select("a[href*='ADID=']");
    let mut reading = PageReading::default();
    reading.landmark("a[href*='ADID=']", found.len());
    if found.is_empty()
        && html.first("a[href*='Archive.aspx'], select[name=lngArchiveMasterID], form[action*='Archive']").is_none()
    {
        return Err(open::other_page(page, &html, "files of an Archive Center"));
    }
    let category = page.about.first().cloned();
    let name = page.about.get(1).cloned().unwrap_or_default();
    for link in found {
        let Some(url) = address::target(base, link) else { continue };
        let Some(id) = address::value(&url, "ADID").filter(|id| id.chars().all(|c| c.is_ascii_digit())) else {
            continue;
        };
        let title = link.text();
        // A picture may be linked beside the words.
        if title.is_empty() {
            continue;
        }
        let mut meeting = VendorMeeting::new(format!("ce_adid_{id}"));
        meeting.start = dates::start(&title);
        if meeting.start.is_none() {
            reading.doubts.push(format!("file {id}: there is no day in '{title}'"));
        }
        meeting.status = status::find(&[&title]);
        meeting.body = Some(body(&name)).filter(|body| !body.is_empty());
        meeting.body_id.clone_from(&category);
        if is_packet(&name) || is_packet(&title) {
            meeting.packet_url = Some(url);
        } else {
            meeting.agenda_url = Some(url);
        }
        meeting.title = Some(title);
        reading.meeting(meeting);
    }
    if reading.meetings.is_empty()
        && page.purpose == SEARCH
        && let Some((origin, category)) = address::root(base).zip(category)
    {
        let whole = Request::get(format!("{origin}/Archive.aspx?AMID={category}"), CATEGORY);
        reading.follow.push(whole.with_about(category).with_about(name).optional());
    }
    Ok(reading)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vendor::testing;

    fn site() -> Site {
        testing::site("www.city.example.gov")
    }

    fn window() -> Window {
        testing::window("2026-03-01", "2026-03-31")
    }

    fn read(request: &Request, body: &str) -> Result<PageReading, PageFault> {
        let text = format!("<html><a href='/Archive.aspx'>Archive</a>{body}</html>");
        let mut page = testing::page(&request.url, request.purpose, text);
        page.about.clone_from(&request.about);
        CivicEngage.read(&site(), &window(), &page)
    }

    #[test]
    fn categories_of_agendas_are_searched() {
        let begin = CivicEngage.begin(&site(), &window()).unwrap();
        assert_eq!(begin[0].url, "https://www.city.example.gov/Archive.aspx");
        let options = "<select name=lngArchiveMasterID><option value=0>Select</option><option value=30>City Council Agendas</option>
            <option value=31>City Council Minutes</option><option value=32>City Council Agenda Packets</option>
            <option value=33>Planning Commission</option><option value=34>Budget Committee Audio</option><option value=35>Newsletters</option></select>";
        let read_page = read(&begin[0], options).unwrap();
        let about: Vec<_> = read_page.follow.iter().map(|request| request.about.join(" ")).collect();
        assert_eq!(about, ["32 City Council Agenda Packets", "33 Planning Commission"], "packets rather than agendas");
        let days = "dtiStartDate=03%2F01%2F2026&dtiEndDate=03%2F31%2F2026";
        assert!(read_page.follow[0].url.ends_with(&format!("lngArchiveMasterID=32&txtDateRange=&{days}")));
        let none = read(&begin[0], "").unwrap();
        assert_eq!(none.follow[0].about[0], USUAL);
    }

    #[test]
    fn files_are_meetings_by_the_day_in_their_name() {
        let request = search("https://www.city.example.gov", "32", "City Council Agenda Packets", window());
        let read_page = read(
            &request,
            "<a href='Archive.aspx?ADID=8497'><img></a><a href='Archive.aspx?ADID=8497'>March 3, 2026 Regular Meeting</a>
             <a href='Archive.aspx?ADID=8498'>03-17-2026 CANCELLED</a><a href='Archive.aspx?ADID=8499'>Rules of order</a>",
        )
        .unwrap();
        let ids: Vec<_> = read_page.meetings.iter().map(|meeting| meeting.vendor_id.as_str()).collect();
        assert_eq!(ids, ["ce_adid_8497", "ce_adid_8498", "ce_adid_8499"]);
        let first = &read_page.meetings[0];
        assert_eq!(first.packet_url.as_deref(), Some("https://www.city.example.gov/Archive.aspx?ADID=8497"));
        assert_eq!((first.body.as_deref(), first.body_id.as_deref()), (Some("City Council"), Some("32")));
        assert!(read_page.meetings[1].status.is_some());
        assert_eq!(read_page.doubts, ["file 8499: there is no day in 'Rules of order'"]);
        assert!(read_page.follow.is_empty());
    }

    #[test]
    fn a_search_that_finds_nothing_leads_to_the_whole_category() {
        let request = search("https://www.city.example.gov", "32", "Council", window());
        let nothing = read(&request, "No items found").unwrap();
        assert_eq!(nothing.follow[0].url, "https://www.city.example.gov/Archive.aspx?AMID=32");
        let whole = read(&nothing.follow[0], "").unwrap();
        assert!(whole.meetings.is_empty() && whole.follow.is_empty());
    }
}
