//! Running text of PDF files that is set in an unusual way: drop caps and listings.

#[allow(dead_code, reason = "other tests need more of it")]
mod made_pdf;

use bindery_reader::{BlockKind, render};
use made_pdf::{Sample, lines, texts};
use std::fmt::Write as _;

#[test]
fn drop_caps_begin_the_word_of_their_first_line() {
    let rest = [
        "nce the harbour was full of ships that came",
        "from the north with paper and went home with",
        "ink, and nobody asked what was printed with it",
    ];
    let below = ["until the day on which the quay had to be mended, and all of it", "came to an end for a year."];
    // As high as two lines and as three lines of text.
    for (size, lines_beside) in [(25, 2), (41, 3)] {
        let cap = format!("BT /F1 {size} Tf 50 {} Td (O) Tj ET\n", 700 - 12 * (lines_beside - 1));
        let x = 50 + size * 78 / 100 + 2;
        let content = cap
            + &lines(x, 700, 10, "F1", &rest[..lines_beside as usize])
            + &lines(50, 700 - 12 * lines_beside, 10, "F1", &below);
        let page = Sample::of(&[&content]).page();
        let text = texts(&page).join(" ");
        assert!(text.starts_with("Once the harbour was full of ships that came from the north"), "{text}");
        assert!(text.ends_with("came to an end for a year."), "{text}");
    }
}

#[test]
fn a_listing_is_code_and_no_table() {
    // Columns are drawn apart, as some programs do.
    let listing = [
        ["int total\\(\\)", "{", ""],
        ["int sum", "= 0;", "1"],
        ["int count", "= 10;", "2"],
        ["int step", "= 1;", "3"],
        ["sum", "+= count;", "4"],
        ["return sum;", "", "5"],
        ["}", "", ""],
    ];
    let mut content = String::new();
    for (row, parts) in (0..).zip(listing) {
        for (x, part) in [60, 180, 300].into_iter().zip(parts) {
            content += &lines(x, 700 - 12 * row, 10, "F3", &[part]);
        }
    }
    content += &lines(50, 500, 10, "F1", &["The sum is what the listing says it is."]);
    let page = Sample::of(&[&content]).page();
    let BlockKind::Code { text } = &page.blocks[0].kind else { panic!("{:?}", page.blocks) };
    assert_eq!(text.lines().count(), 7, "{text}");
    let markdown = render::markdown(&page);
    assert!(markdown.starts_with("```\nint total()") && !markdown.contains('|'), "{markdown}");
}

#[test]
fn columns_go_on_beside_a_line_that_is_too_long() {
    let left = [
        "The left column of this page tells",
        "how the harbour was built, by whom,",
        "and what it cost them, in years and",
        "a_very_long_name_that_reaches_over.md",
        "is the file in which all of this was",
        "written down by those who built it,",
        "though few of them could write at",
        "all when the work on it was begun.",
    ];
    let right = [
        "Here the right column tells how it",
        "fell to ruin in the time of a single",
        "life, because nobody wanted to pay",
        "for stones that lie under the water",
        "and are seen by fish alone, and how",
        "it was mended in the end by those",
        "who remembered what it had been in",
        "the days of their fathers' fathers.",
    ];
    // The gutter is ten points wide, and one line fills all of it.
    let content = lines(50, 700, 10, "F1", &left) + &lines(230, 700, 10, "F1", &right);
    let text = texts(&Sample::of(&[&content]).page()).join(" ");
    let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words} is not in {text}"));
    assert!(place("when the work on it was begun") < place("Here the right column"), "{text}");
}

#[test]
fn a_ligature_of_a_typewriters_font_makes_no_code_within_a_word() {
    let content = "BT /F1 10 Tf 60 700 Td (The royal in) Tj /F3 10 Tf (fi) Tj /F1 10 Tf (rmary of Glasgow keeps its files in the cellar, where it is cold.) Tj ET\n";
    let page = Sample::of(&[content]).page();
    let markdown = bindery_reader::render::markdown(&page);
    assert!(markdown.contains("royal infirmary of Glasgow"), "{markdown}");
}

