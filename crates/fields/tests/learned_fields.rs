//! Fields that trained models decide: receipts, and types of one's own; and the kinds of faults they were made against.

mod made_page;

use bindery_fields::{
    DocType, DocTypes,
    extract::Extraction,
    learn::calibrate::Reliability,
    papers::{self, Part},
};
use bindery_reader::Page;
use made_page::{page, read};
use std::sync::LazyLock;

static SHIPPED: LazyLock<DocTypes> = LazyLock::new(|| DocTypes::shipped().expect("the shipped types are good"));

fn receipt(page: Page) -> Extraction {
    read(SHIPPED.get("receipt").expect("a shipped type"), page)
}

fn own_type(yaml: &str) -> DocType {
    DocType::parse(yaml, "own.yaml").expect("a good type")
}

fn normalised<'e>(extraction: &'e Extraction, field: &str) -> Option<&'e str> {
    extraction.fields.get(field).map(|value| value.normalised.as_str())
}

fn slip() -> Page {
    page(&[
        &[(120.0, "KEDAI BUKU SERI INDAH")],
        &[(150.0, "(002062543-P)")],
        &[(110.0, "NO 49, JALAN MAHAGONI 7/2,")],
        &[(110.0, "44300 BATANG KALI, SELANGOR")],
        &[(140.0, "TAX INVOICE")],
        &[(10.0, "DATE: 21/03/201811:05")],
        &[(10.0, "PENCIL 2B"), (340.0, "RM4.00 Z")],
        &[(10.0, "EXERCISE BOOK"), (340.0, "RM15.20SR")],
        &[(10.0, "TOTAL QTY:"), (200.0, "2")],
        &[(10.0, "SUB-TOTAL"), (350.0, "19.20")],
        &[(10.0, "ROUNDING"), (350.0, "0.00")],
        &[(10.0, "TOTAL"), (350.0, "19.20")],
        &[(10.0, "CASH"), (350.0, "50.00")],
        &[(10.0, "CHANGE"), (350.0, "30.80")],
        &[(10.0, "GST SUMMARY"), (200.0, "AMOUNT(RM)"), (340.0, "TAX(RM)")],
        &[(10.0, "SR @ 6%"), (200.0, "14.34"), (350.0, "0.86")],
        &[(10.0, "Z @ 0%"), (200.0, "4.00"), (350.0, "0.00")],
        &[(120.0, "THANK YOU, PLEASE COME AGAIN")],
    ])
}

#[test]
fn a_receipt_is_read_by_labels_and_arithmetic() {
    let found = receipt(slip());
    assert_eq!(normalised(&found, "grand_total"), Some("19.20"), "neither the cash nor a sum of the tax summary");
    assert_eq!(normalised(&found, "date"), Some("2018-03-21"), "the time stands right behind it");
    assert_eq!(
        normalised(&found, "merchant"),
        Some("KEDAI BUKU SERI INDAH"),
        "it has no legal form, but heads the slip"
    );
    assert_eq!(normalised(&found, "currency"), Some("MYR"));
    let total = &found.fields["grand_total"];
    assert!(total.confidence > 0.8, "{total:?}");
    assert!(!total.because.is_empty(), "{total:?}");
    assert_eq!(total.quote.as_deref(), Some("19.20"));
    let name = &found.fields["merchant"];
    assert_eq!((name.page, name.quote.as_deref()), (Some(1), Some("KEDAI BUKU SERI INDAH")));
}

/// `02/03/2018` is the second of March where goods are taxed with GST, whatever sign the money has.
#[test]
fn the_country_of_a_slip_tells_which_figure_is_the_day() {
    let mut lines: Vec<&[(f32, &str)]> = vec![
        &[(120.0, "SERI INDAH SDN BHD")],
        &[(110.0, "44300 BATANG KALI, SELANGOR")],
        &[(10.0, "GST ID: 002062543")],
    ];
    let date: &[(f32, &str)] = &[(10.0, "DATE: 02/03/2018")];
    let total: &[(f32, &str)] = &[(10.0, "TOTAL"), (350.0, "$19.20")];
    lines.extend([date, total]);
    assert_eq!(normalised(&receipt(page(&lines)), "date"), Some("2018-03-02"));
    let american: [&[(f32, &str)]; 4] =
        [&[(120.0, "CORNER DELI LLC")], &[(110.0, "SPRINGFIELD, IL 62704")], date, total];
    assert_eq!(normalised(&receipt(page(&american)), "date"), Some("2018-02-03"));
}

