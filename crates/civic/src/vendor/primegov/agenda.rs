//! An agenda as HTML. Three layouts are around: items with a table of their file's number and type, items that are just
//! text, and items that are a row of a table.

use crate::{
    html::{Element, Html},
    vendor::{
        Attachment, FetchedPage, PageFault, PageReading, VendorItem, VendorMeeting, address, open, pattern::pattern,
    },
};
use regex::Regex;
use std::{collections::BTreeMap, sync::LazyLock};

static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\(?(?:[0-9]{1,3}|[A-Za-z]{1,2}|[ivxIVX]{1,4})[.)]*$"));

pub(super) fn is_agenda(text: &str) -> bool {
    ["AgendaItem_", "agenda_item_area_", "meetingTemplateId="].iter().any(|word| text.contains(word))
        || (text.contains("data-itemid") && text.contains("meeting-item"))
}

/// `about`: the meeting's id.
pub(super) fn read(root: &str, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let html = open::html(page, "an agenda")?;
    let Some(id) = page.about.first().cloned().or_else(|| meeting_of(&html)) else {
        return Err(PageFault::new_unexpected(&page.url, "an agenda that names its meeting", "one without an id"));
    };
    let root = format!("{root}/");
    let base = address::base_of(&page.url, &root);
    let mut reading = PageReading::default();
    let mut meeting = VendorMeeting::new(id);
    let areas = attachments(&html, base);
    let with_files: Vec<Element<'_>> = html.select("div.meeting-item[data-itemid]");
    let plain: Vec<Element<'_>> = html.select("div.agenda-item[id^=AgendaItem_]");
    let tables: Vec<Element<'_>> = html.select("table[data-itemid]");
    reading.landmark("div.meeting-item", with_files.len());
    reading.landmark("div.agenda-item", plain.len());
    reading.landmark("table[data-itemid]", tables.len());
    let read = |blocks: &[Element<'_>], item: fn(&Element<'_>) -> Option<VendorItem>| -> Vec<VendorItem> {
        let items = blocks.iter().filter_map(|block| {
            let mut item = item(block)?;
            item.put_under(section(block));
            Some(item)
        });
        items.collect()
    };
    let mut found = read(&with_files, item_with_file);
    if found.is_empty() {
        found = read(&plain, item_of_text);
    }
    if found.is_empty() {
        found = read(&tables, item_of_table);
    }
    for mut item in found {
        if meeting.items.iter().any(|known| known.vendor_item_id == item.vendor_item_id) {
            continue;
        }
        item.attachments = item.vendor_item_id.as_ref().and_then(|id| areas.get(id)).cloned().unwrap_or_default();
        item.append_to(&mut meeting.items);
    }
    if meeting.items.is_empty() {
        reading.doubts.push(format!("the agenda of meeting {} shows no items", meeting.vendor_id));
    }
    meeting.has_agenda = !meeting.items.is_empty();
    reading.meeting(meeting);
    Ok(reading)
}

fn meeting_of(html: &Html) -> Option<String> {
    let hidden = html.first("input[id=MeetingId], input[name=meetingId], [data-meetingid]")?;
    hidden.attribute("value").or_else(|| hidden.attribute("data-meetingid")).map(str::to_owned)
}

fn item_with_file(block: &Element<'_>) -> Option<VendorItem> {
    let id = block.attribute("data-itemid")?;
    let inside = block.first("div.agenda-item")?;
    let mut item = VendorItem { vendor_item_id: Some(id.to_owned()), ..VendorItem::default() };
    item.matter_id = block.attribute("data-mig").filter(|mig| !mig.is_empty()).map(str::to_owned);
    if let Some(table) = inside.first("table.forcepopulate") {
        let rows = table.select("tr");
        let words = |cell: Element<'_>| Some(cell.text()).filter(|text| !text.is_empty());
        let first = rows.first().and_then(|row| row.first("td[colspan=2]"));
        item.matter_file = first.and_then(words);
        let mut second = rows.get(1).map(|row| row.select("td")).unwrap_or_default().into_iter();
        item.matter_type = second.next().and_then(words);
        item.title = second.next().and_then(words).unwrap_or_default();
    }
    if item.title.is_empty() {
        item.title = inside.text();
    }
    item.agenda_number = number(block);
    (!item.title.is_empty()).then_some(item)
}

