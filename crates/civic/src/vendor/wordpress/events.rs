//! Events as JSON, page by page.
//!
//! `start_date` is what the site shows: the hour on the wall, whatever zone the plugin believes it is in.

use super::EVENTS;
use crate::{
    dates,
    html::Html,
    status,
    vendor::{
        Attachment, FetchedPage, PageFault, PageReading, Request, VendorMeeting, gather, links, model::MeetingStatus,
        open,
    },
};
use serde_json::Value;

pub(super) fn read(page: &FetchedPage) -> Result<PageReading, PageFault> {
    let answer = open::json(page)?;
    let Some(events) = answer.get("events").and_then(Value::as_array) else {
        // An error of the site is JSON too.
        let said = answer.get("message").and_then(Value::as_str);
        let found = said.map_or_else(|| "JSON without one".to_owned(), |said| format!("'{said}'"));
        return Err(PageFault::unexpected(&page.url, "a list 'events'", found));
    };
    let mut reading = PageReading::default();
    reading.landmark("events", events.len());
    for event in events {
        match meeting(event) {
            Ok((meeting, doubt)) => {
                reading.doubts.extend(doubt);
                gather::add(&mut reading, meeting);
            }
            Err(doubt) => reading.doubts.push(doubt),
        }
    }
    let next = answer.get("next_rest_url").and_then(Value::as_str).and_then(|next| links::absolute(&page.url, next));
    reading.follow.extend(next.map(|next| Request::get(next, EVENTS)));
    Ok(reading)
}

fn meeting(event: &Value) -> Result<(VendorMeeting, Option<String>), String> {
    let title = plain(event, "/title");
    let id = match event.get("id") {
        Some(Value::Number(id)) => id.to_string(),
        Some(Value::String(id)) if !id.trim().is_empty() => id.trim().to_owned(),
        _ => return Err(format!("an event without an id was left out: '{title}'")),
    };
    let mut meeting = VendorMeeting::new(id);
    let begins = text(event, "/start_date");
    meeting.start = dates::start(begins);
    let doubt = meeting.start.is_none().then(|| format!("event {}: '{begins}' is no day", meeting.vendor_id));
    if event.get("all_day").and_then(Value::as_bool) == Some(true)
        && let Some(start) = &mut meeting.start
    {
        start.time = None;
    }
    let venue = plain(event, "/venue/venue");
    let parts = ["/venue/address", "/venue/city", "/venue/state", "/venue/zip"].map(|part| plain(event, part));
    // A state alone is what the plugin fills in by itself.
    if !venue.is_empty() || !parts[0].is_empty() || !parts[1].is_empty() {
        let place: Vec<String> = std::iter::once(venue.clone()).chain(parts).filter(|part| !part.is_empty()).collect();
        meeting.location = Some(place.join(", "));
    }
    meeting.status = status::of(&[&title, &venue]).max(said_status(event));
    meeting.title = Some(title).filter(|title| !title.is_empty());
    (meeting.body, meeting.body_id) = body(event);
    description(event, &mut meeting);
    for (name, value) in [("url", text(event, "/url")), ("website", text(event, "/website"))] {
        if !value.is_empty() {
            meeting.raw.insert(name.to_owned(), value.into());
        }
    }
    Ok((meeting, doubt))
}

/// What newer versions of the plugin say beside the title.
fn said_status(event: &Value) -> Option<MeetingStatus> {
    match text(event, "/event_status") {
        "canceled" | "cancelled" => Some(MeetingStatus::Cancelled),
        "postponed" => Some(MeetingStatus::Postponed),
        _ => None,
    }
}

/// The narrowest of its categories, which is the one with the fewest events; without any, who holds it. That is often the
/// person to ask, so the categories come first.
fn body(event: &Value) -> (Option<String>, Option<String>) {
    let list = |name: &str| event.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let count = |one: &&Value| one.get("count").and_then(Value::as_u64).unwrap_or(u64::MAX);
    let narrowest = list("categories").iter().min_by_key(count).map(|one| (plain(one, "/name"), one));
    let holds = || list("organizer").first().map(|one| (plain(one, "/organizer"), one));
    let Some((name, one)) = narrowest.or_else(holds) else { return (None, None) };
    let id = one.get("id").and_then(Value::as_u64).map(|id| id.to_string());
    (Some(name).filter(|name| !name.is_empty()), id)
}

/// The words, and the files that they link to.
fn description(event: &Value, meeting: &mut VendorMeeting) {
    let html = Html::parse(text(event, "/description"));
    let words = html.root().lines().join("\n");
    meeting.notes = Some(words).filter(|words| !words.is_empty());
    for link in html.select("a[href]") {
        let href = link.attribute("href").and_then(|href| links::absolute(text(event, "/url"), href));
        let Some(url) = href else { continue };
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
        } else if is_file && !meeting.documents.iter().any(|known| known.url == url) {
            meeting.documents.push(Attachment { name, url, ..Attachment::default() });
        }
    }
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().trim()
}

/// Without tags, and with `&#8211;` as the dash that it stands for.
fn plain(value: &Value, pointer: &str) -> String {
    let text = text(value, pointer);
    if text.contains(['&', '<']) { Html::parse(text).root().text() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn page(body: &str) -> FetchedPage {
        FetchedPage {
            url: "https://city.example.gov/wp-json/tribe/events/v1/events/?page=1".into(),
            content_type: None,
            bytes: body.as_bytes().to_vec(),
            purpose: Cow::Borrowed("events"),
            about: Vec::new(),
        }
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
        assert!(said.ends_with("expected a list 'events', found 'No route was found'"), "{said}");
        assert!(matches!(read(&page("{\"events\":[{")).unwrap_err(), PageFault::CutShort { .. }));
        let said = read(&page("<html><title>Just a moment...</title></html>")).unwrap_err().to_string();
        assert!(said.ends_with("expected JSON, found a page of HTML named 'Just a moment...'"), "{said}");
    }
}
