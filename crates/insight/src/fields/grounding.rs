//! Where on the pages a value stands. A value that is said to stand on a page always quotes words of that page.

use super::{
    candidate::Candidate,
    label::plain_parts,
    schema::FieldType,
    sheet::Sheet,
    value::{Decimal, address},
};
use bindery_reader::Rect;
use std::ops::Range;

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
        ocr: spans.iter().filter_map(|span| sheet.ocr_confidence(span)).reduce(f32::min),
    }
}

/// Where the pages state a value that another source gave.
pub(crate) fn find(
    sheet: &Sheet,
    kind: FieldType,
    text: &str,
    normalised: &str,
    candidates: &[Candidate],
) -> Option<Place> {
    let typed = candidates.iter().find(|candidate| is_same(kind, &candidate.parsed.normalised, normalised));
    let tokens = typed.map(|candidate| candidate.tokens.clone()).or_else(|| words(sheet, text));
    tokens.map(|tokens| place(sheet, &[tokens]))
}

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
        Some(found.first()?.token..found.last()?.token + 1)
    })
}

/// Whether two normalised values of a type mean the same.
pub(crate) fn is_same(kind: FieldType, one: &str, other: &str) -> bool {
    match kind {
        FieldType::Money | FieldType::Decimal | FieldType::Integer => {
            matches!((Decimal::from_plain(one), Decimal::from_plain(other)), (Some(one), Some(other)) if one == other)
        }
        FieldType::Name => {
            let (one, other) = (address::name_key(one), address::name_key(other));
            !one.is_empty() && one == other
        }
        FieldType::Address => address_key(one) == address_key(other),
        _ => one == other,
    }
}

/// Without the country, which an e-invoice always names by its code and a page rarely does.
fn address_key(address: &str) -> String {
    let is_code = |country: &str| country.len() == 2 && country.bytes().all(|letter| letter.is_ascii_uppercase());
    let inland =
        address.rsplit_once(", ").filter(|(_, country)| is_code(country)).map_or(address, |(inland, _)| inland);
    address::name_key(inland)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_country_that_an_e_invoice_names_is_no_other_address() {
        let same = |one: &str, other: &str| is_same(FieldType::Address, one, other);
        assert!(same("Kaistraße 1, 24103 Kiel, DE", "Kaistraße 1, 24103 Kiel"));
        assert!(!same("Kaistraße 1, 24103 Kiel, DE", "Kaistraße 2, 24103 Kiel"));
    }
}
