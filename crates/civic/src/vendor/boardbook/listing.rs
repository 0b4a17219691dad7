//! The meetings of an organisation: `May 5, 2026 at 4:30 PM - Committee`, the place, and what there is to open.

use super::{AGENDA, base};
use crate::{
    dates,
    html::Element,
    status,
    vendor::{
        Attachment, FetchedPage, PageFault, PageReading, Request, VendorMeeting, Window, address, model::MeetingStatus,
        open,
    },
};

pub(super) fn read(page: &FetchedPage, window: Window) -> Result<PageReading, PageFault> {
    let html = open::html(page, "a list of meetings")?;
    let Some(table) = html.first("#PublicMeetingsTable") else {
        return Err(open::other_page(page, &html, "a list of meetings (#PublicMeetingsTable)"));
    };
    let rows = table.select("tbody tr");
    let mut reading = PageReading::default();
    reading.landmark("#PublicMeetingsTable tr", rows.len());
    for row in rows {
        match meeting(row, page) {
            Ok((meeting, doubt)) => {
                reading.doubts.extend(doubt);
                reading.meeting(meeting);
            }
            Err(doubt) => reading.doubts.push(doubt),
        }
    }
    for meeting in &reading.meetings {
        if let Some(url) = meeting.agenda_url.as_ref().filter(|_| window.holds(meeting)) {
            reading.follow.push(Request::get(url.clone(), AGENDA).with_about(meeting.vendor_id.clone()).optional());
        }
    }
    Ok(reading)
}

fn meeting(row: Element<'_>, page: &FetchedPage) -> Result<(VendorMeeting, Option<String>), String> {
    let cells: Vec<Element<'_>> = row.children().filter(|cell| cell.name() == "td").collect();
    let [when, place, details] = cells[..] else {
        return Err(format!("a row without three cells was left out: '{}'", row.text()));
    };
    let Some(id) = id_in(row) else { return Err(format!("a row without an id was left out: '{}'", when.text())) };
    let mut meeting = VendorMeeting::new(id);
    let heading = when.first("div").unwrap_or(when).text();
    let (day, title) = heading.split_once(" - ").unwrap_or((heading.as_str(), ""));
    meeting.start = dates::start(day);
    let doubt = meeting.start.is_none().then(|| format!("meeting {}: '{day}' is no day", meeting.vendor_id));
    let title = title.trim().trim_end_matches("Cancelled").trim();
    meeting.title = Some(title.to_owned()).filter(|title| !title.is_empty());
    meeting.status = status::find(&[&heading]);
    if when.first(".meeting-is-cancelled").is_some() {
        meeting.status = meeting.status.max(Some(MeetingStatus::Cancelled));
    }
    let kind =
        when.select("b").into_iter().find(|label| label.text() == "Meeting Type:").and_then(|label| label.parent());
    if let Some(kind) = kind.map(|line| line.text()) {
        let kind = kind.trim_start_matches("Meeting Type:").trim();
        meeting.raw.insert("meeting_type".to_owned(), kind.into());
    }
    let lines: Vec<String> = place.select("span[id^=location]").iter().map(Element::text).collect();
    meeting.location = Some(lines.join(", ")).filter(|place| !place.is_empty());
    let to_watch = place.select("a[href]").into_iter().map(|link| (link, true));
    for (link, is_to_watch) in to_watch.chain(details.select("a[href]").into_iter().map(|link| (link, false))) {
        let Some(url) = address::target(base(page), link) else { continue };
        let name = link.text();
        match (name.to_lowercase().as_str(), is_to_watch) {
            (said, _) if said.contains("recorded") => meeting.video_url = Some(url),
            (said, _) if said.contains("streaming") => {
                meeting.raw.insert("streaming_url".to_owned(), url.into());
            }
            (_, true) => {}
            ("agenda", _) => meeting.agenda_url = Some(url),
            ("minutes", _) => meeting.minutes_url = Some(url),
            _ => meeting.documents.push(Attachment { name, url, ..Attachment::default() }),
        }
    }
    Ok((meeting, doubt))
}

/// In the links, and in the marks of the place: `location11649-743647-line1`.
fn id_in(row: Element<'_>) -> Option<String> {
    let links = row.select("a[href*='meeting=']");
    let linked = links.iter().find_map(|link| address::value(link.attribute("href")?, "meeting"));
    linked.or_else(|| {
        let mark = row.first("span[id^=location]")?.attribute("id")?;
        let id = mark.split('-').nth(1)?;
        id.chars().all(|c| c.is_ascii_digit()).then(|| id.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vendor::{
        boardbook::LISTING,
        testing::{self, window},
    };

    #[test]
    fn odd_rows_are_told_and_the_rest_goes_on() {
        let rows = "<tr><td>only one cell</td></tr>
            <tr><td><div>May 5, 2026 at 4:30 PM - Work session following the tour</div></td><td></td><td><a href='/Public/Agenda/7?meeting=1'>Agenda</a></td></tr>
            <tr><td><div>Someday - Regular</div></td><td><span id='location1-2-line1'>Room 5</span></td><td></td></tr>
            <tr><td><div>May 6, 2026</div></td><td></td><td></td></tr>";
        let text = format!("<html><table id=PublicMeetingsTable><tbody>{rows}</tbody></table></html>");
        let page = testing::page("https://meetings.boardbook.org/Public/Organization/7", LISTING, text);
        let read = read(&page, window("2026-05-01", "2026-05-31")).unwrap();
        assert_eq!(
            read.doubts,
            [
                "a row without three cells was left out: 'only one cell'",
                "meeting 2: 'Someday' is no day",
                "a row without an id was left out: 'May 6, 2026'"
            ]
        );
        assert_eq!(read.meetings.len(), 2);
        assert!(read.meetings[0].start.as_ref().unwrap().time.is_some(), "what the title says of others is no hour");
        assert_eq!(read.meetings[1].location.as_deref(), Some("Room 5"));
        assert_eq!(read.follow[0].url, "https://meetings.boardbook.org/Public/Agenda/7?meeting=1");
    }
}
