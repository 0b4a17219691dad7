//! Faults that twenty papers of each kind showed with their evidence drawn, each shown by a paper of our own.

mod made_page;

use bindery_fields::{
    DocType, DocTypes,
    classify::Classifier,
    extract::{DoubtKind, Extraction},
};
use bindery_reader::{
    Block, Page, Rect, Size,
    model::{BlockKind, Cell, Inlines, Table},
};
use made_page::{placed, read};
use std::sync::LazyLock;

static SHIPPED: LazyLock<DocTypes> = LazyLock::new(|| DocTypes::shipped().expect("the shipped types are good"));

const A4: Size = Size { width: 595.0, height: 842.0 };

type Lines<'l> = &'l [&'l [(f32, &'l str)]];

fn shipped(name: &str, lines: Lines<'_>) -> Extraction {
    read(SHIPPED.get(name).expect("a shipped type"), placed(lines, A4, 14.0))
}

fn own_type(yaml: &str) -> DocType {
    DocType::parse(yaml, "own.yaml").expect("a good type")
}

fn value<'e>(found: &'e Extraction, field: &str) -> Option<&'e str> {
    found.fields.get(field).map(|value| value.normalised.as_str())
}

fn cells<'e>(found: &'e Extraction, column: &str) -> Vec<&'e str> {
    let rows = found.rows.get("line_items").map_or(&[][..], Vec::as_slice);
    rows.iter().map(|row| row.cells.get(column).map_or("", |cell| cell.normalised.as_str())).collect()
}

/// A page with a table as readers give it, its cells where the words stand.
fn with_table(mut page: Page, rows: &[&[&str]]) -> Page {
    let texts = rows.iter().map(|row| row.iter().map(|text| Inlines::plain(*text)).collect()).collect();
    page.blocks.push(Block::body(BlockKind::Table { table: Table::from_rows(texts, 1) }));
    page
}

/// Descriptions of several lines in the middle of their cell begin above the numbers of their row and end below them.
#[test]
fn rows_come_from_the_readers_table_where_lines_mix_them_up() {
    let lines: Lines<'_> = &[
        &[(20.0, "Description"), (250.0, "Quantity"), (350.0, "Unit price"), (450.0, "Amount")],
        &[(20.0, "Oak shelf with")],
        &[(250.0, "2"), (350.0, "120.00"), (450.0, "240.00")],
        &[(20.0, "two brackets")],
        &[(20.0, "Fitting on site")],
        &[(250.0, "1"), (350.0, "160.00"), (450.0, "160.00")],
        &[(20.0, "in one day")],
        &[(350.0, "Total"), (450.0, "400.00")],
    ];
    let table: &[&[&str]] = &[
        &["Description", "Quantity", "Unit price", "Amount"],
        &["Oak shelf with two brackets", "2", "120.00", "240.00"],
        &["Fitting on site in one day", "1", "160.00", "160.00"],
        &["", "", "Total", "400.00"],
    ];
    let invoice = SHIPPED.get("invoice").expect("a shipped type");
    let found = read(invoice, with_table(placed(lines, A4, 14.0), table));
    assert_eq!(cells(&found, "description"), ["Oak shelf with two brackets", "Fitting on site in one day"]);
    assert_eq!(cells(&found, "amount"), ["240.00", "160.00"]);
}

#[test]
fn columns_of_a_table_that_no_type_knows_are_given_by_content_or_kept_under_their_heading() {
    let mut page = Page::converted(1);
    page.blocks.push(Block::body(BlockKind::Paragraph { text: Inlines::plain("Invoice number: 2026-17") }));
    let table: &[&[&str]] = &[
        &["Description", "Qty", "Each", "Extended", "Eco fee"],
        &["Paper A4", "10", "4.00", "40.00", "0.35"],
        &["Ink black", "2", "30.00", "60.00", "0.20"],
        &["Total Qty", "12", "", "100.00", ""],
    ];
    let found = read(SHIPPED.get("invoice").expect("a shipped type"), with_table(page, table));
    assert_eq!(cells(&found, "amount"), ["40.00", "60.00"], "{:?}", found.rows);
    assert_eq!(cells(&found, "unit_price"), ["4.00", "30.00"]);
    assert_eq!(cells(&found, "Eco fee"), ["0.35", "0.20"]);
    assert!(found.doubts.iter().any(|doubt| doubt.kind == DoubtKind::LeftOverColumn), "{:?}", found.doubts);
}

