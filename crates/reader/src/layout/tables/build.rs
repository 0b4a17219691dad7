//! From an area with words and lines to a grid of cells.
//!
//! There are two ways. In a *closed* table lines separate the rows: what is between two lines is one row, however many
//! lines of text it holds. In an *open* table they do not: rows follow from the text itself.

use super::{
    closed,
    columns::{self, Columns},
    open,
    rules::{Line, Lines, SNAP},
    text::{self, Chunk, Item, TextRow},
};
use crate::model::Rect;

/// What is looked at: a part of the page, with what stands in it.
#[derive(Debug)]
pub(super) struct Area<'a> {
    pub items: &'a [Item<'a>],
    /// Which items stand in it.
    pub which: Vec<usize>,
    pub bbox: Rect,
    pub lines: Lines,
}

/// A cell before it is given its text.
#[derive(Debug, Clone)]
pub(super) struct GridCell {
    pub row: usize,
    pub column: usize,
    pub row_span: usize,
    pub column_span: usize,
    /// In reading order, with where lines of text begin.
    pub chunks: Vec<Chunk>,
    pub bbox: Rect,
}

impl GridCell {
    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }
}

#[derive(Debug, Clone)]
pub(super) struct Grid {
    pub rows: usize,
    pub columns: usize,
    pub cells: Vec<GridCell>,
    pub header_rows: usize,
    /// Whether lines separate its rows.
    pub closed: bool,
    /// How many of its columns are separated by drawn lines.
    pub ruled_columns: usize,
}

/// How wide a space within a table's row is no space within a cell any more, in heights of the text.
const CELL_GAP: f32 = 0.62;

/// Where the rows are between which lines run across the whole area.
pub(super) struct Bands {
    /// The heights of those lines.
    pub at: Vec<f32>,
}

impl Bands {
    pub(super) fn find(across: &[Line], bbox: &Rect) -> Self {
        let mut levels: Vec<(Line, f32)> = Vec::new();
        for line in across {
            match levels.last_mut() {
                Some((whole, length)) if line.at - whole.at <= SNAP => {
                    *length += line.length();
                    whole.from = whole.from.min(line.from);
                    whole.to = whole.to.max(line.to);
                }
                _ => levels.push((*line, line.length())),
            }
        }
        // Lines under headings that span some columns may together be long, but they leave out the first column.
        let slack = 0.08 * bbox.width();
        levels.retain(|(whole, length)| {
            *length >= 0.7 * bbox.width() && whole.from <= bbox.x0 + slack && whole.to >= bbox.x1 - slack
        });
        Self { at: levels.into_iter().map(|(whole, _)| whole.at).collect() }
    }

    /// Also lines that leave out a part of the width, but run through the rest without a break: beside a cell that spans
    /// rows.
    pub(super) fn loose(across: &[Line], bbox: &Rect) -> Self {
        let mut bands = Self::find(across, bbox);
        bands.at.extend(across.iter().filter(|line| line.length() >= 0.5 * bbox.width()).map(|line| line.at));
        bands.at.sort_by(f32::total_cmp);
        bands.at.dedup();
        bands
    }

    pub(super) fn band(&self, y: f32) -> usize {
        self.at.partition_point(|at| *at <= y)
    }
}

pub(super) fn build(area: &Area<'_>) -> Option<Grid> {
    let mut rows = text::text_rows(area.items, &area.which, CELL_GAP, &area.lines.down);
    if rows.is_empty() {
        return None;
    }
    let columns = columns::find(&rows, &area.lines.down, &area.bbox);
    if columns.count() < 2 {
        return None;
    }
    for row in &mut rows {
        row.chunks = row.chunks.drain(..).flat_map(|chunk| split(area, chunk, &columns)).collect();
    }
    let bands = Bands::find(&area.lines.across, &area.bbox);
    let mut grid = if rows_are_closed(area, &rows, &columns) {
        closed::build(area, &rows, &columns)?
    } else {
        open::build(area, &rows, &columns, &bands)
    };
    grid.ruled_columns = columns.separators.iter().filter(|separator| separator.ruled).count();
    grid.separate();
    grid.drop_empty();
    grid.fill_holes();
    Some(grid)
}

