//! Items by a file's bookmarks. Attachments fold into the item above them; sections and the agenda itself are no items.
//!
//! Shapes that are known: flat; items with their documents below; a root, sections, items and documents; an agenda
//! followed by its documents.

use super::{
    Agenda, Part, SplitItem,
    headings::{file_number, is_section_words, is_shouted},
    numbers, text,
};
use crate::pattern::pattern;
use bindery_reader::model::OutlineEntry;
use regex::Regex;
use std::{collections::HashSet, sync::LazyLock};

const FEWEST: usize = 3;
/// How alike a bookmark and an item of the text must be.
const ALIKE: f32 = 0.25;

static ATTACHMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)^(?:att\.?|attach(?:ment)?s?|exhibits?|appendi(?:x|ces)|enclosures?|supporting documents?)\b")
});
static AGENDA: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:(?:final|revised|amended|meeting|regular|special|city council|board)\s+)*(?:agenda|packet|cover|table of contents|bookmarks?|untitled|blank page)\b.{0,30}$",
    )
});
static FILE_NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\.(?:pdf|docx?|xlsx?|pptx?)$"));

/// Enough real entries on enough pages.
pub(super) fn is_usable(agenda: &Agenda<'_>) -> bool {
    let real: Vec<&OutlineEntry> = entries(agenda).collect();
    let pages: HashSet<usize> = real.iter().filter_map(|entry| entry.page).collect();
    real.len() >= FEWEST && pages.len() >= 2
}

fn entries<'a>(agenda: &'a Agenda<'_>) -> impl Iterator<Item = &'a OutlineEntry> {
    let last = agenda.page_count;
    agenda.outline.iter().filter(move |entry| {
        entry.page.is_some_and(|page| (1..=last).contains(&page)) && entry.title.chars().any(char::is_alphabetic)
    })
}

pub(super) fn items(agenda: &Agenda<'_>) -> Vec<SplitItem> {
    let mut real: Vec<&OutlineEntry> = entries(agenda).collect();
    // One root over everything says nothing.
    if let Some((root, rest)) = real.split_first()
        && !rest.is_empty()
        && rest.iter().all(|entry| entry.level > root.level)
    {
        real = rest.to_vec();
    }
    let is_flat = real.iter().all(|entry| Some(entry.level) == real.first().map(|first| first.level));
    if is_flat && let Some(items) = matched_to_text(agenda, &real) {
        return items;
    }
    let mut items: Vec<SplitItem> = Vec::new();
    let mut section: Option<String> = None;
    let mut level_of_item = 0;
    for (at, entry) in real.iter().enumerate() {
        let title = FILE_NAME.replace(entry.title.trim(), "").into_owned();
        let Some(first_page) = entry.page else { continue };
        let has_children = real.get(at + 1).is_some_and(|next| next.level > entry.level);
        if AGENDA.is_match(&title) && !has_children {
            continue;
        }
        let (number, plain) = match numbers::split(&title) {
            Some((number, rest)) if !rest.is_empty() => (Some(number.text), rest.to_owned()),
            _ => (None, title.clone()),
        };
        let grandchildren = real
            .iter()
            .skip(at + 1)
            .take_while(|next| next.level > entry.level)
            .any(|next| next.level > entry.level + 1);
        let is_section = has_children
            && (grandchildren
                || is_section_words(&plain)
                || AGENDA.is_match(&plain)
                || (is_shouted(&plain) && number.is_none()));
        if is_section {
            section = Some(plain);
            level_of_item = 0;
            continue;
        }
        let part = Part { name: plain.clone(), first_page, last_page: last_page(&real, at, agenda.page_count) };
        let is_below = level_of_item > 0 && entry.level > level_of_item;
        if let Some(item) = items.last_mut().filter(|_| is_below || ATTACHMENT.is_match(&plain)) {
            item.parts.push(part);
            continue;
        }
        level_of_item = entry.level;
        let (matter_file, title) = file_number(&plain);
        let (section, parts) = (section.clone(), vec![part]);
        items.push(SplitItem { number, title, section, matter_file, parts, page: first_page, ..SplitItem::default() });
    }
    items
}

/// A document ends where the next one begins.
fn last_page(real: &[&OutlineEntry], at: usize, page_count: usize) -> usize {
    let first = real.get(at).and_then(|entry| entry.page).unwrap_or(1);
    let next = real.iter().skip(at + 1).filter_map(|entry| entry.page).find(|page| *page > first);
    next.map_or(page_count, |next| next - 1).max(first)
}

/// Bookmarks that name files, put to the items of the agenda that they are likest to.
fn matched_to_text(agenda: &Agenda<'_>, real: &[&OutlineEntry]) -> Option<Vec<SplitItem>> {
    let mut items = text::items(agenda);
    if items.len() < 2 {
        return None;
    }
    let documents: Vec<usize> =
        (0..real.len()).filter(|at| real.get(*at).is_some_and(|entry| !AGENDA.is_match(&entry.title))).collect();
    let mut found = 0;
    let mut last: Option<usize> = None;
    for at in &documents {
        let Some(entry) = real.get(*at) else { continue };
        let title = FILE_NAME.replace(entry.title.trim(), "");
        let likest = items
            .iter()
            .enumerate()
            .map(|(place, item)| (alike(&title, &item.title), place))
            .filter(|(alike, _)| *alike >= ALIKE)
            .max_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)))
            .map(|(_, place)| place);
        let place = likest.or(last.filter(|_| ATTACHMENT.is_match(&title)));
        if let (Some(place), Some(first_page)) = (place, entry.page)
            && let Some(item) = items.get_mut(place)
        {
            let name = title.into_owned();
            item.parts.push(Part { name, first_page, last_page: last_page(real, *at, agenda.page_count) });
            found += 1;
            last = Some(place);
        }
    }
    (found * 2 >= documents.len() && found > 0).then_some(items)
}

/// The share of words that two titles have in common, from 0 to 1.
fn alike(one: &str, other: &str) -> f32 {
    let words = |text: &str| -> HashSet<String> {
        let lowered = text.to_lowercase();
        lowered.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= 3).map(str::to_owned).collect()
    };
    let (one, other) = (words(one), words(other));
    let all = one.union(&other).count();
    if all == 0 { 0.0 } else { one.intersection(&other).count() as f32 / all as f32 }
}