/// The evidence of a cell is its words, not the whole cell.
#[test]
fn the_place_of_a_table_cell_is_that_of_its_words() {
    let lines: Lines<'_> = &[
        &[(20.0, "Description"), (250.0, "Quantity"), (350.0, "Unit price"), (450.0, "Amount")],
        &[(20.0, "Oak shelf"), (250.0, "2"), (350.0, "120.00"), (450.0, "240.00")],
    ];
    let page = placed(lines, A4, 14.0);
    let texts = [["Description", "Quantity", "Unit price", "Amount"], ["Oak shelf", "2", "120.00", "240.00"]];
    let mut table = Table { rows: 2, columns: 4, cells: Vec::new(), header_rows: 1 };
    for (row, texts) in texts.iter().enumerate() {
        for (column, text) in texts.iter().enumerate() {
            let left = [10.0, 240.0, 340.0, 440.0][column];
            let top = 8.0 + 14.0 * row as f32;
            let bbox = Some(Rect::new(left, top, left + 90.0, top + 14.0));
            table.cells.push(Cell { bbox, ..Cell::at(row, column, Inlines::plain(*text)) });
        }
    }
    let mut page = page;
    page.blocks.push(Block::body(BlockKind::Table { table }));
    let found = read(SHIPPED.get("invoice").expect("a shipped type"), page);
    let amount = &found.rows["line_items"][0].cells["amount"];
    assert_eq!(amount.bbox, Some(Rect::new(450.0, 24.0, 480.0, 34.0)));
}

/// What was paid before stands in a table of payments, below a heading that names no field.
#[test]
fn what_the_total_and_the_amount_due_differ_by_was_paid_before() {
    let lines = |paid: &'static str| -> Vec<Vec<(f32, &'static str)>> {
        vec![
            vec![(20.0, "Birch Paper Ltd")],
            vec![(20.0, "Invoice number: 7310")],
            vec![(20.0, "Invoice date: 5 March 2018")],
            vec![(20.0, "Wire transfer"), (150.0, "1 March 2018"), (300.0, paid)],
            vec![(20.0, "Grand total"), (300.0, "£120.00")],
            vec![(20.0, "Amount due"), (300.0, "£95.00")],
        ]
    };
    let read = |paid| {
        let lines = lines(paid);
        let lines: Vec<&[(f32, &str)]> = lines.iter().map(Vec::as_slice).collect();
        shipped("invoice", &lines)
    };
    let found = read("£25.00");
    assert_eq!((value(&found, "prepaid"), value(&found, "amount_due")), (Some("25.00"), Some("95.00")));
    assert!(found.checks.iter().all(|check| check.passed), "{:?}", found.checks);
    assert!(found.fields["prepaid"].because[0].contains("differ by"), "{:?}", found.fields["prepaid"].because);
    let wrong = read("£24.00");
    assert!(!wrong.needs_review.is_empty(), "another amount explains nothing");
}

#[test]
fn a_vat_id_is_no_account_number() {
    let found = shipped(
        "invoice",
        &[
            &[(20.0, "Moulin de Test SARL")],
            &[(20.0, "TVA : FR11999999998 - SIRET : 99999999800010")],
            &[(20.0, "Facture n° AV-2017-0005")],
            &[(20.0, "Total TTC"), (300.0, "120,00 €")],
        ],
    );
    assert_eq!(value(&found, "iban"), None);
    assert!(found.checks.iter().all(|check| !check.check.contains("iban")), "{:?}", found.checks);
}

const BUY: &str = "name: buy\nfields:\n  advertiser: {type: string, required: true, labels: [advertiser, advertiser name]}\n  agency: {type: string, labels: [agency]}\n";

