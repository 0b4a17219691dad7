//! Ruled tables of PDF files: what lines enclose on all sides is a table.

#[allow(dead_code, reason = "other tests need more of it")]
mod made_pdf;

use bindery_reader::render;
use made_pdf::{Sample, lines, ruled};

/// Texts in the cells of a grid, whose lines are at `xs` and `ys`, from top to bottom.
fn cells(xs: &[u32], ys: &[u32], rows: &[&[&str]]) -> String {
    let mut content = ruled(xs, ys);
    for (row, y) in rows.iter().zip(&ys[1..]) {
        for (cell, x) in row.iter().zip(xs).filter(|(cell, _)| !cell.is_empty()) {
            content += &lines(x + 4, y + 5, 9, "F1", &[cell]);
        }
    }
    content
}

fn markdown(content: &str) -> String {
    render::markdown(&Sample::of(&[content]).page())
}

#[test]
fn a_grid_that_is_hardly_filled_in_is_a_table() {
    let ys = (0..=9).map(|row| 700 - 20 * row).collect::<Vec<_>>();
    let mut rows: Vec<&[&str]> = vec![&["Day", "Hours", "Kilometres", "Signed by"], &["3 May", "7", "", ""]];
    let days: [&[&str]; 7] = [&["4 May"], &["5 May"], &["6 May"], &["7 May"], &["8 May"], &["9 May"], &["Sum"]];
    rows.extend(days);
    let markdown = markdown(&cells(&[50, 150, 250, 350, 500], &ys, &rows));
    let expected = "| Day | Hours | Kilometres | Signed by |\n| --- | --- | --- | --- |\n| 3 May | 7 |  |  |\n| 4 May |  |  |  |\n";
    assert!(markdown.starts_with(expected), "{markdown}");
}

#[test]
fn grids_that_stand_close_to_each_other_are_tables_of_their_own() {
    let goods = cells(
        &[50, 250, 350, 450, 550],
        &[700, 680, 660],
        &[&["Article", "Quantity", "Price", "Amount"], &["Offset paper", "20", "4.55", "91.00"]],
    );
    // Four points below it, side by side.
    let taxes =
        cells(&[50, 150, 230, 310], &[656, 636, 616], &[&["Tax", "Base", "Tax due"], &["20 %", "91.00", "18.20"]]);
    let totals = cells(&[380, 470, 550], &[656, 636, 616], &[&["Net", "91.00"], &["To be paid", "109.20"]]);
    let markdown = markdown(&(goods + &taxes + &totals));
    for table in [
        "| Article | Quantity | Price | Amount |\n| --- | --- | --- | --- |\n| Offset paper | 20 | 4.55 | 91.00 |\n",
        "| Tax | Base | Tax due |\n| --- | --- | --- |\n| 20 % | 91.00 | 18.20 |\n",
        "| Net | 91.00 |\n| --- | --- |\n| To be paid | 109.20 |\n",
    ] {
        assert!(markdown.contains(table), "{table}is not in:\n{markdown}");
    }
}

#[test]
fn the_lines_of_a_chart_are_no_table() {
    let xs = [100, 150, 200, 250, 300];
    let ys = [700, 670, 640, 610, 580];
    let mut content = ruled(&xs, &ys);
    for (y, value) in ys.iter().zip(["40", "30", "20", "10", "0"]) {
        content += &lines(80, y - 3, 8, "F1", &[value]);
    }
    for (x, year) in xs.iter().zip(["2004", "2005", "2006", "2007", "2008"]) {
        content += &lines(x - 8, 565, 8, "F1", &[year]);
    }
    let markdown = markdown(&content);
    assert!(!markdown.contains('|'), "{markdown}");
}
