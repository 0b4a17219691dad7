//! Letters that are set apart: a word whose letters have gaps between them is one word, wherever the page tells where its
//! words end.

use super::{
    characters::is_cjk,
    words::{Frame, Word},
};
use std::collections::HashSet;

/// In a line whose spaces are drawn, a gap of less than this part of the font size parts no words.
const GAP_WITHOUT_SPACE: f32 = 0.15;
/// Letters that are set further apart than this part of the font size are columns.
const WIDEST: f32 = 0.6;

/// Joins the words of a line that are letters set apart.
pub(super) fn join_letters(words: &mut Vec<Word>, frame: &Frame) {
    join_between_spaces(words, frame);
    join_spaced_heading(words, frame);
}

/// Where the page draws its spaces itself, between nearly all words of the line, what has none in between is one word:
/// set wide as a whole, or pulled apart a little by kerning.
fn join_between_spaces(words: &mut Vec<Word>, frame: &Frame) {
    let pairs = words.windows(2);
    let drawn = pairs.filter(|pair| matches!(pair, [one, other] if one.blank_right || other.blank_left)).count();
    if drawn < 2 {
        return;
    }
    let runs: Vec<Vec<Word>> = runs(words);
    let widest = match spaced_gap(&runs, words, frame) {
        Some(gap) => 1.5 * gap,
        None if drawn * 2 > words.len() => 0.0,
        None => return,
    };
    let least = |run: &[Word]| GAP_WITHOUT_SPACE * run.first().map_or(0.0, |word| word.size);
    let is_plain = |word: &Word| !word.cjk && !word.right_to_left;
    let join = |run: Vec<Word>| if run.iter().all(is_plain) { join_up_to(&run, widest.max(least(&run))) } else { run };
    *words = runs.into_iter().flat_map(join).collect();
}

/// The gap between letters of a line that is set wide; None if it is not.
fn spaced_gap(runs: &[Vec<Word>], words: &[Word], frame: &Frame) -> Option<f32> {
    let single = words.iter().filter(|word| word.letters == 1).count();
    let first = |word: &&Word| frame.glyphs.get(word.start as usize).is_some_and(|placed| placed.first.is_alphabetic());
    let letters = words.iter().filter(first).count();
    if words.len() < 8 || words.len() < 2 * runs.len() || single * 5 < words.len() * 3 || letters * 2 < words.len() {
        return None;
    }
    let pairs = runs.iter().flat_map(|run| run.windows(2));
    let mut gaps: Vec<f32> = pairs.filter_map(|pair| Some(pair.last()?.x0 - pair.first()?.x1)).collect();
    gaps.sort_by(f32::total_cmp);
    let usual = gaps.get(gaps.len() / 2).copied()?;
    let even = gaps.iter().filter(|gap| (0.5 * usual..=1.5 * usual).contains(*gap)).count();
    let size = words.first().map_or(0.0, |word| word.size);
    (usual <= WIDEST * size && even * 10 >= gaps.len() * 9).then_some(usual)
}

/// Words with no space drawn between them, of one size on one height.
fn runs(words: &[Word]) -> Vec<Vec<Word>> {
    let mut runs: Vec<Vec<Word>> = Vec::new();
    for word in words {
        match runs.last_mut() {
            Some(run) if run.last().is_some_and(|last| goes_on(&[*last, *word])) => run.push(*word),
            _ => runs.push(vec![*word]),
        }
    }
    runs
}

/// Neither over a space that is drawn, nor from letters to their scripts.
fn goes_on(pair: &[Word]) -> bool {
    let [one, other] = pair else { return false };
    let level = (one.size - other.size).abs() < 0.05 * one.size && (one.base - other.base).abs() < 0.1 * one.size;
    level && !one.blank_right && !other.blank_left
}

/// Joins words that are drawn one after the other with no wider gap between them.
fn join_up_to(run: &[Word], widest: f32) -> Vec<Word> {
    let mut joined: Vec<Word> = Vec::with_capacity(run.len());
    for word in run {
        match joined.last_mut() {
            Some(last) if word.x0 - last.x1 <= widest && word.start == last.end => {
                last.end = word.end;
                last.x1 = word.x1;
                last.letters += word.letters;
                last.blank_right = word.blank_right;
            }
            _ => joined.push(*word),
        }
    }
    joined
}

/// "H E A D I N G" is one word: letters that stand alone, with nothing that says there are spaces. Kerning may have
/// joined some of them already.
fn join_spaced_heading(words: &mut Vec<Word>, frame: &Frame) {
    let short = |word: &Word| {
        let glyphs = frame.glyphs.get(word.range()).unwrap_or_default();
        word.letters <= 4 && glyphs.iter().all(|placed| placed.first.is_alphabetic() && !is_cjk(placed.first))
    };
    let mut at = 0;
    while at < words.len() {
        let run = words.get(at..).unwrap_or_default();
        let shorts = run.iter().take_while(|word| short(word)).count();
        let length = shorts.min(run.windows(2).take_while(|pair| goes_on(pair)).count() + 1);
        let run = run.get(..length).unwrap_or_default();
        let Some(widest) = letter_gap(run, frame) else {
            at += length.max(1);
            continue;
        };
        let joined = join_up_to(run, widest);
        let count = joined.len();
        words.splice(at..at + length, joined);
        at += count;
    }
}

/// The widest gap between letters of one word in a run of short words; None if they are words already.
fn letter_gap(run: &[Word], frame: &Frame) -> Option<f32> {
    let single = run.iter().filter(|word| word.letters == 1).count();
    // The same letter again and again is a row of signs.
    let letters = run.iter().filter_map(|word| frame.glyphs.get(word.start as usize)).map(|placed| placed.first);
    let different = letters.collect::<HashSet<_>>().len();
    if run.len() < 4 || single * 3 < run.len() || different < 3 {
        return None;
    }
    let size = run.first().map_or(1.0, |word| word.size);
    let mut gaps = run.windows(2).filter_map(|pair| Some(pair.last()?.x0 - pair.first()?.x1)).collect::<Vec<_>>();
    gaps.sort_by(f32::total_cmp);
    let usual = gaps.get(gaps.len() / 2).copied()?;
    if usual > 0.45 * size {
        return None;
    }
    // Two kinds of gaps: those in words and those between words.
    let steps = gaps.windows(2).filter_map(|pair| Some((*pair.first()?, *pair.last()?)));
    let step = steps.max_by(|one, other| (one.1 - one.0).total_cmp(&(other.1 - other.0)));
    match step {
        Some((below, above)) if above - below > 0.1 * size && below <= 1.5 * usual => Some(f32::midpoint(below, above)),
        _ if usual <= 0.22 * size || (single == run.len() && run.len() >= 5) => Some(usual * 1.4 + 0.05 * size),
        _ => None,
    }
}