#[test]
fn a_label_may_stand_in_two_runs_the_heading_of_a_part_and_a_name() {
    let found = read(
        &own_type(BUY),
        placed(
            &[
                &[(20.0, "Agency"), (120.0, "Name:"), (220.0, "Quay Media")],
                &[(120.0, "Contact:"), (220.0, "Ann Demo")],
                &[(20.0, "Advertiser"), (120.0, "Name:"), (220.0, "Birch For Mayor")],
                &[(120.0, "Codes:"), (220.0, "POL")],
            ],
            A4,
            24.0,
        ),
    );
    assert_eq!(value(&found, "advertiser"), Some("Birch For Mayor"), "{:?}", found.fields);
}

#[test]
fn a_text_goes_on_where_the_column_of_labels_is_empty() {
    let lines = |next: (f32, &'static str)| -> Vec<Vec<(f32, &'static str)>> {
        vec![
            vec![(20.0, "Advertiser:"), (100.0, "Birch for Congress")],
            vec![next],
            vec![(20.0, "Agency:"), (100.0, "Quay Media")],
        ]
    };
    let read_with = |next| {
        let lines = lines(next);
        let lines: Vec<&[(f32, &str)]> = lines.iter().map(Vec::as_slice).collect();
        let found = read(&own_type(BUY), placed(&lines, A4, 13.0));
        (value(&found, "advertiser").unwrap_or_default().to_owned(), found.fields["advertiser"].bbox)
    };
    let (text, bbox) = read_with((100.0, "Second District"));
    assert_eq!(text, "Birch for Congress Second District");
    assert_eq!(bbox.map(|bbox| (bbox.y0, bbox.y1)), Some((10.0, 33.0)));
    assert_eq!(read_with((100.0, "12 Mill Lane")).0, "Birch for Congress", "a street is no name");
    assert_eq!(read_with((300.0, "Second District")).0, "Birch for Congress", "another column");
}

#[test]
fn words_below_a_label_that_has_words_beside_it_are_doubted() {
    let lines: Lines<'_> = &[
        &[(20.0, "Advertiser"), (75.0, "Poll"), (99.0, "for Senate")],
        &[(20.0, "Order Brand")],
        &[(20.0, "Agency"), (75.0, "Quay Media")],
    ];
    let found = read(&own_type(BUY), placed(lines, A4, 13.0));
    let own = &found.fields["advertiser"];
    let is_doubted = own.doubts.iter().any(|doubt| doubt.kind == DoubtKind::Ambiguous);
    assert!(own.normalised.starts_with("Poll") || is_doubted, "{own:?}");
}

#[test]
fn a_grid_of_labels_above_their_values_is_not_doubted() {
    let lines: Lines<'_> =
        &[&[(20.0, "Advertiser"), (200.0, "Original Date")], &[(20.0, "Birch For Mayor"), (200.0, "02/07/20")]];
    let found = read(&own_type(BUY), placed(lines, A4, 13.0));
    let own = &found.fields["advertiser"];
    assert_eq!(own.normalised, "Birch For Mayor");
    assert!(own.doubts.iter().all(|doubt| doubt.kind != DoubtKind::Ambiguous), "{own:?}");
}

#[test]
fn a_letter_that_is_a_contract_has_its_day_at_its_head() {
    let found = shipped(
        "contract",
        &[
            &[(250.0, "March 17, 2010")],
            &[(20.0, "Harbour Systems, Inc.")],
            &[(20.0, "27 Quay Avenue")],
            &[(20.0, "Ladies and Gentlemen:")],
            &[(20.0, "In connection with a possible transaction with Birch Technologies, Inc. (the “Company”), you")],
            &[(20.0, "have requested information. You agree to hold it in confidence.")],
        ],
    );
    let date = &found.fields["date"];
    assert_eq!(date.normalised, "2010-03-17");
    assert!(date.confidence >= 0.75, "{date:?}");
}

