//! Runs of words that can be the name of somebody, and the addresses below them.

use super::NameCandidate;
use crate::extract::{
    occurrence::Occurrences,
    sheet::Sheet,
    value::{DateOrder, address, codes, date},
};
use bindery_reader::Rect;
use std::ops::Range;

/// Names stand on the first pages and, in small print, at the end of the last.
const PAGES_WITH_NAMES: usize = 2;
pub(super) const MOST_NAMES: usize = 400;
/// Words of titles and of the print around names, never a name by themselves.
const NOT_NAMES: &[&str] = &[
    "invoice",
    "rechnung",
    "facture",
    "factura",
    "gutschrift",
    "avoir",
    "abono",
    "receipt",
    "quittung",
    "beleg",
    "page",
    "seite",
    "página",
    "pagina",
    "original",
    "copy",
    "kopie",
    "duplicate",
    "duplicata",
    "tax",
    "date",
    "datum",
    "fecha",
    "total",
    "description",
    "beschreibung",
    "sales",
    "bill",
    "commercial",
    "credit",
    "note",
    "statement",
    "lieferschein",
    "rechnungskorrektur",
    "notes",
    "thank",
    "you",
    "vielen",
    "dank",
    "merci",
    "gracias",
    "deutschland",
    "germany",
    "france",
    "spain",
    "españa",
    "österreich",
    "schweiz",
    "switzerland",
    "austria",
    "united",
    "kingdom",
    "usa",
    "details",
    "payment",
    "zahlungsbedingungen",
    "bemerkungen",
    "payslip",
    "contract",
    "nr",
    "no",
    "de",
    "von",
    "of",
    "to",
    "confidential",
];

/// What stands below a name in its column.
pub(super) struct AddressBlock {
    pub lines: Vec<Range<usize>>,
    /// Which of the lines has the town.
    pub postcode: Option<usize>,
    /// Whether telephone, tax or account numbers follow, as they do below the name of who writes.
    pub has_own_numbers: bool,
}

impl AddressBlock {
    pub(super) fn find_below(sheet: &Sheet, line: usize, rect: &Rect) -> Self {
        let mut block = Self { lines: Vec::new(), postcode: None, has_own_numbers: false };
        let end = sheet.page_of(line).lines.end.min(line + 16);
        let mut bottom = rect.y1;
        for below in line + 1..end {
            let printed = &sheet.lines[below];
            let segment = printed
                .segments
                .iter()
                .find(|segment| (sheet.tokens[segment.tokens.start].rect.x0 - rect.x0).abs() < 6.0);
            let Some(segment) = segment else { continue };
            let own = sheet.rect_of(&segment.tokens);
            if own.y0 - bottom > 2.5 * rect.height().max(6.0) {
                break;
            }
            bottom = own.y1;
            if block.postcode.is_none() && block.lines.len() < 5 {
                block.lines.push(segment.tokens.clone());
                if address::is_postcode_line(&segment.text) {
                    block.postcode = Some(block.lines.len() - 1);
                }
            }
            let text = segment.text.to_lowercase();
            block.has_own_numbers |= ["tel", "phone", "fon", "fax", "iban", "www.", "http", "siret", "hrb", "@"]
                .iter()
                .any(|word| text.contains(word));
        }
        block
    }
}

pub(super) fn name_lines(sheet: &Sheet) -> Vec<usize> {
    let count = sheet.pages.len();
    let mut lines = Vec::new();
    for (index, page) in sheet.pages.iter().enumerate() {
        let is_front = index < PAGES_WITH_NAMES;
        let is_last = index + 1 == count;
        lines.extend(
            page.lines.clone().filter(|line| is_front || (is_last && sheet.lines[*line].rect.y0 > 0.8 * page.height)),
        );
    }
    lines
}

/// The name that a run of words begins with, if it can be one.
pub(super) fn name_in(
    sheet: &Sheet,
    occurrences: &Occurrences,
    line: usize,
    tokens: Range<usize>,
) -> Option<NameCandidate> {
    let ends = |token: &usize| {
        is_separator(&sheet.tokens[*token].text) || (*token > tokens.start && opens_role(sheet, *token))
    };
    let end = tokens.clone().find(ends).unwrap_or(tokens.end);
    let mut own = tokens.start..end;
    if own.is_empty() {
        return None;
    }
    // "Name GmbH, Street 1, 12345 Town" in one line: the comma before the street ends the name.
    let comma = own.clone().find(|token| {
        sheet.tokens[*token].text.ends_with(',') && {
            let rest = sheet.quote(&(*token + 1..tokens.end));
            address::is_postcode_line(&rest) || address::is_street_line(rest.split(',').next().unwrap_or_default())
        }
    });
    if let Some(comma) = comma {
        own.end = comma + 1;
    }
    let text = sheet.quote(&own);
    let text = text.trim().trim_end_matches([',', ';', '.']).trim();
    // A dot belongs to "Ltd." and "Inc.".
    let text = if sheet.quote(&own).trim_end().ends_with('.') && address::has_legal_form(&format!("{text}.")) {
        format!("{text}.")
    } else {
        text.to_owned()
    };
    let labels = own.clone().filter(|token| occurrences.is_label(*token)).count();
    let is_labelled = labels * 2 >= own.len() && !address::has_legal_form(&text);
    // "Number : 123": what a colon follows is a label, though it may stand apart.
    let is_followed = sheet.lines[line].tokens.contains(&own.end) && sheet.tokens[own.end].text.starts_with(':');
    (is_name(&text) && !is_labelled && !is_followed).then_some(NameCandidate {
        line,
        tokens: own,
        text,
        sender: 0.0,
        recipient: 0.0,
        label: None,
    })
}

