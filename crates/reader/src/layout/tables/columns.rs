//! Where a table's columns are: at lines down, and where row after row leaves the same space free.

use super::{
    rules::{Line, SNAP},
    text::{Chunk, TextRow},
};
use crate::model::Rect;

/// A strip between two columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Separator {
    pub x0: f32,
    pub x1: f32,
    /// Whether a line is drawn there.
    pub ruled: bool,
    /// How many rows leave it free and have text on both sides.
    pub support: usize,
    /// How many rows have text across it.
    pub crossed: usize,
    /// How far text on its two sides usually is apart.
    pub space: f32,
}

impl Separator {
    pub(super) fn middle(&self) -> f32 {
        f32::midpoint(self.x0, self.x1)
    }

    /// Whether text runs from one side to the other, and not only into the strip.
    pub(super) fn is_crossed_by(&self, chunk: &Rect) -> bool {
        let middle = self.middle();
        chunk.x0 < middle && chunk.x1 > middle && chunk.x0 < self.x0 - 1.0 && chunk.x1 > self.x1 + 1.0
    }
}

/// The columns of a table.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    pub separators: Vec<Separator>,
    pub left: f32,
    pub right: f32,
}

impl Columns {
    pub(super) fn count(&self) -> usize {
        self.separators.len() + 1
    }

    /// From the middle of the strip on its left to that on its right.
    pub(super) fn extent(&self, column: usize) -> (f32, f32) {
        let left = column.checked_sub(1).and_then(|at| self.separators.get(at)).map_or(self.left, Separator::middle);
        let right = self.separators.get(column).map_or(self.right, Separator::middle);
        (left, right)
    }

    pub(super) fn at(&self, x: f32) -> usize {
        self.separators.partition_point(|separator| separator.middle() <= x)
    }

    /// The first and the last column that a piece of text stands in.
    pub(super) fn spanned_by(&self, bbox: &Rect) -> (usize, usize) {
        let middle = bbox.center().0;
        let home = self.at(middle);
        let before = self.separators[..home].iter().rev().take_while(|separator| separator.is_crossed_by(bbox)).count();
        let after = self.separators[home..].iter().take_while(|separator| separator.is_crossed_by(bbox)).count();
        (home - before, home + after)
    }
}

/// Finds the columns of the rows between `area.x0` and `area.x1`. `down` are the lines within the area.
pub(super) fn find(rows: &[TextRow], down: &[Line], area: &Rect) -> Columns {
    let mut separators = ruled(down, area);
    let inner_lines = !separators.is_empty();
    for valley in valleys(rows) {
        let near_line = separators.iter().any(|line| {
            line.ruled && line.x0 >= valley.x0 - SNAP && line.x1 <= valley.x1 + SNAP
                || (line.middle() - valley.middle()).abs() < SNAP
        });
        if near_line {
            continue;
        }
        // Where the table draws lines between its columns, a column without one needs better reasons.
        let accepted = if inner_lines {
            valley.support >= 3 && valley.support >= 4 * valley.crossed && valley.space >= 4.0
        } else {
            valley.support >= 2 && valley.support >= 2 * valley.crossed
        };
        if accepted {
            separators.push(valley);
        }
    }
    separators.sort_by(|a, b| a.middle().total_cmp(&b.middle()));
    drop_empty_columns(&mut separators, rows);
    Columns { separators, left: area.x0, right: area.x1 }
}

/// A line down within the area separates columns if it does so over a good part of the height.
fn ruled(down: &[Line], area: &Rect) -> Vec<Separator> {
    let mut found: Vec<(f32, f32)> = Vec::new();
    for line in down {
        if line.at <= area.x0 + 2.0 * SNAP || line.at >= area.x1 - 2.0 * SNAP {
            continue;
        }
        match found.last_mut() {
            Some((at, length)) if line.at - *at <= 2.0 * SNAP => *length += line.length(),
            _ => found.push((line.at, line.length())),
        }
    }
    found.retain(|(_, length)| *length >= 0.2 * area.height());
    found
        .into_iter()
        .map(|(at, _)| Separator { x0: at - 0.5, x1: at + 0.5, ruled: true, support: 0, crossed: 0, space: 1.0 })
        .collect()
}

