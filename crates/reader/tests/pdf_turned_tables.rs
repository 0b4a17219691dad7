//! Tables of PDF files that stand sideways, have names in other directions, or hold more than lines and figures.

#[allow(dead_code, reason = "other tests need more of it")]
mod made_pdf;

use bindery_reader::{BlockKind, render};
use made_pdf::{Sample, lines, ruled};
use std::fmt::Write as _;

fn markdown(content: &str) -> String {
    render::markdown(&Sample::of(&[content]).page())
}

/// Text whose direction is that of a matrix.
fn turned_text(matrix: &str, x: u32, y: u32, size: u32, text: &str) -> String {
    format!("BT /F1 {size} Tf {matrix} {x} {y} Tm ({text}) Tj ET\n")
}

/// What is drawn, turned by 90° so that its text runs up the page, or down it.
fn sideways(content: &str, up: bool) -> String {
    if up { format!("q 0 1 -1 0 600 0 cm\n{content}Q\n") } else { format!("q 0 -1 1 0 0 800 cm\n{content}Q\n") }
}

const GOODS: [&[&str]; 4] =
    [&["Article", "Quantity", "Price"], &["Paper", "20", "4.55"], &["Thread", "3", "12.00"], &["Glue", "7", "3.10"]];
const GOODS_MARKDOWN: &str = "| Article | Quantity | Price |\n| --- | --- | --- |\n| Paper | 20 | 4.55 |\n| Thread | 3 | 12.00 |\n| Glue | 7 | 3.10 |";

fn goods(with_lines: bool) -> String {
    let (xs, ys) = ([100, 250, 350, 450], [500, 480, 460, 440, 420]);
    let mut content = if with_lines { ruled(&xs, &ys) } else { String::new() };
    for (row, y) in GOODS.iter().zip(&ys[1..]) {
        for (cell, x) in row.iter().zip(&xs) {
            content += &lines(x + 4, y + 5, 9, "F1", &[cell]);
        }
    }
    content
}

#[test]
fn a_table_that_stands_sideways_is_read_as_if_it_did_not() {
    for up in [true, false] {
        for with_lines in [true, false] {
            let page = Sample::of(&[&sideways(&goods(with_lines), up)]).page();
            let markdown = render::markdown(&page);
            assert!(markdown.contains(GOODS_MARKDOWN), "up: {up}, lines: {with_lines}\n{markdown}");
            let Some(bbox) = page.blocks.iter().find(|block| matches!(block.kind, BlockKind::Table { .. })) else {
                panic!("no table")
            };
            let bbox = bbox.bbox.unwrap();
            assert!(bbox.height() > 200.0 && bbox.width() < 100.0, "its place is that on the page: {bbox:?}");
        }
    }
}

#[test]
fn a_sideways_table_stands_among_the_text_of_an_upright_page() {
    let prose =
        ["The goods of the last year were bought in spring, and all of them were used", "before the autumn began."];
    let content = lines(60, 760, 10, "F1", &prose) + &sideways(&goods(true), true);
    let markdown = markdown(&content);
    assert!(markdown.contains("before the autumn began.") && markdown.contains(GOODS_MARKDOWN), "{markdown}");
}

/// A table of figures whose columns have names in another direction.
fn with_names(matrix: &str, with_lines: bool, shift: u32) -> String {
    let xs = [100, 200, 230, 260, 290];
    let mut content = if with_lines { ruled(&xs, &[600, 520, 500, 480, 460]) } else { String::new() };
    content += &lines(104, 526, 9, "F1", &["Town"]);
    for (x, name) in xs[1..4].iter().zip(["Births", "Deaths", "Marriages"]) {
        content += &turned_text(matrix, x + shift, 526, 9, name);
    }
    let rows = [["Aarau", "12", "9", "4"], ["Baden", "17", "11", "6"], ["Chur", "21", "13", "8"]];
    for (row, y) in rows.iter().zip([505, 485, 465]) {
        for (cell, x) in row.iter().zip(xs) {
            content += &lines(x + 4, y, 9, "F1", &[cell]);
        }
    }
    content
}

#[test]
fn names_of_columns_may_be_written_upwards_or_slanted() {
    let expected = "| Town | Births | Deaths | Marriages |\n| --- | --- | --- | --- |\n| Aarau | 12 | 9 | 4 |\n| Baden | 17 | 11 | 6 |\n| Chur | 21 | 13 | 8 |";
    for (matrix, with_lines, shift) in
        [("0 1 -1 0", true, 18), ("0 1 -1 0", false, 14), ("0.7071 0.7071 -0.7071 0.7071", false, 10)]
    {
        let markdown = markdown(&with_names(matrix, with_lines, shift));
        assert!(markdown.contains(expected), "{matrix}, lines: {with_lines}\n{markdown}");
        assert_eq!(markdown.matches("Marriages").count(), 1, "{markdown}");
    }
}

