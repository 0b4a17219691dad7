//! Texts that go on below: the second line of a value beside its label, where the column of labels is empty.

use super::{
    assign::Pick,
    extractor::FieldFinder,
    schema::{Field, FieldType},
    value::address,
};
use std::ops::Range;

/// A text is set in no more lines than this.
const MOST_LINES: usize = 3;
/// How far below the last line the next one may stand, and how far it may stand aside, in heights.
const WIDEST_GAP: f32 = 0.6;
const WIDEST_SHIFT: f32 = 0.3;

impl FieldFinder<'_> {
    /// The words of a text with those of the lines that go on with it.
    pub(super) fn continued(&self, field: &Field, pick: &Pick) -> Vec<Range<usize>> {
        let candidate = &pick.scored.candidate;
        let mut spans: Vec<Range<usize>> = std::iter::once(candidate.tokens.clone()).collect();
        let is_text = field.kind == FieldType::String && field.pattern.is_none();
        let Some(label) = pick.scored.label.as_ref().filter(|_| is_text) else { return spans };
        let mut labels = self.occurrences.for_field(pick.field);
        let beside = labels
            .find(|own| own.label == *label && own.line == candidate.line && own.tokens.end <= candidate.tokens.start);
        let Some(label) = beside else { return spans };
        let ends_line = self.sheet.segment_of(candidate.line, candidate.tokens.start);
        if ends_line.is_none_or(|segment| segment.tokens.end != candidate.tokens.end) {
            return spans;
        }
        let height = candidate.rect.height().max(4.0);
        let mut bottom = candidate.rect.y1;
        let end = self.sheet.page_of(candidate.line).lines.end;
        for line in candidate.line + 1..end.min(candidate.line + 2 * MOST_LINES) {
            let printed = &self.sheet.lines[line];
            let gap = printed.rect.y0 - bottom;
            if gap > WIDEST_GAP * height || spans.len() >= MOST_LINES {
                break;
            }
            let left = |tokens: &Range<usize>| self.sheet.tokens[tokens.start].rect.x0;
            let is_below = |tokens: &Range<usize>| (left(tokens) - candidate.rect.x0).abs() <= WIDEST_SHIFT * height;
            let Some(next) = printed.segments.iter().find(|segment| is_below(&segment.tokens)) else {
                // A line of another column says nothing of this one.
                if printed.segments.iter().any(|other| {
                    let rect = self.sheet.rect_of(&other.tokens);
                    rect.x0 < candidate.rect.x1 && rect.x1 > label.rect.x0
                }) {
                    break;
                }
                continue;
            };
            let has_label = printed.segments.iter().any(|other| {
                let rect = self.sheet.rect_of(&other.tokens);
                rect.x1 > label.rect.x0 && rect.x0 < candidate.rect.x0 - WIDEST_SHIFT * height
            });
            let rect = self.sheet.rect_of(&next.tokens);
            let is_same_print = (rect.height() - candidate.rect.height()).abs() < 0.2 * height;
            let is_address = address::is_street_line(&next.text) || address::is_postcode_line(&next.text);
            let is_other = next.text.contains([':', '@'])
                || next.text.chars().filter(|c| c.is_alphabetic()).count() < 3
                || next.tokens.clone().any(|token| self.occurrences.is_label(token));
            if has_label || !is_same_print || is_address || is_other {
                break;
            }
            bottom = rect.y1;
            spans.push(next.tokens.clone());
        }
        spans
    }
}
