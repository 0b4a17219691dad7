//! Displayed formulas of PDF files are LaTeX; those that are not simple stay text, and the page says so.

#[allow(dead_code, reason = "other tests need more of it")]
mod made_pdf;

use bindery_reader::render;
use made_pdf::{Sample, lines};
use std::fmt::Write as _;

const BEFORE: [&str; 2] = [
    "The number of ships in the harbour is told by the following rule, which was",
    "written down when the bridge was built and has been used since:",
];
const AFTER: [&str; 2] = [
    "where the ships of each year are those that were seen by the guard of the",
    "harbour at noon on the first day of May.",
];

/// Signs of a formula, each at a place and in a size; Greek letters and sums are those of the font Symbol.
fn page(signs: &[(f32, f32, f32, &str)], bars: &[(f32, f32, f32)]) -> Sample {
    let mut content = lines(60, 700, 10, "F1", &BEFORE) + &lines(60, 600, 10, "F1", &AFTER);
    for (x, y, size, text) in signs {
        let (font, text) = text.strip_prefix('$').map_or(("F1", *text), |symbol| ("F9", symbol));
        let _ = writeln!(content, "BT /{font} {size} Tf {x} {y} Td ({text}) Tj ET");
    }
    for (from, to, y) in bars {
        let _ = writeln!(content, "0.5 w {from} {y} m {to} {y} l S");
    }
    let mut sample = Sample::of(&[&content]);
    let resources = "/Resources<</Font<</F1 3 0 R/F9 <</Type/Font/Subtype/Type1/BaseFont/Symbol>>>>>>";
    resources.clone_into(&mut sample.extra);
    sample
}

#[test]
fn fractions_sums_and_powers_are_latex() {
    let signs = [
        (250.0, 650.0, 10.0, "y"),
        (260.0, 650.0, 10.0, "="),
        (275.0, 657.0, 10.0, "a"),
        (282.0, 657.0, 10.0, "+"),
        (289.0, 657.0, 10.0, "b"),
        (282.0, 643.0, 10.0, "c"),
        (303.0, 650.0, 10.0, "+"),
        (314.0, 649.0, 14.0, "$\\345"),
        (314.0, 639.0, 6.0, "i=1"),
        (318.0, 663.0, 6.0, "n"),
        (331.0, 650.0, 10.0, "x"),
        (336.5, 654.0, 6.0, "2"),
        (500.0, 650.0, 10.0, "\\(7\\)"),
    ];
    let page = page(&signs, &[(273.0, 297.0, 653.0)]).page();
    let markdown = render::markdown(&page);
    let formula = "$$y=\\frac{a+b}{c}+\\sum_{i=1}^{n}x^{2} \\tag{7}$$";
    assert!(markdown.contains(&format!("used since:\n\n{formula}\n\nwhere the ships")), "{markdown}");
    assert!(render::text(&page).contains("y=(a+b)/c+∑i=1nx2 (7)"), "{}", render::text(&page));
    assert!(page.warnings.is_empty(), "{:?}", page.warnings);
    assert!(page.words.iter().any(|word| word.text == "(7)"), "its words keep their boxes");
}

#[test]
fn what_is_not_simple_stays_text_and_is_stated() {
    // The brackets of a matrix are made of pieces.
    let signs = [
        (250.0, 650.0, 10.0, "A"),
        (260.0, 650.0, 10.0, "="),
        (270.0, 656.0, 10.0, "$\\346"),
        (270.0, 644.0, 10.0, "$\\350"),
        (280.0, 656.0, 10.0, "$\\141"),
        (280.0, 644.0, 10.0, "$\\142"),
        (290.0, 650.0, 10.0, "$\\243"),
    ];
    let page = page(&signs, &[]).page();
    let markdown = render::markdown(&page);
    assert!(!markdown.contains("$$") && markdown.contains('α') && markdown.contains('β'), "{markdown}");
    assert_eq!(page.warnings, ["formulas that are given as plain text because they are too involved: 1"]);
}

#[test]
fn signs_within_lines_and_in_tables_are_no_formulas() {
    let signs = [
        (60.0, 660.0, 10.0, "Size"),
        (160.0, 660.0, 10.0, "Error"),
        (60.0, 645.0, 10.0, "n = 4"),
        (160.0, 645.0, 10.0, "$\\243"),
        (170.0, 645.0, 10.0, "0.5"),
        (60.0, 630.0, 10.0, "n = 8"),
        (160.0, 630.0, 10.0, "$\\243"),
        (170.0, 630.0, 10.0, "0.2"),
    ];
    let markdown = render::markdown(&page(&signs, &[]).page());
    assert!(!markdown.contains("$$"), "{markdown}");
}

#[test]
fn a_formula_in_one_line_is_latex_by_its_indexes() {
    let signs = [
        (250.0, 650.0, 10.0, "T"),
        (256.0, 647.0, 6.0, "CMB"),
        (276.0, 650.0, 10.0, "="),
        (288.0, 650.0, 10.0, "$\\141"),
        (296.0, 650.0, 10.0, "T"),
        (500.0, 650.0, 10.0, "\\(6\\)"),
    ];
    let markdown = render::markdown(&page(&signs, &[]).page());
    assert!(markdown.contains("=\\alpha T \\tag{6}$$") && markdown.contains("$$T_{"), "{markdown}");
}

#[test]
fn lines_of_formulas_under_each_other_are_formulas_of_their_own() {
    let line = |y: f32, left: &'static str, right: &'static str| {
        [(250.0, y, 10.0, left), (264.0, y, 10.0, "$\\243"), (278.0, y, 10.0, right), (284.0, y - 3.0, 6.0, "n")]
    };
    let signs = [line(654.0, "x", "y"), line(640.0, "z", "w")].concat();
    let markdown = render::markdown(&page(&signs, &[]).page());
    assert!(markdown.contains("$$x\\le y_{n}$$\n\n$$z\\le w_{n}$$"), "{markdown}");
}
