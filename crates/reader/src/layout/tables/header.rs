//! The headings of an open table: words stacked to cells, and cells that span the columns below them.

use super::{
    build::{self, Area, Bands, GridCell},
    columns::Columns,
    open::{Placed, Row},
    text::Chunk,
};
use crate::model::Rect;

/// Headings are no longer than this, in lines of text.
const MOST_LINES: usize = 10;

/// How many of the rows are headings.
pub(super) fn count(rows: &[Row], columns: &Columns, bands: &Bands) -> usize {
    let Some(first) = rows.first() else { return 0 };
    let in_first_band = rows.iter().take_while(|row| row.band == first.band).count();
    let ruled = !bands.at.is_empty() && in_first_band < rows.len();
    if ruled && in_first_band <= MOST_LINES {
        let with_figures = rows[..in_first_band].iter().filter(|row| row.figures() > 0).count();
        if in_first_band == 1 || with_figures * 2 <= in_first_band || in_first_band * 3 <= rows.len() {
            return in_first_band;
        }
    }
    // Without a line, headings are what stands above the first row of figures.
    let wanted = (columns.count() - 1).div_ceil(2);
    let figures = rows.iter().take(MOST_LINES).position(|row| row.figures() >= wanted);
    let Some(figures) = figures else {
        return usize::from(rows.len() > 1);
    };
    // Labels right above it that have nothing beside them are names of groups of rows, unless they are all there is.
    let labels =
        rows[..figures].iter().rev().take_while(|row| row.placed.iter().all(|placed| placed.first == 0)).count();
    if labels == figures { figures.min(1) } else { figures - labels }
}

/// A heading as it grows.
struct Heading {
    first: usize,
    last: usize,
    chunks: Vec<Chunk>,
    bbox: Rect,
    level: usize,
}

/// The cells of the headings, and in how many rows they are.
pub(super) fn cells(area: &Area<'_>, rows: &[Row], columns: &Columns, below: Option<&Row>) -> (Vec<GridCell>, usize) {
    if rows.is_empty() {
        return (Vec::new(), 0);
    }
    let mut headings: Vec<Heading> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let next = rows.get(at + 1).or(below);
        for placed in &row.placed {
            let (first, last) = span(area, row, placed, next, columns);
            stack(area, &mut headings, row, placed, (first, last));
        }
    }
    widen(&mut headings, columns);
    levels(&mut headings);
    let count = headings.iter().map(|heading| heading.level + 1).max().unwrap_or(0);
    let ends: Vec<usize> = headings
        .iter()
        .map(|heading| {
            headings
                .iter()
                .filter(|other| {
                    other.level > heading.level && other.first <= heading.last && heading.first <= other.last
                })
                .map(|other| other.level)
                .min()
                .unwrap_or(count)
        })
        .collect();
    let cells = headings
        .into_iter()
        .zip(ends)
        .map(|(heading, end)| GridCell {
            row: heading.level,
            column: heading.first,
            row_span: end - heading.level,
            column_span: heading.last - heading.first + 1,
            chunks: heading.chunks,
            bbox: Rect { x0: columns.extent(heading.first).0, x1: columns.extent(heading.last).1, ..heading.bbox },
        })
        .collect();
    (cells, count)
}

/// Which columns a heading stands over: those it touches, those that a line under it covers, and those that no line
/// down separates from it.
fn span(area: &Area<'_>, row: &Row, placed: &Placed, next: Option<&Row>, columns: &Columns) -> (usize, usize) {
    let (mut first, mut last) = (placed.first, placed.last);
    let bbox = &placed.chunk.bbox;
    let limit = next.map_or(row.bbox.y1 + 6.0, |next| next.bbox.y0 + 3.0);
    let under = area.lines.across.iter().find(|line| {
        line.at > bbox.y1 - 3.0
            && line.at <= limit
            && line.covers(bbox.x0, bbox.x1) > 0.8
            && line.length() < 0.85 * area.bbox.width()
    });
    if let Some(line) = under {
        let covered: Vec<usize> = (0..columns.count())
            .filter(|column| {
                let (left, right) = columns.extent(*column);
                line.covers(left, right) > 0.5
            })
            .collect();
        let taken = |column: &usize| {
            row.placed
                .iter()
                .any(|other| !std::ptr::eq(other, placed) && other.first <= *column && *column <= other.last)
        };
        if let (Some(from), Some(to)) = (covered.first(), covered.last())
            && !covered.iter().any(taken)
        {
            return ((*from).min(first), (*to).max(last));
        }
    }
    let y = bbox.center().1;
    let open = |at: usize| {
        columns
            .separators
            .get(at)
            .is_some_and(|separator| separator.ruled && !build::crosses(&area.lines.down, separator.middle(), y))
    };
    let free = |column: usize| !row.placed.iter().any(|other| other.first <= column && column <= other.last);
    while last + 1 < columns.count() && open(last) && free(last + 1) {
        last += 1;
    }
    while first > 0 && open(first - 1) && free(first - 1) {
        first -= 1;
    }
    (first, last)
}

