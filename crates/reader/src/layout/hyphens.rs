//! Hyphens at the ends of lines: those that only part a word go, those that belong to it stay.

use std::collections::HashSet;

/// Words that are seldom joined to a following one without a hyphen.
const FIRST: [&str; 23] = [
    "non", "self", "well", "high", "low", "long", "short", "real", "open", "end", "large", "small", "full", "half",
    "cross", "dual", "two", "three", "first", "second", "time", "left", "right",
];

/// Words that are seldom joined to one before them without a hyphen.
const SECOND: [&str; 17] = [
    "preserving",
    "readable",
    "aware",
    "based",
    "related",
    "oriented",
    "driven",
    "specific",
    "wide",
    "level",
    "free",
    "term",
    "scale",
    "of",
    "to",
    "in",
    "quality",
];

/// Whether the hyphen belongs to the word that a line break parts: it has another one, is written with it elsewhere on the
/// page, or is made of words that are seldom joined without. Both parts are in small letters.
pub(crate) fn belongs(first: &str, second: &str, elsewhere: &HashSet<String>) -> bool {
    first.contains('-')
        || elsewhere.contains(&format!("{first}-{second}"))
        || (FIRST.contains(&first) && second.len() >= 5)
        || (SECOND.contains(&second) && first.len() >= 4)
}

/// Puts a line of a cell behind those above it.
pub(crate) fn push_line(text: &mut String, line: &str) {
    let edge = |character: char| !character.is_alphanumeric();
    let after_letter = text.ends_with('-') && text.chars().rev().nth(1).is_some_and(char::is_alphabetic);
    let next = line.chars().next().unwrap_or(' ');
    if after_letter && next.is_lowercase() {
        let first = text.rsplit(char::is_whitespace).next().unwrap_or_default().trim_matches(edge).to_lowercase();
        let second = line.split_whitespace().next().unwrap_or_default().trim_end_matches(edge).to_lowercase();
        if !belongs(&first, &second, &HashSet::new()) {
            text.pop();
        }
    } else if !(text.is_empty() || after_letter && next.is_alphabetic()) {
        text.push(' ');
    }
    text.push_str(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hyphens_that_only_part_a_word_go() {
        for (above, below, whole) in [
            ("the har-", "bour", "the harbour"),
            ("Time-to-", "manoeuvre (s)", "Time-to-manoeuvre (s)"),
            ("were non-", "hazardous.", "were non-hazardous."),
            ("12-", "monthly", "12- monthly"),
            ("North-", "West", "North-West"),
            ("", "first", "first"),
        ] {
            let mut text = above.to_owned();
            push_line(&mut text, below);
            assert_eq!(text, whole);
        }
    }
}
