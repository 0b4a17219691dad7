//! What users rely on: which tables are found on made-up pages, and which are not.

mod forms;

use super::{FoundTable, Input, PlacedWord, Shade, find, find_beside};
use crate::model::{Rect, Size, Table};
use proptest::prelude::*;

const SIZE: Size = Size { width: 612.0, height: 792.0 };

/// A page under construction: letters are 5 points wide and 10 high.
#[derive(Default)]
struct Page {
    words: Vec<(String, Rect)>,
    rules: Vec<Rect>,
    fills: Vec<Shade>,
    drawings: Vec<Rect>,
}

impl Page {
    fn text(&mut self, x: f32, y: f32, text: &str) -> &mut Self {
        let mut at = x;
        for word in text.split(' ') {
            let width = 5.0 * f32::from(u16::try_from(word.chars().count()).unwrap_or(u16::MAX));
            self.words.push((word.to_owned(), Rect::new(at, y, at + width, y + 10.0)));
            at += width + 3.0;
        }
        self
    }

    /// A row of texts at the given places.
    fn row(&mut self, y: f32, texts: &[(f32, &str)]) -> &mut Self {
        for (x, text) in texts {
            self.text(*x, y, text);
        }
        self
    }

    fn across(&mut self, y: f32, x0: f32, x1: f32) -> &mut Self {
        self.rules.push(Rect::new(x0, y - 0.25, x1, y + 0.25));
        self
    }

    fn down(&mut self, x: f32, y0: f32, y1: f32) -> &mut Self {
        self.rules.push(Rect::new(x - 0.25, y0, x + 0.25, y1));
        self
    }

    fn fill(&mut self, x0: f32, y0: f32, x1: f32, y1: f32, colour: u32) -> &mut Self {
        self.fills.push(Shade { bbox: Rect::new(x0, y0, x1, y1), colour });
        self
    }

    fn tables(&self) -> Vec<FoundTable> {
        let words: Vec<PlacedWord<'_>> =
            self.words.iter().map(|(text, bbox)| PlacedWord { text, bbox: *bbox }).collect();
        let input = Input { words: &words, rules: &self.rules, fills: &self.fills, size: SIZE };
        find_beside(&input, &self.drawings)
    }

    /// The only table, as lines of text.
    fn table(&self) -> Vec<String> {
        let tables = self.tables();
        assert_eq!(tables.len(), 1, "one table is on the page");
        tables.first().map(|found| lines(&found.table)).unwrap_or_default()
    }
}

/// A row as "a | b"; a cell that spans says so: "a <2x1".
fn lines(table: &Table) -> Vec<String> {
    (0..table.rows)
        .map(|row| {
            let cells: Vec<String> = table
                .cells
                .iter()
                .filter(|cell| cell.row == row)
                .map(|cell| match (cell.row_span, cell.column_span) {
                    (1, 1) => cell.text.text(),
                    (rows, columns) => format!("{} <{rows}x{columns}", cell.text.text()),
                })
                .collect();
            cells.join(" | ")
        })
        .collect()
}

#[test]
fn a_drawn_grid_is_a_table_and_missing_lines_are_spans() {
    let mut page = Page::default();
    page.row(103.0, &[(105.0, "Region"), (240.0, "Sales")]);
    page.row(123.0, &[(205.0, "first"), (305.0, "second")]);
    page.row(143.0, &[(105.0, "North"), (205.0, "low"), (305.0, "high")]);
    page.row(163.0, &[(105.0, "South of"), (205.0, "high"), (305.0, "low")]);
    page.row(173.0, &[(105.0, "the river")]);
    for y in [100.0, 140.0, 160.0, 185.0] {
        page.across(y, 100.0, 400.0);
    }
    page.across(120.0, 200.0, 400.0);
    for x in [100.0, 200.0, 400.0] {
        page.down(x, 100.0, 185.0);
    }
    page.down(300.0, 120.0, 185.0);
    assert_eq!(
        page.table(),
        ["Region <2x1 | Sales <1x2", "first | second", "North | low | high", "South of the river | high | low"]
    );
}

