//! Kinds of faults that were seen on papers of the world, each shown by a paper of our own.

mod made_page;

use bindery_fields::{
    DocType, DocTypes,
    classify::{Classifier, PageClass, group},
    extract::{DoubtKind, Extraction},
};
use bindery_reader::{Block, Page, Size, model::BlockKind, model::Inlines};
use made_page::{page, placed, read};
use std::sync::LazyLock;

static SHIPPED: LazyLock<DocTypes> = LazyLock::new(|| DocTypes::shipped().expect("the shipped types are good"));

const A4: Size = Size { width: 595.0, height: 842.0 };
/// As `workflows/documents.yaml` ships it.
const THRESHOLD: f32 = 0.75;

type Lines<'l> = &'l [&'l [(f32, &'l str)]];

fn shipped(name: &str, lines: Lines<'_>) -> Extraction {
    read(SHIPPED.get(name).expect("a shipped type"), placed(lines, A4, 16.0))
}

fn own_type(yaml: &str) -> DocType {
    DocType::parse(yaml, "own.yaml").expect("a good type")
}

fn value<'e>(found: &'e Extraction, field: &str) -> Option<&'e str> {
    found.fields.get(field).map(|value| value.normalised.as_str())
}

fn passes(found: &Extraction) -> bool {
    found.needs_review.is_empty() && found.confidence >= THRESHOLD
}

/// The same page with its lines as paragraphs, too, as readers give it.
fn with_blocks(lines: Lines<'_>, mut page: Page) -> Page {
    for line in lines {
        let text = line.iter().map(|(_, text)| *text).collect::<Vec<_>>().join(" ");
        page.blocks.push(Block::body(BlockKind::Paragraph { text: Inlines::plain(text) }));
    }
    page
}

/// Tills of many countries print "tax invoice" over their slips: the money given and the change tell.
#[test]
fn a_slip_that_calls_itself_a_tax_invoice_is_a_receipt() {
    let lines: Lines<'_> = &[
        &[(110.0, "GREEN HILL TRADING SDN BHD")],
        &[(120.0, "TAX INVOICE")],
        &[(10.0, "21/03/2018 10:12:45")],
        &[(10.0, "RICE"), (330.0, "20.00")],
        &[(10.0, "TEA"), (330.0, "5.02")],
        &[(10.0, "Rounding adj"), (330.0, "-0.02")],
        &[(10.0, "TOTAL"), (330.0, "25.00")],
        &[(10.0, "CASH"), (330.0, "50.00")],
        &[(10.0, "CHANGE"), (330.0, "25.00")],
    ];
    let classifier = Classifier::new(&SHIPPED);
    let class = classifier.classify(&with_blocks(lines, page(lines)));
    assert_eq!(&*class.doctype, "receipt", "{class:?}");
    let due: Lines<'_> = &[
        &[(50.0, "GREEN HILL TRADING SDN BHD")],
        &[(50.0, "TAX INVOICE")],
        &[(50.0, "Invoice no: 7310")],
        &[(50.0, "Invoice date: 21/03/2018")],
        &[(50.0, "RICE"), (330.0, "20.00")],
        &[(50.0, "Amount due"), (330.0, "20.00")],
        &[(50.0, "Payable within 30 days")],
    ];
    let class = classifier.classify(&with_blocks(due, placed(due, A4, 16.0)));
    assert_eq!(&*class.doctype, "invoice", "{class:?}");
}

