//! Tables in OpenDocument texts and slides, and sheets, which are tables as well.

use super::text::Converter;
use crate::{
    model::{Block, BlockKind, Cell, Inlines, Table},
    office::{
        collect::Collect as _,
        flatten::flattened,
        sheet::{MOST_CELLS, Merge, SheetCell},
        sheet_extras::reference,
    },
    package::Element,
};

/// How wide and long a table of a text may be; sheets have bounds of their own.
const MOST_COLUMNS: usize = 1000;
const MOST_ROWS: usize = 100_000;
/// The sheets of the programs end here.
const LAST_COLUMN: u32 = 16_383;
const LAST_ROW: u32 = 1_048_575;

impl Converter<'_, '_> {
    /// A table; one that is only a box around a single cell is what is in the box.
    pub(super) fn table(&mut self, element: Element<'_>) {
        let mut rows = Vec::new();
        collect_rows(element, false, &mut rows);
        let mut table = Table::default();
        let mut boxed: Option<Vec<Block>> = None;
        for (row, is_header) in rows {
            let repeated = number(row, "number-rows-repeated").clamp(1, MOST_ROWS);
            let mut cells = Vec::new();
            let mut column = 0;
            for cell in row.elements().filter(|cell| cell.is("table-cell") || cell.is("covered-table-cell")) {
                let times = number(cell, "number-columns-repeated").clamp(1, MOST_COLUMNS);
                if cell.is("table-cell") {
                    let blocks = self.captured(|converter| converter.blocks(cell));
                    let text = flattened(&blocks);
                    boxed = Some(blocks);
                    for _ in 0..times.min(MOST_COLUMNS.saturating_sub(column)) {
                        let row_span = number(cell, "number-rows-spanned").clamp(1, MOST_ROWS);
                        let column_span = number(cell, "number-columns-spanned").clamp(1, MOST_COLUMNS);
                        cells.push(Cell { row_span, column_span, ..Cell::at(0, column, text.clone()) });
                        column += 1;
                    }
                } else {
                    column = (column + times).min(MOST_COLUMNS);
                }
            }
            // Blank rows are repeated by the thousand to fill a page.
            let blank = cells.iter().all(|cell| cell.text.is_blank());
            for _ in 0..if blank { 1 } else { repeated.min(100) } {
                if table.rows >= MOST_ROWS {
                    break;
                }
                let index = table.rows;
                table.rows += 1;
                if is_header && table.header_rows == index {
                    table.header_rows += 1;
                }
                table.cells.extend(cells.iter().map(|cell| Cell { row: index, ..cell.clone() }));
            }
            table.columns = table.columns.max(column);
        }
        match boxed {
            Some(blocks) if table.cells.len() == 1 => self.out.extend(blocks),
            _ if table.cells.iter().any(|cell| !cell.text.is_blank()) => {
                self.out.push(Block::body(BlockKind::Table { table }));
            }
            _ => {}
        }
    }

    /// The cells of a sheet, each with what it shows.
    pub(super) fn sheet(&mut self, element: Element<'_>) -> (Vec<SheetCell>, Vec<Merge>) {
        let mut rows = Vec::new();
        collect_rows(element, false, &mut rows);
        let mut cells: Vec<SheetCell> = Vec::new();
        let mut merges = Vec::new();
        let mut row_at: u32 = 0;
        for (row, _) in rows {
            let repeated = u32::try_from(number(row, "number-rows-repeated").max(1)).unwrap_or(u32::MAX);
            let mut column: u32 = 0;
            let from = cells.len();
            for cell in row.elements().filter(|cell| cell.is("table-cell") || cell.is("covered-table-cell")) {
                let times = u32::try_from(number(cell, "number-columns-repeated").max(1)).unwrap_or(u32::MAX);
                if column > LAST_COLUMN {
                    break;
                }
                let text = self.cell_text(cell, row_at, column);
                if !text.is_blank() {
                    let span = |name: &str| u32::try_from(number(cell, name).clamp(1, 100_000)).unwrap_or(1);
                    let (rows, columns) = (span("number-rows-spanned"), span("number-columns-spanned"));
                    if rows > 1 || columns > 1 {
                        merges.push(Merge {
                            first_row: row_at,
                            first_column: column,
                            last_row: row_at.saturating_add(rows - 1),
                            last_column: column.saturating_add(columns - 1),
                        });
                    }
                    for at in column..=column.saturating_add(times - 1).min(LAST_COLUMN) {
                        cells.push(SheetCell { row: row_at, column: at, text: text.clone() });
                    }
                }
                column = column.saturating_add(times);
            }
            let line: Vec<SheetCell> = cells.get(from..).unwrap_or_default().to_vec();
            let copies = if line.is_empty() { 0 } else { repeated - 1 };
            for copy in 1..=copies.min(LAST_ROW) {
                if cells.len() + line.len() > MOST_CELLS {
                    break;
                }
                cells.extend(line.iter().map(|cell| SheetCell { row: row_at.saturating_add(copy), ..cell.clone() }));
            }
            if cells.len() > MOST_CELLS {
                cells.truncate(MOST_CELLS);
                self.warnings.push(format!("only the first {MOST_CELLS} cells of the sheet were read"));
                break;
            }
            row_at = row_at.saturating_add(repeated);
        }
        (cells, merges)
    }

    /// What a cell shows; where a program stored only the value, that.
    fn cell_text(&mut self, cell: Element<'_>, row: u32, column: u32) -> Inlines {
        let mut place = None;
        let blocks = self.captured(|converter| {
            for part in cell.elements() {
                if part.is("annotation") {
                    let place = place.get_or_insert_with(|| reference(row, column));
                    converter.annotation(part, Some(place));
                } else {
                    converter.block(part);
                }
            }
        });
        let text = flattened(&blocks);
        if !text.is_blank() {
            return text;
        }
        let value = ["string-value", "date-value", "time-value", "boolean-value", "value"]
            .into_iter()
            .find_map(|name| cell.attribute(name));
        value.map(Inlines::plain).unwrap_or_default()
    }
}

fn number(element: Element<'_>, name: &str) -> usize {
    element.attribute(name).and_then(|value| value.parse().ok()).unwrap_or(1)
}

/// Rows, each with whether it is among the headings, also those within groups.
fn collect_rows<'t>(element: Element<'t>, is_header: bool, rows: &mut Vec<(Element<'t>, bool)>) {
    for child in element.elements() {
        match child.name() {
            "table-row" => rows.push((child, is_header)),
            "table-header-rows" => collect_rows(child, true, rows),
            "table-rows" | "table-row-group" => collect_rows(child, is_header, rows),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_named_as_sheets_name_them() {
        assert_eq!([reference(6, 2), reference(0, 26), reference(9, 701)], ["C7", "AA1", "ZZ10"]);
    }
}
