//! Tables of real PDF files; skipped where the shared fixtures are not there.

use bindery_reader::{BlockKind, OpenFile, ReadOptions, Table, pdf};
use std::{
    fs,
    path::{Path, PathBuf},
};

fn fixture(name: &str) -> Option<PathBuf> {
    bindery_testkit::shared(format!("fixtures/documents/{name}"))
}

fn tables(path: &Path) -> Vec<Table> {
    let bytes = fs::read(path).expect("the fixture is readable");
    let file = pdf::open(bytes, &ReadOptions::default()).expect("the fixture opens");
    let mut tables = Vec::new();
    for index in 0..file.info().page_count {
        for block in file.page(index).expect("the page is readable").blocks {
            if let BlockKind::Table { table } = block.kind {
                tables.push(table);
            }
        }
    }
    tables
}

fn row(table: &Table, row: usize) -> Vec<String> {
    table.cells.iter().filter(|cell| cell.row == row).map(|cell| cell.text.text()).collect()
}

#[test]
fn a_ruled_table_has_its_rows_and_columns() {
    let Some(path) = fixture("tables/us-005.pdf") else { return };
    let found = tables(&path);
    let [table] = found.as_slice() else { panic!("one table, not {}", found.len()) };
    assert_eq!((table.rows, table.columns), (5, 2));
    assert_eq!(row(table, 1), ["Low-income", "Less than 50"]);
}

#[test]
fn a_table_with_lines_across_alone_has_its_spanning_headings() {
    let Some(path) = fixture("tables/us-002.pdf") else { return };
    let found = tables(&path);
    let table = found.first().expect("a table");
    assert_eq!(table.columns, 8);
    let spanning = table.cells.iter().find(|cell| cell.text.text() == "Amount borrowed").expect("the heading");
    assert_eq!((spanning.column, spanning.column_span), (3, 5));
}

#[test]
fn pages_of_prose_have_no_tables() {
    let Some(path) = fixture("tables/us-013.pdf") else { return };
    // Three pages of prose with lists and headings, and one table.
    assert_eq!(tables(&path).len(), 1);
}