#[test]
fn accents_that_are_drawn_over_their_letters_are_theirs() {
    // The accent is drawn first, and the letter below it, as TeX does.
    let content = "BT /F1 10 Tf 60 700 Td (Jos) Tj 16 0 Td (\\264) Tj ET BT /F1 10 Tf 75 700 Td (e of Aarau) Tj ET\n";
    let page = Sample::of(&[content]).page();
    assert_eq!(texts(&page), ["José of Aarau"]);
}

#[test]
fn entries_of_a_name_and_a_value_stay_lines() {
    let entries =
        ["Date of invoice: 09/01/2026", "Payable until the end: 28/02/2026", "Way of payment: by a bank transfer"];
    let content = lines(56, 700, 10, "F1", &entries);
    assert_eq!(texts(&Sample::of(&[&content]).page()), [entries.join("\n")]);
    let prose = [
        "The board has met twice, and the outcome was clear to all of those who came:",
        "The harbour stays open: nobody wanted to see it closed before the end of a year.",
    ];
    let content = lines(56, 700, 10, "F1", &prose);
    assert_eq!(texts(&Sample::of(&[&content]).page()).join(" ").matches('\n').count(), 0);
}

#[test]
fn letters_that_are_set_wide_are_words_where_spaces_are_drawn() {
    let sentence = ["The harbour was rebuilt in 1998 after a great fire,", "and ships from all towns came back to it."];
    for wide in ["0.8", "1.5", "3", "5"] {
        let content = format!("{wide} Tc\n{}", lines(50, 700, 11, "F1", &sentence));
        let text = texts(&Sample::of(&[&content]).page()).join(" ");
        assert_eq!(text, sentence.join(" "), "{wide}");
    }
    // Signs in columns are no word, even where one of them has a space behind it.
    let mut content = String::new();
    for (at, sign) in (0..).zip(["Y ", "N ", "Y", "N", "Y", "Y", "N", "N", "Y", "N"]) {
        content += &lines(60 + 22 * at, 700, 11, "F1", &[sign]);
    }
    let text = render::text(&Sample::of(&[&content]).page());
    assert_eq!(text.split_whitespace().count(), 10, "{text}");
}

#[test]
fn kerning_parts_no_word_where_spaces_are_drawn() {
    let content = "BT /F1 10 Tf 50 700 Td [(at homogenous ma) -130 (teria) -140 (l level of the) -20 ( ship)] TJ ET";
    assert_eq!(texts(&Sample::of(&[content]).page()), ["at homogenous material level of the ship"]);
    // Without drawn spaces such a gap is one.
    let content = "BT /F1 10 Tf 50 700 Td [(one) -150 (ship) -150 (came) -150 (home)] TJ ET";
    assert_eq!(texts(&Sample::of(&[content]).page()), ["one ship came home"]);
}

#[test]
fn short_words_that_are_drawn_twice_are_there_once() {
    let mut content = String::new();
    let mut x = 50;
    for (word, width) in [("it", 12), ("is", 12), ("an", 16), ("old", 20), ("ship", 24), ("of", 14), ("ours", 26)] {
        let _ = writeln!(content, "BT /F1 11 Tf {x} 700 Td ({word}) Tj 0.5 0 Td ({word}) Tj ET");
        x += width;
    }
    assert_eq!(texts(&Sample::of(&[&content]).page()), ["it is an old ship of ours"]);
    // Letters that stand twice in a word are two letters.
    assert_eq!(texts(&Sample::of(&["BT /F1 11 Tf 50 700 Td (Anna, Otto, 1001) Tj ET"]).page()), ["Anna, Otto, 1001"]);
}

