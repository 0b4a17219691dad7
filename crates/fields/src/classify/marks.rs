//! What ties a page to the one before it, or parts it from it: numbers, running titles, language, size.

use super::{signals::has_contact_at_top, view::View};
use crate::pattern::pattern;
use bindery_reader::{Page, model::BlockKind};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

/// How many rows at the top and at the bottom may hold the page's number.
const EDGE_ROWS: usize = 4;
/// A page of signatures has no more words.
const MOST_SIGNED_WORDS: usize = 90;
/// Numbers of invoices, accounts and customers that are compared; a page of a ledger has thousands.
const MOST_REFERENCES: usize = 400;

/// "Page 2 of 3", "Seite 2", "2/3", "- 2 -".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbering {
    pub(super) page: u32,
    pub(super) of: Option<u32>,
    /// Whether a word or a total says that it is a page's number; a bare figure may be anything.
    pub(super) certain: bool,
}

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "marks are independent of each other")]
pub(super) struct Marks {
    pub(super) numbering: Option<Numbering>,
    /// Numbers of at least five digits, as printed.
    pub(super) references: BTreeSet<String>,
    /// What stands at the very top and the very bottom, without digits.
    pub(super) edges: BTreeSet<String>,
    pub(super) language: Option<&'static str>,
    /// Width and height in points, rounded.
    pub(super) size: Option<(i64, i64)>,
    /// Whether the text begins in the middle of a sentence.
    pub(super) goes_on: bool,
    /// Whether the text ends in the middle of a sentence.
    pub(super) breaks_off: bool,
    pub(super) has_text: bool,
    /// Whether much larger letters than usual stand at the very top.
    pub(super) large_title: bool,
    /// Whether a telephone number or an e-mail stands in the upper part.
    pub(super) contact_at_top: bool,
    /// Whether it begins as an annex does: "Exhibit A".
    pub(super) is_annex: bool,
    /// Whether it has little but lines to sign on.
    pub(super) is_signature_page: bool,
}

pattern!(
    NAMED,
    r"\b(?:page|pagina|pag\.?|seite|hoja|blatt|sheet|feuillet|feuille|folio|p\.)\s*:?\s*(\d{1,4})(?:\s*(?:of|de|von|sur|out of|/|\|)\s*(\d{1,4}))?(?:\D|$)"
);
pattern!(FRACTION, r"(?:^|\s)(\d{1,3})\s?(?:/|\||of|de|von|sur)\s?(\d{1,3})\s*$");
pattern!(BARE, r"^\W{0,3}(\d{1,3})\W{0,3}$");
pattern!(REFERENCE, r"[a-z]{0,4}[-/]?\d[\d/-]{3,}\d|[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){3,7}");
// A letter or a small number: "Exhibit 10.3" is the number that a register gives to a whole document.
pattern!(
    ANNEX,
    r"^(?:exhibit|annex|annexe|appendix|schedule|attachment|anlage|anhang|anexo|allegato|bijlage)(?:\s+(?:[a-z]|\d{1,2}|[ivx]{1,4})(?:$|[^\w.(])|\s*(?:$|[:–-]))"
);
pattern!(
    SIGNATURE,
    r"^(?:by|its|name|title|date|signature|signed|unterschrift|firma|ort, datum)\b.{0,12}$|\bsignature of\b|^_{4,}|in witness whereof"
);
pattern!(DATE_OR_SUM, r"^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$|^(?:19|20)\d\d(?:-(?:19|20)\d\d)?$");

impl Marks {
    pub(super) fn new(page: &Page) -> Self {
        let view = View::new(page);
        let rows = &view.rows;
        let top = rows.iter().take(EDGE_ROWS);
        let bottom = rows.iter().rev().take(EDGE_ROWS);
        let first_and_last = rows.first().into_iter().chain(rows.last());
        let texts: Vec<String> = page.blocks.iter().filter_map(body_text).collect();
        Self {
            // The foot is where most numbers are.
            numbering: numbering(bottom.chain(top)),
            references: references(rows),
            edges: first_and_last.map(|row| without_digits(row)).filter(|row| row.len() >= 6).collect(),
            language: language(&view),
            size: page.size.map(|size| (size.width.round() as i64, size.height.round() as i64)),
            goes_on: texts.first().is_some_and(|text| text.starts_with(char::is_lowercase)),
            breaks_off: texts
                .last()
                .is_some_and(|text| text.trim_end().ends_with(|c: char| c.is_lowercase() || c == ',')),
            has_text: view.words > 0,
            large_title: view.large_title,
            contact_at_top: has_contact_at_top(&view),
            is_annex: rows.iter().take(2).any(|row| ANNEX.is_match(row)),
            is_signature_page: view.words < MOST_SIGNED_WORDS
                && rows.iter().filter(|row| SIGNATURE.is_match(row)).count() >= 2,
        }
    }
}

