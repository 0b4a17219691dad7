//! Rows between two lines across that nobody has drawn a line between.
//!
//! Forms and invoices often draw a frame around several rows: names beside values, numbers beside what they count. Text
//! that is wrapped in its cells looks alike, for its lines stand beside each other, too. They are told apart by where
//! lines end: wrapped text goes on to the end of its column, and a row of a form ends where it has said what it says.

use super::{
    build::{Area, Bands},
    columns::Columns,
    text::{Chunk, TextRow},
};

/// So many lines of text at least are needed to see how they end.
const FEWEST_ROWS: usize = 3;

/// Pairs of rows, by their numbers, between which a row of the table ends.
pub(super) fn cuts(area: &Area<'_>, rows: &[TextRow], columns: &Columns) -> Vec<(usize, usize)> {
    let bands = Bands::loose(&area.lines.across, &area.bbox);
    let mut found = Vec::new();
    let mut start = 0;
    let mut after_list = false;
    while let Some(first) = rows.get(start) {
        let band = bands.band(first.middle());
        let length = rows[start..].iter().take_while(|row| bands.band(row.middle()) == band).count();
        let inside = &rows[start..start + length];
        let list = is_list(area, inside, columns);
        // The line above may leave out some columns, but it ends a row of them, too.
        if (list || after_list) && start > 0 {
            found.push((start - 1, start));
        }
        if list {
            let begins = |at: &usize| begins_row(area, &inside[*at], inside, columns);
            found.extend((1..length).filter(begins).map(|at| (start + at - 1, start + at)));
        }
        after_list = list;
        start += length;
    }
    found
}

/// Whether lines of text between two drawn lines are rows of their own.
fn is_list(area: &Area<'_>, rows: &[TextRow], columns: &Columns) -> bool {
    // Text beside the rows may stand at heights of its own.
    let several: Vec<&TextRow> = rows.iter().filter(|row| row.chunks.len() >= 2).collect();
    if several.len() < FEWEST_ROWS || several.len() * 2 < rows.len() {
        return false;
    }
    let (mut all, mut early) = (0, 0);
    for pair in several.windows(2) {
        for above in &pair[0].chunks {
            let column = columns.spanned_by(&above.bbox).0;
            if let Some(below) = pair[1].chunks.iter().find(|below| columns.spanned_by(&below.bbox).0 == column) {
                all += 1;
                early += usize::from(ends_early(area, above, below, columns));
            }
        }
    }
    all >= 3 && early * 4 >= all * 3
}

/// Whether the text could have gone on with the first word below, but did not.
fn ends_early(area: &Area<'_>, above: &Chunk, below: &Chunk, columns: &Columns) -> bool {
    let word = below.items.first().map(|&at| &area.items[at]);
    let small =
        word.is_some_and(|word| word.text.chars().next().is_some_and(char::is_lowercase) && word.text.len() > 1);
    if small {
        return false;
    }
    // Figures and the numbers of rows are never wrapped.
    let number = |&at: &usize| area.items[at].text.len() <= 3;
    if above.is_numeric(area.items) || above.items.len() == 1 && above.items.iter().all(number) {
        return true;
    }
    let (_, right) = columns.extent(columns.spanned_by(&above.bbox).1);
    let width = word.map_or(0.0, |word| word.bbox.width());
    right - above.bbox.x1 > width + 0.6 * above.bbox.height()
}

/// A row begins where text stands in several columns, or in the first column that the rows around it use.
fn begins_row(area: &Area<'_>, row: &TextRow, rows: &[TextRow], columns: &Columns) -> bool {
    let first = |row: &TextRow| row.chunks.first().map(|chunk| columns.spanned_by(&chunk.bbox).0);
    let small = |chunk: &Chunk| {
        let text = chunk.items.first().map_or("", |&at| area.items[at].text);
        text.len() > 1 && text.chars().next().is_some_and(char::is_lowercase)
    };
    if row.chunks.iter().all(small) {
        return false;
    }
    row.chunks.len() >= 2 || first(row) == rows.iter().filter_map(first).min()
}