#[test]
fn lines_across_are_enough_and_a_line_under_a_heading_says_what_it_spans() {
    let mut page = Page::default();
    page.across(100.0, 100.0, 500.0);
    page.row(103.0, &[(270.0, "Percent")]);
    page.across(115.0, 220.0, 350.0);
    page.row(117.0, &[(230.0, "Men"), (300.0, "Women"), (420.0, "Average")]);
    page.row(128.0, &[(105.0, "Age group"), (428.0, "income")]);
    page.across(140.0, 100.0, 500.0);
    for (at, age) in ["Under 20", "20 to 39", "40 to 59", "60 and over"].into_iter().enumerate() {
        let y = 143.0 + 14.0 * f32::from(u8::try_from(at).unwrap_or_default());
        page.row(y, &[(105.0, age), (232.0, "4.1"), (305.0, "52.0"), (428.0, "1,234")]);
    }
    page.across(202.0, 100.0, 500.0);
    page.text(100.0, 205.0, "Source: a survey of everybody in the country, with a note that is long");
    let found = page.table();
    assert_eq!(found[..2], ["Age group <2x1 | Percent <1x2 | Average income <2x1", "Men | Women"]);
    assert_eq!(found[2], "Under 20 | 4.1 | 52.0 | 1,234");
    assert_eq!(found.len(), 6);
}

#[test]
fn figures_in_columns_need_no_lines() {
    let mut page = Page::default();
    page.text(100.0, 60.0, "Some words before the table that make up a whole line of running text on the page.");
    page.text(100.0, 72.0, "And a second line of it, so that it is a paragraph and not the caption of anything.");
    page.row(100.0, &[(100.0, "City"), (250.0, "2009"), (350.0, "2010")]);
    for (at, (city, first, second)) in
        [("Amberg", "41", "43"), ("Bonn", "1,300", "1,310"), ("Coburg", "40", "41"), ("Daun", "8", "8")]
            .iter()
            .enumerate()
    {
        let y = 114.0 + 14.0 * f32::from(u8::try_from(at).unwrap_or_default());
        page.row(y, &[(100.0, city), (250.0, first), (350.0, second)]);
    }
    assert_eq!(
        page.table(),
        ["City | 2009 | 2010", "Amberg | 41 | 43", "Bonn | 1,300 | 1,310", "Coburg | 40 | 41", "Daun | 8 | 8"]
    );
}

#[test]
fn a_label_of_two_lines_is_one_cell() {
    let mut page = Page::default();
    page.across(100.0, 100.0, 400.0).row(103.0, &[(105.0, "Name"), (250.0, "Count"), (330.0, "Share")]);
    page.across(116.0, 100.0, 400.0);
    page.row(120.0, &[(105.0, "Teachers"), (250.0, "12"), (330.0, "40")]);
    page.row(136.0, &[(105.0, "Pupils of the"), (250.0, "13"), (330.0, "41")]);
    page.row(147.0, &[(105.0, "upper school")]);
    page.row(163.0, &[(105.0, "Guests"), (250.0, "5"), (330.0, "19")]);
    page.row(179.0, &[(105.0, "Others"), (250.0, "5"), (330.0, "19")]);
    page.across(193.0, 100.0, 400.0);
    assert_eq!(page.table()[2], "Pupils of the upper school | 13 | 41");
}

#[test]
fn shaded_rows_are_rows() {
    let mut page = Page::default();
    for at in 0..6_u8 {
        let y = 100.0 + 20.0 * f32::from(at);
        if at % 2 == 0 {
            page.fill(100.0, y, 400.0, y + 20.0, 0x00dd_ddff);
        }
        page.row(y + 5.0, &[(105.0, "alpha"), (220.0, "beta"), (330.0, "gamma")]);
    }
    assert_eq!(page.table(), ["alpha | beta | gamma"; 6]);
}

