//! Spans of dates: `02/26/2020 - 03/03/2020`, `1.–31. März 2026`, `26 February to 3 March 2026`.
//!
//! The exact form is that of ISO 8601: `2020-02-26/2020-03-03`.

use super::{
    Parsed,
    date::{self, DateOrder, FoundDate},
};
use std::ops::Range;

/// Words between the two dates of a span.
pub(crate) const SPAN_WORDS: &[&str] =
    &["-", "–", "—", "to", "bis", "au", "a", "al", "till", "til", "thru", "through", "until", "t/m", "tot", "do", "~"];

/// A span in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundRange {
    pub range: Range<usize>,
    pub parsed: Parsed,
}

/// The spans of a text, from left to right.
pub fn find(text: &str, order: DateOrder) -> Vec<FoundRange> {
    let mut found = Vec::new();
    let dates = date::find(text, order);
    let mut index = 0;
    while let Some(first) = dates.get(index) {
        let whole = dates.get(index + 1).and_then(|second| {
            let parsed = is_between(&text[first.range.end..second.range.start])
                .then(|| join_dates(&first.parsed, &second.parsed))
                .flatten()?;
            Some(FoundRange { range: first.range.start..second.range.end, parsed })
        });
        index += if whole.is_some() { 2 } else { 1 };
        found.extend(whole.or_else(|| shortened_range(text, first, order)));
    }
    found
}

/// A text that is a span and nothing else.
pub fn parse(text: &str, order: DateOrder) -> Option<Parsed> {
    let text = text.trim();
    if let Some((first, second)) =
        text.split_once('/').filter(|(first, second)| first.len() == 10 && second.len() == 10)
    {
        // The exact form. Beside a slash, a date in a text is rather a part of something else.
        return join_dates(&date::parse(first, order)?, &date::parse(second, order)?);
    }
    find(text, order).into_iter().find(|found| found.range == (0..text.len())).map(|found| found.parsed)
}

/// The span from one date to another; None where the second is before the first.
pub(crate) fn join_dates(first: &Parsed, second: &Parsed) -> Option<Parsed> {
    // Exact dates are compared as texts.
    (first.normalised <= second.normalised).then(|| Parsed {
        normalised: format!("{}/{}", first.normalised, second.normalised),
        doubt: first.doubt.clone().or_else(|| second.doubt.clone()),
        checksum: None,
    })
}

fn is_between(text: &str) -> bool {
    let text = text.trim().to_lowercase();
    SPAN_WORDS.contains(&text.as_str())
}

/// A span whose first date is printed without what both have in common: `1 - 31 March 2026`, `26 Feb. - 3 March 2026`.
fn shortened_range(text: &str, second: &FoundDate, order: DateOrder) -> Option<FoundRange> {
    // Only a date with a month in words is printed so; `1 - 3/4/2026` may be anything.
    let printed = &text[second.range.clone()];
    let month = second.parsed.normalised.get(..8)?;
    if !printed.starts_with(|c: char| c.is_ascii_digit()) || !printed.contains(char::is_alphabetic) {
        return None;
    }
    let before = text[..second.range.start].trim_end();
    let separator = SPAN_WORDS.iter().filter(|word| ends_with_word(before, word)).max_by_key(|word| word.len())?;
    let before = before.get(..before.len() - separator.len())?.trim_end();
    let day_at = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = before[day_at..].trim_end_matches('.');
    if let Ok(day) = word.parse::<u8>() {
        let parsed = date::parse(&format!("{month}{day:02}"), order)?;
        let parsed = join_dates(&parsed, &second.parsed)?;
        return Some(FoundRange { range: day_at..second.range.end, parsed });
    }
    date::month_of(word)?;
    let day = before[..day_at].trim_end();
    let at = day.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let year = month.get(..4)?;
    let first = date::parse(&format!("{} {year}", &before[at..]), order)?;
    // With the year of the second, a span over New Year would end before it begins.
    let parsed = join_dates(&first, &second.parsed)?;
    Some(FoundRange { range: at..second.range.end, parsed })
}

/// Whether a text ends with a word, or with a dash that is written right behind another word.
fn ends_with_word(text: &str, word: &str) -> bool {
    let Some(tail) = text.len().checked_sub(word.len()).and_then(|at| text.get(at..)) else { return false };
    let is_dash = !word.contains(char::is_alphanumeric);
    let before = text[..text.len() - tail.len()].chars().next_back();
    tail.eq_ignore_ascii_case(word) && (is_dash || before.is_some_and(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        parse(text, DateOrder::default()).map(|parsed| parsed.normalised)
    }

    #[test]
    fn spans_are_read_in_full_and_short_forms() {
        for (text, exact) in [
            ("2020-02-26/2020-03-03", "2020-02-26/2020-03-03"),
            ("26.02.2020 - 03.03.2020", "2020-02-26/2020-03-03"),
            ("26/02/2020–03/03/2020", "2020-02-26/2020-03-03"),
            ("26 February 2020 to 3 March 2020", "2020-02-26/2020-03-03"),
            ("February 26, 2020 through March 3, 2020", "2020-02-26/2020-03-03"),
            ("26 February - 3 March 2020", "2020-02-26/2020-03-03"),
            ("1 - 31 March 2026", "2026-03-01/2026-03-31"),
            ("1.–31. März 2026", "2026-03-01/2026-03-31"),
            ("1. bis 31. Dezember 2026", "2026-12-01/2026-12-31"),
        ] {
            assert_eq!(read(text).as_deref(), Some(exact), "{text}");
        }
    }

    #[test]
    fn what_is_no_span_is_none() {
        for text in [
            "",
            "-",
            "26.02.2020",
            "03.03.2020 - 26.02.2020",
            "26.02.2020, 03.03.2020",
            "32 - 31 March 2026",
            "31 - 1 March 2026",
            "5 - 3/4/2026",
            "to 31 March 2026",
            "ß – 31 März 2026",
            "28 December - 3 January 2026",
            "2020-03-03/2020-02-26",
            "éééééééééé/2020-02-26",
            "é2020-1-1/2020-02-26",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
