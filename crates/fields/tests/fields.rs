//! Fields of documents, as users rely on them: values with evidence, doubts that are named, checks that send to review.

use bindery_fields::{
    DocType, DocTypes,
    extract::{self, DoubtKind, Extraction, Sources, Templates, Tier, template::Template},
};
use bindery_reader::{
    Attachment, Block, BlockKind, Page, Rect, Size, Table, Word,
    model::{Inlines, ReadBy},
};
use proptest::prelude::*;
use std::sync::LazyLock;

/// A page with words at places: each text begins at x, y and runs to the right.
fn page(texts: &[(f32, f32, &str)]) -> Page {
    let mut page = Page::converted(1);
    page.size = Some(Size { width: 595.0, height: 842.0 });
    page.read_by = ReadBy::Embedded;
    for (x, y, text) in texts {
        let mut left = *x;
        for word in text.split(' ') {
            let width = word.chars().count() as f32 * 5.0;
            page.words.push(Word {
                text: word.to_owned(),
                bbox: Rect::new(left, *y, left + width, y + 10.0),
                confidence: None,
            });
            left += width + 3.0;
        }
    }
    page
}

fn invoice_page(total: &str) -> Page {
    page(&[
        (50.0, 40.0, "Birch Paper Ltd"),
        (50.0, 54.0, "12 Mill Lane"),
        (50.0, 68.0, "York YO1 7HB"),
        (50.0, 120.0, "Bill to"),
        (50.0, 134.0, "Harbour Books Ltd"),
        (50.0, 148.0, "9 Castle Street"),
        (50.0, 162.0, "Leeds LS2 8JR"),
        (350.0, 120.0, "Invoice No."),
        (450.0, 120.0, "INV-2041"),
        (350.0, 134.0, "Invoice date"),
        (450.0, 134.0, "13/04/2024"),
        (350.0, 148.0, "Due date"),
        (450.0, 148.0, "04/05/2024"),
        (50.0, 220.0, "Description"),
        (300.0, 220.0, "Qty"),
        (380.0, 220.0, "Unit price"),
        (490.0, 220.0, "Amount"),
        (50.0, 236.0, "Envelopes, white"),
        (300.0, 236.0, "10"),
        (380.0, 236.0, "£4.50"),
        (490.0, 236.0, "£45.00"),
        (50.0, 252.0, "Paper A4"),
        (300.0, 252.0, "5"),
        (380.0, 252.0, "£11.00"),
        (490.0, 252.0, "£55.00"),
        (380.0, 300.0, "Net total"),
        (490.0, 300.0, "£100.00"),
        (380.0, 314.0, "VAT 20%"),
        (490.0, 314.0, "£20.00"),
        (380.0, 328.0, "Total"),
        (490.0, 328.0, total),
    ])
}

/// Read once: the files hold thousands of labels.
static SHIPPED: LazyLock<DocTypes> = LazyLock::new(|| DocTypes::shipped().expect("the shipped types are good"));

fn shipped(name: &str) -> DocType {
    SHIPPED.get(name).cloned().expect("a shipped type")
}

fn read(doctype: &DocType, pages: &[Page]) -> Extraction {
    read_with(doctype, pages, &[], &Templates::default())
}

fn read_with(doctype: &DocType, pages: &[Page], attachments: &[Attachment], templates: &Templates) -> Extraction {
    extract::extract(doctype, pages, &Sources { attachments, templates })
}

fn normalised<'e>(extraction: &'e Extraction, field: &str) -> Option<&'e str> {
    extraction.fields.get(field).map(|value| value.normalised.as_str())
}

#[test]
fn every_shipped_type_has_fields_that_can_be_read() {
    for doctype in DocTypes::shipped().unwrap().iter() {
        assert!(!doctype.fields.fields.is_empty(), "{} has no fields", &*doctype.name);
    }
}

