//! Agendas laid out on a grid: `h2` names a section, `h3` an item by its number and title, and the links behind it are
//! its documents.

use super::outline;
use crate::{
    html::{Element, Html},
    vendor::{VendorItem, pattern::pattern},
};
use regex::Regex;
use std::sync::LazyLock;

static FILE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[A-Z]{1,4}-\d{4}-\d{3,6}"));
static FRONT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(\d{1,3}[A-Za-z]?|[A-Za-z](?:[.-]?\d{1,3})?|\d{1,3}(?:\.\d{1,3})+)[.)]\s*(.*)$"));

pub(super) const CELLS: &str = "div[style*=grid-column-start]";

pub(super) fn read(html: &Html, base: &str) -> Vec<VendorItem> {
    let (mut items, mut section) = (Vec::<VendorItem>::new(), None::<String>);
    for cell in html.select(CELLS) {
        for element in cell.descendants() {
            match element.name() {
                "h2" => section = Some(split_number(element).1).filter(|title| !title.is_empty()),
                "h3" => {
                    let (number, title) = split_number(element);
                    if title.is_empty() {
                        continue;
                    }
                    let mut item = VendorItem { title, agenda_number: number, ..VendorItem::default() };
                    item.put_under(section.clone());
                    item.matter_file = FILE.find(&item.title).map(|file| file.as_str().to_owned());
                    item.append_to(&mut items);
                }
                "a" => {
                    let Some(item) = items.last_mut() else { continue };
                    let Some(mut document) = outline::document(element, base) else { continue };
                    outline::name_unnamed(&mut document);
                    item.attach(document);
                }
                _ => {}
            }
        }
    }
    items
}

/// A heading's number and its words. They stand in two spans, or one behind the other.
fn split_number(heading: Element<'_>) -> (Option<String>, String) {
    let text = heading.text();
    let spans: Vec<String> = heading.select("span").iter().map(Element::text).filter(|span| !span.is_empty()).collect();
    let first = spans.first().filter(|first| first.chars().count() <= 8 && first.len() < text.len());
    let parts = first.and_then(|first| Some((first, text.strip_prefix(first.as_str())?)));
    if let Some((number, rest)) = parts {
        return (Some(number.trim_matches(['.', '(', ')', ' ']).to_owned()), rest.trim().to_owned());
    }
    match FRONT.captures(&text).and_then(|found| Some((found.get(1)?.as_str(), found.get(2)?.as_str()))) {
        Some((number, title)) => (Some(number.to_owned()), title.trim().to_owned()),
        None => (None, text),
    }
}
