//! Signs in a column of their own: a currency in front of its amounts, a per cent sign or a bracket behind its figures.
//! They belong to the column of what they stand beside.

use super::{
    build::{Grid, GridCell},
    text::{Item, is_currency},
};

/// Joins columns of nothing but signs to those of their figures.
pub(super) fn join(grid: &mut Grid, items: &[Item<'_>]) {
    let mut column = 0;
    while column < grid.columns && grid.columns > 2 {
        let ahead = column + 1 < grid.columns && are_signs(grid, items, column, column + 1, is_currency);
        let behind = column > 0 && are_signs(grid, items, column, column - 1, is_tail);
        if ahead || behind {
            merge(grid, column, ahead);
        } else {
            column += 1;
        }
    }
}

fn is_tail(text: &str) -> bool {
    matches!(text, "%" | ")" | ")%" | "‰")
}

/// Whether a column has nothing but signs, each beside a figure.
fn are_signs(grid: &Grid, items: &[Item<'_>], column: usize, beside: usize, is_sign: fn(&str) -> bool) -> bool {
    let own = |cell: &&GridCell| cell.column == column && cell.column_span == 1 && !cell.is_empty();
    let sign = |cell: &GridCell| {
        let mut texts = cell.chunks.iter().flat_map(|chunk| &chunk.items).map(|&at| items[at].text);
        texts.next().is_some_and(is_sign) && texts.next().is_none()
    };
    let has_figure = |row: usize| {
        covering(grid, row, beside)
            .and_then(|at| grid.cells.get(at))
            .is_some_and(|cell| cell.column_span == 1 && cell.chunks.iter().any(|chunk| chunk.is_numeric(items)))
    };
    let mut any = false;
    grid.cells.iter().filter(own).all(|cell| {
        any = true;
        cell.row_span == 1 && sign(cell) && has_figure(cell.row)
    }) && any
}

fn covering(grid: &Grid, row: usize, column: usize) -> Option<usize> {
    let covers = |cell: &GridCell| {
        (cell.row..cell.row + cell.row_span).contains(&row)
            && (cell.column..cell.column + cell.column_span).contains(&column)
    };
    grid.cells.iter().position(covers)
}

/// Moves what a column says into the next one, or into the one before it, and takes the column away.
fn merge(grid: &mut Grid, column: usize, ahead: bool) {
    let beside = if ahead { column + 1 } else { column - 1 };
    let (signs, kept) = grid.cells.drain(..).partition(|cell| cell.column == column && cell.column_span == 1);
    grid.cells = kept;
    let signs: Vec<GridCell> = signs;
    for sign in signs {
        let Some(cell) = covering(grid, sign.row, beside).and_then(|at| grid.cells.get_mut(at)) else { continue };
        if cell.column_span == 1 {
            cell.bbox = cell.bbox.union(&sign.bbox);
        }
        let at = if ahead { 0 } else { cell.chunks.len() };
        cell.chunks.splice(at..at, sign.chunks);
    }
    for cell in &mut grid.cells {
        if cell.column > column {
            cell.column -= 1;
        } else if cell.column + cell.column_span > column {
            cell.column_span -= 1;
        }
    }
    grid.columns -= 1;
}
