//! Reading order of lines that come from elsewhere than from glyphs: those that OCR has found.

use super::{lines::Line, order::columns, words::Word};

/// A piece of a line without a wide gap in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Segment {
    pub(crate) x0: f32,
    pub(crate) x1: f32,
    /// The height of its baseline.
    pub(crate) base: f32,
    /// Of its font.
    pub(crate) size: f32,
    pub(crate) letters: u32,
}

/// Columns in reading order, each as rows from top to bottom; a row is the indexes of its segments from left to right.
pub(crate) fn reading_order(segments: &[Segment]) -> Vec<Vec<Vec<usize>>> {
    let lines = (0_u32..).zip(segments).map(|(index, segment)| {
        Line::new(Word {
            start: index,
            end: index + 1,
            x0: segment.x0,
            x1: segment.x1,
            base: segment.base,
            size: segment.size,
            blank_left: true,
            blank_right: true,
            right_to_left: false,
            cjk: false,
            letters: segment.letters,
        })
    });
    let row = |line: Line| {
        let mut words = line.words;
        words.sort_by(|one, other| one.x0.total_cmp(&other.x0));
        words.into_iter().map(|word| word.start as usize).collect()
    };
    let found = columns(lines.collect(), false);
    found.into_iter().map(|column| column.lines.into_iter().map(row).collect()).collect()
}
