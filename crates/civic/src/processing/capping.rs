//! What is kept of a document that is longer than anybody reads: its first pages, and then the pages that say the most.
//!
//! A page says much when it names money, when something is decided on it, and when headings stand on it. What is left out
//! is said where it was.

use crate::dates::pattern;
use regex::Regex;
use std::{ops::Range, sync::LazyLock};

/// This share of the room is for the beginning, in tenths.
const BEGINNING: usize = 4;
/// A text without pages is looked at in pieces of about this many characters.
const PIECE: usize = 4_000;

static MARKER: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^--- PAGE (\d+) ---$"));
static MONEY: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\$\s?\d|\b\d[\d,.]*\s(?:million|billion)\b|\b(?:fiscal impact|appropriat\w+|budget)\b"));
static ACTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:recommend(?:ed|ation|s)?|resolved|ordain(?:ed|s)?|adopt(?:s|ed|ion)?|approv(?:e|es|al)|authori[sz](?:e|es|ation)|award(?:s|ed)?|whereas|findings?|conditions? of approval|effective date|public hearing)\b",
    )
});
static HEADING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^(?:[A-Z][A-Z &/,'-]{3,60}|(?:[IVX]+|\d{1,2})\.\s+[A-Z].{2,60})$"));

/// The text within so many characters, and what was left out where something was.
pub(super) fn within(text: String, most: usize) -> (String, Option<String>) {
    // Bytes are never fewer than characters.
    if text.len() <= most || text.chars().count() <= most {
        return (text, None);
    }
    let pages = pages(&text);
    let length = |range: &Range<usize>| text.get(range.clone()).map_or(0, |page| page.chars().count());
    let mut kept = vec![false; pages.len()];
    let mut room = most;
    for (at, page) in pages.iter().enumerate() {
        let needed = length(page);
        if needed > room || (at > 0 && most - room + needed > most / 10 * BEGINNING) {
            break;
        }
        (kept[at], room) = (true, room - needed);
    }
    let mut others: Vec<(usize, usize)> = pages
        .iter()
        .enumerate()
        .filter(|(at, _)| !kept[*at])
        .map(|(at, page)| (score(text.get(page.clone()).unwrap_or_default()), at))
        .collect();
    // Of pages that say as much the earlier one.
    others.sort_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
    for (_, at) in others {
        let needed = length(&pages[at]);
        if needed <= room {
            (kept[at], room) = (true, room - needed);
        }
    }
    let mut chosen = String::new();
    let mut was_kept = true;
    for (page, is_kept) in pages.iter().zip(&kept) {
        if *is_kept {
            chosen.push_str(text.get(page.clone()).unwrap_or_default());
        } else if was_kept {
            chosen.push_str("[…]\n\n");
        }
        was_kept = *is_kept;
    }
    if !kept.contains(&true) {
        // A single page that is longer than the room.
        let end = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
        chosen = text.get(..end).unwrap_or_default().to_owned();
    }
    let (read, all) = (kept.iter().filter(|kept| **kept).count().max(1), pages.len());
    let note = format!("it is very long: {read} of its {all} parts were read, those that say the most");
    (chosen, Some(note))
}

/// Where each page, or piece of a text without pages, stands.
fn pages(text: &str) -> Vec<Range<usize>> {
    let mut starts: Vec<usize> = MARKER.find_iter(text).map(|marker| marker.start()).collect();
    if starts.len() < 2 {
        starts = vec![0];
        let mut last = 0;
        for (at, _) in text.match_indices('\n') {
            if at - last >= PIECE {
                starts.push(at + 1);
                last = at;
            }
        }
    } else if starts.first() != Some(&0) {
        starts.insert(0, 0);
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).filter(|range| !range.is_empty()).collect()
}

fn score(page: &str) -> usize {
    let count = |what: &Regex, most: usize| what.find_iter(page).take(most).count();
    3 * count(&MONEY, 5) + 2 * count(&ACTION, 8) + count(&HEADING, 4)
}

/// The pages from one to another, both included, of a text with markers.
pub(super) fn of_pages(text: &str, first: usize, last: usize) -> String {
    let numbered = MARKER.captures_iter(text).filter_map(|found| {
        let (whole, number) = (found.get(0)?, found.get(1)?.as_str().parse::<usize>().ok()?);
        Some((whole.start(), number))
    });
    let numbered: Vec<(usize, usize)> = numbered.collect();
    let mut out = String::new();
    for (place, (start, number)) in numbered.iter().enumerate() {
        let end = numbered.get(place + 1).map_or(text.len(), |(next, _)| *next);
        if (first..=last).contains(number) {
            out.push_str(text.get(*start..end).unwrap_or_default());
        }
    }

    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::page_marker;

    fn paged(pages: &[&str]) -> String {
        pages.iter().enumerate().map(|(at, page)| format!("{}\n{page}\n\n", page_marker(at + 1))).collect()
    }

    #[test]
    fn a_short_text_stays() {
        assert_eq!(within("Lease of the pier".to_owned(), 17), ("Lease of the pier".to_owned(), None));
    }

    #[test]
    fn of_a_long_one_the_beginning_and_the_pages_with_money_and_decisions_are_kept() {
        let filler = "nothing to see here ".repeat(20);
        let money = format!("{filler} The fiscal impact is $450,000. BE IT RESOLVED that the award is approved.");
        let mut pages = vec![filler.as_str(); 40];
        pages[30] = &money;
        let (kept, note) = within(paged(&pages), 3_000);
        assert!(kept.chars().count() <= 3_020, "{}", kept.len());
        assert!(kept.starts_with("--- PAGE 1 ---") && kept.contains("--- PAGE 31 ---"), "{kept}");
        assert!(kept.contains("$450,000") && kept.contains("[…]"));
        assert!(note.unwrap().contains("of its 40 parts"));
        // The pages are in their order.
        let numbers: Vec<usize> = MARKER.captures_iter(&kept).map(|found| found[1].parse().unwrap()).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
    }

    #[test]
    fn a_text_without_pages_or_breaks_is_cut_at_a_character() {
        let (kept, note) = within("ä".repeat(500), 100);
        assert_eq!((kept.chars().count(), note.is_some()), (100, true));
        let lines = "A line of a very long text.\n".repeat(2_000);
        assert!(within(lines, 10_000).0.chars().count() <= 10_010);
    }

    #[test]
    fn pages_are_cut_out_by_their_numbers() {
        let text = paged(&["one", "two", "three", "four"]);
        assert_eq!(of_pages(&text, 2, 3), "--- PAGE 2 ---\ntwo\n\n--- PAGE 3 ---\nthree\n\n");
        assert_eq!(of_pages(&text, 9, 9), "");
    }
}