#[test]
fn a_name_written_upwards_beside_rows_is_in_their_cell() {
    let mut content = "0.6 w\n".to_owned();
    // The first column is one cell beside the three rows under the heading.
    for (y, left) in [(600, 60), (580, 60), (560, 90), (540, 90), (520, 60)] {
        let _ = writeln!(content, "{left} {y} m 400 {y} l S");
    }
    for x in [60, 90, 250, 400] {
        let _ = writeln!(content, "{x} 600 m {x} 520 l S");
    }
    content += &turned_text("0 1 -1 0", 78, 532, 9, "Visitors");
    let rows = [["Day", "Count"], ["Friday", "210"], ["Saturday", "480"], ["Sunday", "355"]];
    for (row, y) in rows.iter().zip([585, 565, 545, 525]) {
        content += &lines(95, y, 9, "F1", &[row[0]]);
        content += &lines(255, y, 9, "F1", &[row[1]]);
    }
    let markdown = markdown(&content);
    assert!(markdown.contains("| Visitors | Friday | 210 |\n|  | Saturday | 480 |\n|  | Sunday | 355 |"), "{markdown}");
}

#[test]
fn text_along_the_margin_is_no_part_of_a_table() {
    let content = goods(true) + &turned_text("0 1 -1 0", 40, 300, 14, "Printed in Bern on recycled paper");
    let markdown = markdown(&content);
    assert!(markdown.contains(GOODS_MARKDOWN) && markdown.contains("Printed in Bern on recycled paper"), "{markdown}");
}

#[test]
fn rows_told_apart_by_their_shade_are_a_table() {
    let rows = [
        ["Name", "Office", "Room"],
        ["Anna Keller", "Archive", "North wing"],
        ["Beat Frei", "Bindery", "Cellar"],
        ["Carla Roth", "Reading room", "First floor"],
        ["Dario Gut", "Post", "Entrance"],
        ["Eva Lang", "Library", "Second floor"],
    ];
    let mut content = String::new();
    for (at, y) in (0..6).map(|row| (row, 600 - 20 * row)) {
        if at % 2 == 1 {
            let _ = writeln!(content, "0.85 g 60 {y} 440 20 re f 0 g");
        }
    }
    for (row, y) in rows.iter().zip((0..6).map(|row| 606 - 20 * row)) {
        for (cell, x) in row.iter().zip([64, 220, 360]) {
            content += &lines(x, y, 9, "F1", &[cell]);
        }
    }
    let markdown = markdown(&content);
    for row in rows {
        assert!(markdown.contains(&format!("| {} |", row.join(" | "))), "{row:?} is not a row of:\n{markdown}");
    }
}

#[test]
fn signs_in_columns_of_their_own_stand_with_their_figures() {
    let rows = [["Sales", "$", "1,250", "31", "%"], ["Rent", "", "480", "12", "%"], ["Wages", "", "2,300", "57", "%"]];
    let mut content = "0.6 w 60 640 m 420 640 l S 60 615 m 420 615 l S 60 540 m 420 540 l S\n".to_owned();
    for (name, x) in [("Account", 64), ("Amount", 215), ("Share", 330)] {
        content += &lines(x, 622, 9, "F1", &[name]);
    }
    for (row, y) in rows.iter().zip([600, 580, 560]) {
        for (cell, x) in row.iter().zip([64, 200, 230, 330, 380]).filter(|(cell, _)| !cell.is_empty()) {
            content += &lines(x, y, 9, "F1", &[cell]);
        }
    }
    let markdown = markdown(&content);
    for row in ["| Account | Amount | Share |", "| Sales | $ 1,250 | 31 % |", "| Rent | 480 | 12 % |"] {
        assert!(markdown.contains(row), "{row} is not in:\n{markdown}");
    }
}

#[test]
fn currencies_right_behind_the_figures_of_the_column_before_stand_with_their_own() {
    // As reports of companies have it: the sign stands at the left edge of its column, in some rows alone.
    let rows = [
        ["Cost of goods", "$", "178", "$", "141", "$", "138"],
        ["Research", "", "3,423", "", "2,532", "", "1,892"],
        ["Sales and administration", "", "1,136", "", "876", "", "680"],
        ["Total", "$", "4,737", "$", "3,549", "$", "2,710"],
    ];
    let mut content =
        "0.6 w 60 640 m 420 640 l S 60 622 m 420 622 l S 60 576 m 420 576 l S 60 558 m 420 558 l S\n".to_owned();
    for (name, x) in [("Jan 2025", 240), ("Jan 2024", 305), ("Jan 2023", 370)] {
        content += &lines(x, 628, 7, "F1", &[name]);
    }
    for (row, y) in rows.iter().zip([612, 602, 592, 564]) {
        for (index, (cell, x)) in row.iter().zip([64, 230, 280, 295, 345, 360, 410]).enumerate() {
            // Figures end at the right edge of their column, a little before the sign of the next one.
            let wide = if index > 0 && index % 2 == 0 { u32::try_from(cell.len()).unwrap() * 3 } else { 0 };
            content += &lines(x - wide + if index % 2 == 0 && index > 0 { 8 } else { 0 }, y, 7, "F1", &[cell]);
        }
    }
    let markdown = markdown(&content);
    for row in [
        "| Cost of goods | $ 178 | $ 141 | $ 138 |",
        "| Research | 3,423 | 2,532 | 1,892 |",
        "| Total | $ 4,737 | $ 3,549 | $ 2,710 |",
    ] {
        assert!(markdown.contains(row), "{row} is not in:\n{markdown}");
    }
}
