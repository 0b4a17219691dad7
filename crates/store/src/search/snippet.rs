//! The part of a text that shows why it was found. Made here and not by the databases, so that all show the same.

use super::{query::Query, words::words};
use std::ops::Range;

/// About so many characters are shown.
const LENGTH: usize = 200;
/// How much stands before the first match.
const BEFORE: usize = 40;

/// A part of a text on one line, and what of it was looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snippet {
    pub text: String,
    /// Bytes of the text, in their order, apart from each other.
    pub matches: Vec<Range<usize>>,
}

impl Snippet {
    /// The part with the most different terms, the first of several.
    pub(crate) fn from_text(text: &str, query: &Query) -> Self {
        let words = words(text);
        let mut found: Vec<(Range<usize>, usize)> = Vec::new();
        for (index, word) in words.iter().enumerate() {
            let matching = query.wanted_terms().enumerate().filter_map(|(number, term)| {
                let length = term.length_at(&words[index..])?;
                Some((words[index + length - 1].end, number))
            });
            // Several may begin here: the longest is the one to be seen.
            if let Some((end, number)) = matching.max() {
                found.push((word.start..end, number));
            }
        }
        let window = window(text, &found);
        let inside = found.into_iter().map(|(range, _)| range);
        one_line(text, &window, inside.filter(|range| window.contains(&range.start) && range.end <= window.end))
    }

    /// The text with signs around each match.
    pub fn marked(&self, before: &str, after: &str) -> String {
        let mut out = String::new();
        let mut at = 0;
        for found in &self.matches {
            out.push_str(&self.text[at..found.start]);
            out.push_str(before);
            out.push_str(&self.text[found.clone()]);
            out.push_str(after);
            at = found.end;
        }
        out.push_str(&self.text[at..]);
        out
    }
}

/// Bytes of the text: whole words around the best matches.
fn window(text: &str, found: &[(Range<usize>, usize)]) -> Range<usize> {
    let most_terms = |(first, _): &(usize, &(Range<usize>, usize))| {
        let from = found[*first].0.start;
        let reach = forward(text, from, LENGTH - BEFORE);
        let inside = found[*first..].iter().take_while(|(range, _)| range.end <= reach);
        let mut terms: Vec<usize> = inside.map(|(_, number)| *number).collect();
        terms.sort_unstable();
        terms.dedup();
        // The first of those that are equally good.
        (terms.len(), std::cmp::Reverse(*first))
    };
    let best = found.iter().enumerate().max_by_key(most_terms).map_or(0, |(_, (range, _))| range.start);
    let start = backward(text, best, BEFORE);
    let end = forward(text, start, LENGTH);
    let start = match text[..start].chars().next_back() {
        // Not in the middle of a word.
        Some(before) if !before.is_whitespace() => {
            text[start..best].find(char::is_whitespace).map_or(best, |space| start + space)
        }
        _ => start,
    };
    let ends_inside = text[end..].chars().next().is_some_and(|next| !next.is_whitespace());
    let cut = text[start..end].rfind(char::is_whitespace).map(|space| start + space);
    let matched_until = found.iter().map(|(range, _)| range.end).filter(|until| *until <= end).max().unwrap_or(0);
    let end = if ends_inside { cut.filter(|cut| *cut >= matched_until && *cut > best).unwrap_or(end) } else { end };
    start..end
}

fn forward(text: &str, from: usize, characters: usize) -> usize {
    text[from..].char_indices().nth(characters).map_or(text.len(), |(offset, _)| from + offset)
}

fn backward(text: &str, from: usize, characters: usize) -> usize {
    match characters.checked_sub(1) {
        Some(nth) => text[..from].char_indices().rev().nth(nth).map_or(0, |(offset, _)| offset),
        None => from,
    }
}

/// White space and control characters become single spaces; what is left out is shown.
fn one_line(text: &str, window: &Range<usize>, found: impl Iterator<Item = Range<usize>>) -> Snippet {
    let mut snippet = Snippet::default();
    if text[..window.start].chars().any(char::is_alphanumeric) {
        snippet.text.push_str("… ");
    }
    let mut at = window.start;
    for range in found {
        // Phrases may overlap, and are then shown as one.
        let overlaps = range.start < at && !snippet.matches.is_empty();
        let start = if overlaps {
            snippet.matches.pop().map_or(0, |last| last.start)
        } else {
            flatten(&text[at..range.start], &mut snippet.text);
            snippet.text.len()
        };
        at = range.start.max(at);
        flatten(&text[at..range.end.max(at)], &mut snippet.text);
        snippet.matches.push(start..snippet.text.len());
        at = range.end.max(at);
    }
    flatten(&text[at..window.end], &mut snippet.text);
    snippet.text.truncate(snippet.text.trim_end().len());
    if text[window.end..].chars().any(char::is_alphanumeric) {
        snippet.text.push_str(" …");
    }
    snippet
}

fn flatten(text: &str, out: &mut String) {
    for letter in text.chars() {
        if !letter.is_whitespace() && !letter.is_control() {
            out.push(letter);
        } else if !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, query: &str) -> String {
        Snippet::from_text(text, &Query::parse(query).unwrap()).marked("[", "]")
    }

    #[test]
    fn what_was_looked_for_is_marked_as_it_was_written() {
        assert_eq!(marked("The Café,\n\n  in  GRÖSSE.", "cafe größe"), "The [Café], in [GRÖSSE].");
        assert_eq!(marked("late late payment", "\"late payment\" late"), "[late] [late payment]");
        assert_eq!(marked("payments are paid", "pay*"), "[payments] are paid");
        assert_eq!(marked("a b c", "\"a b\" \"b c\""), "[a b c]");
        assert_eq!(marked("東京都", "京都"), "東[京都]");
    }

    #[test]
    fn the_best_part_of_a_long_text_is_shown() {
        let filler = "lorem ipsum dolor sit amet ".repeat(30);
        let text = format!("penalty first {filler} the late payment penalty applies {filler}");
        let shown = marked(&text, "late penalty");
        assert!(shown.contains("the [late] payment [penalty] applies"), "{shown}");
        assert!(shown.starts_with("… ") && shown.ends_with(" …"), "{shown}");
        assert!(shown.chars().count() < 230, "{shown}");
        let words: Vec<&str> = text.split_whitespace().collect();
        for word in shown.replace(['[', ']', '…'], "").split_whitespace() {
            assert!(words.contains(&word), "{word} was cut");
        }
    }

    #[test]
    fn no_text_can_break_it() {
        for text in ["", "x", &"ü".repeat(1_000), "e\u{301}", "a\0b", &"a ".repeat(400)] {
            for query in ["x", "u*", "\"a a\"", "e"] {
                marked(text, query);
            }
        }
    }
}