#[test]
fn a_contract_goes_on_over_its_signatures_and_annexes() {
    let texts: [Lines<'_>; 3] = [
        &[
            &[(50.0, "CONFIDENTIALITY AGREEMENT")],
            &[(50.0, "This Agreement is made by and between Birch Paper, Inc. (the “Company”) and Harbour Ltd.")],
            &[(50.0, "WHEREAS the parties hereto wish to disclose confidential information, neither party")],
            &[(50.0, "shall hereinafter disclose it. This Agreement shall be governed by the law of Kiel.")],
        ],
        &[
            &[(50.0, "IN WITNESS WHEREOF, the parties have executed this Agreement.")],
            &[(50.0, "BIRCH PAPER, INC."), (300.0, "HARBOUR LTD.")],
            &[(50.0, "By:")],
            &[(50.0, "Name:")],
            &[(50.0, "Title:")],
            &[(50.0, "Date:")],
        ],
        &[&[(250.0, "EXHIBIT A")], &[(200.0, "LIST OF PRIOR WORKS")], &[(50.0, "None")]],
    ];
    let classifier = Classifier::new(&SHIPPED);
    let page_of =
        |(index, lines): (usize, &Lines<'_>)| Page { number: index + 1, ..with_blocks(lines, placed(lines, A4, 16.0)) };
    let pages: Vec<Page> = texts.iter().enumerate().map(page_of).collect();
    let classes: Vec<PageClass> = pages.iter().map(|page| classifier.classify(page)).collect();
    let documents = group(&pages.iter().zip(&classes).collect::<Vec<_>>());
    let spans: Vec<&[usize]> = documents.iter().map(|document| document.pages.as_slice()).collect();
    assert_eq!(spans, [&[1, 2, 3][..]], "{documents:?}");
    assert_eq!(&*documents[0].doctype, "contract");
}

#[test]
fn a_name_at_the_head_of_a_contract_is_no_party_without_a_word_that_says_so() {
    let found = shipped(
        "contract",
        &[
            &[(50.0, "Quay Law Forms LLC")],
            &[(50.0, "12 Harbour Road")],
            &[(50.0, "Portland, OR 97070")],
            &[(50.0, "AGREEMENT dated March 17, 2020")],
            &[(50.0, "It is agreed that goods are handed over on the first day of the month.")],
        ],
    );
    assert!(!passes(&found), "{:?}", found.fields);
    let sure = found.fields.get("party_a").map_or(0.0, |party| party.confidence);
    assert!(sure < THRESHOLD, "{:?}", found.fields["party_a"]);
}

#[test]
fn a_sentence_that_names_a_label_is_no_title() {
    let found = shipped(
        "contract",
        &[
            &[
                (50.0, "This is an agreement"),
                (180.0, "that the other information disclosed, as set forth below, will be"),
            ],
            &[
                (50.0, "kept as the subject"),
                (180.0, "of every other agreement between the two parties has always been."),
            ],
        ],
    );
    let title = value(&found, "title");
    assert!(title.is_none_or(|title| title.split(' ').count() <= 12), "{title:?}");
}

/// What is printed below the list has headings of amounts, too.
#[test]
fn a_summary_below_the_items_brings_no_rows() {
    let found = shipped(
        "invoice",
        &[
            &[(20.0, "Description"), (250.0, "Quantity"), (350.0, "Unit price"), (450.0, "Amount")],
            &[(20.0, "Paper A4"), (250.0, "10"), (350.0, "4.00"), (450.0, "40.00")],
            &[(20.0, "Ink black"), (250.0, "2"), (350.0, "30.00"), (450.0, "60.00")],
            &[(20.0, "Thank you for your order.")],
            &[(20.0, "Description"), (250.0, "VAT %"), (450.0, "Amount")],
            &[(20.0, "Standard"), (250.0, "20"), (450.0, "120.00")],
        ],
    );
    let amounts: Vec<&str> =
        found.rows["line_items"].iter().filter_map(|row| Some(row.cells.get("amount")?.normalised.as_str())).collect();
    assert_eq!(amounts, ["40.00", "60.00"]);
}

#[test]
fn what_counts_the_items_is_no_item() {
    let found = shipped(
        "receipt",
        &[
            &[(120.0, "GREEN HILL TRADING SDN BHD")],
            &[(20.0, "Date: 21/03/2018")],
            &[(20.0, "Item"), (150.0, "Qty"), (250.0, "Price"), (350.0, "Amount")],
            &[(20.0, "SPRAY PAINT"), (150.0, "1"), (250.0, "7.42"), (350.0, "7.42")],
            &[(20.0, "Total Qty:"), (150.0, "1"), (350.0, "7.42")],
            &[(20.0, "Total"), (350.0, "7.42")],
            &[(20.0, "CASH"), (350.0, "10.00")],
            &[(20.0, "CHANGE"), (350.0, "2.58")],
        ],
    );
    assert_eq!(found.rows["line_items"].len(), 1, "{:?}", found.rows);
    assert!(found.needs_review.iter().all(|reason| !reason.contains("line_items")), "{:?}", found.needs_review);
}

#[test]
fn a_bound_behind_a_sign_is_no_amount() {
    let own = own_type("name: bill\nfields:\n  charges: {type: money, labels: [delivery, charges]}\n");
    assert_eq!(value(&read(&own, page(&[&[(10.0, "Free delivery (orders > 300.00 EUR)")]])), "charges"), None);
    assert_eq!(value(&read(&own, page(&[&[(10.0, "Delivery: 300.00 EUR")]])), "charges"), Some("300.00"));
}

#[test]
fn words_of_prose_behind_a_label_hold_up_no_receipt() {
    let found = shipped(
        "receipt",
        &[
            &[(120.0, "GREEN HILL TRADING SDN BHD")],
            &[(120.0, "NO 49, JALAN MAHAGONI 7/2,")],
            &[(120.0, "44300 BATANG KALI, SELANGOR")],
            &[(20.0, "Date: 21/03/2018"), (200.0, "10:12")],
            &[(20.0, "TEA"), (350.0, "25.00")],
            &[(20.0, "Total"), (350.0, "25.00")],
            &[(20.0, "CASH"), (350.0, "50.00")],
            &[(20.0, "CHANGE"), (350.0, "25.00")],
            &[(20.0, "CLAIMS FOR PAYMENT SHALL BE MADE WITHIN 3 MONTHS FROM THE DATE")],
        ],
    );
    assert!(found.needs_review.iter().all(|reason| !reason.contains("payment_method")), "{:?}", found.needs_review);
    assert_eq!(value(&found, "payer"), None, "a branch or a street is nobody who pays");
}

#[test]
fn slashes_that_ocr_took_for_letters_are_read_and_doubted() {
    let own = own_type("name: buy\nfields:\n  flight: {type: date, required: true, labels: [Flight date]}\n");
    for print in ["04t27t20", "04l27l20", "04/27t20"] {
        let found = read(&own, page(&[&[(10.0, "Flight date"), (90.0, print)], &[(10.0, "Made 12/31/2019")]]));
        assert_eq!(value(&found, "flight"), Some("2020-04-27"), "{print}");
        assert!(!passes(&found), "{print}: {:?}", found.fields["flight"]);
    }
    assert_eq!(value(&read(&own, page(&[&[(10.0, "Flight date"), (90.0, "0412712020")]])), "flight"), None);
}

/// Forms print two labels with their values so close together that they are one run of words.
#[test]
fn two_spans_in_one_run_of_words_are_told_apart() {
    let own = own_type(
        "name: buy\nfields:\n  from: {type: date, span: start, labels: [flight dates, period], never: [invoice period]}\n  to: {type: date, span: end, labels: [flight dates, period], never: [invoice period]}\n",
    );
    let found = read(
        &own,
        placed(
            &[
                &[(20.0, "Invoice Date"), (120.0, "05/19/20")],
                &[(20.0, "Invoice Period 04/27/20 - 04/30/20 Flight Dates 04/24/20 - 05/03/20")],
            ],
            A4,
            16.0,
        ),
    );
    assert_eq!((value(&found, "from"), value(&found, "to")), (Some("2020-04-24"), Some("2020-05-03")), "{found:?}");
}

#[test]
fn a_number_that_is_printed_with_a_revision_elsewhere_is_doubted() {
    let own = own_type(
        "name: buy\nfields:\n  number: {type: string, required: true, pattern: '\\d+(?:-\\d+)?', labels: [order number]}\n",
    );
    let found =
        read(&own, page(&[&[(10.0, "Order number"), (120.0, "2516768")], &[(10.0, "Ref"), (120.0, "2516768-1")]]));
    let number = &found.fields["number"];
    assert!(number.doubts.iter().any(|doubt| doubt.kind == DoubtKind::Ambiguous), "{number:?}");
    let other = read(&own, page(&[&[(10.0, "Order number"), (120.0, "2516768")], &[(10.0, "Ref"), (120.0, "99-1")]]));
    assert!(passes(&other), "{other:?}");
}

#[test]
fn what_is_due_is_checked_against_the_total() {
    let lines = |due: &'static str| -> Vec<Vec<(f32, &'static str)>> {
        vec![
            vec![(20.0, "Birch Paper Ltd")],
            vec![(20.0, "Invoice number: 7310")],
            vec![(20.0, "Invoice date: 5 March 2018")],
            vec![(20.0, "Grand total"), (300.0, "£120.00")],
            vec![(20.0, "Amount due"), (300.0, due)],
        ]
    };
    let read = |due| {
        let lines = lines(due);
        let lines: Vec<&[(f32, &str)]> = lines.iter().map(Vec::as_slice).collect();
        shipped("invoice", &lines)
    };
    assert!(read("£120.00").checks.iter().all(|check| check.passed));
    let wrong = read("£95.00");
    assert!(wrong.checks.iter().any(|check| !check.passed), "{:?}", wrong.checks);
    assert!(!wrong.needs_review.is_empty());
}

