//! The two parties that the opening sentence of a contract names: "by and between … and …".

use crate::extract::{sheet::Sheet, value::address};
use std::ops::Range;

/// A party as the sentence names it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ProseParty {
    pub text: String,
    pub spans: Vec<Range<usize>>,
}

/// Words that announce the parties, and those between the two.
const BETWEEN: &[&str] = &["between", "among", "zwischen", "entre", "tra", "tussen"];
const AND: &[&str] = &["and", "und", "et", "y", "e", "en"];
/// Words that go on with what a party is, not with its name.
const DESCRIPTIONS: &[&str] = &[
    "a",
    "an",
    "having",
    "located",
    "with",
    "whose",
    "its",
    "organized",
    "incorporated",
    "acting",
    "on",
    "as",
    "residing",
    "herein",
    "hereinafter",
    "including",
    "mit",
    "vertreten",
    "ayant",
    "dont",
    "con",
    "represented",
    "which",
    "who",
    "at",
    "individually",
    "effective",
    "dated",
    "geb",
    "wohnhaft",
    "domicilié",
];
/// Words in small letters that stand within names.
const WITHIN: &[&str] = &[
    "of", "the", "for", "de", "la", "le", "les", "du", "des", "sur", "sous", "van", "von", "der", "den", "am", "im",
    "an", "zum", "zur", "bei", "auf", "del", "el", "los", "las", "do", "da", "dos", "das", "aan", "op", "het", "&",
    "and", "y", "et", "und", "e", "og", "och", "di", "d/b/a",
];
/// Openings that name nobody.
const NOBODY: &[&str] =
    &["the parties", "the company", "you", "us", "the undersigned", "the following", "them", "me", "company"];
/// The parties stand in the first sentences, and each is described in no more words than this.
const LAST_LINE: usize = 70;
const LONGEST_NAME: usize = 12;
const LONGEST_DESCRIPTION: usize = 90;

struct ProseWords<'s> {
    sheet: &'s Sheet,
    end: usize,
}

impl ProseWords<'_> {
    fn text(&self, at: usize) -> Option<&str> {
        (at < self.end).then(|| self.sheet.tokens[at].text.as_str())
    }

    fn plain(&self, at: usize) -> String {
        self.text(at).unwrap_or_default().trim_matches(|c: char| !c.is_alphanumeric() && c != '&').to_lowercase()
    }
}

/// The opening sentence of a contract.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Opening {
    pub first: ProseParty,
    /// None where it is left blank.
    pub second: Option<ProseParty>,
    /// The words before the parties, where the day stands: "This Agreement is made this 1st day of February, 2011, by and".
    pub before: Range<usize>,
}

/// How many words before the parties belong to the same sentence, at most.
const LONGEST_BEFORE: usize = 40;

/// The opening sentence, with both parties or the first alone.
pub(crate) fn opening(sheet: &Sheet) -> Option<Opening> {
    let last = sheet.lines.get(LAST_LINE.min(sheet.lines.len()).checked_sub(1)?)?;
    let words = ProseWords { sheet, end: last.tokens.end };
    (0..words.end).filter(|at| BETWEEN.contains(&words.plain(*at).as_str())).find_map(|at| {
        let first = name_at(&words, at + 1)?;
        let second = next_party(&words, first.end).and_then(|start| name_at(&words, start));
        // "between January and March" is no opening: names have a legal form or several words.
        let has_form = |name: &Range<usize>| address::has_legal_form(&sheet.quote(name));
        let is_opening = match &second {
            Some(second) => [&first, second].into_iter().all(|name| has_form(name) || name.len() >= 2),
            None => has_form(&first),
        };
        let before = at.saturating_sub(LONGEST_BEFORE)..at;
        is_opening.then(|| Opening {
            first: party(sheet, first),
            second: second.map(|second| party(sheet, second)),
            before,
        })
    })
}

/// The words of a name that begins here.
fn name_at(words: &ProseWords<'_>, start: usize) -> Option<Range<usize>> {
    let mut start = start;
    // "between: (1) …"
    while words.text(start).is_some_and(|text| !text.chars().any(char::is_alphabetic)) && start < words.end {
        start += 1;
    }
    let opening = format!("{} {}", words.plain(start), words.plain(start + 1));
    if NOBODY.iter().any(|nobody| *nobody == opening || *nobody == words.plain(start)) {
        return None;
    }
    let mut end = start;
    while let Some(text) = words.text(end) {
        let plain = words.plain(end);
        let has_name = end > start;
        let is_capital =
            text.trim_start_matches(['“', '"', '*']).starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
        let is_within = WITHIN.contains(&plain.as_str());
        if text.starts_with(['(', '“', '"', '[']) && has_name {
            break;
        }
        if AND.contains(&plain.as_str()) && has_name {
            // "Smith and Sons Ltd" goes on; "Bank of Logan and Peter Miller" ends.
            let so_far = words.sheet.quote(&(start..end));
            let ahead = end + 1..(end + 4).min(words.end);
            let is_joined = !address::has_legal_form(&so_far)
                && ahead
                    .into_iter()
                    .any(|next| address::has_legal_form(&format!("X {}", words.text(next).unwrap_or_default())));
            if !is_joined {
                break;
            }
        } else if !is_capital && (DESCRIPTIONS.contains(&plain.as_str()) || !is_within) {
            break;
        }
        end += 1;
        let ends_clause = text.ends_with([',', ';', ':']) && {
            let next = words.text(end).unwrap_or_default();
            !address::has_legal_form(&format!("X {next}"))
        };
        if ends_clause || end - start > LONGEST_NAME {
            break;
        }
    }
    // A name does not end with "of" or "the".
    while end > start && WITHIN.contains(&words.plain(end - 1).as_str()) {
        end -= 1;
    }
    let letters = words.sheet.quote(&(start..end)).chars().filter(|c| c.is_alphabetic()).count();
    (end > start && end - start <= LONGEST_NAME && letters >= 4).then_some(start..end)
}

