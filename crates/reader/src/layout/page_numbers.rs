//! Lines that say nothing but which page this is: "12", "– 12 –", "Page 3 of 7", "Seite 3/7", "iv".
//!
//! Other pages of the file tell headers and footers best, but a file of one or two pages has few of them. Such a line is
//! told by what it says and by standing alone at the edge of the page.

use crate::numerals;

/// What stands before the number of a page, in small letters.
const PAGE: [&str; 20] = [
    "page",
    "pages",
    "pg",
    "p",
    "seite",
    "blatt",
    "página",
    "pagina",
    "pág",
    "pag",
    "strona",
    "str",
    "sida",
    "side",
    "sivu",
    "страница",
    "стр",
    "σελίδα",
    "صفحة",
    "עמוד",
];
/// A longer line says more than that.
const LONGEST: usize = 40;
/// What stands between the number of a page and how many there are.
const OF: [&str; 11] = ["of", "von", "de", "sur", "di", "van", "z", "av", "af", "из", "/"];

/// What a line says of its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageNumber {
    /// "Page 3", "3 of 7": there is no other way to understand it.
    Named,
    /// "3": what else stands around it must tell.
    Bare,
}

/// What a line says of its page, if it says nothing else.
pub(crate) fn page_number(line: &str) -> Option<PageNumber> {
    if line.len() > LONGEST {
        return None;
    }
    let words = line
        .split(|character: char| character.is_whitespace() || matches!(character, '-' | '–' | '—' | '|' | ':' | '.'))
        .flat_map(split_slash)
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>();
    let named = |name: &str| PAGE.contains(&name.to_lowercase().as_str());
    let of = |word: &str| OF.contains(&word.to_lowercase().as_str());
    match words.as_slice() {
        [number] if is_number(number) && !is_year(number) || is_roman(number) => Some(PageNumber::Bare),
        [part, number] if is_part(part) && is_number(number) && line.contains('-') => Some(PageNumber::Bare),
        [number] if is_cjk_page(number) => Some(PageNumber::Named),
        [name, number] if named(name) && (is_number(number) || is_roman(number)) => Some(PageNumber::Named),
        [number, between, count] | [_, number, between, count]
            if is_number(number) && of(between) && is_number(count) && (words.len() == 3 || named(words[0])) =>
        {
            Some(if words.len() == 4 { PageNumber::Named } else { PageNumber::Bare })
        }
        _ => None,
    }
}

/// "3/7" is three words.
fn split_slash(word: &str) -> Vec<&str> {
    match word.split_once('/') {
        Some((before, after)) => vec![before, "/", after],
        None => vec![word],
    }
}

fn is_number(word: &str) -> bool {
    (1..=4).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_year(number: &str) -> bool {
    number.len() == 4 && (number.starts_with("19") || number.starts_with("20"))
}

/// "A" of "A-3", the third page of an appendix.
fn is_part(word: &str) -> bool {
    word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Whether a line ends by saying which page of how many this is: "Guidelines – Page 1 of 51".
pub(crate) fn ends_in_page_of(line: &str) -> bool {
    let words = line.split_whitespace().collect::<Vec<_>>();
    let Some((_, tail)) = words.len().checked_sub(4).filter(|title| *title > 0).map(|title| words.split_at(title))
    else {
        return false;
    };
    page_number(&tail.join(" ")) == Some(PageNumber::Named)
}

/// Whether a line is a title with the number of its page in front of it or behind it: "Monthly Review • January 65".
pub(crate) fn is_numbered_title(line: &str) -> bool {
    let words = line.split_whitespace().collect::<Vec<_>>();
    let [first, .., last] = words.as_slice() else { return false };
    let letters = line.chars().filter(|sign| sign.is_alphabetic()).count();
    let number = |word: &str| is_number(word) && !is_year(word);
    // One that begins with a number may be a point of a list, or a heading.
    let behind = number(last) && !first.ends_with('.');
    let before =
        number(first) && words.get(1).is_some_and(|word| word.starts_with(char::is_uppercase)) && letters <= 60;
    (8..=90).contains(&letters) && (behind || before) && !line.contains(':')
}

/// In small letters, as the first pages of books are counted.
fn is_roman(word: &str) -> bool {
    word.len() <= 6 && (1..=60).any(|count| numerals::roman(count).to_lowercase() == word)
}

/// "第3页"
fn is_cjk_page(word: &str) -> bool {
    let inner = word.strip_prefix('第').and_then(|word| word.strip_suffix(['页', '頁']));
    inner.is_some_and(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_pages_are_told_from_other_text() {
        for line in ["12", "– 12 –", "iv", "3/7", "A-3"] {
            assert_eq!(page_number(line), Some(PageNumber::Bare), "{line}");
        }
        for line in ["Page 3 of 7", "Seite 3 von 7", "Page 1 / 1", "Page | 4", "p. 9", "第3页"] {
            assert_eq!(page_number(line), Some(PageNumber::Named), "{line}");
        }
        for line in
            ["", "Total 12", "Page of contents", "2014-05-19", "2014", "12 Elm Street", "Seite", "€ 12", "C", "A 3"]
        {
            assert_eq!(page_number(line), None, "{line}");
        }
    }
}