#[test]
fn a_page_without_amounts_has_no_total() {
    let found = receipt(page(&[&[(10.0, "Hello there")], &[(10.0, "nothing was bought")]]));
    assert_eq!(normalised(&found, "grand_total"), None);
    assert_eq!(normalised(&found, "date"), None);
    assert!(!found.needs_review.is_empty());
    assert!(receipt(page(&[])).fields.is_empty());
}

/// Of the papers of makers that nothing was trained on, nearly all are read, and confidence says which.
#[test]
fn receipts_of_makers_that_were_not_trained_on_are_read() {
    let (mut papers_read, mut table) = (0, Reliability::default());
    let mut right = [0usize; 3];
    for maker in (0..120).filter(|maker| Part::for_maker(*maker) == Part::Test).chain(1200..1230) {
        if Part::for_maker(maker) != Part::Test {
            continue;
        }
        let paper = papers::receipt(maker, 77 + u64::from(maker));
        let found = receipt(paper.page);
        papers_read += 1;
        for (index, field) in ["grand_total", "merchant", "date"].into_iter().enumerate() {
            let Some(value) = found.fields.get(field) else { continue };
            let same = |text: &str| {
                text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>()
            };
            let is_right = same(&value.normalised) == same(&paper.truth[field]);
            right[index] += usize::from(is_right);
            table.add(value.confidence, is_right);
        }
    }
    let [total, merchant, date] = right;
    assert!(total * 100 >= papers_read * 85, "{total} of {papers_read} totals");
    assert!(merchant * 100 >= papers_read * 80, "{merchant} of {papers_read} merchants");
    assert!(date * 100 >= papers_read * 75, "{date} of {papers_read} dates; some are printed as nobody can read them");
    assert!(table.error() < 0.12, "{table:?}");
}

#[test]
fn both_ends_of_a_span_of_dates_are_read() {
    let flight = own_type(
        "name: flight\nfields:\n  from: {type: date, span: start, labels: Flight dates}\n  to: {type: date, span: end, labels: Flight dates}\n",
    );
    for printed in ["02/26/20 - 03/13/20", "02/26/20-03/13/20", "02/26/20 to 03/13/20"] {
        let found =
            read(&flight, page(&[&[(10.0, "Print date 02/20/20")], &[(10.0, "Flight dates:"), (120.0, printed)]]));
        let ends = (normalised(&found, "from"), normalised(&found, "to"));
        assert_eq!(ends, (Some("2020-02-26"), Some("2020-03-13")), "{printed}");
    }
}

#[test]
fn a_longer_label_has_another_value_and_a_blank_one_has_none() {
    let order = own_type(
        "name: order\nfields:\n  client: {type: string, labels: Client, never: [Client ref]}\n  agent: {type: string, labels: Agent}\n",
    );
    let found = read(
        &order,
        page(&[
            &[(10.0, "Client ref:"), (90.0, "K-4471")],
            &[(10.0, "Client:"), (90.0, "Harbour Books")],
            &[(10.0, "Agent:")],
            &[],
            &[(10.0, "Office:"), (90.0, "Leeds")],
        ]),
    );
    assert_eq!(normalised(&found, "client"), Some("Harbour Books"));
    assert_eq!(normalised(&found, "agent"), None, "{:?}", found.fields.get("agent"));
}

