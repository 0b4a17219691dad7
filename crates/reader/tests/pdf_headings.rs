//! Headings of PDF files: what is larger or bolder than the text and names what follows it.

#[allow(dead_code, reason = "other tests need more of it")]
mod made_pdf;

use bindery_reader::{BlockKind, OpenFile, Page, render};
use made_pdf::{Sample, lines, text};

const PROSE: [&str; 6] = [
    "The council met in the hall and went through the figures of the year.",
    "Most of what was said is in the minutes, which can be had at the desk.",
    "The rest is in the table above, and in the one that was shown before it.",
    "Nobody asked for more, so that the meeting was closed before noon.",
    "It will meet again in the spring, when the roof of the hall is mended.",
    "Until then the clerk answers letters, and the mayor answers the clerk.",
];

fn headings(page: &Page) -> Vec<(u8, String)> {
    let headings = page.blocks.iter().filter_map(|block| match block.kind {
        BlockKind::Heading { level, .. } => Some((level, text(block))),
        _ => None,
    });
    headings.collect()
}

#[test]
fn totals_dates_and_entries_of_forms_are_no_headings() {
    let content = lines(50, 740, 18, "F2", &["Invoice 2024-17"])
        + &lines(50, 700, 10, "F1", &PROSE)
        + &lines(50, 560, 14, "F2", &["Total 671,15 EUR"])
        + &lines(50, 520, 10, "F1", &PROSE)
        + &lines(50, 400, 14, "F1", &["15.00"])
        + &lines(50, 360, 13, "F2", &["Schedule"])
        + &lines(200, 360, 13, "F1", &["02/27/20"])
        + &lines(350, 360, 13, "F2", &["Entered by"])
        + &lines(50, 320, 10, "F1", &PROSE);
    let page = Sample::of(&[&content]).page();
    assert_eq!(headings(&page), [(1, "Invoice 2024-17".to_owned())]);
    let markdown = render::markdown(&page);
    assert!(markdown.starts_with("# Invoice 2024-17\n") && markdown.contains("**Total 671,15 EUR**"), "{markdown}");
}

#[test]
fn a_heading_has_one_level_on_whatever_page_it_stands() {
    let page = |title: &str, small: bool| {
        let mut content = lines(50, 740, 14, "F2", &[title]) + &lines(50, 700, 10, "F1", &PROSE);
        // Most of this page is in small print.
        if small {
            content += &lines(50, 600, 8, "F1", &[PROSE, PROSE, PROSE].concat());
        }
        content
    };
    let pages = ["The first", "The second", "The third", "The fourth", "The last"];
    let pages = pages.map(|title| page(&format!("{title} part of the report"), title == "The second"));
    let file = Sample::of(&pages.iter().map(String::as_str).collect::<Vec<_>>()).open();
    for index in 0..5 {
        let found = headings(&file.page(index).expect("the page is readable"));
        assert_eq!(found.iter().map(|(level, _)| *level).collect::<Vec<_>>(), [2], "page {}", index + 1);
    }
}
