//! Tables whose rows are separated by lines: the cells are what the lines enclose.

use super::{
    build::{Area, Grid, GridCell},
    columns::Columns,
    rules::{Line, SNAP},
    subdivide,
    text::{Chunk, Item, TextRow},
};
use crate::model::Rect;

/// What is larger is a drawing.
const MOST_PLACES: usize = 20_000;
/// More rows than this are no headings.
const MOST_HEADER_ROWS: usize = 4;

/// None if there are more places than a person's table has.
pub(super) fn build(area: &Area<'_>, rows: &[TextRow], columns: &Columns) -> Option<Grid> {
    let (levels, gaps) = levels(area, rows, columns);
    let row_count = levels.len().saturating_sub(1);
    let column_count = columns.count();
    if row_count == 0 || row_count * column_count > MOST_PLACES {
        return None;
    }
    let mut places = Places::new(row_count, column_count);

    // By row: the first and the last column of each text.
    let mut chunks: Vec<Vec<(usize, usize, &Chunk)>> = vec![Vec::new(); row_count.max(1)];
    for chunk in rows.iter().flat_map(|row| &row.chunks) {
        let (first, last) = columns.spanned_by(&chunk.bbox);
        chunks[level_of(&levels, chunk.bbox.center().1)].push((first, last, chunk));
    }

    // Labels beside a grid may have no lines of their own; those of the grid count for them, too.
    let labels_are_loose = {
        let (left, right) = columns.extent(0);
        let inner = levels.get(1..row_count).unwrap_or_default();
        inner.iter().filter(|level| separates(&area.lines.across, **level, left, right)).count() <= 2 && inner.len() > 4
    };

    for row in 0..row_count {
        let (top, bottom) = (levels[row], levels[row + 1]);
        for column in 0..column_count {
            let (left, right) = columns.extent(column);
            let ends = |row: usize| {
                let own_line = || [row, row + 1].iter().all(|row| stands_alone(&chunks[*row], 0));
                // Beside lines that stop at a cell with lines on both its sides, that cell goes on.
                let framed = || {
                    let sides =
                        |row: usize| [left, right].iter().all(|x| area.has_line_down(*x, levels[row], levels[row + 1]));
                    let both = [row, row + 1].iter().all(|row| stands_alone(&chunks[*row], column));
                    area.has_line_across(bottom) && sides(row) && sides(row + 1) && !both
                };
                (gaps.contains(&bottom) && !framed())
                    || separates(&area.lines.across, bottom, left, right)
                    || (column == 0 && labels_are_loose && own_line())
            };
            if row + 1 < row_count && !ends(row) {
                places.join((row, column), (row + 1, column));
            }
            if let Some(separator) = columns.separators.get(column)
                && separator.ruled
                && !separates(&area.lines.down, separator.middle(), top, bottom)
                && !both_sides(&chunks[row], column)
            {
                places.join((row, column), (row, column + 1));
            }
        }
    }

    // Text that runs across a separator that is not drawn spans its columns.
    for (row, chunks) in chunks.iter().enumerate() {
        for &(first, last, _) in chunks {
            for column in first..last {
                if columns.separators.get(column).is_some_and(|separator| !separator.ruled) {
                    places.join((row, column), (row, column + 1));
                }
            }
        }
    }

    let mut cells = places.cells();
    let mut owner = vec![usize::MAX; row_count * column_count];
    for (at, cell) in cells.iter().enumerate() {
        for row in cell.row..cell.row + cell.row_span {
            for column in cell.column..cell.column + cell.column_span {
                owner[row * column_count + column] = at;
            }
        }
    }
    for (row, chunks) in chunks.into_iter().enumerate() {
        for (first, _, chunk) in chunks {
            let at = owner.get(row * column_count + first).copied();
            if let Some(cell) = at.and_then(|at| cells.get_mut(at)) {
                cell.chunks.push(chunk.clone());
            }
        }
    }
    for cell in &mut cells {
        let (left, _) = columns.extent(cell.column);
        let (_, right) = columns.extent(cell.column + cell.column_span - 1);
        cell.bbox = Rect::new(left, levels[cell.row], right, levels[cell.row + cell.row_span]);
    }
    let header_rows = header_rows(&cells, area.items);
    Some(Grid { rows: row_count, columns: column_count, cells, header_rows, closed: true, ruled_columns: 0 })
}

