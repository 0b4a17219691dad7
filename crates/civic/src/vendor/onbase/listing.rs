//! What the search finds: rows of a table, or on newer sites a list in the page's script.

use super::MEETING;
use crate::{
    dates,
    html::{Element, Html},
    status,
    vendor::{
        Attachment, FetchedPage, PageFault, PageReading, Request, VendorMeeting, Window, address, json, open,
        pattern::pattern,
    },
};
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// `September 23, 2019`, `9/23/2019`, with or without the day of the week.
static ONLY_A_DAY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:[a-z]+day,?\s+)?(?:[a-z]{3,9}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4}|\d{1,2}[/-]\d{1,2}[/-]\d{2,4})$",
    )
});

pub(super) fn read(page: &FetchedPage, base: &str, window: Window) -> Result<PageReading, PageFault> {
    let html = open::html(page, "a search for meetings")?;
    let mut reading = PageReading::default();
    let rows = html.select("tr.meeting-row");
    reading.landmark("tr.meeting-row", rows.len());
    let folder = format!("{base}/");
    let seen_from = address::base_of(&page.url, &folder);
    for row in &rows {
        match of_row(*row, seen_from) {
            Ok(meeting) => reading.meeting(meeting),
            Err(doubt) => reading.doubts.push(doubt),
        }
    }
    let listed = list_in(&page.text());
    reading.landmark("SearchResults", usize::from(listed.is_some()));
    match listed {
        Some(Ok(meetings)) => {
            for entry in meetings {
                match of_entry(&entry, base) {
                    Ok(meeting) => reading.meeting(meeting),
                    Err(doubt) => reading.doubts.push(doubt),
                }
            }
        }
        Some(Err(error)) => {
            return Err(PageFault::new_unexpected(&page.url, "a list of meetings in its script", error));
        }
        None if rows.is_empty() && !is_search(&html) => {
            return Err(open::other_page(page, &html, "a search for meetings"));
        }
        None => {}
    }
    for meeting in &reading.meetings {
        let is_asked = window.holds(meeting);
        if let Some(url) = meeting.agenda_url.as_ref().filter(|url| is_asked && url.contains("ViewMeeting")) {
            reading.follow.push(Request::get(url.clone(), MEETING).with_about(meeting.vendor_id.clone()).optional());
        }
    }
    Ok(reading)
}

fn is_search(html: &Html) -> bool {
    html.first("#meetings-list, #divResults, #searchOptions").is_some()
}

fn of_row(row: Element<'_>, base: &str) -> Result<VendorMeeting, String> {
    let id = row.attribute("data-meeting-id").filter(|id| !id.trim().is_empty());
    let Some(id) = id else { return Err(format!("a row without an id was left out: '{}'", row.text())) };
    let cell = |kind: &str| row.first(&format!("td[data-sortable-type={kind}]")).map(|cell| cell.text());
    let mut meeting = VendorMeeting::new(id.trim());
    let (name, kind) = (cell("mtgName").unwrap_or_default(), cell("mtgType").unwrap_or_default());
    meeting.start = dates::start(&cell("mtgTime").unwrap_or_default());
    describe(&mut meeting, &name, &kind);
    // Every link stands there twice: for narrow and for wide screens.
    for link in row.select("a[href]") {
        let Some(url) = address::target(base, link) else { continue };
        let title = link.attribute("title").unwrap_or_default();
        place(&mut meeting, url, &format!("{title} {}", link.text()));
    }
    Ok(meeting)
}

/// Puts a link where it belongs, each once: what is shown of a meeting, or a file of it.
fn place(meeting: &mut VendorMeeting, url: String, said: &str) {
    let kind = address::value(&url, "doctype").or_else(|| address::value(&url, "documentType"));
    let said = said.to_lowercase();
    let is_file = url.to_lowercase().contains("/downloadfile");
    let of = |number: &str, words: &[&str]| match &kind {
        Some(kind) => kind == number,
        None => words.iter().any(|word| said.contains(word)),
    };
    if said.contains("packet") {
        meeting.packet_url.get_or_insert(url);
    } else if of("2", &["minutes"]) && !is_file {
        meeting.minutes_url.get_or_insert(url);
    } else if of("1", &["agenda"]) && !is_file {
        meeting.agenda_url.get_or_insert(url);
    } else if said.contains("video") || said.contains("media") {
        meeting.video_url.get_or_insert(url);
    } else {
        let name = match kind.as_deref() {
            Some("1") => "Agenda",
            Some("2") => "Minutes",
            Some("3") => "Summary",
            _ => "Document",
        };
        meeting.attach(Attachment { name: name.to_owned(), url, ..Attachment::default() });
    }
}

