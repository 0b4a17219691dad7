//! What people say about an extraction: fields, cells and rows. Only what they confirm is certain.

mod made_page;

use bindery_fields::{
    DocType, DocTypes,
    extract::{self, DoubtKind, Extraction, Sources, Templates},
};
use bindery_reader::{Attachment, Page, Rect, Size};

fn invoice() -> DocType {
    let shipped = DocTypes::shipped().expect("the shipped types are good");
    shipped.get("invoice").cloned().expect("a shipped type")
}

/// The amount of its second row was misread, and the third row is the foot of the table.
fn invoice_page() -> Page {
    let lines: &[&[(f32, &str)]] = &[
        &[(50.0, "Birch Paper Ltd")],
        &[(50.0, "12 Mill Lane")],
        &[(50.0, "York YO1 7HB")],
        &[],
        &[(50.0, "Bill to"), (350.0, "Invoice No."), (450.0, "INV-2041")],
        &[(50.0, "Harbour Books Ltd"), (350.0, "Invoice date"), (450.0, "13/04/2024")],
        &[(50.0, "9 Castle Street")],
        &[(50.0, "Leeds LS2 8JR")],
        &[],
        &[(50.0, "Description"), (300.0, "Qty"), (380.0, "Unit price"), (490.0, "Amount")],
        &[(50.0, "Envelopes, white"), (300.0, "10"), (380.0, "£4.50"), (490.0, "£45.00")],
        &[(50.0, "Paper A4"), (300.0, "5"), (380.0, "£11.00"), (490.0, "£65.00")],
        &[],
        &[(380.0, "Net total"), (490.0, "£100.00")],
        &[(380.0, "VAT 20%"), (490.0, "£20.00")],
        &[(380.0, "Total"), (490.0, "£120.00")],
        &[(50.0, "Page 0")],
    ];
    made_page::placed(lines, Size { width: 595.0, height: 842.0 }, 14.0)
}

fn read() -> Extraction {
    made_page::read(&invoice(), invoice_page())
}

fn cell<'e>(found: &'e Extraction, row: usize, column: &str) -> Option<&'e str> {
    found.rows["line_items"][row - 1].cells.get(column).map(|cell| cell.normalised.as_str())
}

fn correct(found: &mut Extraction, stated: &[(&str, &str)]) -> Result<(), String> {
    found.correct(&invoice().fields, stated.iter().copied(), "marta").map_err(|error| error.to_string())
}

#[test]
fn a_cell_is_corrected_with_its_checks_and_says_who_entered_it() {
    let mut found = read();
    assert_eq!(found.rows["line_items"].len(), 2, "{:?}", found.rows);
    assert!(found.rows["line_items"][1].doubts.iter().any(|doubt| doubt.text == "5 × 11.00 is not 65.00"));
    assert!(found.checks.iter().any(|check| !check.passed), "{:?}", found.checks);
    correct(&mut found, &[("line_items.2.amount", "£55.00")]).unwrap();
    let amount = &found.rows["line_items"][1].cells["amount"];
    assert_eq!((&*amount.normalised, amount.entered_by.as_deref()), ("55.00", Some("marta")));
    assert_eq!(amount.bbox, None, "the page states another value there");
    assert_eq!(found.rows["line_items"][1].doubts, []);
    assert!(found.checks.iter().all(|check| check.passed), "{:?}", found.checks);
    // What is said again is certain, and stands where it stood.
    correct(&mut found, &[("line_items.1.amount", "45.00")]).unwrap();
    let confirmed = &found.rows["line_items"][0].cells["amount"];
    assert!(confirmed.bbox.is_some() && confirmed.entered_by.is_some(), "{confirmed:?}");
}

#[test]
fn rows_are_added_and_removed_by_the_numbers_that_are_shown() {
    let mut found = read();
    let stated = [
        ("line_items.1", ""),
        ("line_items.2.unit_price", ""),
        ("line_items.1+.description", "String, blue"),
        ("line_items.1+.amount", "10.00"),
        ("line_items.+.description", "Delivery"),
        ("line_items.+.amount", "25.00"),
    ];
    correct(&mut found, &stated).unwrap();
    let rows: Vec<_> = (1..=3).map(|row| (cell(&found, row, "description"), cell(&found, row, "amount"))).collect();
    assert_eq!(
        rows,
        [(Some("String, blue"), Some("10.00")), (Some("Paper A4"), Some("65.00")), (Some("Delivery"), Some("25.00"))]
    );
    assert_eq!(cell(&found, 2, "unit_price"), None);
    assert!(found.checks.iter().all(|check| check.passed), "10 + 65 + 25 = 100: {:?}", found.checks);
}

