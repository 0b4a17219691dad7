//! Tables with pipes, and tables as lines of text.

use super::{PageFacts, escape::Place, inline::inline_markdown, tidy_text};
use crate::model::{Cell, Table};

/// No sheet of any program is longer or wider.
const MOST_ROWS: usize = 1 << 24;
const MOST_COLUMNS: usize = 1 << 16;
/// A table with more places than this is not filled up with blank cells.
const MANY_PLACES: usize = 1_000_000;

/// Rows of text, one for every row of the table and each as wide as the table: cells that span are written once.
///
/// A table says itself how large it is; rows and columns in which no cell begins are not trusted to be there.
fn grid(table: &Table, show: impl Fn(&Cell) -> String) -> Vec<Vec<String>> {
    let shown = || table.cells.iter().filter(|cell| cell.row < MOST_ROWS && cell.column < MOST_COLUMNS);
    let rows = shown().map(|cell| cell.row + 1).max().unwrap_or(0);
    let columns = shown().map(|cell| cell.column + 1).max().unwrap_or(0);
    let mut lines: Vec<Vec<String>> = vec![Vec::new(); rows];
    for cell in shown() {
        let shown = show(cell);
        let Some(line) = lines.get_mut(cell.row) else { continue };
        if shown.is_empty() {
            continue;
        }
        if line.len() <= cell.column {
            line.resize(cell.column + 1, String::new());
        }
        if let Some(place) = line.get_mut(cell.column) {
            *place = shown;
        }
    }
    for line in &mut lines {
        line.truncate(columns);
    }
    lines
}

/// As GitHub reads it. A table in which nothing is written gives nothing.
pub(super) fn table_markdown(table: &Table, facts: &PageFacts) -> String {
    let lines = grid(table, |cell| inline_markdown(&cell.text, facts, Place::TableCell).replace('\n', "<br>"));
    let width = lines.iter().map(Vec::len).max().unwrap_or(0);
    if width == 0 {
        return String::new();
    }
    let mut out = String::new();
    let filled: usize = lines.iter().map(Vec::len).sum();
    let mostly_blank = lines.len().saturating_mul(width) > filled.saturating_mul(8).saturating_add(MANY_PLACES);
    for (index, line) in lines.iter().enumerate() {
        out.push('|');
        // Rows may be shorter than the table; those of a huge and nearly blank one are.
        let until = if mostly_blank && index > 0 { line.len().max(1) } else { width };
        for column in 0..until {
            out.push(' ');
            out.push_str(line.get(column).map_or("", String::as_str));
            out.push_str(" |");
        }
        out.push('\n');
        if index == 0 {
            out.push('|');
            out.push_str(&" --- |".repeat(width));
            out.push('\n');
        }
    }
    out.pop();
    out
}

/// One line for each row that says something, cells separated by tabs.
pub(super) fn table_text(table: &Table) -> String {
    let lines = grid(table, |cell| tidy_text(&cell.text.text()).replace('\n', " "));
    let shown: Vec<String> = lines.iter().filter(|line| !line.is_empty()).map(|line| line.join("\t")).collect();
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Inlines;

    fn table() -> Table {
        let mut wide = Cell::at(0, 0, Inlines::plain("a | b"));
        wide.column_span = 2;
        let cells = vec![
            wide,
            Cell::at(0, 2, Inlines::plain("c\nd")),
            Cell::at(1, 0, Inlines::plain(" 1 ")),
            Cell::at(1, 1, Inlines::default()),
            Cell::at(1, 2, Inlines::plain("3")),
        ];
        Table { rows: 2, columns: 3, cells, header_rows: 1 }
    }

    #[test]
    fn pipes_line_up_and_spanning_cells_are_written_once() {
        let expected = "| a \\| b |  | c<br>d |\n| --- | --- | --- |\n| 1 |  | 3 |";
        assert_eq!(table_markdown(&table(), &PageFacts::default()), expected);
    }

    #[test]
    fn text_has_a_line_for_each_row() {
        assert_eq!(table_text(&table()), "a | b\t\tc d\n1\t\t3");
    }

    #[test]
    fn a_table_that_claims_to_be_huge_costs_what_its_cells_cost() {
        let table = Table { rows: usize::MAX, columns: usize::MAX, ..table() };
        assert_eq!(table_text(&table).lines().count(), 2);
        assert_eq!(table_markdown(&Table { rows: 9, columns: 9, ..Table::default() }, &PageFacts::default()), "");
    }
}
