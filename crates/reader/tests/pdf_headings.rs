//! Headings of PDF files: what is larger or bolder than the text and names what follows it.

#[allow(dead_code, reason = "other tests need more of it")]
mod made_pdf;

use bindery_reader::{BlockKind, OpenFile, Page, model::Role, render};
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

#[test]
fn a_heading_may_stand_at_the_beginning_of_its_paragraph() {
    // Helvetica-Bold at 10 points: where the plain type goes on is measured, so that one space is between them.
    let run_in = |y: u32, bold: &str, plain: &str| {
        let rest = lines(50, y - 12, 10, "F1", &PROSE[1..3]);
        format!("BT /F2 10 Tf 50 {y} Td ({bold}) Tj /F1 10 Tf ( {plain}) Tj ET\n{rest}")
    };
    let content = lines(50, 740, 18, "F2", &["The year"])
        + &lines(50, 700, 10, "F1", &PROSE)
        + &run_in(600, "Figures and votes.", "The council met in the hall and went through the figures.")
        + &run_in(540, "Anna Keller:", "The council met in the hall and went through the figures.")
        + &run_in(480, "Table 3.", "The council met in the hall and went through the figures.");
    let page = Sample::of(&[&content]).page();
    assert_eq!(headings(&page), [(1, "The year".to_owned()), (5, "Figures and votes.".to_owned())]);
    let markdown = render::markdown(&page);
    assert!(markdown.contains("##### Figures and votes.\n\nThe council met in the hall"), "{markdown}");
    assert!(markdown.contains("**Anna Keller:** The council") && markdown.contains("**Table 3.** The"), "{markdown}");
}

#[test]
fn what_runs_up_the_side_of_every_page_is_a_footer() {
    let page = |number: u32| {
        let text = format!("Text of page {number} tells of ships that lay in the harbour for a year.");
        lines(60, 700, 10, "F1", &[&text])
            + "BT /F1 7 Tf 0 1 -1 0 585 200 Tm (Downloaded from https://example.org by a guest) Tj ET\n"
            + &format!("BT /F1 7 Tf 0 1 -1 0 20 200 Tm (Own note {number} of this page alone) Tj ET\n")
    };
    let pages: Vec<String> = [1, 4, 9].map(page).to_vec();
    let file = Sample::of(&pages.iter().map(String::as_str).collect::<Vec<_>>()).open();
    for index in 0..3 {
        let page = file.page(index).unwrap();
        let role =
            |begin: &str| page.blocks.iter().find(|block| text(block).starts_with(begin)).map(|block| block.role);
        assert_eq!(role("Downloaded from"), Some(Role::Footer), "{:?}", page.blocks);
        assert_eq!(role("Own note"), Some(Role::Body), "{:?}", page.blocks);
        assert_eq!(role("Text of page"), Some(Role::Body));
    }
}

#[test]
fn bold_words_that_end_within_the_next_line_make_no_heading() {
    let mut content = lines(60, 700, 10, "F2", &["The sharing of boats helps people to save money and"]);
    content +=
        "BT /F2 10 Tf 60 688 Td (earn some more,) Tj /F1 10 Tf ( so that they can buy what they need for the) Tj ET\n";
    content +=
        &lines(60, 676, 10, "F1", &["harbour and for those who work there day by day in all weathers of the year."]);
    let page = Sample::of(&[&content]).page();
    assert!(headings(&page).is_empty(), "{:?}", page.blocks);
    let whole = text(&page.blocks[0]);
    assert!(whole.starts_with("The sharing of boats helps people to save money and earn some more, so"), "{whole}");
}

#[test]
fn bold_says_nothing_on_a_page_that_is_bold() {
    let mut content = String::new();
    for paragraph in 0..4 {
        content += &lines(60, 700 - 60 * paragraph, 10, "F2", &PROSE);
        content += &lines(60, 665 - 60 * paragraph, 10, "F2", &["A line that stands alone"]);
        content += &lines(60, 653 - 60 * paragraph, 10, "F1", &["and what goes on below it"]);
    }
    let page = Sample::of(&[&content]).page();
    assert!(headings(&page).is_empty(), "{:?}", headings(&page));
}
