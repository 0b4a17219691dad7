//! The rows of an Agenda Center, below the names of their bodies.
//!
//! A row has its day, what it is about, and files: agenda (HTML, PDF), packet, minutes, media, previous versions. Its id
//! is the number of its files, `_MMDDYYYY-ID`; the day in front of it moves with the meeting, the id does not.

use super::AGENDA;
use crate::{
    dates,
    html::{Element, Html},
    status,
    vendor::{
        Attachment, FetchedPage, PageFault, PageReading, Request, VendorMeeting, Window, address,
        model::{MeetingStatus, Start},
        open,
        pattern::pattern,
    },
};
use jiff::civil::Date;
use regex::Regex;
use std::sync::LazyLock;

/// `_11192020-808`: a day and an id.
static FILE_ID: LazyLock<Regex> = LazyLock::new(|| pattern(r"_?(\d{2})(\d{2})(\d{4})-(\d+)\b"));
/// Places where notices are put, which are no bodies that meet.
static NO_BODY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)\b(?:public notices?|notices? of (?:quorum|posting)s?|legal notices?|press releases?)\b")
});
/// Places for the packets of a body that has a place for its agendas too.
static PACKETS: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\s*[-–]?\s*(?:(?:meeting|agenda)\s+)*packets?\s*$"));
/// Words that name no meeting.
static SAYS_NOTHING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^(?:(?:the|view|meeting|agenda|packet|and|minutes)\b[\s&/-]*)*$"));
/// Where one takes part instead of watching what was recorded.
const ROOMS: [&str; 4] = ["zoom.us", "webex.com", "teams.microsoft.com", "gotomeeting.com"];

pub(super) fn read(page: &FetchedPage, base: &str, window: Window) -> Result<PageReading, PageFault> {
    let html = open::html(page, "an Agenda Center")?;
    let rows = html.select("tr.catAgendaRow");
    let mut reading = PageReading::default();
    reading.landmark("tr.catAgendaRow", rows.len());
    reading.landmark("div.listing", html.select("div.listing").len());
    let said = html.first("p.results").map(|said| said.text()).unwrap_or_default();
    reading.landmark("No results found", usize::from(said.contains("No results")));
    if rows.is_empty() && !is_agenda_center(&html) {
        return Err(open::other_page(page, &html, "an Agenda Center"));
    }
    let (mut packets, mut notices) = (Vec::new(), 0);
    for row in rows {
        let category = category(row);
        let body = category.as_ref().map(|(_, name)| name.as_str()).unwrap_or_default();
        if NO_BODY.is_match(body) {
            notices += 1;
            continue;
        }
        let Some(mut meeting) = meeting(row, base, &mut reading) else { continue };
        let is_packet = PACKETS.is_match(body);
        meeting.body = Some(PACKETS.replace(body, "").into_owned()).filter(|body| !body.is_empty());
        meeting.body_id = category.map(|(id, _)| id);
        if meeting.title.is_none() {
            meeting.title.clone_from(&meeting.body);
        }
        if is_packet {
            packets.push(meeting);
        } else {
            reading.meeting(meeting);
        }
    }
    reading.landmark("rows of notices", notices);
    for packet in packets {
        place_packet(packet, &mut reading);
    }
    let asked = reading.meetings.iter().filter(|meeting| window.holds(meeting));
    let agendas = asked.filter_map(|meeting| {
        let url = meeting.agenda_url.as_ref().filter(|url| url.contains("html=true"))?;
        Some(Request::get(url.clone(), AGENDA).with_about(meeting.vendor_id.clone()).optional())
    });
    reading.follow = agendas.collect();
    Ok(reading)
}

/// Links to it do not count: every page of such a site has one, also the one that says that nothing was found.
fn is_agenda_center(html: &Html) -> bool {
    html.first("p.results, div.listing, input[name=chkCategoryID]").is_some()
}

/// The id and the name of the body that a row is listed below.
fn category(row: Element<'_>) -> Option<(String, String)> {
    let around = std::iter::successors(row.parent(), Element::parent);
    let (id, around) = around.into_iter().find_map(|element| {
        let id = element.attribute("id")?.strip_prefix("cat")?;
        id.chars().all(|c| c.is_ascii_digit()).then(|| (id.to_owned(), element))
    })?;
    let heading = around.children().find(|child| matches!(child.name(), "h2" | "h3"))?;
    // The mark in front of it shows whether it is folded.
    let name = heading.text().trim_start_matches(['▼', '►', '▲', '◄', ' ']).to_owned();
    Some((id, name))
}

