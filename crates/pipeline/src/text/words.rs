//! Text to words.

use std::collections::BTreeMap;

/// How many words are sorted at a time.
const LARGEST_SORT: usize = 10_000;

/// The words of a page with how often each is there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) words: u64,
    pub(super) index: BTreeMap<String, u64>,
}

pub(super) fn count(text: &str) -> Counted {
    let mut counted = Counted::default();
    for word in words(text) {
        counted.words += 1;
        *counted.index.entry(word).or_default() += 1;
    }
    counted
}

/// The most frequent words, those of equal frequency by the alphabet.
pub(super) fn top<'a>(index: impl Iterator<Item = (&'a str, u64)>, most: usize) -> Vec<(&'a str, u64)> {
    let sort = |found: &mut Vec<(&'a str, u64)>| {
        found.sort_by(|(one, ones), (other, others)| others.cmp(ones).then_with(|| one.cmp(other)));
        found.truncate(most);
    };
    // Of a million words only those are kept that may be among the first.
    let mut found = Vec::new();
    for word in index {
        found.push(word);
        if found.len() >= LARGEST_SORT {
            sort(&mut found);
        }
    }
    sort(&mut found);
    found
}

/// Letters and digits of any script in lower case. Apostrophes and hyphens belong to a word they stand inside of
/// (`don't`, `two-page`), commas and points to a number (`1,240.50`).
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(is_letter)?;
        rest = &rest[start..];
        let end = end_of_word(rest);
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word.to_lowercase().replace('’', "'"))
    })
}

fn end_of_word(text: &str) -> usize {
    let mut letters = text.char_indices().peekable();
    let mut before = ' ';
    while let Some((at, letter)) = letters.next() {
        let after = letters.peek().map_or(' ', |(_, next)| *next);
        let joins = match letter {
            '\'' | '’' | '-' => is_letter(after),
            ',' | '.' => before.is_numeric() && after.is_numeric(),
            _ => false,
        };
        if !joins && !is_letter(letter) {
            return at;
        }
        before = letter;
    }
    text.len()
}

/// Also accents that are characters of their own.
fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_in(text: &str) -> Vec<String> {
        words(text).collect()
    }

    #[test]
    fn words_are_lower_case_in_every_script() {
        assert_eq!(words_in("Straße ÉTÉ Ωμέγα 東京"), ["straße", "été", "ωμέγα", "東京"]);
        assert_eq!(words_in("e\u{301}te\u{301}"), ["e\u{301}te\u{301}"]);
    }

    #[test]
    fn marks_inside_a_word_belong_to_it() {
        assert_eq!(words_in("Don’t re-read 'this' - now."), ["don't", "re-read", "this", "now"]);
        assert_eq!(words_in("EUR 1,240.50, or 12."), ["eur", "1,240.50", "or", "12"]);
        assert_eq!(words_in("end.Start a,b"), ["end", "start", "a", "b"]);
    }

    #[test]
    fn nothing_but_marks_has_no_words() {
        assert!(words_in(" -- ... '’ \n").is_empty());
    }

    #[test]
    fn the_most_frequent_come_first() {
        let counted = count("b a b c a d");
        assert_eq!(counted.words, 6);
        let index = counted.index.iter().map(|(word, count)| (word.as_str(), *count));
        assert_eq!(top(index, 3), [("a", 2), ("b", 2), ("c", 1)]);
    }
}
