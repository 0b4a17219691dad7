//! Columns of lists whose headings no type knows: given by what they hold, or kept under their own heading.

mod made_page;

use bindery_fields::{
    DocTypes,
    extract::{DoubtKind, Extraction, Row},
};
use bindery_reader::Size;

fn read(doctype: &str, lines: &[&[(f32, &str)]]) -> Extraction {
    let types = DocTypes::shipped().expect("the shipped types are good");
    let size = Size { width: 600.0, height: 40.0 + lines.len() as f32 * 18.0 };
    made_page::read(types.get(doctype).expect("a shipped type"), made_page::placed(lines, size, 18.0))
}

fn column<'e>(rows: &'e [Row], name: &str) -> Vec<&'e str> {
    rows.iter().map(|row| row.cells.get(name).map_or("", |cell| cell.normalised.as_str())).collect()
}

#[test]
fn quantity_times_price_names_the_column_of_amounts() {
    let found = read(
        "invoice",
        &[
            &[(20.0, "Birch Paper Ltd")],
            &[(20.0, "Invoice number: 2026-17")],
            &[(20.0, "Description"), (250.0, "Qty"), (350.0, "Each"), (450.0, "Extended")],
            &[(20.0, "Paper A4"), (250.0, "10"), (350.0, "4.00"), (450.0, "40.00")],
            &[(20.0, "Ink black"), (250.0, "2"), (350.0, "30.00"), (450.0, "60.00")],
            &[(20.0, "Stapler"), (250.0, "1"), (350.0, "12.50"), (450.0, "12.50")],
            &[(20.0, "Grand total"), (450.0, "112.50")],
        ],
    );
    let rows = &found.rows["line_items"];
    assert_eq!(column(rows, "amount"), ["40.00", "60.00", "12.50"], "{rows:?}");
    assert_eq!(column(rows, "unit_price"), ["4.00", "30.00", "12.50"], "{rows:?}");
    assert_eq!(column(rows, "description"), ["Paper A4", "Ink black", "Stapler"]);
    assert!(found.doubts.iter().all(|doubt| doubt.kind != DoubtKind::LeftOverColumn), "{:?}", found.doubts);
}

#[test]
fn a_running_balance_tells_withdrawals_from_deposits() {
    let found = read(
        "bank_statement",
        &[
            &[(20.0, "Harbour Bank")],
            &[(20.0, "Date"), (100.0, "Details"), (260.0, "Minus"), (360.0, "Plus"), (460.0, "Balance")],
            &[(20.0, "01/03/2026"), (100.0, "Brought forward"), (360.0, "500.00"), (460.0, "500.00")],
            &[(20.0, "02/03/2026"), (100.0, "Rent"), (260.0, "400.00"), (460.0, "100.00")],
            &[(20.0, "03/03/2026"), (100.0, "Salary"), (360.0, "900.00"), (460.0, "1,000.00")],
            &[(20.0, "04/03/2026"), (100.0, "Groceries"), (260.0, "45.50"), (460.0, "954.50")],
        ],
    );
    let rows = &found.rows["transactions"];
    assert_eq!(column(rows, "debit"), ["", "400.00", "", "45.50"], "{rows:?}");
    assert_eq!(column(rows, "credit"), ["500.00", "", "900.00", ""], "{rows:?}");
    assert_eq!(column(rows, "balance"), ["500.00", "100.00", "1000.00", "954.50"]);
}

#[test]
fn amounts_that_no_column_is_known_for_are_kept_and_doubted() {
    let found = read(
        "invoice",
        &[
            &[(20.0, "Description"), (200.0, "Qty"), (300.0, "Unit price"), (400.0, "Amount"), (500.0, "Eco fee")],
            &[(20.0, "Paper A4"), (200.0, "10"), (300.0, "4.00"), (400.0, "40.00"), (500.0, "0.35")],
            &[(20.0, "Ink black"), (200.0, "2"), (300.0, "30.00"), (400.0, "60.00"), (500.0, "0.20")],
        ],
    );
    let rows = &found.rows["line_items"];
    assert_eq!(column(rows, "amount"), ["40.00", "60.00"]);
    assert_eq!(column(rows, "Eco fee"), ["0.35", "0.20"], "{rows:?}");
    let doubt = found.doubts.iter().find(|doubt| doubt.kind == DoubtKind::LeftOverColumn).map(|doubt| &*doubt.text);
    assert_eq!(doubt, Some("line_items: no column is known for the amounts below \"Eco fee\""));
    assert!(!found.needs_review.iter().any(|reason| reason.contains("Eco fee")), "the amounts are known");
}
