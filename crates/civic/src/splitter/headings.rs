//! Sections of an agenda, where its items begin and end, and the numbers of files.

use crate::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;

const NUMBER: &str = r"(?:\d{1,3}[.)]?\s|[a-z][.)]\s|[ivxlc]+[.)]\s)?\s*";

static BEGINS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"(?i)^{NUMBER}(?:call to order|roll call|agenda items|order of business|consent (?:calendar|agenda)|opening remarks|pledge of allegiance)\b.{{0,50}}$"
    ))
});
static ENDS: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"(?i)^{NUMBER}(?:meeting )?adjourn(?:ment|ed)?\b.{{0,60}}$")));
static SECTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)^(?:the )?(?:call to order|opening|public (?:comments?|communications?|hearings?|input|participation|forum|testimony)|closed session|executive session|roll call|pledge|invocation",
        r"|presentations?|proclamations?|commendations?|consent|non-consent|regular (?:calendar|agenda|items?)|action (?:items|calendar)|discussion(?: items)?|(?:new|old|unfinished|other) business|(?:\w+ ){0,3}reports?",
        r"|announcements?|(?:council|board|staff|commission(?:er)?|member)s?'?s? (?:comments?|reports?|announcements?)|correspondence|communications?|adjournment|minutes|approval of (?:the )?minutes|items for (?:approval|discussion|information)",
        r"|filed items|management reports|resolutions?|ordinances?(?: for (?:first|second) reading)?|study session|workshops?|votes|appointments|appeals|agenda items|information(?:al)? items?|future agenda items)\b",
    ))
});
static FILE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\bfile\s*(?:id|no\.?|number|#)?\s*[:#]?\s*([A-Z]{0,3}\d{2,4}-\d{2,6})\b"));
static FILE_ALONE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:^|\s)([A-Z]{1,3}\d{4}-\d{2,6}|\d{4}-\d{4,6})\s*$"));

/// Headings below an item, which say what its parts are.
static OF_AN_ITEM: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\brecommend|\b(?:proposed|requested|suggested|required) action|\bfiscal|\bfinancial impact|^background|\bno action|^(?:staff|department) report$",
    )
});

/// Whether the items begin at this line.
pub(crate) fn begins_items(line: &str) -> bool {
    BEGINS.is_match(line)
}

/// Whether the items end with this line.
pub(crate) fn ends_items(line: &str) -> bool {
    ENDS.is_match(line)
}

/// Whether words are those of a section, and few.
pub(super) fn is_section_words(words: &str) -> bool {
    let words = without_brackets(words);
    words.split_whitespace().count() <= 9 && SECTION.is_match(words)
}

/// Whether a line without a number is a section's heading: words of one, or few words in capitals.
pub(super) fn is_section(line: &str, stands_out: bool) -> bool {
    let words = line.split_whitespace().count();
    // "APPROVE:" leads to its points.
    let leads_on = line.ends_with(':') && !is_section_words(line);
    let is_short = words <= 8 && line.len() <= 70 && !line.ends_with(['.', ',', ';']);
    let letters = line.chars().filter(|letter| letter.is_alphabetic()).count();
    is_short
        && letters >= 4
        && !leads_on
        && !OF_AN_ITEM.is_match(line)
        && (is_shouted(line) || (stands_out && is_section_words(line)))
}

/// `CONSENT ITEMS [Items 1 - 5]` without what stands in brackets at its end.
pub(super) fn without_brackets(words: &str) -> &str {
    words.split('[').next().map(str::trim).filter(|front| !front.is_empty()).unwrap_or(words)
}

pub(super) fn is_shouted(line: &str) -> bool {
    let mut letters = line.chars().filter(|letter| letter.is_alphabetic()).peekable();
    letters.peek().is_some() && letters.all(char::is_uppercase)
}

/// The file's number that a title names, and the title without it.
pub(super) fn file_number(title: &str) -> (Option<String>, String) {
    for pattern in [&*FILE, &*FILE_ALONE] {
        let found = pattern.captures(title).and_then(|found| Some((found.get(0)?, found.get(1)?)));
        if let Some((whole, number)) = found.filter(|(_, number)| !are_years(number.as_str())) {
            let rest = format!(
                "{} {}",
                title.get(..whole.start()).unwrap_or_default(),
                title.get(whole.end()..).unwrap_or_default()
            );
            let rest = crate::lines::one_line(&rest);
            return (Some(number.as_str().to_owned()), rest.trim_matches([' ', '-', '–', ':']).to_owned());
        }
    }
    (None, title.to_owned())
}

/// `2022-2023` is no number of a file.
fn are_years(number: &str) -> bool {
    let year = |text: &str| text.parse::<u32>().ok().filter(|year| (1900..2100).contains(year));
    number
        .split_once('-')
        .and_then(|(one, other)| Some((year(one)?, year(other)?)))
        .is_some_and(|(one, other)| other.abs_diff(one) <= 10)
}
