//! A meeting's page: its agenda is one table. A row in bold names a section; a row with a number is an item, mostly with
//! a link to its file; a row with a small letter or a picture in place of the number is a document of the item above it.

use super::{FILE, file_number};
use crate::{
    html::Element,
    vendor::{
        Attachment, FetchedPage, PageFault, PageReading, Request, VendorItem, VendorMeeting, address, open,
        pattern::pattern,
    },
};
use regex::Regex;
use std::sync::LazyLock;

static IN_FRONT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:[A-Z]|\d{1,3}|[IVX]{1,5})\.\s+"));

pub(super) fn read(page: &FetchedPage, base: &str) -> Result<PageReading, PageFault> {
    let html = open::html(page, "the page of a meeting")?;
    let Some(table) = html.first("table#MeetingDetail") else {
        return Err(open::other_page(page, &html, "the agenda of a meeting (table#MeetingDetail)"));
    };
    let in_address = || address::parameter(&page.url, "ID").filter(|_| page.url.contains("Detail_Meeting"));
    let in_links = || {
        let link =
            html.first("a[href*='Detail_LegiFile.aspx'][href*='MeetingID='], form[action*='Detail_Meeting.aspx']")?;
        let address = link.attribute("href").or_else(|| link.attribute("action"))?;
        address::parameter(address, "MeetingID").or_else(|| address::parameter(address, "ID"))
    };
    let id = page.about.first().map(String::as_str).or_else(in_address).or_else(in_links);
    let Some(id) = id else {
        return Err(PageFault::new_unexpected(&page.url, "the number of a meeting", "an agenda of no known meeting"));
    };
    let mut meeting = VendorMeeting::new(id);
    meeting.packet_url = html.first("a[id*=hlFullAgendaFile]").and_then(|link| address::target(base, link));
    meeting.has_agenda = true;
    let rows: Vec<Element<'_>> = table.select("tr").into_iter().filter(|row| row.first("tr").is_none()).collect();
    let mut section = None;
    for row in &rows {
        read_row(*row, base, &mut section, &mut meeting.items);
    }
    let mut reading = PageReading::default();
    reading.landmark("table#MeetingDetail tr", rows.len());
    reading.landmark("Detail_LegiFile.aspx", meeting.items.iter().filter(|item| item.matter_id.is_some()).count());
    for item in &meeting.items {
        let Some(file) = &item.matter_id else { continue };
        if let Some(url) = address::absolute(base, &format!("Detail_LegiFile.aspx?ID={file}&MeetingID={id}")) {
            reading.follow.push(Request::get(url, FILE).with_about(id).with_about(file).optional());
        }
    }
    reading.meeting(meeting);
    Ok(reading)
}

fn read_row(row: Element<'_>, base: &str, section: &mut Option<String>, items: &mut Vec<VendorItem>) {
    let cells: Vec<Element<'_>> = row.children().filter(|cell| matches!(cell.name(), "td" | "th")).collect();
    if let Some(comments) = cells.iter().find(|cell| cell.has_class("Comments")) {
        if let Some(item) = items.last_mut() {
            let text = comments.lines().join("\n");
            item.body_text = Some(text).filter(|text| !text.is_empty()).or_else(|| item.body_text.take());
        }
        return;
    }
    let numbered = cells.iter().find(|cell| cell.has_class("Num"));
    let number = numbered.map(Element::text).unwrap_or_default();
    let number = number.trim().trim_end_matches(['.', ')']).trim();
    let file = row.first("a[href*='Detail_LegiFile.aspx']");
    let document = row.first("a[href*='FileOpen.aspx']").and_then(|link| attachment(link, base));
    let bold = cells.iter().take(2).find_map(|cell| cell.first("strong, b")).map(|bold| bold.text());
    if let Some(name) = bold.filter(|name| !name.is_empty() && file.is_none() && document.is_none()) {
        *section = Some(IN_FRONT.replace(&name, "").into_owned());
        return;
    }
    let is_small = number.len() == 1 && number.chars().all(|c| c.is_ascii_lowercase());
    let is_below = is_small || number.is_empty() || numbered.is_some_and(|cell| cell.first("img").is_some());
    if file.is_none() && is_below {
        if let (Some(document), Some(item)) = (document, items.last_mut()) {
            item.attach(document);
        }
        return;
    }
    let behind = cells.iter().skip_while(|cell| !cell.has_class("Num")).skip(1);
    let title = file.map(|link| link.text()).filter(|title| !title.is_empty());
    let title = title.or_else(|| behind.map(Element::text).find(|text| !text.is_empty()));
    let Some(title) = title else { return };
    let mut item = VendorItem { title, ..VendorItem::default() };
    item.matter_id = file.and_then(|link| address::parameter(link.attribute("href")?, "ID")).map(str::to_owned);
    item.vendor_item_id.clone_from(&item.matter_id);
    item.matter_file = file_number(&item.title);
    item.agenda_number = Some(number.to_owned()).filter(|number| !number.is_empty());
    item.put_under(section.clone());
    item.attachments.extend(document);
    item.append_to(items);
}

/// A file, known by its number: the same file is linked to under several types of view.
pub(super) fn attachment(link: Element<'_>, base: &str) -> Option<Attachment> {
    let url = address::target(base, link)?;
    let vendor_id = address::parameter(&url, "ID").map(str::to_owned);
    let name = link.text();
    let name = if name.is_empty() { "Attachment".to_owned() } else { name };
    Some(Attachment { name, url, portal_url: None, vendor_id })
}