#[test]
fn an_invoice_is_read_with_page_quote_and_box() {
    let found = read(&shipped("invoice"), &[invoice_page("£120.00")]);
    for (field, value) in [
        ("number", "INV-2041"),
        ("issue_date", "2024-04-13"),
        ("due_date", "2024-05-04"),
        ("seller", "Birch Paper Ltd"),
        ("buyer", "Harbour Books Ltd"),
        ("seller_address", "12 Mill Lane, York YO1 7HB"),
        ("currency", "GBP"),
        ("net_total", "100.00"),
        ("tax_total", "20.00"),
        ("grand_total", "120.00"),
    ] {
        assert_eq!(normalised(&found, field), Some(value), "{field}");
    }
    let total = &found.fields["grand_total"];
    assert_eq!((total.page, total.quote.as_deref()), (Some(1), Some("£120.00")));
    assert_eq!(total.bbox, Some(Rect::new(490.0, 328.0, 525.0, 338.0)));
    assert_eq!(total.tier, Tier::Candidate);
    assert!(total.confidence > 0.9, "{total:?}");
    assert!(found.checks.iter().all(|check| check.passed), "{:?}", found.checks);
    assert_eq!(found.needs_review, Vec::<String>::new());
    let least = found.fields.values().map(|value| value.confidence).fold(1.0, f32::min);
    assert!((found.confidence - least).abs() < f32::EPSILON);
}

#[test]
fn items_are_rows_that_add_up() {
    let found = read(&shipped("invoice"), &[invoice_page("£120.00")]);
    let items = &found.rows["line_items"];
    let cell = |row: usize, column: &str| items[row].cells[column].normalised.as_str();
    assert_eq!(items.len(), 2);
    assert_eq!((cell(0, "description"), cell(0, "quantity"), cell(0, "amount")), ("Envelopes, white", "10", "45.00"));
    assert_eq!((cell(1, "description"), cell(1, "unit_price"), cell(1, "amount")), ("Paper A4", "11.00", "55.00"));
    assert!(found.checks.iter().any(|check| check.check == "line_items.amount = net_total" && check.passed));
}

#[test]
fn a_sum_that_does_not_add_up_goes_to_review_and_names_its_fields() {
    let found = read(&shipped("invoice"), &[invoice_page("£130.00")]);
    let failed = found.checks.iter().find(|check| !check.passed).unwrap();
    assert_eq!(failed.fields, ["net_total", "tax_total", "grand_total"]);
    assert_eq!(failed.message, "net_total + tax_total is 120.00, which should be grand_total, 130.00");
    assert_eq!(found.needs_review.as_slice(), std::slice::from_ref(&failed.message));
    assert!(found.fields["grand_total"].doubts.iter().any(|doubt| doubt.kind == DoubtKind::CheckFailed));
    assert!(found.confidence < 0.5);
}

#[test]
fn days_to_pay_are_no_amount_to_pay() {
    let mut texts = vec![(50.0, 400.0, "Please pay within 30 days.")];
    for (text, y) in [("Zu zahlen innerhalb von 14 Tagen", 414.0), ("Solde à payer sous 30 jours", 428.0)] {
        texts.push((50.0, y, text));
    }
    let mut invoice = invoice_page("£120.00");
    invoice.words.extend(page(&texts).words);
    let extraction = read(&shipped("invoice"), &[invoice]);
    assert_eq!(normalised(&extraction, "amount_due"), None);
    assert_eq!(normalised(&extraction, "grand_total"), Some("120.00"));
    assert!(extraction.fields["grand_total"].doubts.is_empty(), "{:?}", extraction.fields["grand_total"]);
}