/// Words of two cells may stand so close that they look like one piece of text; the columns tell them apart.
fn split(area: &Area<'_>, chunk: Chunk, columns: &Columns) -> Vec<Chunk> {
    let items = area.items;
    let (first, last) = columns.spanned_by(&chunk.bbox);
    if first == last || chunk.items.len() < 2 {
        return vec![chunk];
    }
    let mut pieces: Vec<Chunk> = Vec::new();
    let spaces: Vec<f32> = chunk.items.windows(2).map(|pair| items[pair[1]].bbox.x0 - items[pair[0]].bbox.x1).collect();
    let narrowest = spaces.iter().copied().fold(f32::MAX, f32::min);
    for (at, &index) in chunk.items.iter().enumerate() {
        let item = &items[index];
        let cut = at.checked_sub(1).is_some_and(|before| {
            let left = &items[chunk.items[before]].bbox;
            let strip = columns.separators[first..last].iter().find(|separator| {
                separator.x0.max(left.x1) <= separator.x1.min(item.bbox.x0) + 0.5
                    && left.center().0 < separator.middle()
                    && item.bbox.center().0 > separator.middle()
            });
            strip.is_some_and(|strip| {
                let figures = text::is_numeric(item.text) || text::is_numeric(items[chunk.items[before]].text);
                let wide = spaces[before] > 0.42 * item.bbox.height() && spaces[before] > 1.25 * narrowest;
                let drawn = strip.ruled && crosses(&area.lines.down, strip.middle(), item.bbox.center().1);
                drawn || wide || figures && !strip.ruled
            })
        });
        match pieces.last_mut() {
            Some(piece) if !cut => {
                piece.bbox = piece.bbox.union(&item.bbox);
                piece.items.push(index);
            }
            _ => pieces.push(Chunk { items: vec![index], bbox: item.bbox }),
        }
    }
    pieces
}

/// Whether a line down at `x` passes the height `y`.
pub(super) fn crosses(down: &[Line], x: f32, y: f32) -> bool {
    down.iter().any(|line| (line.at - x).abs() <= 2.0 * SNAP && line.from <= y && line.to >= y)
}

/// Whether what is between two lines across is one row of the table.
fn rows_are_closed(area: &Area<'_>, rows: &[TextRow], columns: &Columns) -> bool {
    let bands = Bands::loose(&area.lines.across, &area.bbox);
    let mut counts: Vec<(usize, usize)> = Vec::new();
    let mut current = usize::MAX;
    for row in rows {
        let band = bands.band(row.middle());
        if band != current {
            counts.push((0, 0));
            current = band;
        }
        let figures = row
            .chunks
            .iter()
            .filter(|chunk| columns.spanned_by(&chunk.bbox).0 > 0 && chunk.is_numeric(area.items))
            .count();
        if let Some((all, with_figures)) = counts.last_mut() {
            *all += 1;
            *with_figures += usize::from(figures > 0);
        }
    }
    let several = counts.iter().skip(1).filter(|(_, with_figures)| *with_figures >= 2).count();
    let most_in_one = counts.iter().skip(1).map(|(all, _)| *all).max().unwrap_or(0);
    let ruled = columns.separators.iter().any(|separator| separator.ruled);
    match counts.len() {
        0 | 1 => false,
        2 => ruled && several == 0,
        // Lines that only set off groups of rows leave most of the text between two of them.
        bands => several * 3 < bands && (ruled || most_in_one * 2 < rows.len()),
    }
}

