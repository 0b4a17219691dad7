//! Where one sentence ends and the next begins.

use crate::prose::word_lists::section;
use std::{collections::HashSet, sync::LazyLock};

/// Words with a full stop that do not end a sentence, in small letters without it.
static ABBREVIATIONS: LazyLock<HashSet<&str>> = LazyLock::new(|| list("abbreviations"));

/// Some of them end a sentence nevertheless when a word follows that begins one.
static MAY_END: LazyLock<HashSet<&str>> = LazyLock::new(|| list("may end"));
static BEGINNINGS: LazyLock<HashSet<&str>> = LazyLock::new(|| list("beginnings"));

fn list(heading: &str) -> HashSet<&'static str> {
    section(include_str!("sentences.txt"), heading).into_iter().collect()
}

/// Longer sentences are taken apart at their semicolons.
const LONG: usize = 280;

/// The sentences of a text that stands on one line. Together they are the text, but for spaces between them.
pub(super) fn split(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut begin = 0;
    for (at, mark) in text.char_indices() {
        if !matches!(mark, '.' | '?' | '!') {
            continue;
        }
        let rest = text.get(at + mark.len_utf8()..).unwrap_or_default();
        let closing: usize =
            rest.chars().take_while(|c| matches!(c, '"' | '”' | '’' | ')' | ']')).map(char::len_utf8).sum();
        let behind = rest.get(closing..).unwrap_or_default();
        if !behind.starts_with(' ') {
            continue;
        }
        let next = behind.trim_start();
        if !next
            .starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || matches!(c, '"' | '“' | '(' | '$' | '*'))
        {
            continue;
        }
        let before = text.get(begin..at).unwrap_or_default();
        if mark == '.' && !ends_here(before, next) {
            continue;
        }
        let end = at + mark.len_utf8() + closing;
        push_parts(text.get(begin..end).unwrap_or_default(), &mut found);
        begin = end;
    }
    push_parts(text.get(begin..).unwrap_or_default(), &mut found);
    found
}

/// Whether the full stop between the two ends a sentence.
fn ends_here(before: &str, next: &str) -> bool {
    let word = before.rsplit([' ', '(', '“', '"']).next().unwrap_or_default();
    // A number in front of an item of a list, and the initials of a name.
    if before.trim().len() <= 3 || (word.chars().count() == 1 && word.chars().all(char::is_alphabetic)) {
        return false;
    }
    // "…: 1. The first": the number of a point.
    let is_number = !word.is_empty() && word.len() <= 2 && word.chars().all(|letter| letter.is_ascii_digit());
    if is_number && before.strip_suffix(word).is_some_and(|front| front.trim_end().ends_with([':', ';'])) {
        return false;
    }
    let lowered = word.to_lowercase();
    if !ABBREVIATIONS.contains(lowered.as_str()) {
        return true;
    }
    let follower = next.split([' ', ',']).next().unwrap_or_default();
    MAY_END.contains(lowered.as_str()) && BEGINNINGS.contains(follower)
}

fn push_parts<'t>(sentence: &'t str, found: &mut Vec<&'t str>) {
    let sentence = sentence.trim();
    if sentence.len() <= LONG {
        found.extend((!sentence.is_empty()).then_some(sentence));
        return;
    }
    found.extend(sentence.split_inclusive("; ").map(str::trim).filter(|part| !part.is_empty()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortened_words_do_not_end_a_sentence() {
        let text = "Approval of Amendment No. 1 with Brook Steel, Inc. The term ends at 5 p.m. on Jan. 3, 2027. Mr. J. Doe agrees (in part.) See St. Mary's Ave. for more.";
        assert_eq!(
            split(text),
            [
                "Approval of Amendment No. 1 with Brook Steel, Inc.",
                "The term ends at 5 p.m. on Jan. 3, 2027.",
                "Mr. J. Doe agrees (in part.)",
                "See St. Mary's Ave. for more.",
            ]
        );
        assert_eq!(split("Cost is $1.5 million. 2. Second point"), ["Cost is $1.5 million.", "2. Second point"]);
        assert_eq!(split("Carry forward: 1. The bridge"), ["Carry forward: 1. The bridge"]);
        assert!(split("  ").is_empty());
    }

    #[test]
    fn long_sentences_are_taken_apart_at_semicolons() {
        let clause =
            "approve the agreement with the contractor for the works at the northern pumping station and its yard";
        let long = format!("That the board {clause}; further {clause}; and {clause}.");
        assert_eq!(split(&long).len(), 3);
    }
}