#[test]
fn headings_above_the_first_line_belong_to_the_table() {
    let mut page = Page::default();
    page.row(88.0, &[(105.0, "Item"), (250.0, "2023"), (330.0, "2024")]);
    page.across(100.0, 100.0, 400.0);
    for (at, name) in ["Rent", "Food", "Heating"].into_iter().enumerate() {
        let y = 103.0 + 14.0 * f32::from(u8::try_from(at).unwrap_or_default());
        page.row(y, &[(105.0, name), (250.0, "12"), (330.0, "40")]);
    }
    page.across(146.0, 100.0, 400.0);
    assert_eq!(page.table()[..2], ["Item | 2023 | 2024", "Rent | 12 | 40"]);
}

#[test]
fn a_caption_within_the_frame_is_not_a_row() {
    let mut page = Page::default();
    page.text(110.0, 103.0, "Exhibit 7: what the states reported in the spring");
    page.row(123.0, &[(105.0, "State"), (255.0, "Answer")]);
    page.row(143.0, &[(105.0, "Ohio"), (255.0, "yes")]);
    page.row(163.0, &[(105.0, "Utah"), (255.0, "no")]);
    for y in [100.0, 120.0, 140.0, 160.0, 180.0] {
        page.across(y, 100.0, 400.0);
    }
    for x in [100.0, 400.0] {
        page.down(x, 100.0, 180.0);
    }
    page.down(250.0, 120.0, 180.0);
    let found = page.tables();
    assert_eq!(page.table(), ["State | Answer", "Ohio | yes", "Utah | no"]);
    assert!(found[0].words.iter().all(|&word| page.words[word].0 != "Exhibit"));
}

#[test]
fn leaders_are_taken_with_the_table_but_are_not_text() {
    let mut page = Page::default();
    for (at, name) in ["Rent", "Food", "Heating", "Water"].into_iter().enumerate() {
        let y = 103.0 + 14.0 * f32::from(u8::try_from(at).unwrap_or_default());
        page.row(y, &[(105.0, name), (150.0, "............."), (250.0, "12"), (300.0, "14"), (350.0, "40")]);
    }
    assert_eq!(page.table()[0], "Rent | 12 | 14 | 40");
    assert_eq!(page.tables()[0].words.len(), page.words.len());
}

#[test]
fn two_tables_beside_each_other_are_two() {
    let mut page = Page::default();
    for left in [80.0, 330.0] {
        for at in 0..4_u8 {
            page.row(103.0 + 20.0 * f32::from(at), &[(left + 5.0, "key"), (left + 105.0, "value")]);
        }
        for at in 0..5_u8 {
            page.across(100.0 + 20.0 * f32::from(at), left, left + 200.0);
        }
        for x in [left, left + 100.0, left + 200.0] {
            page.down(x, 100.0, 180.0);
        }
    }
    let found = page.tables();
    assert_eq!(found.len(), 2);
    assert!(found[0].bbox.x1 < found[1].bbox.x0);
}

#[test]
fn columns_of_running_text_are_no_table() {
    let mut page = Page::default();
    // As many pages have it, between a line at the head and one at the foot.
    page.across(80.0, 60.0, 560.0).across(720.0, 60.0, 560.0);
    for at in 0..40_u8 {
        let y = 90.0 + 13.0 * f32::from(at);
        page.text(60.0, y, "running text that fills its column to the end");
        page.text(320.0, y, "and goes on in the next one to its end too");
    }
    assert_eq!(page.tables(), []);
}

#[test]
fn a_table_of_contents_is_no_table() {
    let mut page = Page::default();
    for at in 0..10_u8 {
        let y = 90.0 + 14.0 * f32::from(at);
        page.row(
            y,
            &[
                (80.0, "Chapter name"),
                (150.0, "......................................"),
                (500.0, &format!("{}", 10 + at)),
            ],
        );
    }
    assert_eq!(page.tables(), []);
}

