//! Words become segments of lines: what stands on one baseline without a wide gap. A line of a column may be several
//! segments; a segment never reaches over the gap between two columns.

use super::{
    content::PageContent,
    spacing,
    words::{Frame, Word},
};
use crate::model::Rect;

/// A wider gap than this part of the font size may be the gap between two columns.
const COLUMN_GAP: f32 = 1.1;

/// Lines with more pairs of words than this are not compared word by word; no page that people read has them.
const MOST_PAIRS: usize = 100_000;

/// Words on one baseline, from left to right.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) words: Vec<Word>,
    pub(crate) x0: f32,
    pub(crate) x1: f32,
    pub(crate) base: f32,
    /// Of its largest text, and of most of it once that is settled.
    pub(crate) size: f32,
    /// The table or formula that stands here instead of words; an index of those that were found.
    pub(crate) table: Option<usize>,
}

impl Line {
    pub(crate) fn new(word: Word) -> Self {
        Self { x0: word.x0, x1: word.x1, base: word.base, size: word.size, words: vec![word], table: None }
    }

    /// A place in the flow for a table or formula.
    pub(crate) fn for_table(index: usize, bbox: Rect) -> Self {
        // By its lower edge it comes behind all lines above it.
        Self { x0: bbox.x0, x1: bbox.x1, base: bbox.y1, size: 10.0, words: Vec::new(), table: Some(index) }
    }

    pub(crate) fn width(&self) -> f32 {
        self.x1 - self.x0
    }

    pub(crate) fn letters(&self) -> u32 {
        self.words.iter().map(|word| word.letters).sum()
    }

    /// Whether a gap parts it that is wider than any between words of a sentence.
    pub(crate) fn is_spread(&self) -> bool {
        let gaps = self.words.windows(2).filter_map(|pair| Some(pair.last()?.x0 - pair.first()?.x1));
        gaps.fold(0.0, f32::max) > 2.5 * self.size
    }

    pub(crate) fn is_right_to_left(&self) -> bool {
        let letters = self.words.iter().filter(|word| word.right_to_left).map(|word| word.letters).sum::<u32>();
        letters * 2 > self.letters()
    }

    fn push(&mut self, word: Word) {
        if word.letters > self.letters() && word.size > self.size {
            self.base = word.base;
        }
        self.size = self.size.max(word.size);
        self.x0 = self.x0.min(word.x0);
        self.x1 = self.x1.max(word.x1);
        self.words.push(word);
    }

    /// Finds its ends again after words were taken away.
    pub(crate) fn fit(&mut self) {
        if !self.words.is_empty() {
            self.x0 = self.words.iter().map(|word| word.x0).fold(f32::MAX, f32::min);
            self.x1 = self.words.iter().map(|word| word.x1).fold(f32::MIN, f32::max);
        }
    }

    /// Takes the words of another line of the same row.
    pub(crate) fn absorb(&mut self, other: Self) {
        if other.letters() > self.letters() {
            self.base = other.base;
        }
        for word in other.words {
            self.push(word);
        }
    }

    /// Whether another line stands on the same baseline, or is a script of this one.
    pub(crate) fn is_level_with(&self, other: &Self) -> bool {
        if self.table.is_some() || other.table.is_some() {
            return false;
        }
        let large = self.size.max(other.size);
        let small = self.size.min(other.size);
        let step = (self.base - other.base).abs();
        // A script stands right beside what it belongs to; small text far away only happens to be at that height.
        let gap = (other.x0 - self.x1).max(self.x0 - other.x1);
        let script = small < 0.8 * large && step <= 0.45 * large && small >= 0.3 * large && gap <= large;
        step <= 0.25 * small || script
    }

    /// Puts the words in order, joins what was drawn apart and drops what was drawn twice.
    pub(crate) fn tidy(&mut self, frame: &Frame, content: &PageContent) {
        self.words.sort_by(|one, other| one.x0.total_cmp(&other.x0));
        drop_doubles(&mut self.words, frame, content);
        spacing::join_letters(&mut self.words, frame);
    }

