//! Rows of a table that stand outside its lines.
//!
//! Some tables draw their first line below the headings. Where the first row between the lines is already one of
//! figures, the rows right above it are looked at: short pieces of text beside each other are its headings. And some
//! do not draw the last line, or shade every other row: rows that go on below in the same columns are theirs, too.

use super::text::{self, Chunk, Item};
use crate::model::Rect;

const MOST_LINES: usize = 6;

/// The items of headings above the area, if it has none itself. `rows` are those of the page, from top to bottom.
pub(super) fn headings_above(
    items: &[Item<'_>],
    rows: &[Vec<usize>],
    which: &[usize],
    bbox: &Rect,
    free: &[bool],
) -> Vec<usize> {
    if !begins_with_figures(items, which) {
        return Vec::new();
    }
    let own = text::rows_of(items, which);
    let first = own.first().map(|row| text::chunks_of(items, row, 0.62, &[])).unwrap_or_default();
    // Each above a piece of the first row, and nearly as many as there are: these are headings also where the line below
    // them leaves some space.
    let over_each = |chunks: &[Chunk]| {
        let is_over = |chunk: &Chunk| first.iter().any(|below| overlap(&chunk.bbox, &below.bbox));
        chunks.len() >= 3 && chunks.len() + 1 >= first.len() && chunks.iter().all(is_over)
    };
    let mut found: Vec<usize> = Vec::new();
    let mut top = which.iter().map(|&at| items[at].bbox.y0).fold(f32::MAX, f32::min);
    let mut lines = 0;
    for row in rows.iter().rev() {
        let inside = within_sides(items, row, bbox, |at, middle| free[at] && middle < top);
        let chunks = text::chunks_of(items, &inside, 0.9, &[]);
        let Some(place) = chunks.iter().map(|chunk| chunk.bbox).reduce(|a, b| a.union(&b)) else {
            continue;
        };
        let space = top - place.y1;
        let wide = place.x0 < bbox.x0 - 3.0 || place.x1 > bbox.x1 + 3.0;
        let long = chunks.iter().any(|chunk| chunk.items.len() > 5 || chunk.bbox.width() > 0.6 * bbox.width());
        // A single piece at the left is a caption, or the last line of a paragraph.
        let caption = chunks.len() == 1 && place.x0 < bbox.x0 + 0.2 * bbox.width();
        let most_space = if found.is_empty() && over_each(&chunks) { 2.5 } else { 0.9 };
        if space > most_space * place.height() || wide || long || caption || lines == MOST_LINES {
            break;
        }
        top = place.y0;
        lines += 1;
        found.extend(inside);
    }
    found
}

/// The items of the row right above the area that has a piece over each piece of its first row: where rows are told apart
/// by their shade, the first may have none.
pub(super) fn row_above(
    items: &[Item<'_>],
    rows: &[Vec<usize>],
    which: &[usize],
    bbox: &Rect,
    free: &[bool],
) -> Vec<usize> {
    let own = text::rows_of(items, which);
    let [first, second, ..] = own.as_slice() else { return Vec::new() };
    let middle = |row: &[usize]| row.first().map_or(0.0, |&at| items[at].bbox.center().1);
    let pitch = middle(second) - middle(first);
    let pattern = text::chunks_of(items, first, 0.9, &[]);
    let top = pattern.iter().map(|chunk| chunk.bbox.y0).fold(f32::MAX, f32::min);
    for row in rows.iter().rev() {
        let inside = within_sides(items, row, bbox, |at, middle| free[at] && middle < top);
        let chunks = text::chunks_of(items, &inside, 0.9, &[]);
        if chunks.is_empty() {
            continue;
        }
        let same = chunks.len() >= 3
            && chunks.len() == pattern.len()
            && chunks.iter().zip(&pattern).all(|(chunk, below)| aligned(&chunk.bbox, &below.bbox));
        return if same && middle(first) - middle(&inside) <= 1.2 * pitch { inside } else { Vec::new() };
    }
    Vec::new()
}

fn aligned(a: &Rect, b: &Rect) -> bool {
    (a.x0 - b.x0).abs() < 3.0 || (a.x1 - b.x1).abs() < 3.0 || (a.center().0 - b.center().0).abs() < 3.0
}

/// The items of rows that go on below the area as its last row stands.
pub(super) fn rows_below(
    items: &[Item<'_>],
    rows: &[Vec<usize>],
    which: &[usize],
    bbox: &Rect,
    free: &[bool],
) -> Vec<usize> {
    let own = text::rows_of(items, which);
    let Some(last) = own.last() else { return Vec::new() };
    let pattern = text::chunks_of(items, last, 0.9, &[]);
    let mut bottom = pattern.iter().map(|chunk| chunk.bbox.y1).fold(f32::MIN, f32::max);
    let mut found = Vec::new();
    if pattern.len() < 2 || pattern.iter().any(|chunk| chunk.items.len() > 5) {
        return found;
    }
    for row in rows {
        let inside = within_sides(items, row, bbox, |at, middle| free[at] && middle > bottom.max(bbox.y1));
        let chunks = text::chunks_of(items, &inside, 0.9, &[]);
        let Some(place) = chunks.iter().map(|chunk| chunk.bbox).reduce(|a, b| a.union(&b)) else {
            continue;
        };
        let same = chunks.len() == pattern.len()
            && chunks.iter().zip(&pattern).all(|(chunk, above)| aligned(&chunk.bbox, &above.bbox));
        if !same || place.y0 - bottom > 1.2 * place.height() {
            break;
        }
        bottom = place.y1;
        found.extend(inside);
    }
    found
}

/// The names of rows to the left of the area: in reports of figures, lines are drawn over the figures alone.
pub(super) fn names_beside(
    items: &[Item<'_>],
    rows: &[Vec<usize>],
    which: &[usize],
    bbox: &Rect,
    free: &[bool],
) -> Vec<usize> {
    let mut own = vec![false; items.len()];
    for &at in which {
        own[at] = true;
    }
    let top = which.iter().map(|&at| items[at].bbox.y0).fold(f32::MAX, f32::min);
    let bottom = which.iter().map(|&at| items[at].bbox.y1).fold(f32::MIN, f32::max);
    let (mut figures, mut named, mut without, mut words) = (0, 0, 0, 0);
    let mut found = Vec::new();
    let mut right = f32::MIN;
    for row in rows {
        let middle = row.first().map_or(0.0, |&at| items[at].bbox.center().1);
        if middle < top || middle > bottom {
            continue;
        }
        let inside: Vec<usize> = row.iter().copied().filter(|&at| own[at]).collect();
        let left: Vec<usize> =
            row.iter().copied().filter(|&at| free[at] && !own[at] && items[at].bbox.x1 <= bbox.x0 + 1.0).collect();
        let chunks = text::chunks_of(items, &inside, 0.62, &[]);
        let begins_with_figure = chunks.first().is_some_and(|chunk| chunk.is_numeric(items));
        figures += usize::from(begins_with_figure);
        let name = text::chunks_of(items, &left, 0.9, &[]);
        match name.as_slice() {
            [] => {}
            [name] => {
                named += usize::from(begins_with_figure);
                without += usize::from(inside.is_empty());
                words += name.items.len();
                right = right.max(name.bbox.x1);
                found.extend(&name.items);
            }
            // Several columns of text beside the figures are something else.
            _ => without += 2,
        }
    }
    let near = right >= bbox.x0 - NEAR;
    let are_names = figures >= 3 && named * 10 >= figures * 7 && without * 2 <= named && words <= 8 * (named + without);
    if are_names && near { found } else { Vec::new() }
}

/// The longest name ends no further from the figures; dots may lead from the shorter ones.
const NEAR: f32 = 150.0;

/// Whether one stands above the other.
fn overlap(a: &Rect, b: &Rect) -> bool {
    a.x0 < b.x1 && b.x0 < a.x1
}

/// Those of a row between the sides of the area that are wanted, asked with their number and the height of their middle.
fn within_sides(items: &[Item<'_>], row: &[usize], bbox: &Rect, wanted: impl Fn(usize, f32) -> bool) -> Vec<usize> {
    let inside = |at: &usize| {
        let place = &items[*at].bbox;
        wanted(*at, place.center().1) && place.x1 > bbox.x0 - 3.0 && place.x0 < bbox.x1 + 3.0
    };
    row.iter().copied().filter(inside).collect()
}

fn begins_with_figures(items: &[Item<'_>], which: &[usize]) -> bool {
    let rows = text::rows_of(items, which);
    let Some(first) = rows.first() else { return false };
    let chunks = text::chunks_of(items, first, 0.62, &[]);
    let figures = chunks.iter().skip(1).filter(|chunk| chunk.is_numeric(items)).count();
    chunks.len() >= 2 && figures * 2 >= chunks.len() - 1
}