#[test]
fn clauses_that_are_numbered_by_a_point_and_a_figure_are_paragraphs() {
    let clauses =
        [".1 The intent of this section is to count the ships.", ".2 Submit reports to the guard.", ".3 Use form 12."];
    let page = Sample::of(&[&lines(60, 700, 10, "F1", &clauses)]).page();
    assert_eq!(texts(&page), clauses);
}

#[test]
fn text_that_ocr_put_behind_a_picture_is_no_code_whatever_its_font() {
    let form = ["Agency Name: Assembly Press", "Billing Type: Cash", "Order 1475908; revised", "Net Amount: 1,734.00;"];
    let visible = lines(60, 700, 10, "F3", &["int main\\(\\) {", "return 1475908;", "}"]);
    let content = format!("3 Tr\n{}\n0 Tr\n{}", lines(60, 600, 10, "F3", &form), visible);
    let page = Sample::of(&[&content]).page();
    let code = page.blocks.iter().filter(|block| matches!(block.kind, BlockKind::Code { .. })).count();
    let markdown = render::markdown(&page);
    assert_eq!(code, 1, "{markdown}");
    assert!(!markdown.contains("`Agency") && markdown.contains("Agency Name: Assembly Press"), "{markdown}");
}

#[test]
fn asterisks_of_notes_are_no_bullets() {
    let table = ["Dose 250 500 1,000", "Weight 8.8 7.5* 5.3**", "Length 9.0 9.1 8.2*"];
    let notes = ["* Different from the first group by a test of means.", "** The same with another bound."];
    let content = lines(60, 700, 10, "F1", &table) + &lines(60, 600, 10, "F1", &notes);
    let text = render::text(&Sample::of(&[&content]).page());
    assert!(text.contains("* Different") && text.contains("** The same"), "{text}");
    // Without such figures they are points of a list.
    let page =
        Sample::of(&[&lines(60, 600, 10, "F1", &["* First point of the list.", "* Second point of the list."])]).page();
    assert!(page.blocks.iter().all(|block| matches!(block.kind, BlockKind::ListItem { .. })), "{:?}", page.blocks);
}

#[test]
fn columns_go_on_beside_one_of_short_pieces() {
    let left = [
        "The left column of this page tells",
        "how the harbour was built, by whom,",
        "and what it cost them, in years and",
        "in stones, which were brought from",
        "the other shore, for there were none",
        "on this side that were hard enough.",
        "Few of them could write at all when",
        "the work on it was begun in the end.",
    ];
    let mut content = lines(50, 700, 10, "F1", &left);
    // A formula or listing, each line of which is drawn in pieces that stand apart.
    let pieces = ["of the stone", "by hand", "a b c", "and so on"];
    for row in 0..8_usize {
        for (x, part) in [250, 330, 385, 420].into_iter().zip(pieces.iter().cycle().skip(row)) {
            content += &lines(x, 700 - 12 * u32::try_from(row).unwrap(), 10, "F1", &[part]);
        }
    }
    let text = texts(&Sample::of(&[&content]).page()).join(" ");
    let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words} is not in {text}"));
    assert!(place("the work on it was begun") < place("of the stone"), "{text}");
}

#[test]
fn lines_of_a_paragraph_stay_together_on_a_page_with_small_steps() {
    let prose = [
        "Each row of it is a spectrum in the variable that is named above, which is often",
        "the length of a wave, but may be the number of waves or the strength of a field",
        "in which they were measured. Spectra are represented at independent values such",
        "as time or temperature, which are chosen so as to monitor change in a manner that",
        "provides information on the dynamics of the underlying system that was looked at",
        "and on the way in which it was brought out of its balance at the very beginning.",
    ];
    let mut content = String::new();
    for (row, line) in (0..).zip(prose) {
        content += &lines(60, 700 - 15 * row, 10, "F1", &[line]);
    }
    for row in 0..9 {
        content += &lines(250, 590 - 7 * row, 10, "F1", &[". . ."]);
    }
    let page = Sample::of(&[&content]).page();
    assert_eq!(texts(&page)[0], prose.join(" "));
}