    /// Takes the size of most of its text. Until the reading order is known its largest text counts, for gaps are
    /// measured by it.
    pub(crate) fn settle_size(&mut self) {
        self.size = usual_size(&self.words).unwrap_or(self.size);
    }
}

/// The size of most letters, if others are few: one large sign does not make a line of large text.
fn usual_size(words: &[Word]) -> Option<f32> {
    let largest = words.iter().map(|word| word.size).fold(0.0, f32::max);
    let letters = |least: f32| words.iter().filter(|word| word.size >= least).map(|word| word.letters).sum::<u32>();
    let all = letters(0.0);
    if letters(0.87 * largest) * 5 > all {
        return None;
    }
    words.iter().map(|word| word.size).filter(|size| letters(size * 0.95) * 2 >= all).reduce(f32::max)
}

/// The segments of a frame, in the order in which the page draws them.
pub(crate) fn segments(frame: &Frame) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for word in &frame.words {
        if let Some(line) = lines.last_mut()
            && let Some(last) = line.words.last()
        {
            let large = last.size.max(word.size);
            let step = (word.base - line.base).abs();
            let script = word.size.min(line.size) < 0.8 * large && step <= 0.5 * large;
            let gap = if word.right_to_left || last.right_to_left {
                (word.x0 - last.x1).max(last.x0 - word.x1)
            } else {
                word.x0 - last.x1
            };
            if (step <= 0.2 * large || script) && gap >= -0.5 * large && gap <= COLUMN_GAP * large {
                line.push(*word);
                continue;
            }
        }
        lines.push(Line::new(*word));
    }
    lines
}

/// The same word twice in one place is bold type or a shadow.
fn drop_doubles(words: &mut Vec<Word>, frame: &Frame, content: &PageContent) {
    let text = |word: &Word| {
        let glyphs = frame.glyphs.get(word.range()).unwrap_or_default();
        glyphs
            .iter()
            .filter_map(|placed| content.glyphs.get(placed.glyph as usize))
            .map(|glyph| content.glyph_text(glyph))
            .collect::<String>()
    };
    words.dedup_by(|next, last| {
        let near = (next.x0 - last.x0).abs() < 0.2 * last.size
            && (next.x1 - last.x1).abs() < 0.2 * last.size
            && (next.base - last.base).abs() < 0.2 * last.size;
        near && next.letters == last.letters && text(next) == text(last)
    });
}

/// Puts segments of one column together: those of one row become one line, rows come from top to bottom.
pub(crate) fn rows(mut segments: Vec<Line>) -> Vec<Line> {
    segments.sort_by(|one, other| one.base.total_cmp(&other.base));
    let mut rows: Vec<Line> = Vec::with_capacity(segments.len());
    for segment in segments {
        // Scripts stand a little above or below, so a few rows back are looked at.
        let fits = rows.iter_mut().rev().take(4).find(|row| row.is_level_with(&segment) && !overlaps(row, &segment));
        match fits {
            Some(row) => row.absorb(segment),
            None => rows.push(segment),
        }
    }
    rows.sort_by(|one, other| one.base.total_cmp(&other.base));
    rows
}

/// Two texts in one place are two lines, unless they are the same text twice.
fn overlaps(row: &Line, segment: &Line) -> bool {
    let shared = row.x1.min(segment.x1) - row.x0.max(segment.x0);
    if shared <= 0.3 * segment.size.min(row.size) {
        return false;
    }
    if row.words.len() * segment.words.len() > MOST_PAIRS {
        return true;
    }
    row.words.iter().any(|word| {
        segment.words.iter().any(|other| {
            let shared = word.x1.min(other.x1) - word.x0.max(other.x0);
            let same = word.letters == other.letters && (word.x0 - other.x0).abs() < 0.2 * word.size;
            shared > 0.5 * word.width().min(other.width()) && !same
        })
    })
}
