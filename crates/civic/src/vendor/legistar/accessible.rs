//! The agenda for screen readers: a printed agenda as pieces of text, each at its place on the paper. A number in bold
//! begins an item; the file's number stands in brackets; documents are linked behind "Attachments:".

use super::{Place, grid};
use crate::{
    html::{Element, Html},
    vendor::{
        Attachment, FetchedPage, PageFault, PageReading, VendorItem, VendorMeeting, address, open, pattern::pattern,
    },
};
use regex::Regex;
use std::{collections::BTreeSet, sync::LazyLock};

static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\d{1,3}\.$"));
static FILE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\(((?:\d{2}|\d{4})-\d{3,5}[A-Z0-9-]*)\)"));
static BOLD_CLASS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\.([\w-]+)\s*\{[^}]*font-weight\s*:\s*(?:bold|[7-9]00)"));

/// `about`: the meeting's id, and the files that its page has named already.
pub(super) fn read(place: &Place, page: &FetchedPage) -> Result<PageReading, PageFault> {
    let html = open::html(page, "an agenda for screen readers")?;
    let base = place.base(page);
    let id = page.about.first().cloned().or_else(|| address::value(&page.url, "ID"));
    let Some(id) = id else {
        return Err(PageFault::new_unexpected(&page.url, "an agenda that names its meeting", "one without an id"));
    };
    let named: &[String] = page.about.get(1..).unwrap_or_default();
    let mut reading = PageReading::default();
    let mut meeting = VendorMeeting::new(id);
    let items = items(&html, &base);
    reading.landmark("numbers in bold", items.len());
    meeting.has_agenda = !items.is_empty();
    let fresh = items.into_iter().filter(|item| !item.matter_file.as_ref().is_some_and(|file| named.contains(file)));
    meeting.items = fresh.collect();
    for (at, item) in meeting.items.iter_mut().enumerate() {
        item.sequence = u32::try_from(named.len() + at + 1).unwrap_or(u32::MAX);
    }
    reading.meeting(meeting);
    Ok(reading)
}

fn items(html: &Html, base: &str) -> Vec<VendorItem> {
    let styles: String = html.select("style").iter().map(Element::raw_text).collect();
    let bold: BTreeSet<String> = BOLD_CLASS.captures_iter(&styles).map(|found| found[1].to_owned()).collect();
    let leaves: Vec<Element<'_>> = html
        .root()
        .descendants()
        .filter(|element| matches!(element.name(), "span" | "a" | "p" | "div" | "b" | "strong" | "td"))
        .filter(|element| element.name() == "a" || element.children().all(|child| child.name() == "br"))
        .collect();
    let begins = |element: &Element<'_>| NUMBER.is_match(&element.text());
    let any_bold = leaves.iter().any(|leaf| begins(leaf) && is_bold(leaf, &bold));
    let (mut items, mut behind_attachments): (Vec<VendorItem>, bool) = (Vec::new(), false);
    for leaf in leaves {
        let text = leaf.text();
        if begins(&leaf) && (!any_bold || is_bold(&leaf, &bold)) {
            items.push(VendorItem { agenda_number: Some(text), ..VendorItem::default() });
            behind_attachments = false;
            continue;
        }
        let Some(item) = items.last_mut() else { continue };
        if leaf.name() == "a" {
            let url = grid::target(base, &leaf);
            let is_file = |url: &String| behind_attachments || url.to_ascii_lowercase().contains(".pdf");
            if let Some(url) = url.filter(is_file)
                && !item.attachments.iter().any(|known| known.url == url)
            {
                item.attach(Attachment { name: text, url, ..Attachment::default() });
                continue;
            }
        }
        if text.starts_with("Attachments:") {
            behind_attachments = true;
        }
        if item.matter_file.is_none() {
            item.matter_file = FILE.captures(&text).map(|found| found[1].to_owned());
        }
        if !behind_attachments && !leaf.closest("a").is_some_and(|link| link != leaf) {
            let words = FILE.replace(&text, "");
            if !item.title.is_empty() {
                item.title.push(' ');
            }
            item.title.push_str(words.trim());
        }
    }
    items.retain(|item| !item.title.is_empty());
    for item in &mut items {
        item.vendor_item_id.clone_from(&item.matter_file);
    }
    items
}

fn is_bold(element: &Element<'_>, classes: &BTreeSet<String>) -> bool {
    let style = element.attribute("style").unwrap_or_default().to_ascii_lowercase();
    let class = element.attribute("class").unwrap_or_default();
    style.contains("bold")
        || class.split_ascii_whitespace().any(|class| classes.contains(class))
        || element.closest("b, strong").is_some()
}
