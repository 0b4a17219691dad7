//! Digital Towpath, the sites of towns in New York.
//!
//! A page lists the boards; each board has a page per year with its meetings; a meeting's own page has everything.

use super::{
    Adapter, Attachment, FetchedPage, PageFault, PageReading, Request, Site, VendorMeeting, Window, address,
    fallback_id, open,
};
use crate::{dates, html::Element, status};
use std::collections::BTreeSet;

const DOMAIN: &str = "digitaltowpath.org";
const BOARDS: &str = "boards";
const LISTING: &str = "listing";
const DETAIL: &str = "detail";

#[derive(Debug)]
pub(super) struct DigitalTowpath;

impl Adapter for DigitalTowpath {
    fn name(&self) -> &'static str {
        "digitaltowpath"
    }

    fn begin(&self, site: &Site, _: &Window) -> Result<Vec<Request>, PageFault> {
        Ok(vec![Request::get(format!("{}/categories", address::origin(site, DOMAIN)?), BOARDS)])
    }

    fn read(&self, site: &Site, window: &Window, page: &FetchedPage) -> Result<PageReading, PageFault> {
        let base = address::base(page, site, DOMAIN);
        match page.purpose.as_ref() {
            DETAIL => detail(page, &base),
            LISTING => listing(page, &base, *window),
            BOARDS => boards(page, &base, *window),
            _ => Err(PageFault::purpose(page, "Digital Towpath")),
        }
    }

    fn recognise(&self, page: &FetchedPage) -> Option<&'static str> {
        let text = page.text();
        let known = [("dtp-meeting-title", DETAIL), ("/meetings/detail/", LISTING), ("/meetings/meetings/", BOARDS)];
        known.into_iter().find(|(mark, _)| text.contains(mark)).map(|(_, purpose)| purpose)
    }
}

