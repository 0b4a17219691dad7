//! The pages of a very long text that say most: where it begins, where it asks for something, where the money is.

use crate::{
    pattern::pattern,
    text::{marked_pages, page_marker, with_markers},
};
use regex::Regex;
use std::{cmp::Reverse, collections::BTreeSet, sync::LazyLock};

/// A text without marks of pages is cut to pieces of this many characters.
const PIECE: usize = 3_000;
/// The first pages of a document say what it is.
const FIRST: usize = 3;

static CUES: LazyLock<[(Regex, u32); 5]> = LazyLock::new(|| {
    [
        (r"(?i)\b(?:recommend(?:ed|ation)s?|action requested|staff recommends|proposed (?:motion|action))\b", 6),
        (r"(?i)\b(?:be it (?:resolved|ordained|enacted)|now,? therefore|hereby|approve|adopt|authorize|award)", 4),
        (r"(?i)\b(?:fiscal|financial|budget) (?:impact|note)|\b(?:summary|next steps|effective date|public hearing)\b", 4),
        (r"\$ ?\d|(?i)\b\d[\d,.]* (?:dollars|million|billion)\b", 2),
        // A heading in capitals or with a number.
        (r"(?m)^(?:[A-Z][A-Z &/,'-]{3,60}|(?:[IVX]+|\d{1,2})\.\s+[A-Z].{2,60})$", 1),
    ]
    .map(|(cue, weight)| (pattern(cue), weight))
});

/// A part of a text.
pub(crate) struct Excerpt {
    pub(crate) text: String,
    pub(crate) pages: usize,
    pub(crate) of_pages: usize,
}

/// The pages of a text that say most, in their order, within so many characters; none if all of it fits.
pub(crate) fn excerpt(text: &str, most_chars: usize) -> Option<Excerpt> {
    if text.chars().count() <= most_chars {
        return None;
    }
    let pages = pages(text);
    let mut ranked: Vec<(Reverse<u32>, usize)> =
        pages.iter().enumerate().map(|(at, (_, page))| (Reverse(weight(at, page)), at)).collect();
    ranked.sort_unstable();
    let (mut chosen, mut room) = (BTreeSet::new(), most_chars);
    for (_, at) in ranked {
        let Some((_, page)) = pages.get(at) else { continue };
        let length = page.chars().count() + page_marker(usize::MAX).len() + 2;
        if length <= room {
            room -= length;
            chosen.insert(at);
        }
    }
    let text = with_markers(chosen.iter().filter_map(|at| pages.get(*at).copied()));
    Some(Excerpt { text, pages: chosen.len(), of_pages: pages.len() })
}

fn pages(text: &str) -> Vec<(usize, &str)> {
    let mut pages = Vec::new();
    for (number, page) in marked_pages(text) {
        match number {
            0 => pages.extend(bindery_models::ask::split(page, PIECE).into_iter().map(|piece| (0, piece))),
            number => pages.push((number, page)),
        }
    }
    pages
}

fn weight(at: usize, page: &str) -> u32 {
    // The tenth amount on a page says little more than the third.
    let count = |cue: &Regex| u32::try_from(cue.find_iter(page).take(3).count()).unwrap_or(0);
    let cues: u32 = CUES.iter().map(|(cue, weight)| count(cue) * weight).sum();
    cues + if at < FIRST { 100 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(pages: usize) -> String {
        let page = |number: usize| {
            let words = if number == 40 { "Staff recommends to approve $1,500,000." } else { "Nothing of note." };
            format!("{}\n{words} {}\n\n", page_marker(number), "Filler. ".repeat(100))
        };
        (1..=pages).map(page).collect()
    }

    #[test]
    fn what_fits_is_left_whole_and_of_the_rest_the_telling_pages_are_kept() {
        assert!(excerpt("short", 100).is_none());
        let text = packet(60);
        let kept = excerpt(&text, 8_000).unwrap();
        assert!(kept.text.chars().count() <= 8_000);
        assert!(kept.text.starts_with("--- PAGE 1 ---") && kept.text.contains("$1,500,000"), "{}", kept.text);
        assert_eq!(kept.of_pages, 60);
        assert!((5..=9).contains(&kept.pages), "{}", kept.pages);
        let numbers: Vec<usize> = marked_pages(&kept.text).into_iter().map(|(number, _)| number).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
    }

    #[test]
    fn a_text_without_pages_is_cut_too() {
        let kept = excerpt(&"Some words. ".repeat(5_000), 10_000).unwrap();
        assert!((1..=3).contains(&kept.pages) && kept.text.chars().count() <= 10_000, "{}", kept.pages);
    }
}