/// Whether a bracket begins with the role of a party: `(the “Company”)`, `("Birch")`, `(hereinafter …`.
fn opens_role(sheet: &Sheet, token: usize) -> bool {
    const OPENINGS: &[&str] = &["(the", "(hereinafter", "(hereafter", "(nachfolgend", "(ci-après", "(en"];
    let text = sheet.tokens[token].text.to_lowercase();
    text.starts_with("(“") || text.starts_with("(\"") || text.starts_with("(„") || OPENINGS.contains(&text.as_str())
}

fn is_separator(text: &str) -> bool {
    matches!(text, "●" | "•" | "·" | "|" | "-" | "–" | "—" | "*" | "∙" | "⋅" | "/" | "■" | "▪" | "," | "»")
}

pub(super) fn is_name(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let count = text.chars().count();
    let words: Vec<&str> = text.split_whitespace().collect();
    let starts_well = text
        .starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || (c.is_alphabetic() && !c.is_lowercase()))
        || words.iter().any(|word| word.starts_with(char::is_uppercase)) && words.len() <= 4;
    if !(3..=70).contains(&count) || words.len() > 8 || letters * 2 < count || !starts_well {
        return false;
    }
    let lower = text.to_lowercase();
    let is_title = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .all(|word| NOT_NAMES.contains(&word) || word.bytes().all(|b| b.is_ascii_digit()));
    let is_other = text.contains([':', '@', '%', '€', '$', '£']) || lower.contains("www.") || lower.contains("http");
    !is_title
        && !is_other
        && !names_section(&lower)
        && !address::is_postcode_line(text)
        && !address::is_street_line(text)
        && date::parse(text, DateOrder::Unknown).is_none()
}

/// Whether a line in small letters is the heading of a part of a text: "section 2. returning documents".
fn names_section(lower: &str) -> bool {
    const PARTS: &[&str] = &[
        "section",
        "article",
        "clause",
        "exhibit",
        "schedule",
        "annex",
        "appendix",
        "paragraph",
        "abschnitt",
        "artikel",
        "anlage",
        "anhang",
        "annexe",
        "sección",
        "artículo",
        "anexo",
    ];
    let mut words = lower.split_whitespace();
    words.next().is_some_and(|first| PARTS.contains(&first))
        && words.next().is_some_and(|second| second.starts_with(|c: char| c.is_ascii_digit()))
}

/// "Name · Street 1 · 12345 Town" in one line, as it stands in the window of an envelope or in a letterhead.
pub(super) fn is_sender_line(sheet: &Sheet, name: &NameCandidate) -> bool {
    let line = &sheet.lines[name.line];
    let rest = name.tokens.end..line.tokens.end;
    let next = sheet.tokens.get(name.tokens.end).filter(|_| name.tokens.end < line.tokens.end);
    let is_parted =
        next.is_some_and(|token| is_separator(&token.text)) || sheet.tokens[name.tokens.end - 1].text.ends_with(',');
    is_parted && rest.len() < 40 && address::is_postcode_line(&sheet.quote(&rest))
}

/// The names in e-mail and web addresses, without the ending.
pub(super) fn domains(sheet: &Sheet) -> Vec<String> {
    let mut domains: Vec<String> = Vec::new();
    for token in &sheet.tokens {
        let text = token.text.to_lowercase();
        let host = match (codes::EMAIL.find(&text), text.find("www.")) {
            (Some(email), _) => email.as_str().rsplit('@').next().map(str::to_owned),
            (None, Some(at)) => Some(text[at + 4..].to_owned()),
            _ => None,
        };
        let stem = host.as_deref().and_then(|host| host.split('.').next()).map(|stem| stem.replace('-', ""));
        if let Some(stem) = stem.filter(|stem| stem.len() >= 4 && !domains.contains(stem) && domains.len() < 20) {
            domains.push(stem);
        }
    }
    domains
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_parts_are_no_names() {
        assert!(!is_name("Section 2. Returning Company Documents") && !is_name("Artikel 4 Haftung"));
        assert!(is_name("Section Eight Ltd") && is_name("Article One Shoes GmbH"));
    }
}
