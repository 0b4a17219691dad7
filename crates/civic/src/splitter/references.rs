//! Items by the pages that an agenda points to: `#page=45` behind a link, or a page printed at the end of a line.

use super::{Agenda, LINK_PAGES, Part, SplitItem, headings::file_number, numbers};
use crate::{lines::Line, pattern::pattern};
use regex::Regex;
use std::sync::LazyLock;

/// An agenda points to what comes behind it.
const FIRST_TARGET: usize = 15;
const FEWEST: usize = 3;

static PRINTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)(?:\.{3,}|…+|\(?\b(?:page|pages|pg\.?|p\.)\s*)\s*(\d{1,4})(?:\s*[-–]\s*\d{1,4})?\)?\s*$")
});
static IN_LINK: LazyLock<Regex> = LazyLock::new(|| pattern(r"#(?:page=|nameddest=page)(\d{1,5})"));

/// The page that a line points to, and the line without it.
fn target(line: &Line) -> Option<(usize, String)> {
    let linked = line.links.iter().find_map(|link| IN_LINK.captures(&link.url)?.get(1)?.as_str().parse().ok());
    if let Some(page) = linked {
        return Some((page, line.text.clone()));
    }
    let found = PRINTED.captures(&line.text)?;
    let title = line.text.get(..found.get(0)?.start())?.trim_end_matches([' ', '.', '…']).to_owned();
    Some((found.get(1)?.as_str().parse().ok()?, title))
}

fn targets<'a>(agenda: &'a Agenda<'_>) -> impl Iterator<Item = (&'a Line, usize, String)> {
    let first = agenda.lines.first().map_or(1, |line| line.page);
    let last = agenda.page_count;
    agenda
        .lines
        .iter()
        .filter(move |line| line.page < first + LINK_PAGES)
        .filter_map(|line| target(line).map(|(page, title)| (line, page, title)))
        .filter(move |(line, page, title)| *page > line.page && *page <= last && !title.is_empty())
}

pub(super) fn is_usable(agenda: &Agenda<'_>) -> bool {
    targets(agenda).filter(|(_, page, _)| *page >= FIRST_TARGET).count() >= FEWEST
}

/// Each page that is pointed to begins an item's document.
pub(super) fn items(agenda: &Agenda<'_>) -> Vec<SplitItem> {
    let mut found: Vec<(&Line, usize, String)> = targets(agenda).collect();
    found.dedup_by_key(|(_, page, _)| *page);
    let mut starts: Vec<usize> = found.iter().map(|(_, page, _)| *page).collect();
    starts.sort_unstable();
    found
        .into_iter()
        .map(|(line, first_page, title)| {
            let (number, title) = match numbers::split(&title) {
                Some((number, rest)) if !rest.is_empty() => (Some(number.text), rest.to_owned()),
                _ => (None, title),
            };
            let (matter_file, title) = file_number(&title);
            let next = starts.iter().find(|start| **start > first_page).copied();
            let last_page = next.map_or(agenda.page_count, |next| next - 1);
            let parts = vec![Part { name: title.clone(), first_page, last_page }];
            SplitItem { number, title, matter_file, parts, page: line.page, ..SplitItem::default() }
        })
        .collect()
}
