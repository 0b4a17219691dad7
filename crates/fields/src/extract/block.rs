//! Values of several lines: words that stand below each other in one column, such as an address.

use super::{label::plain_parts, sheet::Sheet};
use bindery_reader::Rect;
use std::ops::Range;

/// How far, in points, words may stand beside a column and still belong to it.
const COLUMN_SLACK: f32 = 10.0;
/// Between two lines of one block, in heights of a line.
const WIDEST_LEADING: f32 = 2.2;

/// Whether two boxes stand in one column.
pub(crate) fn is_one_column(one: &Rect, other: &Rect) -> bool {
    one.x0 < other.x1 + COLUMN_SLACK && one.x1 > other.x0 - COLUMN_SLACK
}

/// The words of a line and of those below it that begin in the same column, up to a gap between the lines.
pub(crate) fn lines(sheet: &Sheet, line: usize, first: Range<usize>, most: usize) -> Vec<Range<usize>> {
    let mut bottom = sheet.rect_of(&first);
    let mut spans = vec![first];
    let (left, end) = (bottom.x0, sheet.page_of(line).lines.end);
    for next in &sheet.lines[line + 1..end] {
        if spans.len() >= most || next.rect.y0 - bottom.y0 > WIDEST_LEADING * bottom.height().max(1.0) {
            break;
        }
        let below = next
            .segments
            .iter()
            .find(|segment| (sheet.tokens[segment.tokens.start].rect.x0 - left).abs() <= COLUMN_SLACK);
        if let Some(segment) = below {
            bottom = sheet.rect_of(&segment.tokens);
            spans.push(segment.tokens.clone());
        }
    }
    spans
}

/// The lines of a block as one text.
pub(crate) fn text(sheet: &Sheet, spans: &[Range<usize>]) -> String {
    spans.iter().map(|span| sheet.quote(span)).collect::<Vec<_>>().join(", ")
}

/// Everywhere that the pages print a text, on one line or as a block: its first line, and its words line by line. Only
/// whole words count: "12" is no part of 12.03.2026.
pub(crate) fn find_text(sheet: &Sheet, text: &str) -> Vec<(usize, Vec<Range<usize>>)> {
    let wanted: Vec<String> = text.split_whitespace().flat_map(plain_parts).collect();
    let mut found = Vec::new();
    if wanted.is_empty() {
        return found;
    }
    for (index, line) in sheet.lines.iter().enumerate() {
        for segment in &line.segments {
            let starts = segment.tokens.clone();
            let all = starts.filter_map(|start| text_at(sheet, index, start..segment.tokens.end, &wanted));
            found.extend(all.map(|spans| (index, spans)));
        }
    }
    found
}

/// The lines of a text that begins with a word; None where another one stands there.
fn text_at(sheet: &Sheet, line: usize, rest: Range<usize>, wanted: &[String]) -> Option<Vec<Range<usize>>> {
    let mut left = wanted;
    let mut spans = Vec::new();
    for span in lines(sheet, line, rest, wanted.len().max(1)) {
        let mut end = span.start;
        while end < span.end && !left.is_empty() {
            let parts = plain_parts(&sheet.tokens[end].text);
            if !left.starts_with(&parts) {
                return None;
            }
            left = &left[parts.len()..];
            end += 1;
        }
        spans.push(span.start..end);
        if left.is_empty() {
            return Some(spans);
        }
    }
    None
}
