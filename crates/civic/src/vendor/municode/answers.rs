//! The answers of a site of one's own: all meetings, and the files of one.
//!
//! Times are moments in Greenwich without saying so; a day that is not fixed yet is far in the future.

use super::{AGENDA, DETAILS, table};
use crate::{
    dates, status,
    vendor::{
        Attachment, FetchedPage, PageFault, PageReading, Request, Site, VendorMeeting, Window, address, json,
        model::Start, open,
    },
};
use jiff::tz::TimeZone;
use serde_json::Value;

/// From this year on a day means that there is none yet.
const SOMEDAY: i16 = 2099;

pub(super) fn read_list(page: &FetchedPage, site: &Site, window: Window) -> Result<PageReading, PageFault> {
    let answer = open::json(page, "a list of meetings")?;
    let entries = json::required(page, &answer, "Meetings", "a list of meetings")?;
    let mut reading = PageReading::default();
    reading.landmark("Meetings", entries.len());
    for entry in entries {
        let title = json::text(entry, "Title").unwrap_or_default();
        let Some(id) = json::text(entry, "MeetingID") else {
            reading.doubts.push(format!("a meeting without an id was left out: '{title}'"));
            continue;
        };
        let mut meeting = VendorMeeting::new(id);
        meeting.start = start(entry, site, &title);
        if meeting.start.is_none() {
            reading.doubts.push(format!("meeting {}: it has no day yet", meeting.vendor_id));
        }
        meeting.status = status::find(&[&title]);
        meeting.title = Some(title).filter(|title| !title.is_empty());
        meeting.body = json::text(entry, "GroupName");
        meeting.notes = json::text(entry, "BodySummary");
        meeting.raw.extend(json::picked(entry, &["RevisionID"]));
        files(entry, &mut meeting);
        if let Some(root) = address::root(&page.url).filter(|_| window.holds(&meeting)) {
            let url = format!("{root}/api/v1/public/meeting/{}/details.json", meeting.vendor_id);
            reading.follow.push(Request::get(url, DETAILS).with_about(meeting.vendor_id.clone()).optional());
        }
        reading.meeting(meeting);
    }
    Ok(reading)
}

pub(super) fn read_details(page: &FetchedPage) -> Result<PageReading, PageFault> {
    let answer = open::json(page, "the files of a meeting")?;
    let mut reading = PageReading::default();
    for entry in json::required(page, &answer, "Meetings", "the files of a meeting")? {
        let Some(id) = page.about.first().cloned().or_else(|| json::text(entry, "MeetingID")) else { continue };
        let mut meeting = VendorMeeting::new(id.clone());
        files(entry, &mut meeting);
        let is_html = |url: &&String| url.contains("adaHtmlDocument");
        if let Some(url) = meeting.packet_url.iter().chain(&meeting.agenda_url).find(is_html) {
            reading.follow.push(Request::get(url.clone(), AGENDA).with_about(id).optional());
        }
        reading.meeting(meeting);
    }
    reading.landmark("Meetings", reading.meetings.len());
    Ok(reading)
}

fn start(entry: &Value, site: &Site, title: &str) -> Option<Start> {
    let said = entry.pointer("/CalendarDate/0/FromDate").and_then(Value::as_str).unwrap_or_default();
    let said = dates::start(said).filter(|start| start.date.year() < SOMEDAY);
    let Some(Start { date, time, .. }) = said else { return dates::start(title) };
    let Some(time) = time else { return Some(Start { date, time: None, note: None }) };
    let moment = date.to_datetime(time).to_zoned(TimeZone::UTC).ok()?;
    Some(Start::at(moment.timestamp(), &site.zone))
}

/// Lists like `"MinutesLinks": [{"MinutesLinksURL": …}]`, each named by what it links to.
fn files(entry: &Value, meeting: &mut VendorMeeting) {
    let Some(fields) = entry.as_object() else { return };
    for (field, links) in fields {
        let Some(kind) = field.strip_suffix("Links").or_else(|| field.strip_suffix("Link")) else { continue };
        let found = links.as_array().map_or(std::slice::from_ref(links), Vec::as_slice);
        let urls = found.iter().filter_map(Value::as_object).flatten();
        let urls = urls.filter(|(name, _)| name.to_lowercase().ends_with("url")).filter_map(|(_, url)| url.as_str());
        for url in urls.filter(|url| url.starts_with("http")) {
            place(meeting, kind, table::file(url.to_owned()));
        }
    }
}

