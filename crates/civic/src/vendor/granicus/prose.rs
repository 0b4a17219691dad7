//! Agendas written as one text: lines that begin with a number or a letter are items, and the links below a line are its
//! documents. Word files saved as HTML (Questys) are of this kind too; there, a link can lead to a page that lists the
//! documents of one item.
//!
//! A number counts only where it is due (the next one, or a new beginning), so that years, sections of codes and
//! addresses do not become items.

use super::{QUESTYS_DOCUMENTS, outline};
use crate::{
    html::{Element, Html},
    vendor::{Attachment, FetchedPage, PageFault, PageReading, Request, VendorItem, address, open, pattern::pattern},
};
use regex::Regex;
use std::sync::LazyLock;

static NUMBERED: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d{1,3}|[A-Z]|[IVX]{2,5})[.)]\s+(\S.{2,})$"));

/// What a text holds.
#[derive(Debug, Default)]
pub(super) struct Prose {
    pub items: Vec<VendorItem>,
    /// The agenda as a file, linked to in front of the first item.
    pub documents: Vec<Attachment>,
    /// Pages with the documents of an item: the item's id and the address.
    pub placeholders: Vec<(String, String)>,
}

/// Which numbers are due.
#[derive(Default)]
struct Due {
    letter: Option<char>,
    roman: u32,
    number: u32,
}

enum Level {
    Top,
    Below,
}

impl Due {
    fn take(&mut self, number: &str) -> Option<Level> {
        if let Ok(value) = number.parse::<u32>() {
            let is_due = value == 1 || value == self.number + 1;
            self.number = if is_due { value } else { self.number };
            let level = if self.letter.is_some() || self.roman > 0 { Level::Below } else { Level::Top };
            return is_due.then_some(level);
        }
        let letter = number.chars().next().filter(|_| number.len() == 1);
        let next = self.letter.map_or('A', |last| char::from(u8::try_from(last).unwrap_or(b'Z').saturating_add(1)));
        if letter == Some(next) {
            self.letter = letter;
            return Some(Level::Top);
        }
        if roman(number) == Some(self.roman + 1) {
            self.roman += 1;
            return Some(Level::Top);
        }
        None
    }
}

fn roman(text: &str) -> Option<u32> {
    let value = |c: char| match c {
        'I' => Some(1),
        'V' => Some(5),
        'X' => Some(10),
        _ => None,
    };
    let values = text.chars().map(value).collect::<Option<Vec<u32>>>()?;
    // In `IV` the first is taken off what follows.
    let is_taken_off = |at: usize, one: u32| values.get(at + 1).is_some_and(|next| *next > one);
    let (taken, given): (Vec<_>, Vec<_>) = values.iter().enumerate().partition(|(at, one)| is_taken_off(*at, **one));
    let sum = |list: &[(usize, &u32)]| list.iter().map(|(_, one)| **one).sum::<u32>();
    sum(&given).checked_sub(sum(&taken))
}

pub(super) fn read(html: &Html, base: &str) -> Prose {
    let (mut prose, mut due) = (Prose::default(), Due::default());
    let (mut top, mut heading) = (None::<String>, None::<String>);
    for block in html.root().descendants().filter(|element| is_line(*element)) {
        let text = block.text();
        if text.is_empty() {
            continue;
        }
        let numbered =
            NUMBERED.captures(&text).and_then(|found| Some((found.get(1)?.as_str(), found.get(2)?.as_str())));
        let item = numbered.and_then(|(number, title)| Some((number, title, due.take(number)?)));
        if let Some((number, title, level)) = item {
            let mut item = VendorItem { title: title.trim().to_owned(), ..VendorItem::default() };
            item.agenda_number = Some(number.to_owned());
            match level {
                Level::Top => {
                    top = Some(item.title.clone());
                    heading = None;
                }
                Level::Below => item.put_under(heading.clone().or_else(|| top.clone())),
            }
            item.append_to(&mut prose.items);
        } else if let Some(item) = prose.items.last_mut() {
            if item.title.to_lowercase().starts_with("adjourn") {
                break;
            }
            if is_heading(block, &text) {
                heading = Some(text.clone());
            } else if block.select("a").iter().all(|link| link.text() != text) {
                item.add_text(&text);
            }
        }
        links(block, base, &mut prose);
    }
    prose
}

/// The smallest blocks: those that hold no other.
fn is_line(element: Element<'_>) -> bool {
    let is_block = |name: &str| matches!(name, "p" | "div" | "li" | "td" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6");
    is_block(element.name())
        && !element.descendants().any(|inner| is_block(inner.name()) || matches!(inner.name(), "table" | "ul" | "ol"))
}

/// A short line, all of it in bold.
fn is_heading(block: Element<'_>, text: &str) -> bool {
    text.chars().count() <= 80 && block.first("strong, b").is_some_and(|bold| bold.text() == text)
}

fn links(block: Element<'_>, base: &str, prose: &mut Prose) {
    for link in block.select("a") {
        let href = link.attribute("href").unwrap_or_default();
        if let Some(item) = prose.items.last_mut() {
            if href.to_lowercase().ends_with("documents.htm") {
                if let Some(url) = address::absolute(base, href) {
                    let id = questys_id(href);
                    item.vendor_item_id.get_or_insert_with(|| id.clone());
                    prose.placeholders.push((id, url));
                }
            } else if let Some(mut document) = outline::document(link, base) {
                outline::name_unnamed(&mut document);
                item.attach(document);
            }
        } else if let Some(mut document) = outline::document(link, base) {
            outline::name_unnamed(&mut document);
            let is_agenda =
                document.url.to_lowercase().contains("agenda") || document.name.to_lowercase().contains("agenda");
            if is_agenda && !prose.documents.iter().any(|known| known.url == document.url) {
                prose.documents.push(document);
            }
        }
    }
}

/// The folder that the documents of an item lie in.
fn questys_id(href: &str) -> String {
    let path = href.trim_end_matches(|c| c != '/').trim_end_matches('/');
    let folder = path.rsplit('/').next().filter(|folder| !folder.is_empty()).unwrap_or(href);
    address::decoded(folder)
}

/// The pages with documents that an agenda leads to.
pub(super) fn placeholder_requests(meeting_id: &str, prose: &Prose) -> Vec<Request> {
    let requests = prose
        .placeholders
        .iter()
        .map(|(item, url)| Request::get(url, QUESTYS_DOCUMENTS).with_about(meeting_id).with_about(item).optional());
    requests.collect()
}

/// The documents of one item.
pub(super) fn read_documents(page: &FetchedPage) -> Result<PageReading, PageFault> {
    let html = open::html(page, "a list of documents")?;
    let [meeting, item, ..] = page.about.as_slice() else {
        return Err(PageFault::new_unexpected(&page.url, "the documents of a named item", "a page of no known item"));
    };
    let mut piece = VendorItem { vendor_item_id: Some(item.clone()), ..VendorItem::default() };
    for mut document in html.select("a").into_iter().filter_map(|link| outline::document(link, &page.url)) {
        outline::name_unnamed(&mut document);
        piece.attach(document);
    }
    let mut reading = PageReading::default();
    reading.landmark("links to documents", piece.attachments.len());
    reading.item(meeting, piece);
    Ok(reading)
}