/// Many sites call every meeting by its day; then its kind is its title.
fn describe(meeting: &mut VendorMeeting, name: &str, kind: &str) {
    let title = if name.is_empty() || (ONLY_A_DAY.is_match(name) && !kind.is_empty()) { kind } else { name };
    meeting.title = Some(title.to_owned()).filter(|title| !title.is_empty());
    meeting.body = Some(kind.to_owned()).filter(|body| !body.is_empty());
    meeting.status = status::find(&[name, kind]);
}

/// The meetings in the script of a page, if it has such a list.
fn list_in(text: &str) -> Option<Result<Vec<Value>, String>> {
    let (_, list) = text.split_once("new SearchResults(")?;
    let mut values = serde_json::Deserializer::from_str(list).into_iter::<Value>();
    Some(match values.next()? {
        Ok(mut found) => match found.get_mut("Meetings").map(Value::take) {
            Some(Value::Array(meetings)) => Ok(meetings),
            _ => Err("no 'Meetings' in it".to_owned()),
        },
        Err(error) => Err(error.to_string()),
    })
}

fn of_entry(entry: &Value, base: &str) -> Result<VendorMeeting, String> {
    let text = |field: &str| json::text(entry, field).unwrap_or_default();
    let Some(id) = json::text(entry, "ID") else {
        return Err(format!("an entry without an id was left out: '{}'", text("Name")));
    };
    let mut meeting = VendorMeeting::new(id);
    // The hour is the one on the wall; what follows it is how far the wall is from Greenwich.
    meeting.start = dates::start(&text("Time"));
    describe(&mut meeting, &text("Name"), &text("MeetingTypeName"));
    meeting.location = json::text(entry, "Location");
    let is_so = |field: &str| json::flag(entry, field) == Some(true);
    let shown = |kind: u8| format!("{base}/Meetings/ViewMeeting?id={}&doctype={kind}", meeting.vendor_id);
    let (agenda, minutes) = (shown(1), shown(2));
    meeting.agenda_url = is_so("IsAgendaAvailable").then_some(agenda);
    meeting.minutes_url = is_so("IsMinutesAvailable").then_some(minutes);
    Ok(meeting)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vendor::testing::{page, window};

    fn reading(body: &str) -> Result<PageReading, PageFault> {
        let base = "https://docs.example.gov/AgendaOnline";
        let text = format!("<html><body>{body}</body></html>");
        let page = page(&format!("{base}/Meetings/Search?dropid=11"), "listing", text);
        read(&page, base, window("2026-06-01", "2026-06-30"))
    }

    #[test]
    fn newer_sites_list_meetings_in_their_script() {
        let read = reading(
            r#"<script>show(new SearchResults({"Meetings":[
                {"ID":501,"Name":"Board of Supervisors, summer session","MeetingTypeName":"Supervisors","IsAgendaAvailable":true,"Time":"2026-06-11T09:00:00-07:00"},
                {"ID":502,"Name":"Zoning Board (cancelled)","MeetingTypeName":"Supervisors","IsAgendaAvailable":false,"Time":"2026-09-02T14:00:00-07:00"},
                {"Name":"Without an id"}],"HasError":false}));</script>"#,
        )
        .unwrap();
        let first = &read.meetings[0];
        assert_eq!((first.vendor_id.as_str(), first.body.as_deref()), ("501", Some("Supervisors")));
        assert_eq!(first.title.as_deref(), Some("Board of Supervisors, summer session"));
        assert_eq!(first.start.as_ref().and_then(|start| start.time), jiff::civil::Time::new(9, 0, 0, 0).ok());
        assert!(read.meetings[1].status.is_some() && read.meetings[1].agenda_url.is_none());
        assert_eq!(read.follow.len(), 1);
        assert_eq!(read.follow[0].url, "https://docs.example.gov/AgendaOnline/Meetings/ViewMeeting?id=501&doctype=1");
        assert_eq!(read.doubts, ["an entry without an id was left out: 'Without an id'"]);
    }

    #[test]
    fn odd_pages_are_told() {
        let said = reading("<script>new SearchResults({\"Meetings\": [</script>").unwrap_err().to_string();
        assert!(said.contains("expected a list of meetings in its script"), "{said}");
        let said = reading("<title>Runtime Error</title>").unwrap_err().to_string();
        assert!(said.ends_with("expected a search for meetings, found the page \"Runtime Error\""), "{said}");
        assert!(reading("<div id=meetings-list></div>").unwrap().meetings.is_empty(), "a search that finds nothing");
        let read = reading("<div id=meetings-list><table><tr class=meeting-row><td>x</td></tr></table></div>").unwrap();
        assert_eq!(read.doubts, ["a row without an id was left out: 'x'"]);
    }
}