fn place(meeting: &mut VendorMeeting, kind: &str, url: String) {
    let lower = kind.to_lowercase();
    let slot = if lower.contains("packet") {
        &mut meeting.packet_url
    } else if lower.contains("agenda") {
        &mut meeting.agenda_url
    } else if lower.contains("minutes") {
        &mut meeting.minutes_url
    } else if lower.contains("video") || lower.contains("media") || lower.contains("audio") {
        &mut meeting.video_url
    } else {
        meeting.documents.push(Attachment { name: kind.to_owned(), url, ..Attachment::default() });
        return;
    };
    // A person opens the HTML where there is one.
    let is_html = url.contains("adaHtmlDocument");
    let known = slot.replace(url.clone());
    if let Some(known) = known.filter(|known| *known != url) {
        let other = if is_html { known } else { slot.replace(known).unwrap_or_default() };
        meeting.documents.push(Attachment { name: kind.to_owned(), url: other, ..Attachment::default() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vendor::testing::{site, window};

    fn page(path: &str, body: &str) -> FetchedPage {
        FetchedPage::from_kept(format!("https://x-co.municodemeetings.com/api/v1/public/meeting/{path}"), body)
    }

    #[test]
    fn moments_are_turned_into_the_hour_on_the_wall() {
        let answer = r#"{"Meetings":[
            {"MeetingID":"41","Title":"Council","GroupName":"City Council","CalendarDate":[{"FromDate":"2026-06-17 01:30:00"}]},
            {"MeetingID":42,"Title":"Budget talk 7-16-2026","CalendarDate":[{"FromDate":"2099-12-31 00:00:00"}]},
            {"MeetingID":43,"Title":"Retreat, to be announced"},
            {"Title":"Without an id"}]}"#;
        let site = Site { zone: TimeZone::get("America/Denver").unwrap(), ..site("x-co") };
        let read = read_list(&page("list.json", answer), &site, window("2026-06-01", "2026-06-30")).unwrap();
        let first = read.meetings[0].start.as_ref().unwrap();
        assert_eq!(format!("{} {}", first.date, first.time.unwrap()), "2026-06-16 19:30:00");
        assert_eq!(read.meetings[1].start.as_ref().unwrap().date.to_string(), "2026-07-16");
        assert_eq!(read.meetings[2].start, None);
        assert_eq!(
            read.doubts,
            ["meeting 43: it has no day yet", "a meeting without an id was left out: 'Without an id'"]
        );
        assert_eq!(read.follow.len(), 1);
        assert!(read.follow[0].url.ends_with("/meeting/41/details.json"));
    }

    #[test]
    fn details_name_the_files() {
        let answer = r#"{"Meetings":[{"MeetingID":"41",
            "AgendaLinks":[{"AgendaLinksURL":"https://meetings.municode.com/d/f?u=https://files.example/a.pdf&n=a"},
                {"AgendaLinksURL":"https://meetings.municode.com/adaHtmlDocument/index?cc=X&me=1&ip=False"}],
            "MinutesLinks":[{"MinutesLinksURL":"https://files.example/m.pdf"}]}]}"#;
        let read = read_details(&page("41/details.json", answer)).unwrap();
        let meeting = &read.meetings[0];
        assert!(meeting.agenda_url.as_deref().unwrap().contains("adaHtmlDocument"));
        assert_eq!(meeting.documents[0].url, "https://files.example/a.pdf");
        assert_eq!(meeting.minutes_url.as_deref(), Some("https://files.example/m.pdf"));
        assert_eq!(read.follow[0].about, ["41"]);
        let said = read_details(&page("41/details.json", "{}")).unwrap_err().to_string();
        assert!(said.ends_with("expected the files of a meeting (`Meetings`), found an empty object"), "{said}");
    }
}