#[test]
fn parties_in_two_blocks_below_their_heading_are_read_without_their_roles() {
    let found = shipped(
        "contract",
        &[
            &[(200.0, "MUTUAL NONDISCLOSURE AGREEMENT")],
            &[(20.0, "EFFECTIVE DATE: August 3, 2004")],
            &[(20.0, "PARTIES:")],
            &[(60.0, "Harbour Systems, Inc (the “Company”)")],
            &[(60.0, "27 Quay Avenue")],
            &[(60.0, "Birch Technologies, Inc. (“Birch”)")],
            &[(60.0, "407 Mill Lane")],
            &[(20.0, "RECITALS:")],
            &[(20.0, "The Company and Birch are commencing discussions regarding a transaction.")],
        ],
    );
    assert_eq!(value(&found, "party_a"), Some("Harbour Systems, Inc"));
    assert_eq!(value(&found, "party_b"), Some("Birch Technologies, Inc."));
}

/// A slip that calls itself a tax invoice and was paid by card: its width says what it is, whatever the size of the scan.
#[test]
fn a_page_as_wide_as_a_till_roll_is_a_receipt_at_any_size() {
    let lines: Lines<'_> = &[
        &[(40.0, "GREEN HILL TRADING SDN BHD")],
        &[(40.0, "44300 BATANG KALI SELANGOR")],
        &[(60.0, "TAX INVOICE")],
        &[(10.0, "Invoice no: 7310")],
        &[(10.0, "Date: 21/03/2018")],
        &[(10.0, "RICE FIVE KILOGRAMS"), (180.0, "20.00")],
        &[(10.0, "GREEN TEA"), (180.0, "5.00")],
        &[(10.0, "COCONUT MILK"), (180.0, "7.00")],
        &[(10.0, "Total Sales (Inclusive GST)"), (180.0, "32.00")],
        &[(10.0, "Thank you please come again")],
    ];
    let classifier = Classifier::new(&SHIPPED);
    for scale in [1.0, 3.0] {
        let mut page = placed(lines, A4, 14.0);
        for word in &mut page.words {
            let own = word.bbox;
            word.bbox = Rect::new(own.x0 * scale, own.y0 * scale, own.x1 * scale, own.y1 * scale);
        }
        let class = classifier.classify(&page);
        assert_eq!(&*class.doctype, "receipt", "{scale}: {class:?}");
    }
}

/// Who signs and is named as no party may be one.
#[test]
fn a_company_that_signs_and_is_no_party_is_a_doubt() {
    let contract = |third: &'static str| {
        let lines: Vec<Vec<(f32, &str)>> = vec![
            vec![(200.0, "SERVICE AGREEMENT")],
            vec![(20.0, "This Agreement is made this 1st day of February, 2011, by and between Birch Paper, Inc. and")],
            vec![(20.0, "Harbour Books Ltd., a company of York.")],
            vec![(20.0, "BIRCH PAPER, INC."), (300.0, third)],
            vec![(20.0, "By: ____________"), (300.0, "By: ____________")],
        ];
        let lines: Vec<&[(f32, &str)]> = lines.iter().map(Vec::as_slice).collect();
        shipped("contract", &lines)
    };
    let signs = |found: &Extraction| found.needs_review.iter().any(|reason| reason.contains("signs, too"));
    assert!(signs(&contract("QUAY MILLS, LLC")));
    assert!(!signs(&contract("HARBOUR BOOKS LTD.")));
}

#[test]
fn two_days_that_could_be_the_day_of_a_slip_are_doubted_or_told_apart() {
    let found = shipped(
        "receipt",
        &[
            &[(120.0, "GREEN HILL TRADING SDN BHD")],
            &[(20.0, "21/03/2018 10:12")],
            &[(20.0, "RICE"), (330.0, "20.00")],
            &[(20.0, "TOTAL"), (330.0, "20.00")],
            &[(20.0, "CASH"), (330.0, "50.00")],
            &[(20.0, "CHANGE"), (330.0, "30.00")],
            &[(20.0, "22/03/2018 11:40")],
        ],
    );
    let date = &found.fields["date"];
    let is_doubted = date.doubts.iter().any(|doubt| doubt.kind == DoubtKind::Ambiguous);
    assert!(is_doubted || date.confidence < 0.75 || date.normalised == "2018-03-21", "{date:?}");
}
