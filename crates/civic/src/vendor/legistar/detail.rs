//! A meeting's own page: its agenda as a grid, one row per item. The matter behind a row stands for the item.

use super::{
    Place,
    grid::{self, cell_below, text_below},
};
use crate::{
    dates,
    html::{Element, Html},
    status,
    vendor::{FetchedPage, ItemVote, PageFault, PageReading, Request, VendorItem, VendorMeeting, address, open},
};
use serde_json::Value;

/// A page with fewer items is compared with the agenda for screen readers.
const FEW: usize = 3;

/// `about`: the meeting's id, the address of the agenda for screen readers, and `links` where only the documents of the
/// meeting are wanted.
pub(super) fn read(place: &Place, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let html = open::html(page, "a meeting's page")?;
    let base = place.base(page);
    let about = |at: usize| page.about.get(at).map(String::as_str).filter(|text| !text.is_empty());
    let Some(id) = about(0).map(str::to_owned).or_else(|| id_of_page(&html, page)) else {
        return Err(open::other_page(page, &html, "a meeting's page that says which"));
    };
    let mut reading = PageReading::default();
    let mut meeting = facts(&html, &base, id);
    let grids = grid::grids(&html);
    let agenda = grids.iter().find(|grid| grid.headers.iter().any(|header| header == "file #"));
    let rows = agenda.map(|grid| grid.rows.as_slice()).unwrap_or_default();
    reading.landmark("tr.rgRow, tr.rgAltRow", rows.len());
    if about(2) != Some("links") {
        for row in rows {
            let cells = agenda.map(|grid| grid.cells(row)).unwrap_or_default();
            match item(&base, &cells, &meeting.items) {
                Some(item) => item.append_to(&mut meeting.items),
                None => reading.doubts.push(format!("a row of meeting {} has no words", meeting.vendor_id)),
            }
        }
        // With a second page to come, it is that one which says that the agenda is complete.
        let on_page = html.first("a[href*=M=AADA]").and_then(|link| grid::target(&base, &link));
        let accessible = about(1).map(str::to_owned).or(on_page);
        let is_all = accessible.is_none() || meeting.items.len() >= FEW;
        meeting.has_agenda = is_all && !meeting.items.is_empty();
        follow(&mut reading, &meeting, accessible.as_deref());
    }
    reading.meeting(meeting);
    Ok(reading)
}

fn id_of_page(html: &Html, page: &FetchedPage) -> Option<String> {
    let action = html.first("form#aspnetForm").and_then(|form| form.attribute("action")).unwrap_or_default();
    [page.url.as_str(), action].into_iter().find_map(|url| {
        let wanted = url.contains("MeetingDetail.aspx");
        wanted.then(|| address::value(url, "ID").or_else(|| address::value(url, "LEGID"))).flatten()
    })
}

/// What stands above the grid.
fn facts(html: &Html, base: &str, id: String) -> VendorMeeting {
    let labelled = |name: &str| {
        let text = html.first(&format!("[id$=_{name}]")).map(|element| element.text());
        text.filter(|text| !text.is_empty())
    };
    let link = |name: &str| html.first(&format!("a[id$=_{name}]")).and_then(|link| grid::target(base, &link));
    let mut meeting = VendorMeeting::new(id);
    meeting.title = labelled("hypName").or_else(|| labelled("hypBody"));
    meeting.notes = labelled("lblMessage");
    meeting.body.clone_from(&meeting.title);
    let time = labelled("lblTime").unwrap_or_default();
    meeting.start = labelled("lblDate").and_then(|date| dates::combine(&date, &time));
    meeting.location = labelled("lblLocation");
    let agenda_status = labelled("lblAgendaStatus").unwrap_or_default();
    meeting.status = status::find(&[
        &agenda_status,
        &time,
        meeting.location.as_deref().unwrap_or_default(),
        meeting.notes.as_deref().unwrap_or_default(),
    ]);
    meeting.agenda_url = link("hypAgenda");
    meeting.packet_url = link("hypAgendaPacket");
    meeting.minutes_url = link("hypMinutes");
    meeting.video_url = link("hypVideo");
    for link in html.select("a[href*=View.ashx]") {
        let Some(url) = grid::target(base, &link) else { continue };
        let of_meeting = address::value(&url, "ID").is_some_and(|id| id == meeting.vendor_id);
        let slot = match address::value(&url, "M").unwrap_or_default().as_str() {
            "A" => &mut meeting.agenda_url,
            "PA" => &mut meeting.packet_url,
            "M" if of_meeting => &mut meeting.minutes_url,
            _ => continue,
        };
        *slot = slot.take().or(Some(url));
    }
    meeting
}

fn item(base: &str, cells: &[(&str, Element<'_>)], known: &[VendorItem]) -> Option<VendorItem> {
    let text = |names: &[&str]| text_below(cells, names);
    let file = cell_below(cells, &["file #"]);
    let link = file.and_then(|cell| cell.first("a[href*=LegislationDetail.aspx]"));
    let url = link.and_then(|link| grid::target(base, &link));
    let matter_id = url.as_deref().and_then(|url| address::value(url, "ID"));
    let matter_file = text(&["file #"]).filter(|_| link.is_some());
    let title = text(&["title"]).or_else(|| text(&["name"])).or_else(|| text(&["file #"]))?;
    let mut item = VendorItem {
        title,
        agenda_number: text(&["agenda #"]),
        matter_file,
        matter_type: text(&["type"]),
        matter_status: text(&["status"]),
        ..VendorItem::default()
    };
    if let Some(matter) = matter_id {
        // A matter can be on an agenda twice.
        let before = known.iter().filter(|item| item.matter_id.as_ref() == Some(&matter)).count();
        item.vendor_item_id = Some(if before == 0 { matter.clone() } else { format!("{matter}-{}", before + 1) });
        item.matter_id = Some(matter);
    }
    let vote = ItemVote { motion: text(&["action"]), result: text(&["result"]), ..ItemVote::default() };
    if vote != ItemVote::default() {
        item.votes.push(vote);
    }
    let mut keep = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            item.raw.insert(name.to_owned(), Value::String(value));
        }
    };
    keep("version", text(&["ver.", "version"]));
    keep("name", text(&["name"]).filter(|name| *name != item.title));
    keep("legislation_url", url);
    let details = cell_below(cells, &["action details"]).and_then(|cell| cell.first("a"));
    keep("action_details_url", details.and_then(|link| grid::target(base, &link)));
    Some(item)
}

/// The documents of each item are on its own page, and the votes on it on another.
fn follow(reading: &mut PageReading, meeting: &VendorMeeting, accessible: Option<&str>) {
    for item in &meeting.items {
        let url = item.raw.get("legislation_url").and_then(Value::as_str);
        if let (Some(url), Some(id)) = (url, &item.vendor_item_id) {
            let page = Request::get(url, "legislation").with_about(&meeting.vendor_id).with_about(id);
            reading.follow.push(page.optional());
        }
        let decided = item.raw.get("action_details_url").and_then(Value::as_str).filter(|_| !item.votes.is_empty());
        if let (Some(url), Some(id)) = (decided, &item.vendor_item_id) {
            reading.follow.push(Request::get(url, "history").with_about(&meeting.vendor_id).with_about(id).optional());
        }
    }
    if let Some(url) = accessible.filter(|_| meeting.items.len() < FEW) {
        let mut page = Request::get(url, "accessible").with_about(&meeting.vendor_id).optional();
        page.about.extend(meeting.items.iter().filter_map(|item| item.matter_file.clone()));
        reading.follow.push(page);
    }
}