/// Strips that are freer than what is left and right of them.
fn valleys(rows: &[TextRow]) -> Vec<Separator> {
    let mut edges: Vec<(f32, bool)> = Vec::new();
    for chunk in rows.iter().flat_map(|row| &row.chunks) {
        let (x0, x1) = (chunk.bbox.x0, chunk.bbox.x1.max(chunk.bbox.x0 + 0.1));
        edges.push((x0, true));
        edges.push((x1, false));
    }
    // Ends before beginnings, so that columns that touch are still two.
    edges.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut found = Vec::new();
    for pair in edges.windows(2) {
        if let [(x0, false), (x1, true)] = pair
            && x1 - x0 > 0.5
        {
            found.push(judged(rows, *x0, *x1));
        }
    }
    found
}

fn judged(rows: &[TextRow], x0: f32, x1: f32) -> Separator {
    let mut crossed = 0;
    let mut spaces = Vec::new();
    for row in rows {
        let before = row.chunks.iter().filter(|chunk| chunk.bbox.x1 <= x0 + 0.05).map(|chunk| chunk.bbox.x1);
        let after = row.chunks.iter().filter(|chunk| chunk.bbox.x0 >= x1 - 0.05).map(|chunk| chunk.bbox.x0);
        let across = row.chunks.iter().any(|chunk| chunk.bbox.x0 < x0 && chunk.bbox.x1 > x1);
        if across {
            crossed += 1;
        } else if let (Some(left), Some(right)) = (before.reduce(f32::max), after.reduce(f32::min)) {
            spaces.push(right - left);
        }
    }
    spaces.sort_by(f32::total_cmp);
    let space = spaces.get(spaces.len() / 2).copied().unwrap_or(0.0);
    Separator { x0, x1, ruled: false, support: spaces.len(), crossed, space }
}

/// Between two separators there is text of a column's own; where there is none, the weaker separator goes.
fn drop_empty_columns(separators: &mut Vec<Separator>, rows: &[TextRow]) {
    // One heading that is set off from its column is no column; where lines are drawn, it takes even more.
    let least = if rows.len() >= 3 { 2 } else { 1 };
    let beside_lines =
        if separators.iter().any(|separator| separator.ruled) { least.max(rows.len() / 4) } else { least };
    loop {
        let within = |left: f32, right: f32| {
            let own = |chunk: &&Chunk| chunk.bbox.x0 >= left - 1.5 && chunk.bbox.x1 <= right + 1.5;
            rows.iter().filter(|row| row.chunks.iter().any(|chunk| own(&chunk))).count()
        };
        let count = separators.len();
        let weak = (0..=count).find_map(|column| {
            let left = column.checked_sub(1).and_then(|at| separators.get(at));
            let right = separators.get(column);
            let own = within(left.map_or(f32::MIN, |s| s.x0), right.map_or(f32::MAX, |s| s.x1));
            let drawn = left.is_none_or(|s| s.ruled) && right.is_none_or(|s| s.ruled);
            if own >= if drawn { 1 } else { beside_lines } {
                return None;
            }
            match (left, right) {
                (Some(left), Some(right)) => {
                    let worth = |s: &Separator| if s.ruled { i64::MAX } else { score(s) };
                    if worth(left) == i64::MAX && worth(right) == i64::MAX {
                        None
                    } else if worth(left) < worth(right) {
                        Some(column - 1)
                    } else {
                        Some(column)
                    }
                }
                (Some(left), None) => (!left.ruled).then(|| column - 1),
                (None, Some(right)) => (!right.ruled).then_some(column),
                (None, None) => None,
            }
        });
        match weak {
            Some(at) => drop(separators.remove(at)),
            None => return,
        }
    }
}

#[expect(clippy::cast_possible_wrap, reason = "counts of rows")]
fn score(separator: &Separator) -> i64 {
    separator.support as i64 - 3 * separator.crossed as i64
}
