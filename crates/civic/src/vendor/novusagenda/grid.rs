//! The grid of meetings, and the grid of their items where a city shows one beside it.
//!
//! Cities choose their columns, so the date is found by its form, and what stands behind it are the kind of meeting and
//! its place; hours have a column of their own where a city shows them.

use super::{agendas, is_cover_sheet};
use crate::{
    dates,
    html::Element,
    status,
    vendor::{
        Attachment, FetchedPage, PageFault, PageReading, VendorItem, VendorMeeting, Window, address, fallback_id, open,
        pattern::pattern,
    },
};
use regex::Regex;
use std::sync::LazyLock;

static DAY: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\D{0,12}\d{1,2}/\d{1,2}/\d{2,4}\b"));
static HOUR: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\d{1,2}:\d{2}"));
/// `MeetingView.aspx?…` in a script that opens a window.
static OPENED: LazyLock<Regex> = LazyLock::new(|| pattern(r#"['"]([^'"]*\.as[ph]x\?[^'"]*)['"]"#));

pub(super) fn read(window: Window, page: &FetchedPage, base: &str) -> Result<PageReading, PageFault> {
    let html = open::html(page, "a grid of meetings")?;
    let rows = html.select("tr.rgRow, tr.rgAltRow");
    let mut reading = PageReading::default();
    reading.landmark("tr.rgRow, tr.rgAltRow", rows.len());
    let mut item_rows = 0;
    for row in &rows {
        if let Some(item) = item(*row, base) {
            item_rows += 1;
            add_item(item, &mut reading.meetings);
            continue;
        }
        if let Some(meeting) = meeting(*row, base, &mut reading.doubts) {
            reading.meeting(meeting);
        }
    }
    reading.landmark("rows of items", item_rows);
    let is_grid = html.first("[id*=radGridMeetings], table.rgMasterTable").is_some();
    if reading.meetings.is_empty() && !is_grid {
        return Err(open::other_page(page, &html, "a grid of meetings"));
    }
    reading.follow = agendas(window, &reading.meetings);
    Ok(reading)
}

fn meeting(row: Element<'_>, base: &str, doubts: &mut Vec<String>) -> Option<VendorMeeting> {
    let cells: Vec<Element<'_>> = row.children().filter(|cell| cell.name() == "td").collect();
    let texts: Vec<String> = cells.iter().map(Element::text).collect();
    let links: Vec<Link> = cells.iter().flat_map(|cell| links(*cell, base)).collect();
    let id = links.iter().find_map(|link| address::parameter(&link.url, "MeetingID"));
    let at = texts.iter().position(|text| DAY.is_match(text));
    if at.is_none() && id.is_none() {
        return None;
    }
    let day = at.and_then(|at| texts.get(at)).map(String::as_str).unwrap_or_default();
    let hour = texts.iter().find(|text| HOUR.is_match(text)).map(String::as_str).unwrap_or_default();
    let start = dates::combine(day, hour);
    let behind = |steps: usize| at.and_then(|at| texts.get(at + steps)).filter(|text| !HOUR.is_match(text));
    let mut words = [1, 2, 3].into_iter().filter_map(behind).filter(|text| text.chars().any(char::is_alphabetic));
    let (title, place) = (words.next().cloned(), words.next().cloned());
    let id = id.map(str::to_owned).or_else(|| Some(fallback_id(title.as_deref()?, Some(start.as_ref()?.date))));
    let Some(id) = id else {
        doubts.push(format!("a row has neither an id nor a date: \"{}\"", texts.join(" | ")));
        return None;
    };
    if start.is_none() {
        doubts.push(format!("the meeting {id} has the date \"{day}\""));
    }
    let mut meeting = VendorMeeting::new(id);
    meeting.status = status::find(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    (meeting.start, meeting.title, meeting.location) = (start, title, place);
    sort_links(links, &mut meeting);
    Some(meeting)
}

/// An item, and the number of the meeting that it is on the agenda of.
struct Item {
    meeting: String,
    item: VendorItem,
}

/// A row that leads to a cover sheet: the day, the title, and what the title is filed under.
fn item(row: Element<'_>, base: &str) -> Option<Item> {
    let cells: Vec<Element<'_>> = row.children().filter(|cell| cell.name() == "td").collect();
    let links = cells.iter().flat_map(|cell| links(*cell, base)).find(|link| is_cover_sheet(&link.url))?;
    let meeting = address::parameter(&links.url, "MeetingID")?.to_owned();
    let vendor_item_id = address::parameter(&links.url, "ItemID").map(str::to_owned);
    let mut texts = cells.iter().map(Element::text).filter(|text| !text.is_empty() && !DAY.is_match(text));
    let mut item = VendorItem { title: texts.next()?, vendor_item_id, ..VendorItem::default() };
    item.put_under(texts.next());
    Some(Item { meeting, item })
}

/// The grid of items is no whole agenda: it names some, and only of meetings that stand in the grid above it.
fn add_item(Item { meeting, item }: Item, meetings: &mut [VendorMeeting]) {
    let Some(meeting) = meetings.iter_mut().find(|known| known.vendor_id == meeting) else { return };
    let is_known = meeting.items.iter().any(|known| known.vendor_item_id == item.vendor_item_id);
    if !is_known {
        item.append_to(&mut meeting.items);
    }
}

struct Link {
    url: String,
    /// What the link and its picture say.
    name: String,
}

fn links(cell: Element<'_>, base: &str) -> Vec<Link> {
    let found = cell.select("a").into_iter().filter_map(|link| {
        let href = link
            .attribute("href")
            .filter(|href| !href.is_empty() && !href.starts_with(['#']) && !href.starts_with("javascript:"));
        let opened = || {
            let script = link.attribute("onclick").or_else(|| link.attribute("href"))?;
            OPENED.captures(script)?.get(1).map(|found| found.as_str())
        };
        let url = href.or_else(opened).and_then(|href| address::absolute(base, href))?;
        let picture = link.first("img").and_then(|picture| picture.attribute("alt")).unwrap_or_default();
        let name = format!("{} {picture}", link.text()).trim().to_owned();
        Some(Link { url, name })
    });
    found.collect()
}

/// Which link leads to the agenda: one that says it is readable online, then any but a summary.
fn rank(link: &Link) -> u8 {
    let name = link.name.to_lowercase();
    if !link.url.contains("MeetingView.aspx") {
        return 0;
    }
    if name.contains("html") || name.contains("online agenda") {
        3
    } else if name.contains("agenda") && !name.contains("summary") {
        2
    } else {
        1
    }
}

fn sort_links(links: Vec<Link>, meeting: &mut VendorMeeting) {
    let best = links.iter().map(rank).max().unwrap_or_default();
    for link in links {
        let is_minutes =
            address::parameter(&link.url, "doctype").is_some_and(|kind| kind.eq_ignore_ascii_case("minutes"));
        if link.url.contains("DisplayAgendaPDF.ashx") {
            let is_agenda = address::parameter(&link.url, "MeetingID").is_some();
            let place = if is_agenda { &mut meeting.packet_url } else { &mut meeting.minutes_url };
            place.get_or_insert(link.url);
        } else if is_minutes {
            meeting.minutes_url.get_or_insert(link.url);
        } else if best > 0 && rank(&link) == best && meeting.agenda_url.is_none() {
            meeting.agenda_url = Some(link.url);
        } else {
            meeting.attach(Attachment { name: link.name, url: link.url, ..Attachment::default() });
        }
    }
}