#[test]
fn lists_and_framed_text_are_no_tables() {
    let mut page = Page::default();
    for at in 0..8_u8 {
        let y = 90.0 + 14.0 * f32::from(at);
        page.row(y, &[(80.0, "•"), (100.0, "an entry of a list of things to do")]);
    }
    page.across(300.0, 80.0, 400.0).across(360.0, 80.0, 400.0).down(80.0, 300.0, 360.0).down(400.0, 300.0, 360.0);
    page.text(90.0, 310.0, "A box with a hint for the reader,");
    page.text(90.0, 324.0, "which goes on for two lines.");
    assert_eq!(page.tables(), []);
}

#[test]
fn a_drawing_is_no_table() {
    let mut page = Page::default();
    // Axes, grid lines, and a few words here and there.
    for at in 0..9_u8 {
        page.across(100.0 + 20.0 * f32::from(at), 150.0, 450.0);
        page.text(120.0, 96.0 + 20.0 * f32::from(at), &format!("{}", 10 * at));
    }
    page.down(150.0, 100.0, 260.0).down(450.0, 100.0, 260.0);
    page.text(300.0, 124.0, "Men").text(200.0, 183.0, "Women");
    assert_eq!(page.tables(), []);
}

#[test]
fn pages_without_words_or_with_broken_boxes_have_no_tables() {
    assert_eq!(find(&Input::default()), []);
    let mut page = Page::default();
    page.across(100.0, f32::NAN, 400.0).down(f32::INFINITY, 0.0, 10.0);
    for _ in 0..10 {
        page.words.push(("x".to_owned(), Rect { x0: f32::NAN, y0: 0.0, x1: 1.0, y1: f32::INFINITY }));
    }
    assert_eq!(page.tables(), []);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever is on the page: places are within the table, no two cells cover one, and no word is in two tables.
    #[test]
    fn tables_hold_together(
        words in prop::collection::vec((0_u8..30, 0_u8..30, 1_usize..12, any::<bool>()), 0..120),
        rules in prop::collection::vec((0_u8..30, 0_u8..30, 0_u8..30, any::<bool>()), 0..60),
        fills in prop::collection::vec((0_u8..30, 0_u8..30, 1_u8..10, 1_u8..10), 0..10),
    ) {
        let mut page = Page::default();
        for (x, y, length, figures) in words {
            let text = if figures { "7" } else { "w" }.repeat(length);
            page.text(20.0 * f32::from(x), 12.0 * f32::from(y), &text);
        }
        for (at, from, to, across) in rules {
            let (from, to) = (20.0 * f32::from(from), 20.0 * f32::from(to));
            if across { page.across(12.0 * f32::from(at), from, to) } else { page.down(20.0 * f32::from(at), from, to) };
        }
        for (x, y, width, height) in fills {
            let (x, y) = (20.0 * f32::from(x), 12.0 * f32::from(y));
            page.fill(x, y, x + 20.0 * f32::from(width), y + 12.0 * f32::from(height), 0x00aa_aaaa);
        }
        let mut taken = vec![false; page.words.len()];
        for found in page.tables() {
            let Table { rows, columns, ref cells, header_rows } = found.table;
            prop_assert!(header_rows <= rows);
            let mut covered = vec![false; rows * columns];
            for cell in cells {
                prop_assert!(cell.row + cell.row_span <= rows && cell.column + cell.column_span <= columns);
                for row in cell.row..cell.row + cell.row_span {
                    for column in cell.column..cell.column + cell.column_span {
                        prop_assert!(!covered[row * columns + column], "two cells at {row}, {column}");
                        covered[row * columns + column] = true;
                    }
                }
            }
            prop_assert!(covered.iter().all(|covered| *covered));
            for word in found.words {
                prop_assert!(!taken[word], "word {word} is in two tables");
                taken[word] = true;
            }
        }
    }
}