/// The first row, and those below it that its cells reach into or that stand under a cell over several columns.
fn header_rows(cells: &[GridCell], items: &[Item<'_>]) -> usize {
    let in_row = |row: usize| cells.iter().filter(move |cell| cell.row == row && !cell.is_empty());
    let has_figures =
        |row: usize| in_row(row).any(|cell| cell.column > 0 && cell.chunks.iter().any(|chunk| chunk.is_numeric(items)));
    let mut count = 1;
    while count < MOST_HEADER_ROWS && in_row(count).next().is_some() && !has_figures(count) {
        let reached = in_row(count - 1).any(|cell| cell.row_span == 2);
        let parted = in_row(count - 1).any(|cell| {
            let below = in_row(count)
                .filter(|other| {
                    other.column >= cell.column && other.column + other.column_span <= cell.column + cell.column_span
                })
                .count();
            cell.column_span > 1 && below >= 2
        });
        // A row of one cell is a title, or the name of a group of rows.
        if !(reached || parted && in_row(count - 1).count() > 1) {
            break;
        }
        count += 1;
    }
    count
}

/// The heights that bound rows: every line across that is long enough to separate a column, and the area's own ends. Second, those
/// of them where nothing is drawn.
fn levels(area: &Area<'_>, rows: &[TextRow], columns: &Columns) -> (Vec<f32>, Vec<f32>) {
    let (across, bbox) = (&area.lines.across, &area.bbox);
    let top = rows.first().map_or(bbox.y0, |row| row.bbox.y0.min(bbox.y0));
    let bottom = rows.last().map_or(bbox.y1, |row| row.bbox.y1.max(bbox.y1));
    let mut levels: Vec<f32> = vec![top];
    for line in across {
        // A line through the middle of text strikes it out, or underlines a part of it; it bounds no row.
        let through = rows.iter().any(|row| line.at > row.bbox.y0 + 2.0 && line.at < row.bbox.y1 - 2.5);
        if through && line.length() < 0.5 * bbox.width() {
            continue;
        }
        if levels.last().is_none_or(|last| line.at - last > 2.0 * SNAP) {
            levels.push(line.at);
        }
    }
    if levels.last().is_none_or(|last| bottom - last > 2.0 * SNAP) {
        levels.push(bottom);
    } else if levels.len() > 1
        && let Some(last) = levels.last_mut()
    {
        *last = bottom;
    }
    let mut gaps = gaps(&levels, rows);
    for (above, below) in subdivide::cuts(area, rows, columns) {
        let (above, below) = (&rows[above], &rows[below]);
        // A line that leaves out some columns counts for all of them here.
        let drawn = levels.iter().find(|level| **level > above.middle() && **level < below.middle());
        gaps.push(drawn.copied().unwrap_or_else(|| f32::midpoint(above.bbox.y1, below.bbox.y0)));
    }
    levels.extend(&gaps);
    levels.sort_by(f32::total_cmp);
    levels.dedup();
    (levels, gaps)
}

/// Where all columns leave a line free between two lines across, and go on beside each other below, a row ends, too.
fn gaps(levels: &[f32], rows: &[TextRow]) -> Vec<f32> {
    let mut gaps = Vec::new();
    for pair in rows.windows(2) {
        let (above, below) = (&pair[0], &pair[1]);
        let space = below.bbox.y0 - above.bbox.y1;
        let height = above.bbox.height().min(below.bbox.height());
        let starts = below.chunks.len() >= 2 && above.chunks.len() <= below.chunks.len();
        let between = levels.iter().any(|level| *level > above.middle() && *level < below.middle());
        if space > 0.75 * height && starts && !between {
            gaps.push(f32::midpoint(above.bbox.y1, below.bbox.y0));
        }
    }
    gaps
}

fn level_of(levels: &[f32], y: f32) -> usize {
    levels.partition_point(|level| *level <= y).saturating_sub(1).min(levels.len().saturating_sub(2))
}

/// Whether text stands on both sides of a separator at one height, but not across it: then it separates, line or not.
fn both_sides(chunks: &[(usize, usize, &Chunk)], column: usize) -> bool {
    chunks.iter().filter(|(_, last, _)| *last == column).any(|(_, _, left)| {
        chunks.iter().any(|(first, _, right)| *first == column + 1 && same_height(left, right, 0.5))
    })
}

fn same_height(a: &Chunk, b: &Chunk, slack: f32) -> bool {
    (a.bbox.center().1 - b.bbox.center().1).abs() < slack * a.bbox.height()
}

/// Whether a place has text, at the height of text in another column of the row.
fn stands_alone(chunks: &[(usize, usize, &Chunk)], column: usize) -> bool {
    chunks
        .iter()
        .filter(|(first, last, _)| *first == column && *last == column)
        .any(|(_, _, own)| chunks.iter().any(|(other, _, chunk)| *other != column && same_height(own, chunk, 0.3)))
}

impl Area<'_> {
    /// Whether a line is drawn at that height, wherever it begins and ends.
    fn has_line_across(&self, at: f32) -> bool {
        self.lines.across.iter().any(|line| (line.at - at).abs() <= SNAP)
    }

    fn has_line_down(&self, at: f32, from: f32, to: f32) -> bool {
        separates(&self.lines.down, at, from, to)
    }
}