/// Adds a piece of text to the heading right above it, if it goes on there; else it is a heading of its own.
fn stack(area: &Area<'_>, headings: &mut Vec<Heading>, row: &Row, placed: &Placed, (first, last): (usize, usize)) {
    let bbox = placed.chunk.bbox;
    let above: Vec<usize> = headings
        .iter()
        .enumerate()
        .filter(|(_, heading)| heading.first <= last && first <= heading.last)
        .map(|(at, _)| at)
        .collect();
    let nearest = above.iter().copied().max_by(|a, b| headings[*a].bbox.y1.total_cmp(&headings[*b].bbox.y1));
    if let Some(at) = nearest {
        let heading = &headings[at];
        let space = bbox.y0 - heading.bbox.y1;
        let line_between = area.lines.across.iter().any(|line| {
            line.at > heading.bbox.y1 - 3.0 && line.at < bbox.y0 + 3.0 && line.covers(bbox.x0, bbox.x1) > 0.5
        });
        let same = heading.first == first && heading.last == last;
        let centered = (heading.bbox.center().0 - bbox.center().0).abs() < 4.0;
        let sisters = row
            .placed
            .iter()
            .filter(|other| other.first <= heading.last.max(last) && heading.first.min(first) <= other.last)
            .count();
        let bottom_ones = above.iter().filter(|other| headings[**other].bbox.y1 > heading.bbox.y1 - 2.0).count();
        let grows = centered && sisters == 1 && bottom_ones == 1;
        if !line_between && space < 0.9 * bbox.height() && (same || grows) {
            let heading = &mut headings[at];
            heading.first = heading.first.min(first);
            heading.last = heading.last.max(last);
            heading.bbox = heading.bbox.union(&bbox);
            heading.chunks.push(placed.chunk.clone());
            return;
        }
    }
    headings.push(Heading { first, last, chunks: vec![placed.chunk.clone()], bbox, level: 0 });
}

/// A heading over several columns may be narrower than they are; then it stands in their middle.
fn widen(headings: &mut [Heading], columns: &Columns) {
    for at in 0..headings.len() {
        let heading = &headings[at];
        let is_free = |column: usize| {
            // Free above, and with a heading of its own below.
            let mut below = false;
            for (other_at, other) in headings.iter().enumerate() {
                if other_at != at && other.first <= column && column <= other.last {
                    if other.bbox.y0 < heading.bbox.y1 - 1.0 {
                        return false;
                    }
                    below = true;
                }
            }
            below
        };
        if !(heading.first..=heading.last).all(is_free) {
            continue;
        }
        let center = heading.bbox.center().0;
        let miss =
            |first: usize, last: usize| (f32::midpoint(columns.extent(first).0, columns.extent(last).1) - center).abs();
        let (mut best, mut best_miss) = ((heading.first, heading.last), miss(heading.first, heading.last));
        let mut first = heading.first;
        loop {
            let mut last = heading.last;
            loop {
                let this = miss(first, last);
                if this < best_miss - 1.0 {
                    (best, best_miss) = ((first, last), this);
                }
                if last + 1 >= columns.count() || !is_free(last + 1) {
                    break;
                }
                last += 1;
            }
            if first == 0 || !is_free(first - 1) {
                break;
            }
            first -= 1;
        }
        (headings[at].first, headings[at].last) = best;
    }
}

/// Each heading is one row below the lowest of those above it.
fn levels(headings: &mut [Heading]) {
    let mut order: Vec<usize> = (0..headings.len()).collect();
    order.sort_by(|a, b| headings[*a].bbox.y0.total_cmp(&headings[*b].bbox.y0));
    for (place, &at) in order.iter().enumerate() {
        let level = order[..place]
            .iter()
            .map(|&other| &headings[other])
            .filter(|other| other.first <= headings[at].last && headings[at].first <= other.last)
            .map(|other| other.level + 1)
            .max()
            .unwrap_or(0);
        headings[at].level = level;
    }
}
