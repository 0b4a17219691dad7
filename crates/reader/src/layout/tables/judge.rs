//! Whether what was found is a table at all. Better no table than the wreck of a page of text.

use super::{
    build::{Grid, GridCell},
    text::{Chunk, Item},
};
use crate::model::Rect;

/// How the place was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Evidence {
    /// Lines that enclose almost every cell on all of its sides.
    Closed,
    /// Lines across and down that meet.
    Grid,
    /// Lines across.
    Across,
    /// Only how the text is placed.
    Text,
}

pub(super) fn is_table(grid: &Grid, items: &[Item<'_>], evidence: Evidence, leaders: usize) -> bool {
    let filled: Vec<&GridCell> = grid.cells.iter().filter(|cell| !cell.is_empty()).collect();
    if grid.rows < 2 || grid.columns < 2 || filled.len() < 4 {
        return false;
    }
    let full = share(filled.len(), grid.cells.len());
    let body: Vec<&&GridCell> = filled.iter().filter(|cell| cell.row >= grid.header_rows).collect();
    let figures = body.iter().filter(|cell| cell.column > 0 && is_figure(cell, items)).count();
    let others = body.iter().filter(|cell| cell.column > 0).count();
    let figure_share = share(figures, others);
    // Rows in which text stands in several columns, and rows that have a label.
    let cells_in = |row: usize| filled.iter().filter(move |cell| cell.row <= row && row < cell.row + cell.row_span);
    let several = (0..grid.rows).filter(|row| cells_in(*row).count() >= 2).count();
    let labelled = (0..grid.rows).filter(|row| cells_in(*row).any(|cell| cell.column == 0)).count();
    // Drawings have lines and words, too, but seldom two words in one row, or something in most places, or a name for
    // each row; and the numbers along their axes stand under each other without a line between them.
    let named = share(labelled, grid.rows) >= if evidence == Evidence::Across { 0.2 } else { 0.5 };
    let sparse = full < 0.75 && (full < 0.25 || !named);
    let stacked = filled.iter().filter(|cell| cell.chunks.len() >= 3 && is_figure(cell, items)).count();
    let axes = grid.closed && share(stacked, filled.len()) > 0.1;
    // What is enclosed by lines is a table, however little of it is filled in.
    if evidence == Evidence::Closed && !axes && several >= 2 {
        return true;
    }
    if share(several, grid.rows) < 0.4 || sparse || axes {
        return false;
    }
    let reading = is_running_text(grid, &filled);
    match evidence {
        Evidence::Closed | Evidence::Grid if grid.closed || grid.ruled_columns > 0 => {
            several >= 2 && !reading && (grid.closed || filled.len() >= 8 || full > 0.9)
        }
        Evidence::Closed | Evidence::Grid | Evidence::Across => {
            full >= 0.3 && several >= 2 && !reading && (share(several, grid.rows) > 0.55 || figure_share > 0.5)
        }
        Evidence::Text => {
            let contents = leaders * 2 >= grid.rows && grid.columns == 2;
            let enough = if grid.columns == 2 {
                several >= 4 && figure_share > 0.8
            } else {
                several >= 3 && figure_share > 0.5 || several >= 4 && figure_share > 0.3
            };
            enough && !contents && full >= 0.55 && share(several, grid.rows) >= 0.6 && !reading
        }
    }
}

/// Whether curved or slanted shapes run across the rows: arrows, curves, boxes with round corners. Signs in cells do not,
/// and frames go around the whole table or all of a row.
pub(super) fn is_drawing(grid: &Grid, drawings: &[Rect]) -> bool {
    let Some(table) = grid.cells.iter().map(|cell| cell.bbox).reduce(|a, b| a.union(&b)) else { return false };
    let mut rows: Vec<Option<(f32, f32)>> = vec![None; grid.rows];
    for cell in grid.cells.iter().filter(|cell| cell.row_span == 1 && !cell.is_empty()) {
        if let Some(row) = rows.get_mut(cell.row) {
            let (top, bottom) = row.unwrap_or((cell.bbox.y0, cell.bbox.y1));
            *row = Some((top.min(cell.bbox.y0), bottom.max(cell.bbox.y1)));
        }
    }
    let across = |shape: &&Rect| {
        let frame = shape.width() > 0.8 * table.width() || shape.height() > 0.8 * table.height();
        let in_one = rows.iter().flatten().any(|(top, bottom)| shape.y0 >= top - SLACK && shape.y1 <= bottom + SLACK);
        table.contains(shape.center()) && !frame && !in_one
    };
    let mut found = 0;
    let mut covered: Option<Rect> = None;
    for shape in drawings.iter().filter(across) {
        found += 1;
        covered = Some(covered.map_or(*shape, |covered| covered.union(shape)));
    }
    // A chart beside the table is not in it.
    let covered = covered.and_then(|covered| covered.intersection(&table)).map_or(0.0, |both| both.area());
    found >= FEWEST_SHAPES && covered >= 0.5 * table.area()
}

/// How far a sign may reach beyond its row.
const SLACK: f32 = 4.0;
/// So many shapes across rows make a drawing.
const FEWEST_SHAPES: usize = 3;

/// Columns of a page's text are not columns of a table: most cells are lines of many words, in rows without lines.
fn is_running_text(grid: &Grid, filled: &[&GridCell]) -> bool {
    if grid.closed && grid.ruled_columns > 0 {
        return false;
    }
    let words: usize = filled.iter().flat_map(|cell| &cell.chunks).map(|chunk: &Chunk| chunk.items.len()).sum();
    let lines: usize = filled.iter().map(|cell| cell.chunks.len()).sum();
    let long =
        filled.iter().filter(|cell| cell.chunks.iter().map(|chunk| chunk.items.len()).sum::<usize>() >= 6).count();
    !grid.closed && share(words, lines) > 4.0 && share(long, filled.len()) > 0.5
}

fn is_figure(cell: &GridCell, items: &[Item<'_>]) -> bool {
    cell.chunks.iter().all(|chunk| chunk.is_numeric(items))
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn share(part: usize, whole: usize) -> f32 {
    part as f32 / whole.max(1) as f32
}