/// Boards are linked with a year, `/meetings/meetings/Town%20Board/2026`; the years of the window are asked for.
fn boards(page: &FetchedPage, base: &str, window: Window) -> Result<PageReading, PageFault> {
    let html = open::html(page, "a list of boards")?;
    let boards: BTreeSet<String> = html
        .select("a[href*='/meetings/meetings/']")
        .into_iter()
        .filter_map(|link| address::target(base, link))
        .map(|url| url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/').to_owned())
        .map(|url| {
            url.rsplit_once('/').filter(|(_, year)| is_year(year)).map_or(url.clone(), |(board, _)| board.to_owned())
        })
        .collect();
    if boards.is_empty() {
        return Err(open::other_page(page, &html, "a list of boards (/meetings/meetings/…)"));
    }
    let mut reading = PageReading::default();
    reading.landmark("boards", boards.len());
    for board in boards {
        for year in window.from.year()..=window.to.year() {
            reading.follow.push(Request::get(format!("{board}/{year}"), LISTING));
        }
    }
    Ok(reading)
}

fn is_year(text: &str) -> bool {
    text.len() == 4 && text.chars().all(|c| c.is_ascii_digit())
}

/// A year of a board may be empty, so nothing found is no fault.
fn listing(page: &FetchedPage, base: &str, window: Window) -> Result<PageReading, PageFault> {
    let html = open::html(page, "the meetings of a board")?;
    let meetings = html.select("a[href*='/meetings/detail/']");
    if meetings.is_empty() && html.first("a[href*='/meetings']").is_none() {
        return Err(open::other_page(page, &html, "the meetings of a board (/meetings/detail/…)"));
    }
    let mut reading = PageReading::default();
    reading.landmark("a[href*='/meetings/detail/']", meetings.len());
    let mut seen = BTreeSet::new();
    for link in meetings {
        let Some(url) = address::target(base, link) else { continue };
        // Where the day stands beside the link, only what is inside the window is opened.
        let around = link.closest("li, tr, article").unwrap_or(link).text();
        let is_outside = dates::date(&around).is_some_and(|day| !window.contains(day));
        if let Some(id) = id_in(&url).filter(|_| !is_outside)
            && seen.insert(id.clone())
        {
            reading.follow.push(Request::get(url, DETAIL).with_about(id).optional());
        }
    }
    Ok(reading)
}

/// `29` of `/meetings/detail/29`.
fn id_in(url: &str) -> Option<String> {
    let id = url.split_once("/meetings/detail/")?.1.split(['/', '?', '#']).next()?;
    (!id.is_empty() && id.chars().all(|c| c.is_ascii_digit())).then(|| id.to_owned())
}

fn detail(page: &FetchedPage, base: &str) -> Result<PageReading, PageFault> {
    let html = open::html(page, "a meeting")?;
    let said = |selector: &str| html.first(selector).map(|found| found.text()).filter(|text| !text.is_empty());
    let Some(title) = said(".dtp-meeting-title") else {
        return Err(open::other_page(page, &html, "a meeting (.dtp-meeting-title)"));
    };
    let mut reading = PageReading::default();
    reading.landmark(".dtp-meeting-title", 1);
    let time = html.first("time");
    let shown = time.map(|time| time.text()).unwrap_or_default();
    let day = time.and_then(|time| time.attribute("datetime")).unwrap_or_default();
    let start = dates::combine(day, &shown).or_else(|| dates::start(&shown));
    let known = page.about.first().cloned().or_else(|| id_in(&page.url));
    let id = known.unwrap_or_else(|| fallback_id(&title, start.as_ref().map(|start| start.date)));
    if start.is_none() {
        reading.doubts.push(format!("meeting {id}: '{shown}' is no day"));
    }
    let mut meeting = VendorMeeting { start, ..VendorMeeting::new(id) };
    meeting.status = status::find(&[&title]);
    meeting.title = Some(title);
    meeting.body = said(".dtp-meeting-category");
    let parts =
        [".dtp-meeting-venue", ".dtp-meeting-address1", ".dtp-meeting-address2", ".dtp-meeting-zipcode"].map(said);
    let place: Vec<String> = parts.into_iter().flatten().collect();
    meeting.location = Some(place.join(", ")).filter(|place| !place.is_empty());
    meeting.notes = said(".dtp-meeting-description");
    for (url, name) in files(html.first(".dtp-meeting-agenda"), base) {
        place_file(&mut meeting.agenda_url, &mut meeting.documents, url, name);
    }
    for (url, name) in files(html.first(".dtp-meeting-minutes"), base) {
        place_file(&mut meeting.minutes_url, &mut meeting.documents, url, name);
    }
    if let Some(video) = files(html.first(".dtp-meeting-video"), base).into_iter().next() {
        meeting.video_url = Some(video.0);
    }
    reading.meeting(meeting);
    Ok(reading)
}

/// The links below a heading, each once.
fn files(heading: Option<Element<'_>>, base: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for link in
        heading.into_iter().flat_map(|heading| heading.next_siblings()).flat_map(|below| below.select("a[href]"))
    {
        if let Some(url) = address::target(base, link).filter(|url| !found.iter().any(|(known, _)| known == url)) {
            found.push((url, link.text()));
        }
    }
    found
}

fn place_file(first: &mut Option<String>, others: &mut Vec<Attachment>, url: String, name: String) {
    match first {
        None => *first = Some(url),
        Some(_) => others.push(Attachment { name, url, ..Attachment::default() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vendor::testing::{page, site, window};

    fn read(purpose: &'static str, url: &str, body: &str) -> Result<PageReading, PageFault> {
        let page = page(url, purpose, format!("<html>{body}</html>"));
        DigitalTowpath.read(&site("town.example.gov"), &window("2025-12-01", "2026-01-31"), &page)
    }

    #[test]
    fn boards_lead_to_years_and_years_to_meetings() {
        let body = "<a href='/meetings/meetings/Town Board/2026'>Town Board</a><a href='/meetings/meetings/Town Board/2026'>again</a>";
        let boards = read(BOARDS, "https://town.example.gov/categories", body).unwrap();
        let urls: Vec<_> = boards.follow.iter().map(|request| request.url.as_str()).collect();
        let board = "https://town.example.gov/meetings/meetings/Town%20Board";
        assert_eq!(urls, [format!("{board}/2025"), format!("{board}/2026")]);

        let body = "<ul><li>January 14, 2026 <a href='/meetings/detail/29'>Regular</a></li><li>March 3, 2026 <a href='/meetings/detail/31'>Regular</a></li>
            <li><a href='/meetings/detail/30'>Without a day</a> <a href='/meetings/detail/30'>again</a></li></ul>";
        let listing = read(LISTING, urls[1], body).unwrap();
        let about: Vec<_> = listing.follow.iter().map(|request| request.about[0].as_str()).collect();
        assert_eq!(about, ["29", "30"], "not what is outside the window");
    }

    #[test]
    fn other_pages_are_told() {
        let said =
            read(DETAIL, "https://town.example.gov/meetings/detail/7", "<title>Page Not Found</title>").unwrap_err();
        let expected = "expected a meeting (.dtp-meeting-title), found the page \"Page Not Found\"";
        assert!(said.to_string().ends_with(expected), "{said}");
        let odd = "<h3 class=dtp-meeting-title>Hearing</h3><p><time datetime='2026-02-30'>soon</time></p>";
        let odd = read(DETAIL, "https://town.example.gov/meetings/detail/7", odd).unwrap();
        assert_eq!(
            (odd.meetings[0].vendor_id.as_str(), odd.doubts.as_slice()),
            ("7", &["meeting 7: 'soon' is no day".to_owned()][..])
        );
    }
}