/// Where the second party begins: behind the "and" that ends the description of the first.
fn next_party(words: &ProseWords<'_>, from: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut fallback = None;
    for at in from..(from + LONGEST_DESCRIPTION).min(words.end) {
        let text = words.text(at)?;
        let is_and = depth == 0 && AND.contains(&words.plain(at).as_str());
        depth = (depth + text.matches(['(', '[']).count()).saturating_sub(text.matches([')', ']']).count());
        if !is_and {
            continue;
        }
        let next = words.text(at + 1).unwrap_or_default();
        let starts_name = next.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
        let before = words.text(at - 1).unwrap_or_default();
        let ends_party = at == from || before.ends_with([')', ',', ';', ']', '”', '"']);
        if starts_name && ends_party {
            return Some(at + 1);
        }
        if starts_name && fallback.is_none() {
            fallback = Some(at + 1);
        }
    }
    fallback
}

fn party(sheet: &Sheet, tokens: Range<usize>) -> ProseParty {
    let mut spans: Vec<Range<usize>> = Vec::new();
    for line in sheet.lines.iter().filter(|line| line.tokens.start < tokens.end && line.tokens.end > tokens.start) {
        spans.push(line.tokens.start.max(tokens.start)..line.tokens.end.min(tokens.end));
    }
    let text = sheet.quote(&tokens);
    let text = text.trim_matches(|c: char| matches!(c, ',' | ';' | ':' | '*' | '“' | '”' | '"'));
    ProseParty { text: text.to_owned(), spans }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_reader::{Block, BlockKind, Page, model::Inlines};

    fn read(text: &str) -> Option<(String, Option<String>)> {
        let mut page = Page::converted(1);
        for line in text.lines() {
            page.blocks.push(Block::body(BlockKind::Paragraph { text: Inlines::plain(line) }));
        }
        opening(&Sheet::new(&[page])).map(|opening| (opening.first.text, opening.second.map(|second| second.text)))
    }

    #[expect(clippy::unnecessary_wraps, reason = "what is read is optional")]
    fn pair(first: &str, second: &str) -> Option<(String, Option<String>)> {
        Some((first.to_owned(), Some(second.to_owned())))
    }

    #[test]
    fn the_opening_sentence_names_both_parties() {
        assert_eq!(
            read(
                "This Agreement is made by and between Birch Paper, Inc., a Delaware corporation, with places of\nbusiness in Dover (“Birch”), and Harbour Books Ltd., a company of York (“Harbour”)."
            ),
            pair("Birch Paper, Inc.", "Harbour Books Ltd.")
        );
        assert_eq!(
            read(
                "THIS AGREEMENT made this 1st day of May, 2020, between The Savings Bank of Kiel, a bank having its\noffices at 1 Quay (the “Bank”), and John Demo, an individual (Demo)."
            ),
            pair("The Savings Bank of Kiel", "John Demo")
        );
        assert_eq!(
            read(
                "between\nLagerhaus am Kai GmbH, Kaistraße 14, 24103 Kiel, hereinafter the Lessor,\nand\nHarbour Street Library Trust, Kaistraße 22, 24103 Kiel, hereinafter the Lessee."
            ),
            pair("Lagerhaus am Kai GmbH", "Harbour Street Library Trust")
        );
        assert_eq!(
            read("Vertrag zwischen Muster GmbH (Auftraggeber) und Beispiel AG (Auftragnehmer)"),
            pair("Muster GmbH", "Beispiel AG")
        );
        assert_eq!(
            read("is between Lignite Corp., a Texas corporation, and (“Employee”). Lignite Corp. will"),
            Some(("Lignite Corp.".to_owned(), None))
        );
    }

    #[test]
    fn between_in_prose_names_nobody() {
        assert_eq!(
            read("a possible transaction between you and the Company will be discussed between the parties"),
            None
        );
        assert_eq!(read("the time between January and March"), None);
    }
}
