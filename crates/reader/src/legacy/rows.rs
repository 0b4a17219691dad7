//! Tables of word processors: each row has edges of its own, and cells say that they are merged with the one before or
//! above. From these come columns and spans.

use crate::model::{Cell, Inlines, Table};

/// Edges that are nearer than this, in twentieths of a point, are meant to be one.
const NEAR: i32 = 40;

/// Rows with more cells are read without their edges.
const MOST_COLUMNS: usize = 512;

#[derive(Debug, Clone, Default)]
pub(crate) struct RowCell {
    pub(crate) text: Inlines,
    /// Where the cell ends, from the left, in twentieths of a point.
    pub(crate) right: Option<i32>,
    pub(crate) merged_left: bool,
    pub(crate) merged_up: bool,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    pub(crate) left: i32,
    pub(crate) header: bool,
    pub(crate) cells: Vec<RowCell>,
}

pub(crate) fn into_table(rows: Vec<Row>) -> Table {
    let edges = common_edges(&rows);
    let count = rows.len();
    let header_rows = rows.iter().take_while(|row| row.header).count();
    let header_rows = if header_rows == count { usize::from(count > 1) } else { header_rows };
    let mut table = Table { rows: count, columns: 0, cells: Vec::new(), header_rows };
    // For each column, which cell of the table it was last part of.
    let mut above: Vec<Option<usize>> = Vec::new();
    for (index, row) in rows.into_iter().enumerate() {
        let mut column = 0;
        let mut last_in_row: Option<usize> = None;
        let mut left = row.left;
        for cell in row.cells {
            let span = match (&edges, cell.right) {
                (Some(edges), Some(right)) => {
                    // A row may begin to the right of others.
                    if last_in_row.is_none() {
                        column = place(edges, left);
                    }
                    place(edges, right).saturating_sub(column).max(1)
                }
                _ => 1,
            };
            left = cell.right.unwrap_or(left);
            let covered = column..column + span;
            column += span;
            table.columns = table.columns.max(column);
            if cell.merged_left
                && let Some(last) = last_in_row
            {
                if let Some(before) = table.cells.get_mut(last) {
                    before.column_span = covered.end - before.column;
                    append(&mut before.text, cell.text);
                }
                remember(&mut above, covered, last);
                continue;
            }
            if cell.merged_up
                && let Some(Some(upper)) = above.get(covered.start).copied()
                && let Some(before) = table.cells.get_mut(upper)
                && before.row + before.row_span == index
                && before.column == covered.start
            {
                before.row_span += 1;
                append(&mut before.text, cell.text);
                last_in_row = Some(upper);
                continue;
            }
            let place = table.cells.len();
            let mut new = Cell::at(index, covered.start, cell.text);
            new.column_span = span;
            table.cells.push(new);
            remember(&mut above, covered, place);
            last_in_row = Some(place);
        }
    }
    table
}

fn remember(above: &mut Vec<Option<usize>>, columns: std::ops::Range<usize>, cell: usize) {
    if above.len() < columns.end {
        above.resize(columns.end, None);
    }
    for slot in above.iter_mut().take(columns.end).skip(columns.start) {
        *slot = Some(cell);
    }
}

/// Cells that are merged are empty but for the first; what stands in them anyway is not lost.
fn append(text: &mut Inlines, more: Inlines) {
    if more.is_blank() {
        return;
    }
    if !text.is_blank() {
        text.push(crate::model::Span { text: "\n".to_owned(), ..Default::default() });
    }
    more.0.into_iter().for_each(|span| text.push(span));
}

/// How many edges lie left of, or at, this place; the first edge is the table's own left side.
fn place(edges: &[i32], at: i32) -> usize {
    edges.partition_point(|edge| *edge <= at.saturating_add(NEAR)).saturating_sub(1)
}

/// All edges of the table; None if they cannot be trusted, and cells are counted instead.
fn common_edges(rows: &[Row]) -> Option<Vec<i32>> {
    let mut edges = Vec::new();
    for row in rows {
        let mut last = row.left;
        edges.push(row.left);
        for cell in &row.cells {
            let right = cell.right?;
            if right.saturating_sub(last) < 2 * NEAR {
                return None;
            }
            edges.push(right);
            last = right;
        }
    }
    edges.sort_unstable();
    edges.dedup_by(|one, before| one.saturating_sub(*before) <= NEAR);
    (edges.len() <= MOST_COLUMNS).then_some(edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[(&str, i32)]) -> Row {
        let cells = cells.iter().map(|(text, right)| RowCell {
            text: Inlines::plain(*text),
            right: Some(*right),
            ..RowCell::default()
        });
        Row { cells: cells.collect(), ..Row::default() }
    }

    fn places(table: &Table) -> Vec<(usize, usize, usize, usize, String)> {
        table.cells.iter().map(|c| (c.row, c.column, c.row_span, c.column_span, c.text.text())).collect()
    }

    #[test]
    fn a_wide_cell_spans_the_columns_of_other_rows() {
        let table = into_table(vec![
            row(&[("a", 3000)]),
            row(&[("b", 1000), ("c", 2010), ("d", 3005)]),
            row(&[("e", 2000), ("f", 3000)]),
        ]);
        assert_eq!((table.rows, table.columns), (3, 3));
        let wanted = [
            (0, 0, 1, 3, "a"),
            (1, 0, 1, 1, "b"),
            (1, 1, 1, 1, "c"),
            (1, 2, 1, 1, "d"),
            (2, 0, 1, 2, "e"),
            (2, 2, 1, 1, "f"),
        ];
        assert_eq!(places(&table), wanted.map(|(r, c, rs, cs, t)| (r, c, rs, cs, t.to_owned())));
    }

    #[test]
    fn merged_cells_become_spans() {
        let mut first = row(&[("a", 1000), ("b", 2000), ("", 3000)]);
        first.cells[2].merged_left = true;
        let mut second = row(&[("", 1000), ("c", 2000), ("d", 3000)]);
        second.cells[0].merged_up = true;
        let table = into_table(vec![first, second]);
        let wanted = [(0, 0, 2, 1, "a"), (0, 1, 1, 2, "b"), (1, 1, 1, 1, "c"), (1, 2, 1, 1, "d")];
        assert_eq!(places(&table), wanted.map(|(r, c, rs, cs, t)| (r, c, rs, cs, t.to_owned())));
    }

    #[test]
    fn without_edges_cells_are_counted() {
        let bare = |text: &str| RowCell { text: Inlines::plain(text), ..RowCell::default() };
        let table = into_table(vec![
            Row { cells: vec![bare("a"), bare("b")], ..Row::default() },
            Row { cells: vec![bare("c")], ..Row::default() },
        ]);
        assert_eq!((table.rows, table.columns, table.cells.len()), (2, 2, 3));
    }
}
