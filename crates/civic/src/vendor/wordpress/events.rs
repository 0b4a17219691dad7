//! Events as JSON, page by page.
//!
//! `start_date` is what the site shows: the hour on the wall, whatever zone the plugin believes it is in.

use super::EVENTS;
use crate::{
    dates,
    html::Html,
    status,
    vendor::{
        Attachment, FetchedPage, PageFault, PageReading, Request, VendorMeeting, address, json, model::MeetingStatus,
        open,
    },
};
use serde_json::Value;

pub(super) fn read(page: &FetchedPage) -> Result<PageReading, PageFault> {
    let answer = open::json(page, "a list of events")?;
    let events = json::required(page, &answer, "events", "a list of events")?;
    let mut reading = PageReading::default();
    reading.landmark("events", events.len());
    for event in events {
        match meeting(event) {
            Ok((meeting, doubt)) => {
                reading.doubts.extend(doubt);
                reading.meeting(meeting);
            }
            Err(doubt) => reading.doubts.push(doubt),
        }
    }
    let next = json::text(&answer, "next_rest_url").and_then(|next| address::absolute(&page.url, &next));
    reading.follow.extend(next.map(|next| Request::get(next, EVENTS)));
    Ok(reading)
}

fn meeting(event: &Value) -> Result<(VendorMeeting, Option<String>), String> {
    let title = json::plain(event, "title").unwrap_or_default();
    let Some(id) = json::text(event, "id") else {
        return Err(format!("an event without an id was left out: '{title}'"));
    };
    let mut meeting = VendorMeeting::new(id);
    let begins = json::text(event, "start_date").unwrap_or_default();
    meeting.start = dates::start(&begins);
    let doubt = meeting.start.is_none().then(|| format!("event {}: '{begins}' is no day", meeting.vendor_id));
    if json::flag(event, "all_day") == Some(true)
        && let Some(start) = &mut meeting.start
    {
        start.time = None;
    }
    let of_venue = |name: &str| json::plain(event.get("venue")?, name);
    let [venue, address, city, state, zip] = ["venue", "address", "city", "state", "zip"].map(of_venue);
    meeting.status = status::find(&[&title, venue.as_deref().unwrap_or_default()]).max(said_status(event));
    // A state alone is what the plugin fills in by itself.
    if venue.is_some() || address.is_some() || city.is_some() {
        let place: Vec<String> = [venue, address, city, state, zip].into_iter().flatten().collect();
        meeting.location = Some(place.join(", "));
    }
    meeting.title = Some(title).filter(|title| !title.is_empty());
    (meeting.body, meeting.body_id) = body(event);
    description(event, &mut meeting);
    meeting.raw.extend(json::picked(event, &["url", "website"]));
    Ok((meeting, doubt))
}

/// What newer versions of the plugin say beside the title.
fn said_status(event: &Value) -> Option<MeetingStatus> {
    match json::text(event, "event_status").as_deref() {
        Some("canceled" | "cancelled") => Some(MeetingStatus::Cancelled),
        Some("postponed") => Some(MeetingStatus::Postponed),
        _ => None,
    }
}

/// The narrowest of its categories, which is the one with the fewest events; without any, who holds it. That is often the
/// person to ask, so the categories come first.
fn body(event: &Value) -> (Option<String>, Option<String>) {
    let count = |one: &&Value| json::number(one, "count").unwrap_or(i64::MAX);
    let narrowest =
        json::entries(event, "categories").iter().min_by_key(count).map(|one| (json::plain(one, "name"), one));
    let holds = || json::entries(event, "organizer").first().map(|one| (json::plain(one, "organizer"), one));
    narrowest.or_else(holds).map_or((None, None), |(name, one)| (name, json::text(one, "id")))
}

/// The words, and the files that they link to.
fn description(event: &Value, meeting: &mut VendorMeeting) {
    let base = json::text(event, "url").unwrap_or_default();
    let html = Html::parse(&json::text(event, "description").unwrap_or_default());
    let words = html.root().lines().join("\n");
    meeting.notes = Some(words).filter(|words| !words.is_empty());
    for link in html.select("a[href]") {
        let Some(url) = address::target(&base, link) else { continue };
        let (name, lower) = (link.text(), url.to_lowercase());
        let path = lower.split(['?', '#']).next().unwrap_or_default();
        let is_file = [".pdf", ".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx"].iter().any(|end| path.ends_with(end));
        let said = name.to_lowercase();
        if said.contains("minutes") {
            meeting.minutes_url.get_or_insert(url);
        } else if said.contains("packet") && is_file {
            meeting.packet_url.get_or_insert(url);
        } else if said.contains("agenda") {
            meeting.agenda_url.get_or_insert(url);
        } else if is_file {
            meeting.attach(Attachment { name, url, ..Attachment::default() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(body: &str) -> FetchedPage {
        FetchedPage::from_kept("https://city.example.gov/wp-json/tribe/events/v1/events/?page=1", body)
    }

    #[test]
    fn files_are_found_in_what_an_event_says() {
        let read = read(&page(
            r#"{"events":[{"id":7,"title":"Board","start_date":"2026-03-03 18:00:00","all_day":true,"event_status":"canceled","url":"https://city.example.gov/event/board/",
                "organizer":[{"id":3,"organizer":"Board of Health"}],"venue":{"state":"GA"},
                "description":"<p>See the <a href='/f/a.pdf'>agenda</a>, <a href='/f/m.docx'>Minutes of May</a> and <a href='/f/map.pdf'>a map</a>.</p>"},
                {"title":"Without an id"},{"id":8,"title":"Impossible","start_date":"2026-02-30 18:00:00"}]}"#,
        ))
        .unwrap();
        let first = &read.meetings[0];
        assert_eq!(first.start.as_ref().unwrap().time, None, "all day long");
        assert_eq!(first.status, Some(MeetingStatus::Cancelled));
        assert_eq!((first.body.as_deref(), first.location.as_deref()), (Some("Board of Health"), None));
        assert_eq!(first.agenda_url.as_deref(), Some("https://city.example.gov/f/a.pdf"));
        assert_eq!(first.minutes_url.as_deref(), Some("https://city.example.gov/f/m.docx"));
        assert_eq!(first.documents.len(), 1);
        assert_eq!(
            read.doubts,
            ["an event without an id was left out: 'Without an id'", "event 8: '2026-02-30 18:00:00' is no day"]
        );
    }

    #[test]
    fn other_answers_are_told() {
        let said = read(&page(r#"{"code":"rest_no_route","message":"No route was found"}"#)).unwrap_err().to_string();
        assert!(
            said.ends_with("expected a list of events (`events`), found the answer \"No route was found\""),
            "{said}"
        );
        assert!(matches!(read(&page("{\"events\":[{")).unwrap_err(), PageFault::CutShort { .. }));
        let said = read(&page("<html><title>Just a moment...</title></html>")).unwrap_err().to_string();
        assert!(said.ends_with("expected a list of events, found the page \"Just a moment...\""), "{said}");
    }
}
