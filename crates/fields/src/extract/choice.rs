//! Checkboxes: which of the values that a type allows is ticked, or stands alone beside the label.
//!
//! The options of a label are those on its line, or on the lines below it where its own has none. They end where one of
//! them comes again: that is the next question, with the same answers.

use super::{
    candidate::Candidate,
    occurrence::{Occurrence, Occurrences},
    schema::Field,
    score::Scored,
    sheet::Sheet,
    value::Parsed,
};
use bindery_core::fold::fold_letter;
use std::ops::Range;

const TICKED: &[&str] = &[
    "[x]", "(x)", "[✓]", "[✔]", "[✗]", "[✘]", "☒", "☑", "✓", "✔", "✗", "✘", "✕", "✖", "⊠", "■", "◉", "⦿", "●", "🗹", "🗷",
];
const EMPTY: &[&str] = &["[]", "()", "[_]", "(_)", "☐", "□", "○", "◯", "❏", "❑", "❒", "⬜"];
/// How far below its label the options of a choice may begin or go on.
const MOST_LINES_BELOW: usize = 10;
/// How many words a box may be read as: `[`, `x`, `]`.
const WORDS_OF_A_BOX: usize = 3;
/// A ticked box beside its label; below it; without a label; a single value that is printed without boxes.
const BESIDE: f32 = 0.95;
const BELOW: f32 = 0.9;
const UNLABELLED: f32 = 0.8;
const PRINTED: f32 = 0.85;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Ticked,
    Empty,
}

/// An allowed value on a page.
#[derive(Debug, Clone)]
struct OptionPrint<'f> {
    value: &'f str,
    line: usize,
    tokens: Range<usize>,
    before: Option<Mark>,
    behind: Option<Mark>,
}

/// The values of a choice that the pages state, best first as their labels stand.
pub(super) fn rank(sheet: &Sheet, occurrences: &Occurrences, index: usize, field: &Field) -> Vec<Scored> {
    let finder = ChoiceFinder { sheet, occurrences, options: options(&field.one_of) };
    if field.labels.is_empty() {
        let all: Vec<_> =
            (0..sheet.lines.len()).flat_map(|line| finder.options_on(line, sheet.lines[line].tokens.clone())).collect();
        return ticked_options(&all).map(|print| finder.score_option(print, UNLABELLED, print.value)).collect();
    }
    occurrences.for_field(index).flat_map(|label| finder.beside_or_below(label)).collect()
}

struct ChoiceFinder<'s, 'f> {
    sheet: &'s Sheet,
    occurrences: &'s Occurrences,
    /// The words of each allowed value; those with more words first.
    options: Vec<(&'f str, Vec<String>)>,
}

fn options(values: &[String]) -> Vec<(&str, Vec<String>)> {
    let mut options: Vec<(&str, Vec<String>)> = values
        .iter()
        .map(|value| (value.as_str(), value.split_whitespace().map(plain).filter(|word| !word.is_empty()).collect()))
        .filter(|(_, words): &(&str, Vec<String>)| !words.is_empty())
        .collect();
    options.sort_by_key(|(_, words)| std::cmp::Reverse(words.len()));
    options
}

/// A text as options are compared: letters and digits, without case and accents.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::new();
    text.chars().filter(|c| c.is_alphanumeric()).for_each(|c| fold_letter(c, &mut plain));
    plain
}

