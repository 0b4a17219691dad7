//! Ruled tables of PDF files: what lines enclose on all sides is a table.

#[allow(dead_code, reason = "other tests need more of it")]
mod made_pdf;

use bindery_reader::render;
use made_pdf::{Sample, lines, ruled};
use std::fmt::Write as _;

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

#[test]
fn what_stands_over_the_table_of_an_invoice_is_no_part_of_it() {
    // A line below the title and one below the headings are as wide as each other; between them is the address.
    let mut content = "0.6 w 56 720 m 539 720 l S 56 505 m 539 505 l S 56 466 m 539 466 l S\n".to_owned();
    content += &lines(56, 730, 18, "F2", &["Invoice"]);
    content += &lines(56, 700, 10, "F1", &["Timber at the Harbour", "5 River Street", "Vigo"]);
    content += &lines(330, 700, 10, "F1", &["Customer:", "Harbour Library", "22 Quay Street"]);
    content += &lines(56, 630, 10, "F1", &["Date of invoice: 09/01/2026", "Payable until: 08/02/2026"]);
    for (x, cells) in [
        (56, ["Item", "Shelves of pine", "Transport"]),
        (350, ["Quantity", "8", "1"]),
        (500, ["Amount", "1,680.00", "145.50"]),
    ] {
        for (y, cell) in [510, 492, 474].into_iter().zip(cells) {
            content += &lines(x, y, 9, if y == 510 { "F2" } else { "F1" }, &[cell]);
        }
    }
    let markdown = render::markdown(&Sample::of(&[&content]).page());
    let table = "| Item | Quantity | Amount |\n| --- | --- | --- |\n| Shelves of pine | 8 | 1,680.00 |\n| Transport | 1 | 145.50 |";
    assert!(markdown.contains(table), "{markdown}");
    assert!(markdown.find("Payable until").unwrap() < markdown.find(table).unwrap(), "{markdown}");
}

#[test]
fn a_cell_beside_lines_that_stop_at_it_is_one_cell_for_all_their_rows() {
    let (left, inner, right, end) = (50, 150, 300, 400);
    // The lines between the rows are drawn from the second column on, and a total has a row of its own.
    let mut content = String::from("0.6 w\n");
    for y in [700, 680, 560, 540] {
        let _ = writeln!(content, "{left} {y} m {end} {y} l S");
    }
    for y in [660, 640, 620, 600, 580] {
        let _ = writeln!(content, "{inner} {y} m {end} {y} l S");
    }
    for x in [left, inner, right, end] {
        let _ = writeln!(content, "{x} 700 m {x} 540 l S");
    }
    content += &lines(54, 685, 9, "F1", &["Kind"]);
    content += &lines(54, 618, 9, "F1", &["Ferries"]);
    let rows = [("Harbour", "Passengers"), ("Alden", "164"), ("Brook", "126"), ("Cove", "746"), ("Dale", "599")];
    let rows = rows.into_iter().chain([("Eaves", "718"), ("Ford", "204")]);
    for (row, (harbour, passengers)) in (0..).zip(rows) {
        content += &lines(154, 685 - 20 * row, 9, "F1", &[harbour]);
        content += &lines(304, 685 - 20 * row, 9, "F1", &[passengers]);
    }
    content += &lines(54, 545, 9, "F1", &["All"]);
    content += &lines(304, 545, 9, "F1", &["2557"]);
    let markdown = markdown(&content);
    let expected = "| Kind | Harbour | Passengers |\n| --- | --- | --- |\n| Ferries | Alden | 164 |\n|  | Brook | 126 |\n\
        |  | Cove | 746 |\n|  | Dale | 599 |\n|  | Eaves | 718 |\n|  | Ford | 204 |\n";
    assert!(markdown.starts_with(expected), "{markdown}");
}

#[test]
fn names_of_rows_stand_with_the_figures_that_alone_have_lines() {
    let mut content = String::from("0.6 w\n");
    for y in [702, 684, 600, 582] {
        let _ = writeln!(content, "260 {y} m 330 {y} l S\n350 {y} m 420 {y} l S");
    }
    let rows = [
        ("", "2025", "2024"),
        ("Balance at the beginning", "1,240", "1,198"),
        ("Net income", "755", "690"),
        ("Dividends declared", "\\(586\\)", "\\(540\\)"),
        ("Shares repurchased", "\\(169\\)", "\\(108\\)"),
        ("Other", "12", "0"),
        ("Balance at the end", "1,252", "1,240"),
    ];
    for (row, (name, this, last)) in (0..).zip(rows) {
        let y = 688 - 17 * row;
        content += &lines(60, y, 9, "F1", &[name]);
        content += &lines(290, y, 9, "F1", &[this]);
        content += &lines(380, y, 9, "F1", &[last]);
    }
    let markdown = markdown(&content);
    let rows = "| Balance at the beginning | 1,240 | 1,198 |\n| Net income | 755 | 690 |\n";
    assert!(markdown.contains(rows), "{markdown}");
    assert!(markdown.contains("| Balance at the end | 1,252 | 1,240 |"), "{markdown}");
}

#[test]
fn a_line_that_leads_from_a_title_to_its_page_parts_no_rows() {
    let mut content = lines(60, 700, 10, "F2", &["Section"]) + &lines(520, 700, 10, "F2", &["Page"]);
    // Lines of one length in part, as titles are.
    let titles =
        ["Making a claim", "Your cover", "What is not part of it", "Fire", "Theft", "Legal costs", "Contact us"];
    for (row, title) in (0_u32..).zip(titles) {
        let y = 670 - 26 * row;
        content += &lines(60, y, 10, "F1", &[title]);
        content += &lines(525, y, 10, "F1", &[&(2 + 3 * row).to_string()]);
        let from = if title.len() > 12 { 190 } else { 130 };
        let _ = writeln!(content, "1 w [0 3] 0 d {from} {y} m 515 {y} l S");
    }
    let markdown = markdown(&content);
    for (row, title) in titles.iter().enumerate() {
        let page = (2 + 3 * row).to_string();
        let alone = |line: &str| line.contains(title) && line.split_whitespace().any(|word| word == page);
        let found = markdown.lines().find(|line| alone(line));
        let others = titles.iter().filter(|other| *other != title);
        assert!(found.is_some_and(|line| others.clone().all(|other| !line.contains(other))), "{title}: {markdown}");
    }
}
