//! Forms, drawings, headings of several rows and what else lines alone do not tell.

use super::Page;
use crate::model::Rect;

/// A grid of lines; text is put into it by the test.
fn grid(page: &mut Page, across: &[f32], down: &[f32]) {
    let ends =
        |lines: &[f32]| (lines.iter().copied().fold(f32::MAX, f32::min), lines.iter().copied().fold(0.0, f32::max));
    let ((top, bottom), (left, right)) = (ends(across), ends(down));
    for y in across {
        page.across(*y, left, right);
    }
    for x in down {
        page.down(*x, top, bottom);
    }
}

#[test]
fn rows_of_a_form_need_no_lines_between_them() {
    let mut page = Page::default();
    page.row(103.0, &[(105.0, "Field"), (255.0, "Value")]);
    for (at, (name, value)) in
        [("Name", "Ann Miller"), ("Street", "Elm Street 4"), ("City", "Springfield"), ("Phone", "555 0199")]
            .into_iter()
            .enumerate()
    {
        page.row(123.0 + 14.0 * f32::from(u8::try_from(at).unwrap_or_default()), &[(105.0, name), (255.0, value)]);
    }
    page.row(193.0, &[(105.0, "Sum"), (255.0, "all")]);
    grid(&mut page, &[100.0, 120.0, 190.0, 210.0], &[100.0, 250.0, 400.0]);
    assert_eq!(
        page.table(),
        [
            "Field | Value",
            "Name | Ann Miller",
            "Street | Elm Street 4",
            "City | Springfield",
            "Phone | 555 0199",
            "Sum | all"
        ]
    );
}

#[test]
fn wrapped_text_stays_in_its_cell() {
    let mut page = Page::default();
    page.row(103.0, &[(105.0, "Question"), (255.0, "Answer")]);
    let left = ["which of the answers that", "were given by all of the", "people who came is right"];
    let right = ["nobody could tell this to", "anybody else in the whole", "town until the very last"];
    for (at, (left, right)) in left.into_iter().zip(right).enumerate() {
        let y = 123.0 + 12.0 * f32::from(u8::try_from(at).unwrap_or_default());
        page.row(y, &[(105.0, left), (255.0, right)]);
    }
    page.row(173.0, &[(105.0, "Why"), (255.0, "because")]);
    grid(&mut page, &[100.0, 120.0, 165.0, 190.0], &[100.0, 250.0, 400.0]);
    let found = page.table();
    assert_eq!(found.len(), 3);
    assert_eq!(found[1], format!("{} | {}", left.join(" "), right.join(" ")));
}

#[test]
fn lines_of_a_cell_stay_apart_beside_a_cell_with_other_heights() {
    let mut page = Page::default();
    page.row(103.0, &[(105.0, "From"), (255.0, "To")]);
    page.row(123.0, &[(105.0, "Ann Miller")]).row(134.0, &[(105.0, "Elm Street")]);
    page.row(128.5, &[(255.0, "Bob Brown")]).row(139.5, &[(255.0, "Oak Road")]);
    page.row(163.0, &[(105.0, "here"), (255.0, "there")]);
    grid(&mut page, &[100.0, 120.0, 160.0, 180.0], &[100.0, 250.0, 400.0]);
    assert_eq!(page.table()[1], "Ann Miller Elm Street | Bob Brown Oak Road");
}

#[test]
fn headings_may_take_several_rows() {
    let mut page = Page::default();
    page.row(103.0, &[(105.0, "Region"), (240.0, "Sales")]);
    page.row(123.0, &[(205.0, "first"), (305.0, "second")]);
    page.row(143.0, &[(105.0, "North"), (205.0, "12"), (305.0, "13")]);
    page.row(163.0, &[(105.0, "South"), (205.0, "14"), (305.0, "15")]);
    for y in [100.0, 140.0, 160.0, 180.0] {
        page.across(y, 100.0, 400.0);
    }
    page.across(120.0, 200.0, 400.0);
    for x in [100.0, 200.0, 400.0] {
        page.down(x, 100.0, 180.0);
    }
    page.down(300.0, 120.0, 180.0);
    assert_eq!(page.tables()[0].table.header_rows, 2);
}

#[test]
fn shapes_across_rows_make_a_drawing_and_signs_in_cells_do_not() {
    let mut page = Page::default();
    for at in 0..4_u8 {
        page.row(103.0 + 20.0 * f32::from(at), &[(105.0, "box"), (255.0, "arrow")]);
    }
    grid(&mut page, &[100.0, 120.0, 140.0, 160.0, 180.0], &[100.0, 250.0, 400.0]);
    for at in 0..4_u8 {
        let y = 102.0 + 20.0 * f32::from(at);
        page.drawings.push(Rect::new(300.0, y, 316.0, y + 16.0));
    }
    assert_eq!(page.tables().len(), 1);
    page.drawings = vec![
        Rect::new(110.0, 105.0, 390.0, 150.0),
        Rect::new(120.0, 130.0, 300.0, 175.0),
        Rect::new(150.0, 110.0, 380.0, 160.0),
    ];
    page.drawings.iter_mut().for_each(|shape| shape.x1 = shape.x1.min(330.0));
    assert_eq!(page.tables(), []);
}

#[test]
fn cells_from_right_to_left_are_read_so() {
    let mut page = Page::default();
    for at in 0..3_u8 {
        page.row(103.0 + 20.0 * f32::from(at), &[(105.0, "שלום עולם"), (255.0, "א ב")]);
    }
    grid(&mut page, &[100.0, 120.0, 140.0, 160.0], &[100.0, 250.0, 400.0]);
    // The words stand from left to right on the page, and the first to be read is the rightmost.
    assert_eq!(page.table()[0], "עולם שלום | ב א");
}