impl<'f> ChoiceFinder<'_, 'f> {
    fn beside_or_below(&self, label: &Occurrence) -> Vec<Scored> {
        let line = &self.sheet.lines[label.line];
        let mut beside = self.options_on(label.line, label.tokens.end..line.tokens.end);
        cut_at_repetition(&mut beside);
        if !beside.is_empty() {
            return self.chosen_options(&beside, label, BESIDE);
        }
        let mut below = Vec::new();
        let end = self.sheet.page_of(label.line).lines.end.min(label.line + 1 + MOST_LINES_BELOW);
        for line in label.line + 1..end {
            let own = self.options_on(line, self.sheet.lines[line].tokens.clone());
            let names_another = self.sheet.lines[line].tokens.clone().any(|token| self.occurrences.is_label(token));
            if own.is_empty() && (names_another || !below.is_empty()) {
                break;
            }
            below.extend(own);
        }
        cut_at_repetition(&mut below);
        self.chosen_options(&below, label, BELOW)
    }

    /// The ticked options of a label; where there are no boxes, the only value right behind it or on the next line.
    fn chosen_options(&self, group: &[OptionPrint<'f>], label: &Occurrence, score: f32) -> Vec<Scored> {
        if group.iter().any(|print| print.before.is_some() || print.behind.is_some()) {
            return ticked_options(group).map(|print| self.score_option(print, score, &label.label)).collect();
        }
        let [only] = group else { return Vec::new() };
        let from = if only.line == label.line { label.tokens.end } else { self.sheet.lines[only.line].tokens.start };
        let is_next =
            only.line <= label.line + 1 && (from..only.tokens.start).all(|token| plain(self.word(token)).is_empty());
        if is_next { vec![self.score_option(only, PRINTED, &label.label)] } else { Vec::new() }
    }

    fn score_option(&self, print: &OptionPrint<'f>, score: f32, label: &str) -> Scored {
        let candidate = Candidate {
            line: print.line,
            tokens: print.tokens.clone(),
            rect: self.sheet.rect_of(&print.tokens),
            text: print.value.to_owned(),
            parsed: Parsed::sure(print.value),
            currency: None,
            fit: 1.0,
        };
        Scored { candidate, score, label: Some(label.to_owned()) }
    }

    /// The options among some words of a line, up to the label of another field.
    fn options_on(&self, line: usize, tokens: Range<usize>) -> Vec<OptionPrint<'f>> {
        let mut found = Vec::new();
        let mut at = tokens.start;
        while at < tokens.end {
            let Some((value, length)) = self.option_at(at, tokens.end) else {
                if self.occurrences.is_label(at) {
                    break;
                }
                at += 1;
                continue;
            };
            let own = at..at + length;
            let all = &self.sheet.lines[line].tokens;
            found.push(OptionPrint {
                value,
                line,
                before: self.mark_before(all.start, own.start),
                behind: self.mark_behind(own.end - 1, all.end),
                tokens: own,
            });
            at += length;
        }
        found
    }

    fn option_at(&self, at: usize, end: usize) -> Option<(&'f str, usize)> {
        let stands = |words: &[String]| {
            at + words.len() <= end
                && words.iter().enumerate().all(|(index, word)| plain(without_mark(self.word(at + index))) == *word)
        };
        self.options.iter().find(|(_, words)| stands(words)).map(|(value, words)| (*value, words.len()))
    }

    fn word(&self, token: usize) -> &str {
        &self.sheet.tokens[token].text
    }

    fn mark_before(&self, start: usize, option: usize) -> Option<Mark> {
        let own = self.word(option);
        let attached = &own[..own.len() - without_mark(own).len()];
        if !attached.is_empty() {
            return mark_of(attached, |text, mark| text.ends_with(mark));
        }
        let words = option.saturating_sub(WORDS_OF_A_BOX).max(start)..option;
        if words.clone().next_back().is_some_and(|last| self.word(last).eq_ignore_ascii_case("x")) {
            return Some(Mark::Ticked);
        }
        mark_of(&words.map(|token| self.word(token)).collect::<String>(), |text, mark| text.ends_with(mark))
    }

    fn mark_behind(&self, option: usize, end: usize) -> Option<Mark> {
        let attached = self.word(option).trim_start_matches(|c: char| !c.is_alphanumeric());
        let attached = attached.trim_start_matches(char::is_alphanumeric);
        let words = option + 1..(option + 1 + WORDS_OF_A_BOX).min(end);
        if words.clone().next().is_some_and(|first| self.word(first).eq_ignore_ascii_case("x")) {
            return Some(Mark::Ticked);
        }
        let text: String = std::iter::once(attached).chain(words.map(|token| self.word(token))).collect();
        mark_of(text.trim_start_matches([':', ',', '.']), |text, mark| text.starts_with(mark))
    }
}

/// The options whose box is ticked. Boxes stand before their words or behind them, the same for all of a group.
fn ticked_options<'p, 'f>(group: &'p [OptionPrint<'f>]) -> impl Iterator<Item = &'p OptionPrint<'f>> {
    let count = |side: fn(&OptionPrint<'_>) -> Option<Mark>| group.iter().filter(|print| side(print).is_some()).count();
    let stand_behind = count(|print| print.behind) > count(|print| print.before);
    let is_ticked = move |print: &&OptionPrint<'f>| {
        let mark = if stand_behind { print.behind } else { print.before };
        mark == Some(Mark::Ticked)
    };
    group.iter().filter(is_ticked)
}

/// The next question begins where an option comes again.
fn cut_at_repetition(group: &mut Vec<OptionPrint<'_>>) {
    let repeated = (1..group.len()).find(|at| group[..*at].iter().any(|print| print.value == group[*at].value));
    group.truncate(repeated.unwrap_or(group.len()));
}

/// A word without the box that is printed right before it.
fn without_mark(word: &str) -> &str {
    let lower = word.to_ascii_lowercase();
    let mark = TICKED.iter().chain(EMPTY).find(|mark| lower.starts_with(**mark) && lower.len() > mark.len());
    mark.map_or(word, |mark| &word[mark.len()..])
}

fn mark_of(text: &str, stands: fn(&str, &str) -> bool) -> Option<Mark> {
    let lower = text.to_ascii_lowercase();
    if TICKED.iter().any(|mark| stands(&lower, mark)) {
        return Some(Mark::Ticked);
    }
    EMPTY.iter().any(|mark| stands(&lower, mark)).then_some(Mark::Empty)
}