impl Grid {
    /// No two cells cover the same place: what would is joined to the cell that is there.
    fn separate(&mut self) {
        self.cells.sort_by_key(|cell| (cell.is_empty(), cell.row, cell.column));
        let mut owner: Vec<Option<usize>> = vec![None; self.rows * self.columns];
        let mut kept: Vec<GridCell> = Vec::with_capacity(self.cells.len());
        for cell in self.cells.drain(..) {
            let places: Vec<usize> = (cell.row..cell.row + cell.row_span)
                .flat_map(|row| (cell.column..cell.column + cell.column_span).map(move |column| (row, column)))
                .map(|(row, column)| row * self.columns + column)
                .collect();
            let there = places.iter().find_map(|place| owner.get(*place).copied().flatten());
            if let Some(other) = there.and_then(|at| kept.get_mut(at)) {
                other.chunks.extend(cell.chunks);
                continue;
            }
            for place in places {
                if let Some(owner) = owner.get_mut(place) {
                    *owner = Some(kept.len());
                }
            }
            kept.push(cell);
        }
        self.cells = kept;
    }

    /// Rows and columns without a cell of their own are gone: double lines, gaps between lines.
    fn drop_empty(&mut self) {
        let rows = keep(self.rows, self.cells.iter().filter(|cell| !cell.is_empty()).map(|c| (c.row, c.row_span)));
        let columns =
            keep(self.columns, self.cells.iter().filter(|cell| !cell.is_empty()).map(|c| (c.column, c.column_span)));
        let before = |kept: &[bool], at: usize| kept.iter().take(at).filter(|keep| **keep).count();
        self.cells.retain_mut(|cell| {
            let (row, row_end) = (before(&rows, cell.row), before(&rows, cell.row + cell.row_span));
            let (column, column_end) =
                (before(&columns, cell.column), before(&columns, cell.column + cell.column_span));
            (cell.row, cell.column) = (row, column);
            (cell.row_span, cell.column_span) = (row_end - row, column_end - column);
            cell.row_span > 0 && cell.column_span > 0
        });
        self.header_rows = before(&rows, self.header_rows);
        self.rows = before(&rows, self.rows);
        self.columns = before(&columns, self.columns);
    }

    /// Every place that no cell covers gets an empty cell.
    fn fill_holes(&mut self) {
        let mut covered = vec![false; self.rows * self.columns];
        for cell in &self.cells {
            for row in cell.row..cell.row + cell.row_span {
                for column in cell.column..cell.column + cell.column_span {
                    covered[row * self.columns + column] = true;
                }
            }
        }
        for (at, _) in covered.iter().enumerate().filter(|(_, covered)| !**covered) {
            let (row, column) = (at / self.columns, at % self.columns);
            // As high as the row and as wide as the column, as far as other cells tell.
            let mut bbox = Rect::default();
            for cell in &self.cells {
                if cell.row == row && cell.row_span == 1 {
                    (bbox.y0, bbox.y1) = (cell.bbox.y0, cell.bbox.y1);
                }
                if cell.column == column && cell.column_span == 1 {
                    (bbox.x0, bbox.x1) = (cell.bbox.x0, cell.bbox.x1);
                }
            }
            self.cells.push(GridCell { row, column, row_span: 1, column_span: 1, chunks: Vec::new(), bbox });
        }
        self.cells.sort_by_key(|cell| (cell.row, cell.column));
    }
}

/// Which of `count` rows are needed so that each span keeps at least one, and spans of one keep theirs.
fn keep(count: usize, spans: impl Iterator<Item = (usize, usize)>) -> Vec<bool> {
    let mut spans: Vec<(usize, usize)> = spans.collect();
    spans.sort_by_key(|(start, length)| (start + length, *length));
    let mut kept = vec![false; count];
    for (start, length) in spans.iter().filter(|(_, length)| *length == 1) {
        if let Some(place) = kept.get_mut(start + length - 1) {
            *place = true;
        }
    }
    for (start, length) in spans {
        let end = (start + length).min(count);
        if !kept.get(start..end).is_some_and(|places| places.contains(&true))
            && let Some(place) = end.checked_sub(1).and_then(|last| kept.get_mut(last))
        {
            *place = true;
        }
    }
    kept
}
