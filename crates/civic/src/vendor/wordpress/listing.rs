//! The list of events as a page, of the plugin's older and newer kind.
//!
//! An entry has its id among its classes (`post-23900`). Its day and hour stand there for people; for machines they are
//! in a script beside it, by the address of the event.

use super::LISTING;
use crate::{
    dates,
    html::{Element, Html},
    status,
    vendor::{FetchedPage, PageFault, PageReading, Request, VendorMeeting, Window, address, open},
};
use serde_json::Value;
use std::collections::BTreeMap;

const ENTRIES: &str = "article.tribe-events-calendar-list__event, div.type-tribe_events";

pub(super) fn read(page: &FetchedPage, base: &str, window: Window) -> Result<PageReading, PageFault> {
    let html = open::html(page, "a list of events")?;
    let entries = html.select(ENTRIES);
    let mut reading = PageReading::default();
    reading.landmark("entries", entries.len());
    if entries.is_empty() && html.first(".tribe-events, #tribe-events, .tribe-common, .tribe-events-view").is_none() {
        return Err(open::other_page(page, &html, "a list of events (tribe-events)"));
    }
    let scripted = scripted(&html);
    reading.landmark("events in scripts", scripted.len());
    for entry in entries {
        match meeting(entry, base, &scripted) {
            Ok((meeting, doubt)) => {
                reading.doubts.extend(doubt);
                reading.meeting(meeting);
            }
            Err(doubt) => reading.doubts.push(doubt),
        }
    }
    // The list goes on into the future; what is behind the window is not asked for.
    let latest = reading.meetings.iter().filter_map(|meeting| meeting.start.as_ref()).map(|start| start.date).max();
    let next = html.first("a.tribe-events-c-nav__next, .tribe-events-nav-next a");
    if let Some(next) = next.and_then(|link| address::target(base, link))
        && latest.is_some_and(|latest| latest <= window.to)
    {
        reading.follow.push(Request::get(next, LISTING).optional());
    }
    Ok(reading)
}

/// The begin of each event by its address, from the scripts that describe the page to machines.
fn scripted(html: &Html) -> BTreeMap<String, String> {
    let mut begins = BTreeMap::new();
    for script in html.select("script[type='application/ld+json']") {
        let Ok(described) = serde_json::from_str::<Value>(&script.raw_text()) else { continue };
        let events = match &described {
            Value::Array(events) => events.as_slice(),
            one => std::slice::from_ref(one),
        };
        for event in events {
            let text = |field: &str| event.get(field).and_then(Value::as_str);
            if let (Some(url), Some(start)) = (text("url"), text("startDate")) {
                begins.insert(url.to_owned(), start.to_owned());
            }
        }
    }
    begins
}

fn meeting(
    entry: Element<'_>,
    base: &str,
    scripted: &BTreeMap<String, String>,
) -> Result<(VendorMeeting, Option<String>), String> {
    let link = entry.first("a.tribe-events-calendar-list__event-title-link, a.tribe-event-url, h2 a[href], h3 a[href]");
    let title = link.map(|link| link.text()).unwrap_or_default();
    let classes = entry.attribute("class").unwrap_or_default().split_ascii_whitespace();
    let id = classes.filter_map(|class| class.strip_prefix("post-")).find(|id| id.chars().all(|c| c.is_ascii_digit()));
    let Some(id) = id else { return Err(format!("an event without an id was left out: '{title}'")) };
    let mut meeting = VendorMeeting::new(id);
    let url = link.and_then(|link| address::target(base, link));
    let shown = entry.first(".tribe-event-date-start").map(|said| said.text()).unwrap_or_default();
    let day = entry.first("time[datetime]").and_then(|time| time.attribute("datetime")).unwrap_or_default();
    let said = url.as_ref().and_then(|url| scripted.get(url)).and_then(|start| dates::start(start));
    meeting.start = said.or_else(|| dates::combine(day, &shown)).or_else(|| dates::start(&shown));
    let doubt = meeting.start.is_none().then(|| format!("event {id}: '{shown}' is no day"));
    let venue = entry.first(".tribe-events-calendar-list__event-venue, .tribe-events-venue-details");
    meeting.location = venue.map(|venue| venue.text()).filter(|venue| !venue.is_empty());
    meeting.status = status::find(&[&title, meeting.location.as_deref().unwrap_or_default()]);
    meeting.title = Some(title).filter(|title| !title.is_empty());
    if let Some(url) = url {
        meeting.raw.insert("url".to_owned(), url.into());
    }
    Ok((meeting, doubt))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vendor::testing::{self, window};

    #[test]
    fn entries_of_both_kinds_are_read() {
        let body = r#"<html><div class="tribe-events">
            <script type="application/ld+json">[{"@type":"Event","url":"https://city.example.gov/event/a/","startDate":"2026-03-03T18:00:00-05:00"}]</script>
            <article class="tribe-events-calendar-list__event post-11 tribe_events"><a class="tribe-events-calendar-list__event-title-link" href="https://city.example.gov/event/a/">Council</a></article>
            <article class="tribe-events-calendar-list__event post-12"><time datetime="2026-03-04"><span class="tribe-event-date-start">March 4 @ 9:30 am</span></time>
              <h3><a href="/event/b/">Board - CANCELED</a></h3><address class="tribe-events-calendar-list__event-venue">City Hall</address></article>
            <div class="type-tribe_events post-13"><h2><a href="/event/c/">Zoning</a></h2><span class="tribe-event-date-start">March 5, 2026 @ 7:00 pm</span></div>
            <article class="tribe-events-calendar-list__event"><h3><a href="/event/d/">Without an id</a></h3></article>
            <a class="tribe-events-c-nav__next" href="/events/page/2/">Next</a></div></html>"#;
        let page = testing::page("https://city.example.gov/events/", LISTING, body);
        let read_page = |to: &str| read(&page, &page.url, window("2026-03-01", to)).unwrap();
        let read = read_page("2026-03-31");
        let shown: Vec<String> = read
            .meetings
            .iter()
            .map(|meeting| {
                let start = meeting.start.as_ref().unwrap();
                format!("{} {} {}", meeting.vendor_id, start.date, start.time.unwrap().strftime("%H:%M"))
            })
            .collect();
        assert_eq!(shown, ["11 2026-03-03 18:00", "12 2026-03-04 09:30", "13 2026-03-05 19:00"]);
        assert!(read.meetings[1].status.is_some());
        assert_eq!(read.meetings[1].location.as_deref(), Some("City Hall"));
        assert_eq!(read.doubts, ["an event without an id was left out: 'Without an id'"]);
        assert_eq!(read.follow[0].url, "https://city.example.gov/events/page/2/");
        assert!(read_page("2026-03-04").follow.is_empty(), "the page reaches behind the window");
    }
}
