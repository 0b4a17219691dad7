//! A published table: meeting, date, time, venue, agenda, packet, minutes, video.

use super::{AGENDA, HOST, TABLE, agenda_page, is_code};
use crate::{
    dates,
    html::{Element, Html},
    status,
    vendor::{
        FetchedPage, PageFault, PageReading, Request, Site, VendorMeeting, Window, address, fallback_id, open,
        pattern::pattern,
    },
};
use regex::Regex;
use std::sync::LazyLock;

/// `MEET-Packet-7b1add8e8e3441b7aa5d36b337aacb2c.pdf`: the id of the meeting.
static MEETING_ID: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)MEET-[a-z]+-([0-9a-f]{32})\b"));

pub(super) fn read(page: &FetchedPage, site: &Site, window: Window) -> Result<PageReading, PageFault> {
    let html = open::html(page, "a table of meetings")?;
    let rows: Vec<Element<'_>> =
        html.select("table.mcm tr, table.div-table tr").into_iter().filter(|row| row.first("td").is_some()).collect();
    if html.first("table.mcm, table.div-table").is_none() {
        return Err(open::other_page(page, &html, "a table of meetings (table.mcm)"));
    }
    let mut reading = PageReading::default();
    reading.landmark("table.mcm tr", rows.len());
    for row in rows {
        match meeting(row, address::base_of(&page.url, HOST)) {
            Ok((meeting, doubt)) => {
                reading.doubts.extend(doubt);
                reading.meeting(meeting);
            }
            Err(doubt) => reading.doubts.push(doubt),
        }
    }
    if let Some(code) = code(page, site, &html) {
        for meeting in &reading.meetings {
            let has_own_id = meeting.vendor_id.len() == 32;
            if window.holds(meeting) && has_own_id && (meeting.agenda_url.is_some() || meeting.packet_url.is_some()) {
                let url = agenda_page(&code, &meeting.vendor_id);
                reading.follow.push(Request::get(url, AGENDA).with_about(meeting.vendor_id.clone()).optional());
            }
        }
    }
    let oldest = reading.meetings.iter().filter_map(|meeting| meeting.start.as_ref()).map(|start| start.date).min();
    if oldest.is_some_and(|oldest| oldest >= window.from)
        && let Some(next) = next_page(&html)
    {
        reading.follow.push(Request::get(next, TABLE));
    }
    Ok(reading)
}

fn meeting(row: Element<'_>, base: &str) -> Result<(VendorMeeting, Option<String>), String> {
    let cell = |kind: &str| row.first(&format!("td.{kind}"));
    let said = |kind: &str| cell(kind).map(|cell| cell.text()).unwrap_or_default();
    let link = |kind: &str| address::target(base, cell(kind)?.first("a[href]")?);
    let (title, day) = (said("meeting"), said("date"));
    if title.is_empty() && day.is_empty() {
        return Err(format!("a row without a meeting was left out: '{}'", row.text()));
    }
    let start = dates::combine(&day, &said("time"));
    let doubt = start.is_none().then(|| format!("'{title}': '{day}' is no day"));
    let files = ["agenda", "packet", "minutes"].map(link);
    let own =
        files.iter().flatten().find_map(|url| MEETING_ID.captures(url)?.get(1).map(|id| id.as_str().to_lowercase()));
    // Before anything is published there is no id on the page.
    let id = own.unwrap_or_else(|| fallback_id(&title, start.as_ref().map(|start| start.date)));
    let [agenda, packet, minutes] = files.map(|url| url.map(file));
    let meeting = VendorMeeting {
        status: status::find(&[&title, &said("time"), &said("venue")]),
        title: Some(title).filter(|title| !title.is_empty()),
        start,
        location: Some(said("venue")).filter(|venue| !venue.is_empty()),
        agenda_url: agenda,
        packet_url: packet,
        minutes_url: minutes,
        video_url: link("multimedia"),
        ..VendorMeeting::new(id)
    };
    Ok((meeting, doubt))
}

/// The file itself of `…/d/f?u=FILE&n=NAME`.
pub(super) fn file(url: String) -> String {
    let inner = address::value(&url, "u").filter(|inner| inner.starts_with("http") && url.contains("/d/f?"));
    inner.unwrap_or(url)
}

/// The code of the site, from its slug, the page's address, or its links.
fn code(page: &FetchedPage, site: &Site, html: &Html) -> Option<String> {
    if is_code(&site.slug) {
        return Some(site.slug.clone());
    }
    let link = html.first("a[href*='cid='], a[href*='cc=']").and_then(|link| link.attribute("href"));
    let named = |url: &str| address::value(url, "cid").or_else(|| address::value(url, "cc"));
    named(&page.url).or_else(|| link.and_then(named))
}

/// The page behind the one that is chosen in the list of pages.
fn next_page(html: &Html) -> Option<String> {
    let choice =
        html.select("select").into_iter().find(|choice| choice.attribute("id") == Some("agendapal.page.dropbox"))?;
    let pages = choice.select("option");
    let at = pages.iter().position(|page| page.attribute("selected").is_some())?;
    let next = pages.get(at + 1)?.attribute("value")?;
    let (_, script) = choice.attribute("onchange")?.split_once("window.open('")?;
    let base = script.split('\'').next()?.rsplit_once("p=")?.0;
    base.starts_with(HOST).then(|| format!("{base}p={next}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vendor::testing::{self, site, window};

    #[test]
    fn rows_without_files_and_days_are_read_too() {
        let rows = "<tr><th class=meeting>Meeting</th></tr>
            <tr><td class=meeting>Council - CANCELLED</td><td class=date>3/3/2026</td><td class=time>6:00 PM</td></tr>
            <tr><td class=meeting>Council</td><td class=date>13/13/2026</td></tr><tr><td>x</td></tr>";
        let text = format!("<html><table class='div-table mcm'>{rows}</table></html>");
        let page = testing::page("https://meetings.municode.com/PublishPage/index?cid=X", TABLE, text);
        let read = read(&page, &site("X"), window("2026-01-01", "2026-12-31")).unwrap();
        assert_eq!(read.doubts, ["'Council': '13/13/2026' is no day", "a row without a meeting was left out: 'x'"]);
        assert_eq!(read.meetings[0].vendor_id, fallback_id("Council - CANCELLED", dates::date("2026-03-03")));
        assert!(read.meetings[0].status.is_some() && read.follow.is_empty());
    }
}
