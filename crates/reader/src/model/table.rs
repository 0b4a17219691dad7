//! A table as cells; cells may span rows and columns.

use super::{Inlines, Rect};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Table {
    pub rows: usize,
    pub columns: usize,
    /// By row, then column. A place covered by a spanning cell has no cell of its own.
    pub cells: Vec<Cell>,
    /// How many rows, from the top, are headings.
    pub header_rows: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    pub row: usize,
    pub column: usize,
    /// At least 1.
    pub row_span: usize,
    /// At least 1.
    pub column_span: usize,
    pub text: Inlines,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bbox: Option<Rect>,
}

impl Cell {
    pub fn at(row: usize, column: usize, text: Inlines) -> Self {
        Self { row, column, row_span: 1, column_span: 1, text, bbox: None }
    }
}

impl Table {
    /// A table in which nothing spans.
    pub fn from_rows(rows: Vec<Vec<Inlines>>, header_rows: usize) -> Self {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let count = rows.len();
        let cells = rows.into_iter().enumerate().flat_map(|(row, cells)| {
            cells.into_iter().enumerate().map(move |(column, text)| Cell::at(row, column, text))
        });
        Self { rows: count, columns, cells: cells.collect(), header_rows }
    }
}