#[test]
fn a_wrong_cell_is_named_by_row_and_column_and_nothing_is_changed() {
    let mut found = read();
    let before = found.clone();
    for (stated, why) in [
        (
            vec![("number", "7"), ("line_items.2.amount", "much")],
            r#"row 2 of line_items: "much" is not a value of type money for the column "amount""#,
        ),
        (
            vec![("line_items.3.amount", "1.00")],
            "line_items has 2 rows, so there is no row 3; line_items.+ is a new one",
        ),
        (
            vec![("line_items.1.amont", "1.00")],
            r#"row 1 of line_items: there is no column "amont"; the columns are position, item_number, description"#,
        ),
        (vec![("line_items.first.amount", "1.00")], r#""line_items.first.amount" names no row: expected a number"#),
        (vec![("line_items.0.amount", "1.00")], r#""line_items.0.amount" names no row"#),
        (vec![("line_items.1", "1.00")], "line_items.1 is a whole row: name a column, such as line_items.1.position"),
        (vec![("line_items", "[]")], r#"the field "line_items" is a list of rows: name a row and a column"#),
        (vec![("line_items.1", ""), ("line_items.1.amount", "2")], "row 1 of line_items is removed and corrected"),
        (vec![("line_items.+.amount", "")], "the new row of line_items has no values"),
        (vec![("grand_total.1", "1.00")], r#"the document type "invoice" has no field "grand_total.1""#),
    ] {
        let refused = correct(&mut found, &stated).unwrap_err();
        assert!(refused.contains(why), "{refused}");
        assert_eq!(found, before, "{stated:?}");
    }
}

#[test]
fn one_corrected_field_leaves_the_others_as_sure_as_they_were() {
    let mut found = read();
    let others = |found: &Extraction| -> Vec<(String, f32)> {
        let fields = found.fields.iter().filter(|(name, _)| *name != "number");
        fields.map(|(name, value)| (name.clone(), value.confidence)).collect()
    };
    let before = others(&found);
    assert!(before.iter().any(|(_, confidence)| *confidence < 1.0), "{before:?}");
    correct(&mut found, &[("number", "INV-2041")]).unwrap();
    assert_eq!(others(&found), before, "only the number was confirmed");
    assert!(found.confidence < 1.0, "{}", found.confidence);
    let number = &found.fields["number"];
    assert!((number.confidence - 1.0).abs() < f32::EPSILON && number.source.as_deref() == Some("marta"));

    // Accepting confirms all of it, and a later correction does not take that back.
    found.accept(&invoice().fields, "noor");
    assert!((found.confidence - 1.0).abs() < f32::EPSILON && found.needs_review.is_empty(), "{found:?}");
    assert_eq!(found.fields["grand_total"].accepted_by.as_deref(), Some("noor"));
    correct(&mut found, &[("line_items.2.amount", "55.00")]).unwrap();
    assert!((found.confidence - 1.0).abs() < f32::EPSILON, "{}", found.confidence);
}

#[test]
fn a_field_that_the_document_does_not_state_is_taken_away() {
    let invoice = invoice();
    let mut found = made_page::read(&invoice, made_page::page(&[&[(50.0, "Invoice")], &[(50.0, "Total: 12.00 EUR")]]));
    assert!(found.needs_review.iter().any(|reason| reason == "the required field issue_date was not found"));
    correct(&mut found, &[("issue_date", ""), ("grand_total", "")]).unwrap();
    assert!(!found.needs_review.iter().any(|reason| reason.contains("field issue_date")), "{:?}", found.needs_review);
    assert!(!found.fields.contains_key("grand_total"));
    correct(&mut found, &[("issue_date", "2026-03-01")]).unwrap();
    assert!(!found.absent.contains("issue_date") && found.absent.contains("grand_total"));
}

/// An e-invoice that says what is prepaid.
fn prepaid(amount: &str) -> Attachment {
    let text = format!(
        "<?xml version=\"1.0\"?><Invoice xmlns=\"urn:oasis:names:specification:ubl:schema:xsd:Invoice-2\" \
         xmlns:cbc=\"c\" xmlns:cac=\"a\"><cbc:ID>INV-2041</cbc:ID><cac:LegalMonetaryTotal>\
         <cbc:PrepaidAmount>{amount}</cbc:PrepaidAmount></cac:LegalMonetaryTotal></Invoice>"
    );
    Attachment { name: "factur-x.xml".to_owned(), media_type: None, bytes: text.into_bytes() }
}

fn with_einvoice(page: Page, attachment: Attachment) -> Extraction {
    let templates = Templates::default();
    extract::extract(&invoice(), &[page], &Sources { attachments: &[attachment], templates: &templates })
}

#[test]
fn the_evidence_of_zero_is_the_zero_beside_its_label_and_no_digit_elsewhere() {
    for amount in ["0", "0.00"] {
        let found = with_einvoice(invoice_page(), prepaid(amount));
        let value = &found.fields["prepaid"];
        assert_eq!((value.quote.as_deref(), value.bbox), (None, None), "`Page 0` states no amount: {value:?}");
        assert!(value.doubts.iter().all(|doubt| doubt.kind != DoubtKind::NotOnPage), "{value:?}");
    }
    let mut page = invoice_page();
    let more = made_page::placed(
        &[&[(50.0, "Discount"), (200.0, "0.00")], &[(50.0, "Prepaid"), (200.0, "0.00")]],
        Size { width: 595.0, height: 842.0 },
        14.0,
    );
    page.words.extend(more.words.into_iter().map(|mut word| {
        word.bbox = Rect::new(word.bbox.x0, word.bbox.y0 + 400.0, word.bbox.x1, word.bbox.y1 + 400.0);
        word
    }));
    let found = with_einvoice(page, prepaid("0.00"));
    let value = &found.fields["prepaid"];
    assert_eq!(value.bbox.map(|bbox| bbox.y0), Some(424.0), "the second of the two: {value:?}");
}

#[test]
fn a_short_number_is_not_found_inside_a_date() {
    let mut page = invoice_page();
    page.words.retain(|word| word.text != "INV-2041");
    let attachment = prepaid("0");
    let text = String::from_utf8(attachment.bytes).unwrap().replace("INV-2041", "13");
    let found = with_einvoice(page, Attachment { bytes: text.into_bytes(), ..prepaid("0") });
    assert_eq!(found.fields["number"].quote, None, "{:?}", found.fields["number"]);
}
