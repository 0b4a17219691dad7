//! Lines through and under words, and links over them.

use super::{
    content::{PageContent, Rule},
    words::{Frame, Word},
};
use std::collections::HashMap;

/// More lines than this are a drawing.
const MOST_RULES: usize = 3_000;
/// How far from a baseline a line through or under it can be, in points: far enough for the largest headings.
const REACH: f32 = 24.0;

/// What lies on a word.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Decoration {
    pub(crate) struck: bool,
    pub(crate) underlined: bool,
    /// Into [`PageContent::links`].
    pub(crate) link: Option<u32>,
}

/// By the first glyph of a word; most words have none.
#[derive(Debug, Default)]
pub(crate) struct Decorations(HashMap<u32, Decoration>);

impl Decorations {
    pub(crate) fn decoration_of(&self, word: &Word) -> Decoration {
        if self.0.is_empty() {
            return Decoration::default();
        }
        self.0.get(&word.start).copied().unwrap_or_default()
    }

    pub(crate) fn find(content: &PageContent, frame: &Frame) -> Self {
        let mut found = Self::default();
        if frame.angle != 0 {
            return found;
        }
        let mut words = frame.words.iter().collect::<Vec<_>>();
        words.sort_by(|one, other| one.base.total_cmp(&other.base));
        for rule in content.rules.iter().filter(|rule| rule.is_horizontal() && rule.thickness <= 2.5).take(MOST_RULES) {
            found.mark(rule, &words);
        }
        for (index, link) in (0u32..).zip(&content.links) {
            for word in &frame.words {
                let middle = (f32::midpoint(word.x0, word.x1), word.base - 0.3 * word.size);
                if link.bbox.contains(middle) {
                    found.0.entry(word.start).or_default().link = Some(index);
                }
            }
        }
        found
    }

    /// Marks the words that a line goes through or under; `words` come from top to bottom.
    fn mark(&mut self, rule: &Rule, words: &[&Word]) {
        let y = rule.from.1;
        let (x0, x1) = (rule.from.0.min(rule.to.0), rule.from.0.max(rule.to.0));
        let from = words.partition_point(|word| word.base < y - REACH);
        let near = words.iter().skip(from).take_while(|word| word.base < y + REACH);
        let mut struck = Vec::new();
        let mut underlined = Vec::new();
        for word in near {
            let drop = (y - word.base) / word.size.max(1.0);
            let covered = word.x1.min(x1) - word.x0.max(x0);
            if covered < 0.8 * word.width() || rule.thickness > 0.2 * word.size {
                continue;
            }
            if (-0.45..=-0.12).contains(&drop) {
                struck.push(*word);
            } else if (0.02..=0.3).contains(&drop) {
                underlined.push(*word);
            }
        }
        // A line that is much longer than what stands on it is the edge of a cell.
        let fits = |words: &[&Word]| {
            let left = words.iter().map(|word| word.x0).fold(f32::MAX, f32::min);
            let right = words.iter().map(|word| word.x1).fold(f32::MIN, f32::max);
            right - left >= 0.75 * (x1 - x0)
        };
        if fits(&struck) {
            for word in struck {
                self.0.entry(word.start).or_default().struck = true;
            }
        }
        if fits(&underlined) {
            for word in underlined {
                self.0.entry(word.start).or_default().underlined = true;
            }
        }
    }
}