#[test]
fn signs_of_currencies_that_are_no_codes_are_known() {
    let bill = own_type("name: bill\nfields:\n  currency: {type: currency, labels: [Currency]}\n");
    for (print, code) in [("RM 12.50", "MYR"), ("12,50 zł", "PLN"), ("12,50 Kč", "CZK"), ("Rs 1250.00", "INR")] {
        let found = read(&bill, page(&[&[(10.0, "Sum"), (90.0, print)]]));
        assert_eq!(value(&found, "currency"), Some(code), "{print}");
    }
}

#[test]
fn a_thousand_rows_are_all_read() {
    let items: Vec<String> = (0..1000).map(|index| format!("Item {index}")).collect();
    let mut lines: Vec<Vec<(f32, &str)>> =
        vec![vec![(20.0, "Description"), (250.0, "Quantity"), (350.0, "Unit price"), (450.0, "Amount")]];
    lines.extend(items.iter().map(|item| vec![(20.0, item.as_str()), (250.0, "2"), (350.0, "4.00"), (450.0, "8.00")]));
    let lines: Vec<&[(f32, &str)]> = lines.iter().map(Vec::as_slice).collect();
    let size = Size { width: 595.0, height: 20_000.0 };
    let found = read(SHIPPED.get("invoice").expect("a shipped type"), placed(&lines, size, 16.0));
    assert_eq!(found.rows["line_items"].len(), 1000);
}

