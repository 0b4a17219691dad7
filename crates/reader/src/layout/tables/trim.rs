//! Captions and notes that stand within a table's lines are not rows of it.

use super::build::{Grid, GridCell};
use crate::model::Rect;

pub(super) fn trim(grid: &mut Grid, bbox: &Rect) {
    while grid.rows > 2 && is_aside(grid, 0, bbox) {
        remove(grid, 0);
    }
    while grid.rows > 2 && is_aside(grid, grid.rows - 1, bbox) {
        remove(grid, grid.rows - 1);
    }
}

/// A row with nothing but one text that is wider than a column.
fn is_aside(grid: &Grid, row: usize, bbox: &Rect) -> bool {
    let mut cells =
        grid.cells.iter().filter(|cell| cell.row <= row && row < cell.row + cell.row_span && !cell.is_empty());
    let (Some(cell), None) = (cells.next(), cells.next()) else {
        return false;
    };
    if cell.row_span > 1 {
        return false;
    }
    let text = cell.chunks.iter().map(|chunk| chunk.bbox).reduce(|a, b| a.union(&b)).unwrap_or_default();
    let whole = cell.column_span == grid.columns;
    whole || (cell.column == 0 && text.width() > 0.6 * bbox.width())
}

fn remove(grid: &mut Grid, row: usize) {
    grid.cells.retain_mut(|cell: &mut GridCell| {
        if cell.row > row {
            cell.row -= 1;
        } else if row < cell.row + cell.row_span {
            cell.row_span -= 1;
        }
        cell.row_span > 0
    });
    grid.rows -= 1;
    grid.header_rows = if row < grid.header_rows { grid.header_rows - 1 } else { grid.header_rows };
}