fn meeting(row: Element<'_>, base: &str, reading: &mut PageReading) -> Option<VendorMeeting> {
    let Some((id, day_of_files)) = id_and_day(row) else {
        reading.doubts.push(format!("a row without a file's id was left out: '{}'", shorten(&row.text())));
        return None;
    };
    let mut meeting = VendorMeeting::new(id);
    let heading = row.first("h2, h3, h4");
    let day_shown = heading.and_then(|heading| heading.first("strong")).map(|day| day.text()).unwrap_or_default();
    let title = row.first("td p").map(|title| title.text()).unwrap_or_default();
    match dates::date(&day_shown).or(day_of_files) {
        Some(date) => meeting.start = Some(Start { date, time: dates::time(&title), note: None }),
        None => reading.doubts.push(format!("meeting {}: '{day_shown}' is no day", meeting.vendor_id)),
    }
    meeting.status = status::find(&[&title]);
    let posted = heading.map(|heading| heading.text()).unwrap_or_default();
    if posted.contains("Amended") {
        meeting.status = meeting.status.max(Some(MeetingStatus::Revised));
    }
    meeting.title = Some(title).filter(|title| !SAYS_NOTHING.is_match(title));
    files(row, base, &mut meeting);
    Some(meeting)
}

fn id_and_day(row: Element<'_>) -> Option<(String, Option<Date>)> {
    let links = row.select("a");
    let names = links.iter().flat_map(|link| ["href", "name", "id"].map(|name| link.attribute(name)));
    names.flatten().find_map(|name| {
        let found = FILE_ID.captures(name)?;
        let number = |group: usize| found.get(group).and_then(|digits| digits.as_str().parse::<i16>().ok());
        let small = |group: usize| number(group).and_then(|number| i8::try_from(number).ok());
        let day =
            number(3).zip(small(1)).zip(small(2)).and_then(|((year, month), day)| Date::new(year, month, day).ok());
        Some((found.get(4)?.as_str().to_owned(), day))
    })
}

/// What a row leads to, each file once.
fn files(row: Element<'_>, base: &str, meeting: &mut VendorMeeting) {
    let mut agenda_files: Vec<String> = Vec::new();
    for link in row.select("a[href]") {
        let Some(url) = address::target(base, link) else { continue };
        let lower = url.to_lowercase();
        if link.closest("td.minutes").is_some() || lower.contains("/viewfile/minutes/") {
            meeting.minutes_url.get_or_insert(url);
        } else if link.closest("td.videos").is_some() {
            if ROOMS.iter().any(|room| lower.contains(room)) {
                meeting.notes = Some(format!("Take part: {url}"));
            } else {
                meeting.video_url.get_or_insert(url);
            }
        } else if lower.contains("/previousversions/") {
            meeting.raw.insert("previous_versions".to_owned(), url.into());
        } else if lower.contains("packet=true") {
            meeting.packet_url.get_or_insert(url);
        } else if lower.contains("/viewfile/agenda/") {
            if !agenda_files.contains(&url) {
                agenda_files.push(url);
            }
        } else {
            let name = Some(link.text()).filter(|name| !name.is_empty()).unwrap_or_else(|| "Document".to_owned());
            meeting.attach(Attachment { name, url, ..Attachment::default() });
        }
    }
    // A person opens the HTML where there is one.
    agenda_files.sort_by_key(|url| !url.contains("html=true"));
    let mut agenda_files = agenda_files.into_iter();
    meeting.agenda_url = agenda_files.next();
    let others = agenda_files.map(|url| Attachment { name: "Agenda (PDF)".to_owned(), url, ..Attachment::default() });
    meeting.documents.extend(others);
    if meeting.agenda_url.is_none() && meeting.documents.len() == 1 {
        meeting.agenda_url = meeting.documents.pop().map(|only| only.url);
    }
}