#[test]
fn a_correction_is_certain_and_the_checks_run_again() {
    let invoice = shipped("invoice");
    let mut found = read(&invoice, &[invoice_page("£130.00")]);
    found.correct(&invoice.fields, [("grand_total", "120.00")], "marta").unwrap();
    let total = &found.fields["grand_total"];
    assert_eq!((&*total.normalised, total.tier), ("120.00", Tier::Person));
    assert!((total.confidence - 1.0).abs() < f32::EPSILON);
    assert_eq!(found.needs_review, Vec::<String>::new());
    let wrong = found.correct(&invoice.fields, [("issue_date", "soon")], "marta").unwrap_err();
    assert_eq!(wrong.to_string(), r#""soon" is not a value of type date for the field "issue_date""#);
    let unknown = found.correct(&invoice.fields, [("colour", "red")], "marta").unwrap_err();
    assert_eq!(unknown.to_string(), r#"the document type "invoice" has no field "colour""#);
}

#[test]
fn what_is_required_and_missing_is_said() {
    let found = read(&shipped("invoice"), &[page(&[(50.0, 50.0, "Hello there")])]);
    assert!(found.needs_review.contains(&"the required field number was not found".to_owned()));
    assert!(found.confidence.abs() < f32::EPSILON);
    assert_eq!(read(&shipped("invoice"), &[]).fields.len(), 0);
}

#[test]
fn a_page_without_boxes_is_read_and_gives_out_none() {
    let mut page = Page::converted(3);
    let text = |text: &str| Inlines::plain(text);
    page.blocks.push(Block::body(BlockKind::Paragraph { text: text("Invoice number: 77-12\nDate: 5 March 2024") }));
    let rows = vec![vec![text("Total"), text("EUR 1.234,50")]];
    page.blocks.push(Block::body(BlockKind::Table { table: Table::from_rows(rows, 0) }));
    let found = read(&shipped("invoice"), &[page]);
    assert_eq!(normalised(&found, "number"), Some("77-12"));
    assert_eq!(normalised(&found, "issue_date"), Some("2024-03-05"));
    assert_eq!(normalised(&found, "grand_total"), Some("1234.50"));
    let number = &found.fields["number"];
    assert_eq!((number.page, number.quote.as_deref(), number.bbox), (Some(3), Some("77-12"), None));
}

#[test]
fn a_mail_says_who_when_and_what_about() {
    let mut mail = Page::converted(1);
    let heading = BlockKind::Heading { level: 1, text: Inlines::plain("Your order 88: the invoice is attached") };
    mail.blocks.push(Block::body(heading));
    for line in
        ["From: Birch Paper Ltd <office@birch.example>", "To: desk@books.example", "Date: 2026-01-15T09:12:00+01:00"]
    {
        mail.blocks.push(Block::body(BlockKind::Paragraph { text: Inlines::plain(line) }));
    }
    let extraction = read(&shipped("email"), &[mail]);
    assert_eq!(normalised(&extraction, "from"), Some("Birch Paper Ltd <office@birch.example>"));
    assert_eq!(normalised(&extraction, "to"), Some("desk@books.example"));
    assert_eq!(normalised(&extraction, "date"), Some("2026-01-15"));
    assert_eq!(normalised(&extraction, "subject"), Some("Your order 88: the invoice is attached"));
    assert_eq!(extraction.fields["subject"].page, Some(1));
    assert_eq!(extraction.needs_review, [] as [&str; 0]);
}

#[test]
fn a_date_with_two_readings_is_doubted_and_other_dates_decide() {
    let simple = DocType::parse("name: note\nfields:\n  day: {type: date, labels: Day}\n", "note.yaml").unwrap();
    let doubted = read(&simple, &[page(&[(50.0, 50.0, "Day: 03/04/2024")])]);
    assert_eq!(doubted.needs_review, ["day: 03/04/2024 can be read as 2024-04-03 or as 2024-03-04"]);
    let decided = read(&simple, &[page(&[(50.0, 50.0, "Day: 03/04/2024"), (50.0, 90.0, "paid 03/25/2024")])]);
    assert_eq!(normalised(&decided, "day"), Some("2024-03-04"));
    assert!(decided.needs_review.is_empty());
}

#[test]
fn words_that_were_hard_to_read_make_a_value_less_sure() {
    let mut scan = invoice_page("£120.00");
    for word in scan.words.iter_mut().filter(|word| word.text == "INV-2041") {
        word.confidence = Some(0.4);
    }
    let number = &read(&shipped("invoice"), &[scan]).fields["number"];
    assert!(number.confidence < 0.45);
    assert_eq!(number.doubts[0].text, "the words were read with a certainty of 40 %");
}

#[test]
fn a_template_says_where_values_stand() {
    let text = "name: birch\nmatch:\n  words: [Birch Paper]\nfields:\n  number:\n    after: Our sign\n    pattern: 'Q\\d+'\n  due_date:\n    below: Payable\n";
    let templates = Templates::new(vec![Template::parse(text, "birch.yaml").unwrap()]);
    let pages = [page(&[
        (50.0, 40.0, "Birch Paper Ltd"),
        (50.0, 80.0, "Our sign: x Q991 b"),
        (50.0, 110.0, "Payable"),
        (50.0, 124.0, "1 May 2024"),
    ])];
    let found = read_with(&shipped("invoice"), &pages, &[], &templates);
    assert_eq!((normalised(&found, "number"), normalised(&found, "due_date")), (Some("Q991"), Some("2024-05-01")));
    assert_eq!(
        (found.fields["number"].tier, found.fields["number"].source.as_deref()),
        (Tier::Template, Some("birch"))
    );
    let silent = read_with(&shipped("invoice"), &[page(&[(50.0, 40.0, "Birch Paper Ltd")])], &[], &templates);
    assert!(
        silent
            .doubts
            .iter()
            .any(|doubt| doubt.text == "the template birch says where number stands, but nothing fits there")
    );
}

#[test]
fn mistakes_in_templates_and_schemas_are_all_told_with_their_lines() {
    let template = Template::parse("name: a\nmatch: {}\nfields:\n  number: {}\n  date: {pattern: '('}\n", "a.yaml")
        .unwrap_err()
        .to_string();
    insta::assert_snapshot!(template, @r"
    a.yaml:2:8: match.words: nothing to match by
      hint: give `words` that stand on every such document, or the sender's `vat_id`
    a.yaml:4:11: fields.number: nothing says where the value stands
      hint: give `after`, `below`, `area` or `pattern`
    a.yaml:5:19: fields.date.pattern: not a regular expression: error: unclosed group
      hint: put the pattern in single quotes, where `\` needs no doubling
    ");
    let schema = "name: t\nfields:\n  net: {type: mony}\n  number: {labels: [x]}\n  items: {type: rows}\n  day: {type: date, labels: ['…']}\n  checks:\n    - sum: [net, day]\n      equals: gross\n    - order: dya\n      by: x\n    - {}\n";
    let schema = DocType::parse(schema, "t.yaml").unwrap_err().to_string();
    insta::assert_snapshot!(schema, @r#"
    t.yaml:3:15: fields.net.type: unknown field type "mony"
      hint: did you mean `money`?
    t.yaml:4:11: fields.number: `type` is missing
      hint: say what the value is, for example `type: date`
    t.yaml:5:10: fields.items: `columns` is missing
      hint: name the columns, for example `amount: {type: money, labels: [Amount]}`
    t.yaml:6:30: fields.day.labels: "…" is not a label
      hint: a label has at least one letter or digit, and no `…` at its ends
    t.yaml:8:12: fields.checks[0].sum: the field "day" is of type date, expected money or decimal or integer
    t.yaml:9:15: fields.checks[0].equals: unknown field "gross"
      hint: known here: items, day
    t.yaml:10:14: fields.checks[1].order: unknown field "dya"
      hint: did you mean `day`?
    t.yaml:11:7: fields.checks[1]: unknown key "by"
      hint: known here: sum, equals, within, order
    t.yaml:12:7: fields.checks[2]: expected `sum` or `order`
      hint: write `sum: [net, tax]` with `equals: total`, or `order: [issue_date, due_date]`
    "#);
}

#[test]
fn an_identity_card_is_read_from_its_machine_readable_lines() {
    let card = page(&[
        (50.0, 50.0, "IDENTITY CARD"),
        (50.0, 200.0, "I<UTOD231458907<<<<<<<<<<<<<<<"),
        (50.0, 214.0, "7408122F1204159UTO<<<<<<<<<<<6"),
        (50.0, 228.0, "ERIKSSON<<ANNA<MARIA<<<<<<<<<<"),
    ]);
    let found = read(&shipped("id_card"), &[card]);
    for (field, value) in [
        ("document_number", "D23145890"),
        ("surname", "ERIKSSON"),
        ("given_names", "ANNA MARIA"),
        ("birth_date", "1974-08-12"),
        ("expiry_date", "2012-04-15"),
    ] {
        assert_eq!(normalised(&found, field), Some(value), "{field}");
    }
    assert!(found.fields["document_number"].bbox.is_some());
    assert!(found.needs_review.is_empty(), "{:?}", found.needs_review);
}

fn einvoice(number: &str) -> Attachment {
    Attachment { name: "factur-x.xml".to_owned(), media_type: None, bytes: einvoice_text(number).into_bytes() }
}

fn einvoice_text(number: &str) -> String {
    format!(
        r#"<rsm:CrossIndustryInvoice xmlns:rsm="r" xmlns:ram="a"><rsm:ExchangedDocument><ram:ID>{number}</ram:ID>
        <ram:IssueDateTime><ram:DateTimeString format="102">20240413</ram:DateTimeString></ram:IssueDateTime></rsm:ExchangedDocument>
        <rsm:SupplyChainTradeTransaction><ram:ApplicableHeaderTradeSettlement><ram:InvoiceCurrencyCode>GBP</ram:InvoiceCurrencyCode>
        <ram:SpecifiedTradeSettlementHeaderMonetarySummation><ram:GrandTotalAmount>120.00</ram:GrandTotalAmount>
        </ram:SpecifiedTradeSettlementHeaderMonetarySummation></ram:ApplicableHeaderTradeSettlement></rsm:SupplyChainTradeTransaction></rsm:CrossIndustryInvoice>"#
    )
}

#[test]
fn an_einvoice_is_believed_and_its_place_on_the_page_is_shown() {
    let found =
        read_with(&shipped("invoice"), &[invoice_page("£120.00")], &[einvoice("INV-2041")], &Templates::default());
    let total = &found.fields["grand_total"];
    assert_eq!(total.tier, Tier::EInvoice);
    let path = "SupplyChainTradeTransaction/ApplicableHeaderTradeSettlement/SpecifiedTradeSettlementHeaderMonetarySummation/GrandTotalAmount";
    assert_eq!(total.source.as_deref(), Some(path));
    assert_eq!((total.page, total.quote.as_deref()), (Some(1), Some("£120.00")));
    assert_eq!(
        normalised(&found, "seller"),
        Some("Birch Paper Ltd"),
        "what the file does not state is read from the page"
    );
}

#[test]
fn an_einvoice_that_the_page_contradicts_is_doubted() {
    let found =
        read_with(&shipped("invoice"), &[invoice_page("£120.00")], &[einvoice("INV-9999")], &Templates::default());
    let number = &found.fields["number"];
    assert_eq!((&*number.normalised, number.doubts[0].kind), ("INV-9999", DoubtKind::PageDisagrees));
    assert_eq!(found.needs_review, ["number: the e-invoice says INV-9999, page 1 says INV-2041"]);
}

/// What is taken off is printed with a minus or without, payment terms in other words, and a number with a wrong check digit is
/// what the sender states: none of it contradicts.
#[test]
fn an_einvoice_is_not_flagged_for_what_is_no_contradiction() {
    let text = einvoice_text("INV-2041").replace(
        "<ram:SpecifiedTradeSettlementHeaderMonetarySummation>",
        "<ram:SpecifiedTradePaymentTerms><ram:Description>Payable within 30 days without any discount</ram:Description>\
         </ram:SpecifiedTradePaymentTerms><ram:SpecifiedTradeSettlementHeaderMonetarySummation>\
         <ram:TotalPrepaidAmount>20.00</ram:TotalPrepaidAmount>",
    );
    let mut lines = invoice_page("£120.00");
    lines.words.extend(page(&[(40.0, 400.0, "Amount paid"), (490.0, 400.0, "-£20.00")]).words);
    let attachment = Attachment { bytes: text.into_bytes(), ..einvoice("INV-2041") };
    let found = read_with(&shipped("invoice"), &[lines], &[attachment], &Templates::default());
    let prepaid = &found.fields["prepaid"];
    assert_eq!((prepaid.tier, prepaid.doubts.len()), (Tier::EInvoice, 0), "{prepaid:?}");
    assert!(found.needs_review.iter().all(|reason| !reason.contains("e-invoice says")), "{:?}", found.needs_review);
}

#[test]
fn results_can_be_stored_and_read_back() {
    let found = read(&shipped("invoice"), &[invoice_page("£120.00")]);
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["fields"]["grand_total"]["normalised"], "120.00");
    assert_eq!(json["fields"]["grand_total"]["bbox"], serde_json::json!([490.0, 328.0, 525.0, 338.0]));
    assert_eq!(serde_json::from_value::<Extraction>(json).unwrap(), found);
}

#[test]
fn a_page_that_is_all_labels_and_values_ends_soon() {
    let long: Vec<(f32, f32, &str)> =
        (0..60u16).map(|line| (10.0, f32::from(line) * 14.0, "Total 1,00 Date 01.02.2024 Rechnung Nr 5")).collect();
    let mut crowded = page(&long);
    let copies = crowded.words.clone();
    for shift in 1..30u16 {
        crowded.words.extend(copies.iter().cloned().map(|mut word| {
            word.bbox = Rect::new(
                word.bbox.x0 + f32::from(shift) * 250.0,
                word.bbox.y0,
                word.bbox.x1 + f32::from(shift) * 250.0,
                word.bbox.y1,
            );
            word
        }));
    }
    let found = read(&shipped("invoice"), &[crowded]);
    assert_eq!(normalised(&found, "issue_date"), Some("2024-02-01"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_words_anywhere_make_it_panic(words in prop::collection::vec(("\\PC{1,12}", -50.0f32..700.0, -50.0f32..900.0, 0.0f32..40.0), 0..60)) {
        let mut page = page(&[]);
        for (text, x, y, size) in words {
            page.words.push(Word { text, bbox: Rect::new(x, y, x + size * 2.0, y + size), confidence: Some(0.5) });
        }
        let found = read(&shipped("invoice"), &[page.clone()]);
        // Grounding: whatever is said stands on the page.
        for value in found.fields.values() {
            for word in value.quote.iter().flat_map(|quote| quote.split_whitespace()) {
                prop_assert!(page.words.iter().any(|printed| printed.text.contains(word)), "{word} is not on the page");
            }
        }
    }
}

/// Real e-invoices: what is attached is believed, and most of it is shown on the page.
#[test]
fn real_einvoices_are_read_from_their_attachments() {
    let Some(folder) = bindery_testkit::shared("fixtures/documents/einvoices") else { return };
    let files = std::fs::read_dir(folder).unwrap();
    let invoice = shipped("invoice");
    let mut paths: Vec<_> = files
        .flatten()
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|end| end == "pdf"))
        .collect();
    paths.sort();
    let (mut read_files, mut shown) = (0, 0);
    for path in paths.iter().step_by(6) {
        use bindery_reader::OpenFile as _;
        let file =
            bindery_reader::pdf::open(std::fs::read(path).unwrap(), &bindery_reader::ReadOptions::default()).unwrap();
        let pages: Vec<Page> = (0..file.info().page_count).map(|index| file.page(index).unwrap()).collect();
        let found = read_with(&invoice, &pages, &file.attachments().unwrap(), &Templates::default());
        let Some(total) = found.fields.get("grand_total").filter(|total| total.tier == Tier::EInvoice) else {
            continue;
        };
        read_files += 1;
        shown += usize::from(total.bbox.is_some());
    }
    assert!(read_files >= 8, "only {read_files} of the files had a usable attachment");
    assert!(shown * 10 >= read_files * 8, "only {shown} of {read_files} totals were found on their pages");
}