#[test]
fn two_languages_on_one_page_are_both_read() {
    let found = shipped(
        "invoice",
        &[
            &[(20.0, "Birch Paper GmbH")],
            &[(20.0, "Rechnungsnummer / Invoice number"), (300.0, "RE-7310")],
            &[(20.0, "Rechnungsdatum / Invoice date"), (300.0, "05.03.2018")],
            &[(20.0, "Nettobetrag / Net total"), (300.0, "100,00 €")],
            &[(20.0, "MwSt. / VAT"), (300.0, "19,00 €")],
            &[(20.0, "Gesamtbetrag / Grand total"), (300.0, "119,00 €")],
        ],
    );
    assert_eq!(value(&found, "number"), Some("RE-7310"));
    assert_eq!(value(&found, "issue_date"), Some("2018-03-05"));
    assert_eq!(value(&found, "grand_total"), Some("119.00"));
}

/// Nothing that is said of a slip that was read upside down passes.
#[test]
fn a_slip_that_was_read_upside_down_goes_to_a_person() {
    let found = shipped(
        "receipt",
        &[
            &[(300.0, "00'SZ"), (20.0, "30NVH3")],
            &[(300.0, "00'0S"), (20.0, "HSV3")],
            &[(300.0, "00'SZ"), (20.0, "1V101")],
            &[(20.0, "8L0Z/E0/LZ")],
            &[(120.0, "OH8 NOS 9NIOVUL 11IH N33U9")],
        ],
    );
    assert!(!passes(&found), "{:?}", found.fields);
}