/// A packet belongs to the one meeting that its body has that day; without one, it is the meeting itself.
fn place_packet(mut packet: VendorMeeting, reading: &mut PageReading) {
    let day = packet.start.as_ref().map(|start| start.date);
    let same = |meeting: &VendorMeeting| {
        day.is_some() && meeting.body == packet.body && meeting.start.as_ref().map(|start| start.date) == day
    };
    let fitting: Vec<usize> =
        (0..reading.meetings.len()).filter(|at| reading.meetings.get(*at).is_some_and(same)).collect();
    let file = packet.agenda_url.take().or(packet.packet_url.take());
    if let [only] = fitting[..]
        && let Some(meeting) = reading.meetings.get_mut(only)
    {
        meeting.packet_url = file;
        meeting.status = meeting.status.max(packet.status);
        return;
    }
    packet.packet_url = file;
    reading.meeting(packet);
}

fn shorten(text: &str) -> String {
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vendor::testing::{page, window};

    fn reading(rows: &str) -> PageReading {
        let text = format!("<html><body><p class='dim results'></p>{rows}</body></html>");
        let page = page("https://city.example.gov/AgendaCenter/Search/?term=", "listing", text);
        read(&page, &page.url, window("2026-01-01", "2026-12-31")).unwrap()
    }

    fn listing(category: u32, body: &str, rows: &[(&str, &str, &str)]) -> String {
        let rows = rows
            .iter()
            .map(|(day, file, title)| {
                format!(
                    "<tr class=catAgendaRow><td><h3><strong>{day}</strong> — Posted</h3><p><a href='/AgendaCenter/ViewFile/Agenda/{file}'>{title}</a></p></td><td class=minutes></td></tr>"
                )
            })
            .collect::<Vec<_>>()
            .concat();
        format!("<div class=listing id=cat{category}><h2><span>▼</span>{body}</h2><table>{rows}</table></div>")
    }

    #[test]
    fn a_packet_goes_to_the_meeting_that_it_is_of() {
        let council = listing(1, "City Council", &[("Mar 3, 2026", "_03032026-11", "Regular Meeting")]);
        let packets = listing(
            2,
            "City Council - Agenda Packets",
            &[("Mar 3, 2026", "_03032026-12", "Packet"), ("Mar 17, 2026", "_03172026-13", "Packet")],
        );
        let read = reading(&format!("{packets}{council}"));
        let shown: Vec<_> =
            read.meetings.iter().map(|meeting| (meeting.vendor_id.as_str(), meeting.packet_url.as_deref())).collect();
        let file = |name: &str| format!("https://city.example.gov/AgendaCenter/ViewFile/Agenda/{name}");
        assert_eq!(
            shown,
            [("11", Some(file("_03032026-12").as_str())), ("13", Some(file("_03172026-13").as_str()))],
            "the one of the 17th has no meeting yet and stands alone"
        );
        assert!(read.meetings.iter().all(|meeting| meeting.body.as_deref() == Some("City Council")));
        assert_eq!(read.meetings[1].title.as_deref(), Some("City Council"), "'Packet' names no meeting");
    }

    #[test]
    fn notices_are_no_meetings_and_odd_rows_are_told() {
        let notices = listing(1, "Public Notices", &[("Mar 3, 2026", "_03032026-1", "Road closed")]);
        let odd = listing(
            2,
            "Board",
            &[
                ("Feb 30, 2026", "_02302026-2", "Impossible"),
                ("Mar 4, 2026", "agenda", "Without an id"),
                ("Mar 5, 2026", "_03052026-3", "Hearing 6:30 PM"),
                ("Mar 5, 2026", "_03052026-3", "Hearing 6:30 PM"),
            ],
        );
        let read = reading(&format!("{notices}{odd}"));
        assert_eq!(read.landmarks["rows of notices"], 1);
        assert_eq!(read.meetings.len(), 2);
        assert_eq!(read.meetings[0].start, None);
        assert_eq!(
            read.doubts,
            [
                "meeting 2: 'Feb 30, 2026' is no day",
                "a row without a file's id was left out: 'Mar 4, 2026 — Posted Without an id'"
            ]
        );
        let time = read.meetings[1].start.as_ref().and_then(|start| start.time).map(|time| time.to_string());
        assert_eq!(time.as_deref(), Some("18:30:00"));
    }
}
