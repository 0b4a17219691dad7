//! Tables that come row by row, each cell with the rows and columns it spans, as HTML, RTF and Word write them.

use crate::model::{Cell, Inlines, Table};

/// Beyond it spans are not followed; cells are.
const MOST_SPANNED_COLUMNS: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct Grid {
    cells: Vec<Cell>,
    rows: usize,
    columns: usize,
    column: usize,
    in_row: bool,
    /// For each column, the first row that no cell from above reaches into.
    free_from: Vec<usize>,
    header_rows: usize,
    row_is_header: bool,
}

impl Grid {
    pub(crate) fn start_row(&mut self) {
        self.end_row();
        self.in_row = true;
        self.column = 0;
        self.row_is_header = true;
    }

    pub(crate) fn end_row(&mut self) {
        if !self.in_row {
            return;
        }
        if self.row_is_header && self.header_rows == self.rows && self.column > 0 {
            self.header_rows += 1;
        }
        self.in_row = false;
        self.rows += 1;
    }

    pub(crate) fn cell(&mut self, text: Inlines, row_span: usize, column_span: usize, header: bool) {
        if !self.in_row {
            self.start_row();
        }
        while self.free_from.get(self.column).is_some_and(|free| *free > self.rows) {
            self.column += 1;
        }
        let room = MOST_SPANNED_COLUMNS.saturating_sub(self.column).max(1);
        let column_span = column_span.clamp(1, room);
        let row_span = if self.column < MOST_SPANNED_COLUMNS { row_span.clamp(1, 65_536) } else { 1 };
        if row_span > 1 {
            let end = self.column + column_span;
            if self.free_from.len() < end {
                self.free_from.resize(end, 0);
            }
            for free in self.free_from.iter_mut().take(end).skip(self.column) {
                *free = (*free).max(self.rows + row_span);
            }
        }
        self.row_is_header &= header;
        self.cells.push(Cell { row: self.rows, column: self.column, row_span, column_span, text, bbox: None });
        self.column += column_span;
        self.columns = self.columns.max(self.column);
    }

    /// The whole; spans end with the table, and rows and columns that nothing stands in are left out.
    pub(crate) fn finish(mut self) -> Table {
        self.end_row();
        for cell in &mut self.cells {
            cell.row_span = cell.row_span.min(self.rows - cell.row);
        }
        let mut table =
            Table { rows: self.rows, columns: self.columns, cells: self.cells, header_rows: self.header_rows };
        drop_blank_columns(&mut table);
        drop_blank_rows(&mut table);
        // Headings of nothing are no headings.
        if table.header_rows == table.rows && table.rows > 1 {
            table.header_rows = 1;
        }
        table
    }
}

/// Layout leaves columns that no cell begins in, or only blank ones.
fn drop_blank_columns(table: &mut Table) {
    let mut used = vec![false; table.columns];
    for cell in &table.cells {
        if !cell.text.is_blank()
            && let Some(column) = used.get_mut(cell.column)
        {
            *column = true;
        }
    }
    if used.iter().all(|used| *used) || !used.contains(&true) {
        return;
    }
    let before = counts_before(&used);
    let at = |column: usize| before.get(column).copied().unwrap_or_default();
    table.cells.retain_mut(|cell| {
        let begin = at(cell.column);
        let span = at(cell.column + cell.column_span) - begin;
        (cell.column, cell.column_span) = (begin, span.max(1));
        span > 0
    });
    table.columns = at(table.columns);
}

fn drop_blank_rows(table: &mut Table) {
    let mut used = vec![false; table.rows];
    for cell in &table.cells {
        if !cell.text.is_blank()
            && let Some(row) = used.get_mut(cell.row)
        {
            *row = true;
        }
    }
    if used.iter().all(|used| *used) || !used.contains(&true) {
        return;
    }
    let before = counts_before(&used);
    let at = |row: usize| before.get(row).copied().unwrap_or_default();
    table.cells.retain_mut(|cell| {
        let begin = at(cell.row);
        let span = at(cell.row + cell.row_span) - begin;
        (cell.row, cell.row_span) = (begin, span.max(1));
        span > 0
    });
    table.header_rows = at(table.header_rows);
    table.rows = at(table.rows);
}

/// How many are used before each place, and in all.
fn counts_before(used: &[bool]) -> Vec<usize> {
    let mut count = 0;
    let mut before = Vec::with_capacity(used.len() + 1);
    before.push(0);
    for used in used {
        count += usize::from(*used);
        before.push(count);
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(table: &Table) -> Vec<(usize, usize, usize, usize, String)> {
        table.cells.iter().map(|c| (c.row, c.column, c.row_span, c.column_span, c.text.text())).collect()
    }

    #[test]
    fn cells_make_room_for_those_that_span() {
        let mut grid = Grid::default();
        grid.start_row();
        grid.cell(Inlines::plain("a"), 2, 1, true);
        grid.cell(Inlines::plain("b"), 1, 2, true);
        grid.start_row();
        grid.cell(Inlines::plain("c"), 1, 1, false);
        grid.cell(Inlines::plain("d"), 9, 1, false);
        let table = grid.finish();
        assert_eq!((table.rows, table.columns, table.header_rows), (2, 3, 1));
        let wanted = [(0, 0, 2, 1, "a"), (0, 1, 1, 2, "b"), (1, 1, 1, 1, "c"), (1, 2, 1, 1, "d")];
        assert_eq!(places(&table), wanted.map(|(r, c, rs, cs, t)| (r, c, rs, cs, t.to_owned())));
    }

    #[test]
    fn columns_and_rows_of_nothing_are_left_out() {
        let mut grid = Grid::default();
        for row in [["a", "", "b"], ["", "", ""], ["c", "", "d"]] {
            grid.start_row();
            for text in row {
                grid.cell(Inlines::plain(text), 1, 1, false);
            }
        }
        let table = grid.finish();
        assert_eq!((table.rows, table.columns), (2, 2));
        assert_eq!(places(&table)[3], (1, 1, 1, 1, "d".to_owned()));
    }

    #[test]
    fn boundless_spans_cost_nothing() {
        let mut grid = Grid::default();
        for _ in 0..1000 {
            grid.start_row();
            grid.cell(Inlines::plain("x"), usize::MAX, usize::MAX, false);
        }
        let table = grid.finish();
        assert_eq!(table.rows, 1000);
        assert!(table.columns <= 2048);
    }
}
