//! A sheet of cells as blocks, whatever file it comes from.
//!
//! Rows and columns in which nothing stands are left out. A lone cell between blank rows or above a table is a line of
//! text, as titles are; what stands between blank rows otherwise is a table, and goes on behind them as long as it begins
//! and ends in the same columns.

use crate::model::{Block, BlockKind, Cell, Inlines, Table};
use std::collections::{BTreeSet, HashMap};

/// A sheet with more cells than this is read up to there, with a warning.
pub(super) const MOST_CELLS: usize = 1_000_000;

#[derive(Debug, Clone)]
pub(super) struct SheetCell {
    pub(super) row: u32,
    pub(super) column: u32,
    pub(super) text: Inlines,
}

/// Cells that are shown as one, corners included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Merge {
    pub(super) first_row: u32,
    pub(super) first_column: u32,
    pub(super) last_row: u32,
    pub(super) last_column: u32,
}

/// The blocks of a sheet. Cells may come in any order.
pub(super) fn sheet_blocks(mut cells: Vec<SheetCell>, merges: &[Merge]) -> Vec<Block> {
    cells.retain(|cell| !cell.text.is_blank());
    cells.sort_by_key(|cell| (cell.row, cell.column));
    cells.dedup_by_key(|cell| (cell.row, cell.column));
    let merges: HashMap<(u32, u32), Merge> =
        merges.iter().map(|merge| ((merge.first_row, merge.first_column), *merge)).collect();
    let mut blocks = Vec::new();
    for mut piece in pieces(cells, &merges) {
        while is_titled(&piece, &merges) {
            let title = piece.remove(0);
            blocks.push(Block::body(BlockKind::Paragraph { text: title.text }));
        }
        blocks.push(block_of(piece, &merges));
    }
    blocks
}

/// The name of a sheet above what is on it; a sheet on which nothing is has only its label.
pub(super) fn under_name(name: &str, blocks: Vec<Block>) -> Vec<Block> {
    if blocks.is_empty() || name.trim().is_empty() {
        return blocks;
    }
    let heading = Block::body(BlockKind::Heading { level: 1, text: Inlines::plain(name.trim()) });
    std::iter::once(heading).chain(blocks).collect()
}

/// The last row that a cell covers.
fn last_row(cell: &SheetCell, merges: &HashMap<(u32, u32), Merge>) -> u32 {
    merges.get(&(cell.row, cell.column)).map_or(cell.row, |merge| merge.last_row.max(cell.row))
}

/// Cuts at blank rows; a piece that begins and ends in the columns of the one before goes on with it.
fn pieces(cells: Vec<SheetCell>, merges: &HashMap<(u32, u32), Merge>) -> Vec<Vec<SheetCell>> {
    let mut pieces: Vec<Vec<SheetCell>> = Vec::new();
    let mut end: u32 = 0;
    for cell in cells {
        let covered_to = last_row(&cell, merges);
        match pieces.last_mut() {
            Some(piece) if cell.row <= end.saturating_add(1) => piece.push(cell),
            _ => pieces.push(vec![cell]),
        }
        end = end.max(covered_to);
    }
    let extent = |piece: &[SheetCell]| {
        let columns = piece.iter().map(|cell| cell.column);
        (columns.clone().min(), columns.max())
    };
    let mut joined: Vec<Vec<SheetCell>> = Vec::new();
    for piece in pieces {
        match joined.last_mut() {
            Some(before) if before.len() > 1 && piece.len() > 1 && extent(before) == extent(&piece) => {
                before.extend(piece);
            }
            _ => joined.push(piece),
        }
    }
    joined
}

/// A first row of one cell above rows of several is a title and not the heading of a column.
fn is_titled(piece: &[SheetCell], merges: &HashMap<(u32, u32), Merge>) -> bool {
    let [first, second, third, ..] = piece else { return false };
    let in_table = piece.iter().skip(1).any(|cell| cell.column != first.column);
    first.row < second.row && second.row == third.row && last_row(first, merges) == first.row && in_table
}

fn block_of(piece: Vec<SheetCell>, merges: &HashMap<(u32, u32), Merge>) -> Block {
    if piece.len() == 1 {
        let text = piece.into_iter().next().map(|cell| cell.text).unwrap_or_default();
        return Block::body(BlockKind::Paragraph { text });
    }
    let rows: Vec<u32> = piece.iter().map(|cell| cell.row).collect::<BTreeSet<_>>().into_iter().collect();
    let columns: Vec<u32> = piece.iter().map(|cell| cell.column).collect::<BTreeSet<_>>().into_iter().collect();
    // How many of the used rows or columns lie from one to another, ends included.
    let count = |used: &[u32], from: u32, to: u32| {
        let begin = used.partition_point(|at| *at < from);
        used.partition_point(|at| *at <= to).saturating_sub(begin).max(1)
    };
    let cells = piece
        .into_iter()
        .map(|cell| {
            let row = rows.partition_point(|at| *at < cell.row);
            let column = columns.partition_point(|at| *at < cell.column);
            let merge = merges.get(&(cell.row, cell.column));
            let row_span = merge.map_or(1, |merge| count(&rows, merge.first_row, merge.last_row));
            let column_span = merge.map_or(1, |merge| count(&columns, merge.first_column, merge.last_column));
            Cell { row_span, column_span, ..Cell::at(row, column, cell.text) }
        })
        .collect();
    let header_rows = usize::from(rows.len() > 1);
    Block::body(BlockKind::Table { table: Table { rows: rows.len(), columns: columns.len(), cells, header_rows } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::Page, render};

    fn cell(row: u32, column: u32, text: &str) -> SheetCell {
        SheetCell { row, column, text: Inlines::plain(text) }
    }

    fn markdown(cells: Vec<SheetCell>, merges: &[Merge]) -> String {
        render::markdown(&Page { blocks: sheet_blocks(cells, merges), ..Page::converted(1) })
    }

    #[test]
    fn a_title_is_a_line_and_blank_rows_and_columns_are_left_out() {
        let cells = vec![
            cell(2, 1, "Report"),
            cell(4, 1, "a"),
            cell(4, 5, "b"),
            cell(5, 1, "1"),
            cell(5, 5, "2"),
            cell(1_048_575, 1, "3"),
            cell(1_048_575, 5, "4"),
        ];
        assert_eq!(markdown(cells, &[]), "Report\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n");
    }

    #[test]
    fn merged_cells_span_what_is_used() {
        let merge = Merge { first_row: 0, first_column: 0, last_row: 0, last_column: 16_383 };
        let cells = vec![cell(0, 0, "all"), cell(0, 20_000, "x"), cell(1, 0, "a"), cell(1, 1, "b")];
        let blocks = sheet_blocks(cells, &[merge]);
        let BlockKind::Table { table } = &blocks[0].kind else { panic!("a table is expected") };
        assert_eq!((table.columns, table.cells[0].column_span), (3, 2));
    }
}
