//! What a document of several items says of one of them.
//!
//! A packet or a staff report on ten contracts speaks of each item in a few of its paragraphs. Those are what a reader of
//! the item needs; the rest would drown it.

use super::{Document, ItemRequest};
use crate::{
    prose::subject::{shared_stems, telling_stems},
    text::{marked_pages, with_markers},
};
use std::collections::BTreeSet;

/// Of a shared document that nowhere speaks of the item, so much is read where the item has no text of its own.
const BEGINNING: usize = 6_000;
/// More of one shared document is no longer about one item.
const MOST_CHARS: usize = 20_000;
/// A paragraph with this share of the title's telling words speaks of it.
const SHARE: f64 = 0.5;
const LONGEST_HEADING: usize = 200;
/// A title with fewer telling words is too common to be looked for.
const FEWEST_WORDS: usize = 2;

/// The passages of a document that speak of an item, page by page, with what stands below each heading. Where none does,
/// the beginning of it if there is nothing else to read, and nothing otherwise.
pub(super) fn passages(document: &Document, item: &ItemRequest, has_own_text: bool) -> Vec<(usize, String)> {
    let wanted = telling_stems(&item.title);
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut room = MOST_CHARS;
    for (page, text) in marked_pages(&document.text) {
        let mut follows = false;
        for paragraph in paragraphs(text) {
            let speaks = speaks_of(paragraph, item, &wanted);
            if speaks || follows {
                let length = paragraph.chars().count();
                if length > room {
                    return found;
                }
                room -= length;
                add(&mut found, page, paragraph);
            }
            // A heading names the item, and the paragraph below it says what it is.
            follows = speaks && is_heading(paragraph);
        }
    }
    if found.is_empty() && !has_own_text { beginning(document) } else { found }
}

/// The same as one text, with the marks of its pages.
pub(super) fn passages_as_text(document: &Document, item: &ItemRequest, has_own_text: bool) -> String {
    with_markers(passages(document, item, has_own_text))
}

fn is_heading(paragraph: &str) -> bool {
    !paragraph.ends_with(['.', ';', '!', '?']) && paragraph.chars().count() <= LONGEST_HEADING
}

fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty())
}

fn speaks_of(paragraph: &str, item: &ItemRequest, wanted: &BTreeSet<String>) -> bool {
    if item.numbers.iter().any(|number| names(paragraph, number)) {
        return true;
    }
    if wanted.len() < FEWEST_WORDS {
        return false;
    }
    let shared = shared_stems(wanted, paragraph);
    shared >= FEWEST_WORDS && shared as f64 >= wanted.len() as f64 * SHARE
}

/// Whether a paragraph calls something by this number. A short one, such as `7`, counts only where it is called an item.
fn names(paragraph: &str, number: &str) -> bool {
    let number = number.trim().trim_end_matches('.');
    let is_telling = number.chars().count() >= 5 && number.contains(|c: char| c.is_ascii_digit());
    !number.is_empty()
        && paragraph.match_indices(number).any(|(at, _)| {
            let (before, after) = (&paragraph[..at], &paragraph[at + number.len()..]);
            let is_whole = !before.ends_with(|c: char| c.is_alphanumeric() || c == '-' || c == '.')
                && !after.starts_with(|c: char| c.is_alphanumeric() || c == '-')
                && !after.strip_prefix('.').is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
            let before = before.trim_end().trim_end_matches(['#', ':']).trim_end();
            let is_called_item =
                ["item", "Item", "ITEM", "item no.", "Item No.", "ITEM NO."].iter().any(|word| before.ends_with(word));
            is_whole && (is_telling || is_called_item)
        })
}

fn beginning(document: &Document) -> Vec<(usize, String)> {
    let mut room = BEGINNING;
    let mut found = Vec::new();
    for (page, text) in marked_pages(&document.text) {
        if room == 0 {
            break;
        }
        let text: String = text.chars().take(room).collect();
        room -= text.chars().count();
        found.push((page, text));
    }
    found
}

fn add(found: &mut Vec<(usize, String)>, page: usize, paragraph: &str) {
    match found.last_mut() {
        Some((last, text)) if *last == page => text.extend(["\n\n", paragraph]),
        _ => found.push((page, paragraph.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "--- PAGE 1 ---\nStaff report on contracts\n\nThe city awards contracts each spring.\n\n\
        --- PAGE 2 ---\nItem 7: pump maintenance\n\nThe firm repairs pumps for $50,000.\n\nItem 8: tree trimming\n\n\
        Trees are trimmed for $9,000.\n\n--- PAGE 3 ---\nFile 2026-0123 replaces the older agreement.";

    fn find_parts(title: &str, numbers: &[&str], has_own_text: bool) -> Vec<(usize, String)> {
        let document = Document { name: "Staff report".to_owned(), text: REPORT.to_owned(), page_count: 3 };
        let numbers = numbers.iter().map(|number| (*number).to_owned()).collect();
        passages(&document, &ItemRequest { title: title.to_owned(), numbers, ..ItemRequest::default() }, has_own_text)
    }

    #[test]
    fn an_item_is_found_by_its_number_and_by_its_words() {
        let eight = find_parts("Contract with Leaf & Sons", &["8."], true);
        assert_eq!(eight, [(2, "Item 8: tree trimming\n\nTrees are trimmed for $9,000.".to_owned())]);
        let pumps = find_parts("Maintenance of pumps", &["70"], true);
        assert_eq!(pumps[0].0, 2);
        assert!(pumps[0].1.contains("$50,000") && !pumps[0].1.contains("$9,000"), "{pumps:?}");
        assert_eq!(find_parts("Agreement", &["2026-0123"], true)[0].0, 3);
        assert_eq!(find_parts("Agreement", &["2026-012"], true), []);
    }

    #[test]
    fn a_document_that_does_not_speak_of_the_item_is_read_only_where_nothing_else_is() {
        assert_eq!(find_parts("Appointment of a librarian", &[], true), []);
        assert_eq!(find_parts("Appointment of a librarian", &[], false).len(), 3);
    }
}
