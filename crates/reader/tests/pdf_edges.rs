//! Headers and footers of PDF files: what pages repeat is taken out of the text, and nothing else is.

#[allow(dead_code, reason = "other tests need more of it")]
mod made_pdf;

use bindery_reader::{OpenFile, Page, model::Role, pdf::PdfFile, render};
use made_pdf::{Sample, lines, ruled, text};

fn open(pages: &[String]) -> PdfFile {
    Sample::of(&pages.iter().map(String::as_str).collect::<Vec<_>>()).open()
}

fn page(file: &PdfFile, index: usize) -> Page {
    file.page(index).expect("the page is readable")
}

/// What is left out of the Markdown.
fn edges(page: &Page) -> Vec<String> {
    page.blocks.iter().filter(|block| matches!(block.role, Role::Header | Role::Footer)).map(text).collect()
}

/// A row of a table without lines.
fn row(y: u32, cells: &[&str]) -> String {
    (0..).zip(cells).map(|(column, cell)| lines(50 + 130 * column, y, 10, "F1", &[cell])).collect()
}

const PROSE: [&str; 4] = [
    "The council met in the hall and went through the figures of the year.",
    "Most of what was said is in the minutes, which can be had at the desk.",
    "The rest is in the table above, and in the one that was shown before it.",
    "Nobody asked for more, so that the meeting was closed before noon.",
];

#[test]
fn figures_at_one_height_of_several_pages_stay_in_the_text() {
    let pages = (1..=6).map(|number| {
        // At the upper edge, at the same heights on each page.
        row(760, &["Region", "Sales", "Share"])
            + &row(746, &["North", &format!("{},204.50", 3 * number), &format!("{}.5", 7 * number)])
            + &row(732, &["South", &format!("{},118.20", 5 * number), &format!("{}.1", 4 * number)])
            + &row(718, &["Total", &format!("{}", 731 * number), &format!("{}", 11 * number)])
            + &lines(50, 600, 10, "F1", &PROSE)
            + &lines(300, 30, 10, "F1", &[&format!("{}", 40 + number)])
    });
    let file = open(&pages.collect::<Vec<_>>());
    for number in 1..=6 {
        let page = page(&file, number - 1);
        let markdown = render::markdown(&page);
        for figure in [3 * number, 5 * number].map(|thousands| format!("{thousands},")) {
            assert!(markdown.contains(&figure), "{figure} on page {number}: {markdown}");
        }
        assert!(markdown.contains(&format!("{}", 731 * number)), "{markdown}");
        assert!(markdown.contains("Total") && markdown.contains("North"), "the labels of page {number}: {markdown}");
        assert_eq!(edges(&page), [format!("{}", 40 + number)], "page {number}");
    }
}

#[test]
fn numbers_that_count_pages_are_footers_in_many_shapes() {
    let shapes: [fn(usize) -> String; 5] = [
        |number| format!("5-{number}"),
        |number| format!("A-00{number}"),
        |number| format!("The Harbour Gazette 2024 | {number}"),
        |number| format!("{number}/312"),
        |number| format!("Page {number} of 9"),
    ];
    for shape in shapes {
        let pages =
            (11..=16).map(|number| lines(50, 600, 10, "F1", &PROSE) + &lines(250, 30, 10, "F1", &[&shape(number)]));
        let file = open(&pages.collect::<Vec<_>>());
        for index in 0..6 {
            assert_eq!(edges(&page(&file, index)), [shape(11 + index)]);
        }
    }
}

#[test]
fn a_title_with_its_page_is_a_header_where_pages_are_missing() {
    let pages = [78, 84, 91, 96, 103].map(|number| {
        lines(50, 770, 10, "F1", &[&format!("{number} On the repair of harbours")]) + &lines(50, 600, 10, "F1", &PROSE)
    });
    let file = open(&pages);
    assert_eq!(edges(&page(&file, 1)), ["84 On the repair of harbours"]);
}

#[test]
fn a_ruled_table_keeps_what_pages_have_in_common() {
    let pages = (1..=6).map(|number| {
        let mut content = ruled(&[50, 200, 350, 500], &[790, 770, 750, 730, 660]);
        content += &lines(55, 776, 10, "F1", &["Article"]);
        content += &lines(205, 776, 10, "F1", &["Ordered"]);
        content += &lines(355, 776, 10, "F1", &["Delivered"]);
        content += &lines(55, 756, 10, "F1", &["Paper"]);
        content += &lines(205, 756, 10, "F1", &["12"]);
        content += &lines(355, 756, 10, "F1", &["12"]);
        content += &lines(55, 736, 10, "F1", &["Ink"]);
        content += &lines(205, 736, 10, "F1", &[&format!("{}", 3 * number)]);
        content += &lines(355, 736, 10, "F1", &["0"]);
        content += &lines(55, 690, 10, "F1", &["Glue"]);
        content += &lines(205, 690, 10, "F1", &[&format!("{}", 9 * number)]);
        content + &lines(50, 500, 10, "F1", &PROSE)
    });
    let file = open(&pages.collect::<Vec<_>>());
    for index in 0..6 {
        let page = page(&file, index);
        assert_eq!(edges(&page), Vec::<String>::new());
        let markdown = render::markdown(&page);
        assert!(markdown.starts_with("| Article | Ordered | Delivered |\n"), "{markdown}");
        assert!(markdown.contains("| Paper | 12 | 12 |"), "{markdown}");
    }
}

#[test]
fn a_page_of_a_journal_alone_has_its_title_number_and_imprint_at_the_edge() {
    let text = [PROSE, PROSE, PROSE, PROSE].concat();
    let content = lines(50, 770, 9, "F1", &["On the repair of harbours"])
        + &lines(520, 770, 9, "F1", &["347"])
        + &lines(50, 700, 10, "F1", &text)
        + &lines(50, 30, 8, "F1", &["\\251 2014 The Harbour Society. doi:10.1000/347"]);
    let file = open(&[content]);
    let found = page(&file, 0);
    assert_eq!(edges(&found), ["On the repair of harbours 347", "© 2014 The Harbour Society. doi:10.1000/347"]);
}

#[test]
fn the_first_row_of_a_form_is_no_header() {
    let content = lines(50, 770, 9, "F1", &["Number of the customer"])
        + &lines(520, 770, 9, "F1", &["347"])
        + &lines(50, 740, 9, "F1", &["Name"])
        + &lines(520, 740, 9, "F1", &["Miller"])
        + &lines(50, 600, 10, "F1", &PROSE);
    let found = page(&open(&[content]), 0);
    assert_eq!(edges(&found), Vec::<String>::new());
}

#[test]
fn a_page_that_stands_alone_says_its_number_in_many_shapes() {
    let text = [PROSE, PROSE, PROSE, PROSE].concat();
    for footer in ["Monthly Harbour Review, January 2012 65", "A-3", "Guidelines of the port - Page 1 of 51"] {
        let content = lines(50, 700, 10, "F1", &text) + &lines(300, 30, 9, "F1", &[footer]);
        assert_eq!(edges(&page(&open(&[content]), 0)), [footer]);
    }
}