/// Paragraphs long enough to be sentences.
fn body_text(block: &bindery_reader::Block) -> Option<String> {
    let text = match &block.kind {
        BlockKind::Paragraph { text } | BlockKind::ListItem { text, .. } => text.text(),
        BlockKind::Code { text } => text.clone(),
        _ => return None,
    };
    (text.split_whitespace().nth(5).is_some()).then_some(text)
}

fn numbering<'r>(rows: impl Iterator<Item = &'r String>) -> Option<Numbering> {
    let rows: Vec<&String> = rows.collect();
    let find = |pattern: &Regex, certain| {
        rows.iter().find_map(|row| {
            let found = pattern.captures(row)?;
            let figure = |group| found.get(group).and_then(|text: regex::Match<'_>| text.as_str().parse().ok());
            let (page, of): (u32, Option<u32>) = (figure(1)?, figure(2));
            let sane = page > 0 && of.is_none_or(|of| page <= of);
            sane.then_some(Numbering { page, of, certain })
        })
    };
    find(&NAMED, true).or_else(|| find(&FRACTION, true)).or_else(|| find(&BARE, false))
}

fn references(rows: &[String]) -> BTreeSet<String> {
    let found = rows.iter().flat_map(|row| REFERENCE.find_iter(row)).map(|found| found.as_str());
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    let wanted = found.filter(|text| digits(text) >= 5 && !DATE_OR_SUM.is_match(text));
    wanted.map(|text| text.replace(' ', "")).take(MOST_REFERENCES).collect()
}

fn without_digits(row: &str) -> String {
    let kept: String = row.chars().filter(|c| !c.is_ascii_digit()).collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Short words that one of the languages has and the others have not, folded.
const STOP_WORDS: &[(&str, &[&str])] = &[
    (
        "de",
        &["der", "die", "und", "das", "den", "von", "mit", "fur", "ist", "im", "dem", "nicht", "wird", "zum", "bis"],
    ),
    ("en", &["the", "of", "and", "to", "is", "for", "with", "this", "by", "that", "be", "are", "from", "at", "was"]),
    ("es", &["el", "los", "las", "del", "por", "con", "para", "una", "y", "al", "que", "se", "su", "no", "nos"]),
    ("fr", &["le", "les", "des", "du", "et", "est", "une", "dans", "pour", "sur", "au", "par", "nous", "vous", "aux"]),
];

fn language(view: &View) -> Option<&'static str> {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for token in view.segments.iter().flat_map(|segment| &segment.tokens) {
        for (language, words) in STOP_WORDS {
            if words.contains(&token.folded.as_str()) {
                *counts.entry(language).or_default() += 1;
            }
        }
    }
    let mut ranked: Vec<_> = counts.into_iter().collect();
    ranked.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let (language, count) = *ranked.first()?;
    let second = ranked.get(1).map_or(0, |(_, count)| *count);
    (count >= 4 && count >= second * 2).then_some(language)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page_number(row: &str) -> Option<(u32, Option<u32>)> {
        numbering([row.to_owned()].iter()).map(|numbering| (numbering.page, numbering.of))
    }

    #[test]
    fn the_number_of_a_page_is_read_in_several_languages() {
        assert_eq!(page_number("page 2 of 3"), Some((2, Some(3))));
        assert_eq!(page_number("seite 1 von 1"), Some((1, Some(1))));
        assert_eq!(page_number("pagina 4 de 10"), Some((4, Some(10))));
        assert_eq!(page_number("example bank 2/5"), Some((2, Some(5))));
        assert_eq!(page_number("- 7 -"), Some((7, None)));
        assert_eq!(page_number("3/2"), None);
        assert_eq!(page_number("total 12.00"), None);
    }

    #[test]
    fn annexes_have_a_letter_or_a_small_number() {
        for row in ["exhibit a", "annex 2", "schedule", "anlage 3: preise", "appendix iv - forms"] {
            assert!(ANNEX.is_match(row), "{row}");
        }
        for row in ["exhibit 10.3", "exhibit (d)(2)", "scheduled flights", "exhibition hall"] {
            assert!(!ANNEX.is_match(row), "{row}");
        }
    }

    #[test]
    fn references_are_neither_dates_nor_years() {
        let rows =
            ["rechnung re-2024-00871 vom 12/06/2024".to_owned(), "iban de28 8635 9280 4263 9008 1011".to_owned()];
        let all: Vec<String> = references(&rows).into_iter().collect();
        assert_eq!(all, ["de2886359280426390081011", "re-2024-00871"]);
    }

    #[test]
    fn every_pattern_compiles() {
        for pattern in [&NAMED, &FRACTION, &BARE, &REFERENCE, &ANNEX, &SIGNATURE, &DATE_OR_SUM] {
            assert!(!pattern.as_str().is_empty());
        }
    }
}