#[test]
fn the_first_label_of_a_list_is_meant_before_the_second() {
    let order =
        own_type("name: order\nfields:\n  number: {type: string, pattern: '\\d+', labels: [Contract no, Order no]}\n");
    let lines: [&[(f32, &str)]; 2] =
        [&[(10.0, "Order no:"), (90.0, "5512")], &[(10.0, "Contract no:"), (90.0, "77120")]];
    let found = read(&order, page(&lines));
    assert_eq!(normalised(&found, "number"), Some("77120"));
}

#[test]
fn letters_of_other_words_are_no_currency() {
    let bill = own_type("name: bill\nfields:\n  currency: {type: currency, labels: Currency}\n");
    let none = read(&bill, page(&[&[(10.0, "BIC GENODEF1GEL")], &[(10.0, "ALL RIGHTS RESERVED, TRY THE PEN")]]));
    assert_eq!(normalised(&none, "currency"), None);
    let beside =
        read(&bill, page(&[&[(10.0, "BIC GENODEF1GEL")], &[(10.0, "ALL RIGHTS")], &[(10.0, "Sum 12,00 CHF")]]));
    assert_eq!(normalised(&beside, "currency"), Some("CHF"));
    let labelled = read(&bill, page(&[&[(10.0, "Currency: PEN")]]));
    assert_eq!(normalised(&labelled, "currency"), Some("PEN"));
}

#[test]
fn the_opening_sentence_of_a_contract_names_its_parties() {
    let contract = SHIPPED.get("contract").expect("a shipped type");
    let found = read(
        contract,
        page(&[
            &[(120.0, "CONFIDENTIALITY AGREEMENT")],
            &[(10.0, "This Agreement is made as of August 3 , 2014 by and between Birch Paper, Inc.,")],
            &[(10.0, "a Delaware corporation (“Birch”), and Anna Demo, an individual residing in")],
            &[(10.0, "York (“Demo”). The parties agree on the following terms.")],
        ]),
    );
    assert_eq!(normalised(&found, "party_a"), Some("Birch Paper, Inc."));
    assert_eq!(normalised(&found, "party_b"), Some("Anna Demo"));
    assert_eq!(normalised(&found, "date"), Some("2014-08-03"));
}

#[test]
fn the_day_in_the_opening_sentence_of_a_contract_needs_no_label() {
    let contract = SHIPPED.get("contract").expect("a shipped type");
    let found = read(
        contract,
        page(&[
            &[(120.0, "LEASE")],
            &[(10.0, "THIS LEASE, signed and sealed this 1st day of May, 2020, by and between Birch")],
            &[(10.0, "Paper, Inc., a Delaware corporation (“Birch”), and Harbour Books Ltd. of York.")],
            &[(10.0, "The premises were built on 4 June 1911.")],
        ]),
    );
    let date = &found.fields["date"];
    assert_eq!((date.normalised.as_str(), date.source.as_deref()), ("2020-05-01", Some("opening sentence")));
    assert!(date.confidence > 0.9 && date.doubts.is_empty(), "{date:?}");
}

#[test]
fn a_meaning_or_a_span_of_the_wrong_type_is_told_with_its_line() {
    let text = "name: t\nfields:\n  day: {type: date, meaning: receipt_total}\n  sum: {type: money, span: start}\n  who: {type: name, meaning: shop}\n";
    let problems = DocType::parse(text, "t.yaml").unwrap_err().to_string();
    insta::assert_snapshot!(problems, @r#"
    t.yaml:3:30: fields.day.meaning: a value of this meaning has another type
      hint: write `type: money`
    t.yaml:4:28: fields.sum.span: only a date is an end of a span
      hint: write `type: date`
    t.yaml:5:30: fields.who.meaning: expected receipt_total, receipt_net, receipt_tax, receipt_date or receipt_merchant, found the text "shop"
    "#);
}

#[test]
fn the_same_maker_and_seed_make_the_same_paper() {
    let (one, other) = (papers::receipt(5, 1), papers::receipt(5, 1));
    assert_eq!(one.page.words, other.page.words);
    assert_eq!(one.truth, other.truth);
    assert_ne!(papers::receipt(5, 2).page.words, one.page.words);
    assert_ne!(papers::form(5, 2).page.words, papers::form(6, 2).page.words);
}