fn number(block: &Element<'_>) -> Option<String> {
    let cell = block.first("table.item-table td.number-cell")?;
    Some(cell.text().trim_matches(['(', ')', ' ']).to_owned()).filter(|number| !number.is_empty())
}

fn item_of_text(block: &Element<'_>) -> Option<VendorItem> {
    let id = block.attribute("id")?.strip_prefix("AgendaItem_")?;
    let around = block.closest("table.item-table");
    let cell = around.and_then(|table| table.first("td.number-cell"));
    let agenda_number = cell.map(|cell| cell.text().trim_matches(['(', ')', ' ']).to_owned());
    let agenda_number = agenda_number.filter(|number| !number.is_empty());
    let title = block.text();
    let item = VendorItem { vendor_item_id: Some(id.to_owned()), title, agenda_number, ..VendorItem::default() };
    (!item.title.is_empty()).then_some(item)
}

fn item_of_table(table: &Element<'_>) -> Option<VendorItem> {
    let mut item =
        VendorItem { vendor_item_id: Some(table.attribute("data-itemid")?.to_owned()), ..VendorItem::default() };
    for cell in table.select("td") {
        let text = cell.text();
        if text.is_empty() || cell.has_class("attachmentCell") || cell.has_class("optionalButtonsCell") {
            continue;
        }
        if NUMBER.is_match(&text) && item.agenda_number.is_none() {
            item.agenda_number = Some(text.trim_matches(['(', ')']).to_owned());
        } else if item.title.is_empty() {
            item.title = text;
        }
    }
    (!item.title.is_empty()).then_some(item)
}

/// What a link to a file is known by, in lower case: `historyId=GUID`, `/meeting/attachment/7.pdf`,
/// `/meeting/document/7.pdf`. None for the viewer's links.
fn file_key(address: &str) -> Option<String> {
    if address.contains("historyattachment") {
        return address::value(address, "historyid");
    }
    let (_, file) = address.split_once("/meeting/")?;
    let file = file.split(['?', '#', '.']).next()?;
    (file.starts_with("attachment/") || file.starts_with("document/")).then(|| file.replace('/', "-"))
}

/// The headings above a block, the outermost first.
fn section(block: &Element<'_>) -> Option<String> {
    let around = std::iter::successors(block.parent(), Element::parent);
    let sections = around.filter(|element| element.attribute("data-sectionid").is_some());
    let headings = sections.filter_map(|section| Some(section.first("td.section-heading")?.text()));
    let mut path: Vec<String> = headings.filter(|heading| !heading.is_empty()).collect();
    path.reverse();
    (!path.is_empty()).then(|| path.join(" > "))
}

/// The documents of every item: each once, however often it is linked, by the address that gives the file.
fn attachments(html: &Html, base: &str) -> BTreeMap<String, Vec<Attachment>> {
    let mut areas: BTreeMap<String, Vec<Attachment>> = BTreeMap::new();
    for area in html.select("div[id^=agenda_item_area_]") {
        let Some(id) = area.attribute("id").and_then(|id| id.strip_prefix("agenda_item_area_")) else { continue };
        let files = areas.entry(id.to_owned()).or_default();
        for link in area.select("a") {
            let Some(url) = address::target(base, link) else { continue };
            let lower = url.to_ascii_lowercase();
            let Some(key) = file_key(&lower) else { continue };
            if files.iter().any(|file| file.vendor_id.as_ref() == Some(&key)) {
                continue;
            }
            let told = link.attribute("title").map(|title| title.trim_start_matches("Download ").to_owned());
            let name =
                Some(link.text()).filter(|text| !text.is_empty()).or(told).unwrap_or_else(|| "Attachment".into());
            files.push(Attachment { name, url, vendor_id: Some(key), portal_url: None });
        }
    }
    areas
}
