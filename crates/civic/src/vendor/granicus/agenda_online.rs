//! Agendas that lie on an `AgendaOnline` site: a page that names the items, and a page for each with its documents.

use super::{AGENDA_ONLINE, AGENDA_ONLINE_ITEM};
use crate::{
    html::{Element, Html},
    vendor::{
        Attachment, FetchedPage, PageFault, PageReading, Request, VendorItem, VendorMeeting, address, open,
        pattern::pattern,
    },
};
use regex::Regex;
use std::sync::LazyLock;

static LOADS: LazyLock<Regex> = LazyLock::new(|| pattern(r"loadAgendaItem\(\s*'?(\d+)"));
static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:\d{1,3}(?:\.\d{1,3})*\.?[A-Za-z]?\.?|[A-Za-z]\.)$"));
static FRONT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(\d{1,3}(?:\.\d{1,3})*\.?[A-Za-z]?\.|[A-Za-z]\.)\s+(\S.*)$"));

/// The page that names the items, for the page that a meeting's link leads to.
pub(super) fn agenda_of(url: &str, meeting_id: &str) -> Option<Request> {
    let (front, _) = url.split_once("/Meetings/ViewMeeting")?;
    let number = address::parameter(url, "id").or_else(|| address::parameter(url, "meetingId"))?;
    let agenda = format!("{front}/Meetings/ViewMeetingAgenda?meetingId={number}&type=agenda");
    Some(Request::get(agenda, AGENDA_ONLINE).with_about(meeting_id).with_about(number).optional())
}

pub(super) fn read(page: &FetchedPage) -> Result<PageReading, PageFault> {
    let html = open::html(page, "an agenda")?;
    let items = items(&html);
    if items.is_empty() {
        return Err(open::other_page(page, &html, "an agenda with items"));
    }
    let number = page.about.get(1).map(String::as_str).or_else(|| address::parameter(&page.url, "meetingId"));
    let number = number.unwrap_or_default().to_owned();
    let mut meeting = VendorMeeting::new(page.about.first().cloned().unwrap_or_else(|| format!("online:{number}")));
    let mut reading = PageReading::default();
    reading.landmark("loadAgendaItem", items.len());
    if let Some((front, _)) = page.url.split_once("/Meetings/") {
        let request = |item: &VendorItem| {
            let id = item.vendor_item_id.as_deref()?;
            let url = format!(
                "{front}/Meetings/ViewMeetingAgendaItem?meetingId={number}&itemId={id}&isSection=false&type=agenda"
            );
            Some(Request::get(url, AGENDA_ONLINE_ITEM).with_about(&meeting.vendor_id).with_about(id).optional())
        };
        reading.follow = items.iter().filter_map(request).collect();
    }
    meeting.items = items;
    meeting.has_agenda = true;
    reading.meeting(meeting);
    Ok(reading)
}

/// The documents of one item.
pub(super) fn read_item(page: &FetchedPage) -> Result<PageReading, PageFault> {
    let html = open::html(page, "an item of an agenda")?;
    let [meeting, item, ..] = page.about.as_slice() else {
        return Err(PageFault::new_unexpected(&page.url, "the page of a named item", "a page of no known item"));
    };
    let mut piece = VendorItem { vendor_item_id: Some(item.clone()), ..VendorItem::default() };
    for link in html.select("a[href*=DownloadFile]") {
        let href = link.attribute("href").unwrap_or_default();
        let is_attachment = address::parameter(href, "isAttachment").is_some_and(|is| is.eq_ignore_ascii_case("true"));
        let Some(url) = address::absolute(&page.url, href).filter(|_| is_attachment) else { continue };
        let url = viewed(&url);
        piece.attach(Attachment { name: link.text(), url, ..Attachment::default() });
    }
    let mut reading = PageReading::default();
    reading.landmark("a[href*=DownloadFile]", piece.attachments.len());
    reading.item(meeting, piece);
    Ok(reading)
}

/// The address that shows a file, for the one that downloads it: the latter ends with a session.
fn viewed(url: &str) -> String {
    let Some((front, rest)) = url.split_once("/Documents/") else { return url.to_owned() };
    let (path, _) = rest.split_once('?').unwrap_or((rest, ""));
    let name = path.rsplit('/').next().filter(|name| !name.eq_ignore_ascii_case("DownloadFile")).unwrap_or("document");
    let kept = ["meetingId", "documentType", "itemId", "publishId", "isSection"];
    let query: Vec<String> =
        kept.iter().filter_map(|key| Some(format!("{key}={}", address::parameter(url, key)?))).collect();
    format!("{front}/Documents/ViewDocument/{name}?{}", query.join("&"))
}

fn items(html: &Html) -> Vec<VendorItem> {
    let (mut items, mut section) = (Vec::<VendorItem>::new(), None::<String>);
    for element in html.root().descendants() {
        if element.has_class("accessible-header-text") {
            section = Some(element.text()).filter(|text| !text.is_empty());
            continue;
        }
        let Some(id) = (element.name() == "a").then(|| loaded(element)).flatten() else { continue };
        if items.iter().any(|item| item.vendor_item_id.as_deref() == Some(id.as_str())) {
            continue;
        }
        let (number, title) = number_and_title(element);
        if title.is_empty() {
            continue;
        }
        let mut item = VendorItem { title, agenda_number: number, vendor_item_id: Some(id), ..VendorItem::default() };
        item.put_under(section.clone());
        item.append_to(&mut items);
    }
    items
}

fn loaded(link: Element<'_>) -> Option<String> {
    let script =
        ["onclick", "href"].iter().filter_map(|name| link.attribute(name)).find(|text| LOADS.is_match(text))?;
    LOADS.captures(script)?.get(1).map(|id| id.as_str().to_owned())
}

/// The number stands in front of the title, within the link or in the table cell before it.
fn number_and_title(link: Element<'_>) -> (Option<String>, String) {
    let neat = |number: &str| number.trim().trim_end_matches('.').to_owned();
    let text = link.text();
    if let Some(title) = link.first(".accessible-item-text").map(|title| title.text()) {
        let number = text.strip_suffix(title.as_str()).map(neat).filter(|number| !number.is_empty());
        return (number, title);
    }
    if let Some(found) = FRONT.captures(&text) {
        let part = |group: usize| found.get(group).map(|text| text.as_str()).unwrap_or_default();
        return (Some(neat(part(1))), part(2).to_owned());
    }
    let cell = link.closest("td");
    let row = cell.and_then(|cell| cell.parent());
    let before = row.into_iter().flat_map(|row| row.children()).take_while(|other| Some(*other) != cell);
    let number = before.map(|cell| cell.text()).filter(|text| NUMBER.is_match(text)).last();
    (number.as_deref().map(neat), text)
}
