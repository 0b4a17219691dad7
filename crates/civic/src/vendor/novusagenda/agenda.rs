//! An agenda page, whose items are known by their links to cover sheets, and the cover sheets themselves.

use super::{COVER_SHEET, is_cover_sheet};
use crate::{
    html::Element,
    vendor::{
        Attachment, FetchedPage, PageFault, PageReading, Request, VendorItem, VendorMeeting, address, open,
        pattern::pattern,
    },
};
use regex::Regex;
use std::sync::LazyLock;

static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^((?:\d{1,3}|[A-Za-z]|[IVX]{2,5})(?:\.(?:\d{1,3}|[A-Za-z]))*)[.)]+(?:\s+|$)"));

/// Fewer characters on a cover sheet are its frame, not its text.
const SHORTEST_BODY: usize = 50;

pub(super) fn read(page: &FetchedPage, base: &str) -> Result<PageReading, PageFault> {
    let html = open::html(page, "an agenda")?;
    let links = html.select("a[href*='CoverSheet.aspx'], a[onclick*='CoverSheet.aspx']");
    let in_link = || links.iter().find_map(|link| address::parameter(link.attribute("href")?, "MeetingID"));
    let id =
        page.about.first().map(String::as_str).or_else(|| address::parameter(&page.url, "MeetingID")).or_else(in_link);
    let Some(id) = id else {
        return Err(PageFault::new_unexpected(&page.url, "the number of a meeting", "an agenda of no known meeting"));
    };
    if links.is_empty() {
        return Err(open::other_page(page, &html, "an agenda with links to cover sheets"));
    }
    let mut reading = PageReading::default();
    reading.landmark("CoverSheet.aspx", links.len());
    let mut meeting = VendorMeeting::new(id);
    let mut section = None;
    for element in html.root().descendants() {
        match element.name() {
            "tr" | "p" | "h1" | "h2" | "h3" | "h4" => section = heading(element).or(section),
            "a" => read_link(element, base, section.as_deref(), &mut meeting.items),
            _ => {}
        }
    }
    meeting.has_agenda = true;
    for item in &meeting.items {
        let Some(number) = &item.vendor_item_id else { continue };
        if let Some(url) = address::absolute(base, &format!("CoverSheet.aspx?ItemID={number}&MeetingID={id}")) {
            reading.follow.push(Request::get(url, COVER_SHEET).with_about(id).with_about(number).optional());
        }
    }
    reading.meeting(meeting);
    Ok(reading)
}

/// A line in bold without a link names a section.
fn heading(line: Element<'_>) -> Option<String> {
    if line.first("a, tr, p").is_some() {
        return None;
    }
    let text = line.text();
    let is_bold =
        line.name().starts_with('h') || line.first("strong, b").is_some_and(|bold| text.ends_with(&bold.text()));
    let name = NUMBER.replace(&text, "").trim().to_owned();
    (is_bold && name.chars().any(char::is_alphabetic) && name.chars().count() <= 100).then_some(name)
}

fn read_link(link: Element<'_>, base: &str, section: Option<&str>, items: &mut Vec<VendorItem>) {
    let href = link.attribute("href").unwrap_or_default();
    if href.contains("AttachmentViewer.ashx") {
        if let (Some(item), Some(document)) = (items.last_mut(), attachment(link, base)) {
            item.attach(document);
        }
        return;
    }
    let opened = [href, link.attribute("onclick").unwrap_or_default()].into_iter().find(|text| is_cover_sheet(text));
    let Some(id) = opened.and_then(|text| address::parameter(text, "ItemID")) else { return };
    let id: String = id.chars().take_while(char::is_ascii_digit).collect();
    let text = link.text();
    if let Some(known) = items.iter_mut().find(|item| item.vendor_item_id.as_deref() == Some(id.as_str())) {
        // The number and the title can be two links to the same sheet.
        if known.title.is_empty() || NUMBER.replace(&known.title, "").is_empty() {
            known.title = text;
        }
        return;
    }
    let row = link.closest("tr, li, p");
    let around = row.map(|row| row.text()).unwrap_or_default();
    let found =
        |text: &str| NUMBER.captures(text).and_then(|found| found.get(1)).map(|number| number.as_str().to_owned());
    let agenda_number = found(&text).or_else(|| found(&around));
    let title = NUMBER.replace(&text, "").trim().to_owned();
    let title = if title.is_empty() { NUMBER.replace(&around, "").trim().to_owned() } else { title };
    let mut item = VendorItem { title, agenda_number, vendor_item_id: Some(id), ..VendorItem::default() };
    item.put_under(section.map(str::to_owned));
    item.append_to(items);
}

/// The cover sheet of one item.
pub(super) fn read_cover_sheet(page: &FetchedPage, base: &str) -> Result<PageReading, PageFault> {
    let html = open::html(page, "a cover sheet")?;
    let known = |at: usize, name: &str| {
        page.about.get(at).map(String::as_str).or_else(|| address::parameter(&page.url, name)).map(str::to_owned)
    };
    let (Some(meeting), Some(item)) = (known(0, "MeetingID"), known(1, "ItemID")) else {
        return Err(PageFault::new_unexpected(
            &page.url,
            "the numbers of a meeting and an item",
            "a sheet of no known item",
        ));
    };
    let area = html.first("#ns-ContentArea");
    let links = html.select("a[href*='AttachmentViewer.ashx']");
    if area.is_none() && links.is_empty() {
        return Err(open::other_page(page, &html, "a cover sheet (#ns-ContentArea)"));
    }
    let mut reading = PageReading::default();
    reading.landmark("AttachmentViewer.ashx", links.len());
    let mut piece = VendorItem { vendor_item_id: Some(item), ..VendorItem::default() };
    for document in links.into_iter().filter_map(|link| attachment(link, base)) {
        piece.attach(document);
    }
    let body = area.map(|area| area.lines().join("\n")).unwrap_or_default();
    piece.body_text = Some(body).filter(|body| body.chars().count() >= SHORTEST_BODY);
    reading.item(&meeting, piece);
    Ok(reading)
}

fn attachment(link: Element<'_>, base: &str) -> Option<Attachment> {
    let url = address::target(base, link)?;
    let vendor_id = address::parameter(&url, "AttachmentID").map(str::to_owned);
    let name = link.text();
    let name = if name.is_empty() { "Attachment".to_owned() } else { name };
    Some(Attachment { name, url, portal_url: None, vendor_id })
}
