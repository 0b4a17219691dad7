//! Where on the pages a value stands. A value that is said to stand on a page always quotes words of that page.

use super::{
    candidate::Candidate,
    label::plain_parts,
    schema::FieldType,
    sheet::Sheet,
    value::{Decimal, address},
};
use bindery_reader::Rect;
use std::{collections::BTreeSet, ops::Range};

/// A place on a page.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Place {
    pub page: Option<usize>,
    pub quote: Option<String>,
    pub bbox: Option<Rect>,
    pub ocr: Option<f32>,
}

/// The place of words, which may stand on several lines of one page.
pub(crate) fn place(sheet: &Sheet, spans: &[Range<usize>]) -> Place {
    let Some(first) = spans.first() else { return Place::default() };
    let line = sheet.lines.partition_point(|line| line.tokens.end <= first.start);
    let quotes: Vec<String> = spans.iter().map(|span| sheet.quote(span)).collect();
    let boxes: Option<Vec<Rect>> = spans.iter().map(|span| sheet.box_of(span)).collect();
    Place {
        page: sheet.lines.get(line).map(|line| sheet.pages[line.page].number),
        quote: Some(quotes.join("\n")),
        bbox: boxes.and_then(|boxes| boxes.into_iter().reduce(|all, next| all.union(&next))),
        ocr: sheet.least_ocr_confidence(spans),
    }
}

/// Where the pages state a value that another source gave. Numbers must be printed as amounts are: a digit that happens
/// to be the same elsewhere states nothing, and nothing is printed as often as zero.
pub(crate) fn find(
    sheet: &Sheet,
    kind: FieldType,
    text: &str,
    normalised: &str,
    candidates: &[Candidate],
) -> Option<Place> {
    let is_number = matches!(kind, FieldType::Money | FieldType::Decimal | FieldType::Integer);
    if is_number && Decimal::from_plain(normalised) == Some(Decimal::ZERO) {
        return None;
    }
    let is_clear = |candidate: &Candidate| kind != FieldType::Money || candidate.fit >= CLEAR_AMOUNT;
    let mut same = candidates.iter().filter(|candidate| is_same(kind, &candidate.parsed.normalised, normalised));
    let typed = same.find(|candidate| is_clear(candidate)).map(|candidate| candidate.tokens.clone());
    let tokens = typed.or_else(|| if is_number { None } else { words(sheet, text) });
    tokens.map(|tokens| place(sheet, &[tokens]))
}

/// How well a print fits that has the decimals or the currency of an amount.
const CLEAR_AMOUNT: f32 = 0.85;

/// The first place where these words stand side by side.
fn words(sheet: &Sheet, text: &str) -> Option<Range<usize>> {
    let wanted: Vec<String> = text.split_whitespace().flat_map(plain_parts).collect();
    if wanted.is_empty() {
        return None;
    }
    sheet.lines.iter().find_map(|line| {
        let found = line
            .parts
            .windows(wanted.len())
            .find(|window| window.iter().zip(&wanted).all(|(part, word)| part.text == *word))?;
        let tokens = found.first()?.token..found.last()?.token + 1;
        // "12" is no part of 12.03.2026.
        let whole = line.parts.iter().filter(|part| tokens.contains(&part.token)).count();
        (whole == wanted.len()).then_some(tokens)
    })
}

/// Whether two normalised values of a type mean the same.
pub(crate) fn is_same(kind: FieldType, one: &str, other: &str) -> bool {
    match kind {
        // What is taken off and what a credit note gives back is printed with a minus or without.
        FieldType::Money => {
            matches!((Decimal::from_plain(one), Decimal::from_plain(other)), (Some(one), Some(other)) if one.abs() == other.abs())
        }
        FieldType::Decimal | FieldType::Integer => {
            matches!((Decimal::from_plain(one), Decimal::from_plain(other)), (Some(one), Some(other)) if one == other)
        }
        FieldType::Name => {
            let (one, other) = (address::name_key(one), address::name_key(other));
            !one.is_empty() && one == other
        }
        FieldType::Address => is_same_address(one, other),
        FieldType::String => one == other || is_same_text(one, other),
        _ => one == other,
    }
}

/// Whether two texts of several words have the same words, of which one may leave out some.
fn is_same_text(one: &str, other: &str) -> bool {
    let words = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(bindery_core::fold::fold_text).collect()
    };
    let (one, other) = (words(one), words(other));
    let (few, many) = if one.len() <= other.len() { (&one, &other) } else { (&other, &one) };
    few.len() >= FEWEST_WORDS && few.is_subset(many)
}

/// Fewer words are a number or a name, which has to be the same.
const FEWEST_WORDS: usize = 3;

/// Whether two addresses name the same place: the same words in any order, where one may leave out some.
fn is_same_address(one: &str, other: &str) -> bool {
    let (one, other) = (address_words(one), address_words(other));
    let (few, many) = if one.len() <= other.len() { (&one, &other) } else { (&other, &one) };
    let numbers = |words: &BTreeSet<String>| {
        words.iter().filter(|word| word.chars().all(|c| c.is_ascii_digit())).cloned().collect::<Vec<_>>()
    };
    few == many || (few.len() >= 3 && few.is_subset(many) && numbers(few) == numbers(many))
}

/// The words of an address without the country, which an e-invoice names by its code and a page by its name or not.
fn address_words(address: &str) -> BTreeSet<String> {
    let is_country = |word: &&str| word.len() == 2 && word.bytes().all(|letter| letter.is_ascii_uppercase());
    let words = address.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty() && !is_country(word));
    let words: BTreeSet<String> =
        words.map(|word| bindery_core::fold::fold_text(word).replace("strasse", "str")).collect();
    words.into_iter().filter(|word| !COUNTRIES.contains(&word.as_str())).collect()
}

/// Countries by their names, folded.
const COUNTRIES: &[&str] = &[
    "germany",
    "deutschland",
    "allemagne",
    "france",
    "frankreich",
    "austria",
    "osterreich",
    "schweiz",
    "suisse",
    "switzerland",
    "spain",
    "espana",
    "italy",
    "italia",
    "netherlands",
    "nederland",
    "belgium",
    "belgique",
    "luxembourg",
    "poland",
    "polska",
    "usa",
    "uk",
    "england",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_country_that_an_e_invoice_names_is_no_other_address() {
        let same = |one: &str, other: &str| is_same(FieldType::Address, one, other);
        assert!(same("Kaistraße 1, 24103 Kiel, DE", "Kaistraße 1, 24103 Kiel"));
        assert!(!same("Kaistraße 1, 24103 Kiel, DE", "Kaistraße 2, 24103 Kiel"));
    }

    #[test]
    fn the_order_of_the_words_of_an_address_does_not_matter() {
        let same = |one: &str, other: &str| is_same(FieldType::Address, one, other);
        assert!(same("Kaistr. 1, 24103 Kiel", "24103 Kiel, Kaistraße 1, Deutschland"));
        assert!(same("12 Mill Lane, York YO1 7HB", "York, Mill Lane 12, YO1 7HB, North Yorkshire"));
        assert!(!same("12 Mill Lane, York", "12 Mill Lane, Leeds"));
        assert!(!same("Mill Lane", "Mill Lane, York, 12"));
    }
}