/// Whether lines at `at` cover at least half of `from..to`.
fn separates(lines: &[Line], at: f32, from: f32, to: f32) -> bool {
    let covered: f32 =
        lines.iter().filter(|line| (line.at - at).abs() <= 2.0 * SNAP).map(|line| line.covers(from, to)).sum();
    covered >= 0.5
}

/// Which places of the grid belong together.
struct Places {
    rows: usize,
    columns: usize,
    parent: Vec<usize>,
}

impl Places {
    fn new(rows: usize, columns: usize) -> Self {
        Self { rows, columns, parent: (0..rows * columns).collect() }
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    fn join(&mut self, a: (usize, usize), b: (usize, usize)) {
        if a.0.max(b.0) >= self.rows || a.1.max(b.1) >= self.columns {
            return;
        }
        let (a, b) = (self.root(a.0 * self.columns + a.1), self.root(b.0 * self.columns + b.1));
        self.parent[a.max(b)] = a.min(b);
    }

    /// Rectangles: what is joined to an odd shape is filled up to one.
    fn cells(mut self) -> Vec<GridCell> {
        loop {
            let mut boxes: Vec<Option<(usize, usize, usize, usize)>> = vec![None; self.parent.len()];
            for row in 0..self.rows {
                for column in 0..self.columns {
                    let root = self.root(row * self.columns + column);
                    let (r0, c0, r1, c1) = boxes[root].unwrap_or((row, column, row, column));
                    boxes[root] = Some((r0.min(row), c0.min(column), r1.max(row), c1.max(column)));
                }
            }
            let mut changed = false;
            for (root, (r0, c0, r1, c1)) in boxes.iter().enumerate().filter_map(|(root, found)| Some((root, (*found)?)))
            {
                for row in r0..=r1 {
                    for column in c0..=c1 {
                        let own = self.root(root);
                        if self.root(row * self.columns + column) != own {
                            self.join((row, column), (root / self.columns, root % self.columns));
                            changed = true;
                        }
                    }
                }
            }
            if !changed {
                return boxes
                    .into_iter()
                    .flatten()
                    .map(|(r0, c0, r1, c1)| GridCell {
                        row: r0,
                        column: c0,
                        row_span: r1 - r0 + 1,
                        column_span: c1 - c0 + 1,
                        chunks: Vec::new(),
                        bbox: Rect::default(),
                    })
                    .collect();
            }
        }
    }
}
