//! The `documents` workflow on a real engine.

use crate::desk::Desk;
use bindery_core::submission::SubmissionStatus;
use bindery_engine::{intake::Intake, view};
use bindery_fields::DocTypes;
use bindery_pipeline::intake;
use serde_json::json;
use std::fmt::Write as _;

const INVOICE: &str = "<html><body><p>Nordwind Papier GmbH</p><h1>Invoice</h1>\
    <p>Invoice number: 2026-0117</p><p>Invoice date: 14 March 2026</p>\
    <table><tr><th>Description</th><th>Quantity</th><th>Unit price</th><th>Amount</th></tr>\
    <tr><td>Paper A4</td><td>10</td><td>4.00</td><td>40.00</td></tr>\
    <tr><td>Ink</td><td>2</td><td>30.00</td><td>60.00</td></tr></table>\
    <p>Net total: 100.00 EUR</p><p>VAT 19 %: 19.00 EUR</p><p>Grand total: 119.00 EUR</p>\
    <p>Please pay within 30 days.</p></body></html>";

#[test]
fn the_types_that_come_with_bindery_are_good() {
    let shipped = DocTypes::shipped().unwrap_or_else(|error| panic!("{error}"));
    assert!(shipped.get("invoice").is_some() && shipped.get("other").is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invoice_becomes_fields_with_their_evidence() {
    let desk = Desk::new().await;
    desk.write("a/invoice.html", INVOICE.as_bytes());
    desk.write("b/torn.pdf", b"%PDF-1.7\n1 0 obj\n<<");
    let (status, result) = desk.run("documents").await;
    let result = result.unwrap();
    assert_eq!(status, SubmissionStatus::Completed);
    assert_eq!((&result["total_documents"], &result["total_pages"]), (&json!(1), &json!(1)));
    let document = &result["documents"][0];
    assert_eq!((&document["document_id"], &document["file"]), (&json!("doc_1_1"), &json!("a/invoice.html")));
    assert_eq!((&document["doc_type"], &document["page_indices"]), (&json!("invoice"), &json!([1])));
    assert!(!document["because"].as_array().unwrap().is_empty());
    let data = &document["extracted_data"];
    assert_eq!((&data["number"], &data["issue_date"]), (&json!("2026-0117"), &json!("2026-03-14")), "{data}");
    assert_eq!((&data["grand_total"], &data["currency"]), (&json!("119.00"), &json!("EUR")), "{data}");
    let evidence = &document["evidence"]["grand_total"];
    assert_eq!(evidence["page"], 1);
    assert!(evidence["quote"].as_str().unwrap().contains("119.00"), "{evidence}");
    assert_eq!(result["failed"].as_array().unwrap().len(), 1, "the other file says what is wrong with it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fits_no_type_is_a_document_all_the_same() {
    let desk = Desk::new().await;
    desk.write("note.txt", b"Buy milk.\n");
    let (status, result) = desk.run("documents").await;
    let result = result.unwrap();
    assert_eq!(status, SubmissionStatus::Completed);
    assert_eq!(result["documents"][0]["doc_type"], "other");
    assert_eq!(result["documents"][0]["status"], "completed");
}

/// Two pages, of which the second looks like a letter, with an e-invoice inside.
fn einvoice_pdf(xml: &str) -> Vec<u8> {
    let text = |lines: &[&str]| {
        let mut stream = String::from("BT /F1 11 Tf 60 780 Td 16 TL\n");
        for line in lines {
            writeln!(stream, "({line}) Tj T*").unwrap();
        }
        stream.push_str("ET");
        format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len())
    };
    let first = text(&[
        "Birch Paper Ltd",
        "High Street 1",
        "LS1 4AP Leeds",
        "",
        "Invoice",
        "",
        "Invoice number: 2026-17",
        "Invoice date: 3 February 2026",
        "",
        "Net total 100.00 EUR",
        "VAT 19 % 19.00 EUR",
        "Grand total 119.00 EUR",
    ]);
    let second = text(&[
        "Birch Paper Ltd",
        "High Street 1",
        "LS1 4AP Leeds",
        "",
        "4 February 2026",
        "",
        "Dear customer,",
        "",
        "thank you very much for your order. We are looking forward to hearing from you, and hope that",
        "our paper serves you well. Please do not hesitate to write to us.",
        "",
        "Yours sincerely,",
        "Anna Birch",
    ]);
    let page = |content: u32| {
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {content} 0 R /Resources << /Font << /F1 7 0 R >> >> >>"
        )
    };
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles << /Names [(factur-x.xml) 8 0 R] >> >> >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>".to_owned(),
        page(5),
        page(6),
        first,
        second,
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
        "<< /Type /Filespec /F (factur-x.xml) /UF (factur-x.xml) /EF << /F 9 0 R >> /AFRelationship /Data >>"
            .to_owned(),
        format!("<< /Type /EmbeddedFile /Subtype /text#2Fxml /Length {} >>\nstream\n{xml}\nendstream", xml.len()),
    ];
    let mut pdf = String::from("%PDF-1.7\n");
    let mut places = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        places.push(pdf.len());
        writeln!(pdf, "{} 0 obj\n{object}\nendobj", index + 1).unwrap();
    }
    let start = pdf.len();
    writeln!(pdf, "xref\n0 {}\n0000000000 65535 f ", objects.len() + 1).unwrap();
    for place in places {
        writeln!(pdf, "{place:010} 00000 n ").unwrap();
    }
    writeln!(pdf, "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF", objects.len() + 1).unwrap();
    pdf.into_bytes()
}

const UBL: &str = r#"<?xml version="1.0"?><Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2" xmlns:cbc="c" xmlns:cac="a">
  <cbc:ID>2026-17</cbc:ID><cbc:IssueDate>2026-02-03</cbc:IssueDate><cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>
  <cac:AccountingSupplierParty><cac:Party><cac:PartyName><cbc:Name>Birch Paper Ltd</cbc:Name></cac:PartyName></cac:Party></cac:AccountingSupplierParty>
  <cac:LegalMonetaryTotal><cbc:TaxExclusiveAmount currencyID="EUR">100.00</cbc:TaxExclusiveAmount>
  <cbc:TaxInclusiveAmount currencyID="EUR">119.00</cbc:TaxInclusiveAmount></cac:LegalMonetaryTotal></Invoice>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_with_an_e_invoice_is_one_document_and_its_copy_is_doubted() {
    let desk = Desk::new().await;
    desk.write("a.pdf", &einvoice_pdf(UBL));
    desk.write("b/copy.pdf", &einvoice_pdf(&UBL.replace("2026-02-03", "2026-02-04")));
    let (status, result) = desk.run("documents").await;
    let result = result.unwrap();
    assert_eq!(status, SubmissionStatus::Completed);
    let documents = result["documents"].as_array().unwrap();
    let seen: Vec<_> = documents.iter().map(|one| (&one["doc_type"], &one["page_indices"])).collect();
    assert_eq!(seen, [(&json!("invoice"), &json!([1, 2])); 2]);
    assert_eq!(documents[0]["extracted_data"]["grand_total"], "119.00");
    let because = documents[0]["because"][0]["text"].as_str().unwrap();
    assert_eq!(because, "the file holds the e-invoice 2026-17, which says so");
    let reasons = documents[1]["needs_review"].to_string();
    assert!(reasons.contains("the same as those of doc_1_1 in a.pdf"), "{reasons}");
    assert!(!documents[0]["needs_review"].to_string().contains("the same"), "only the second is doubted");
}

/// Words of a language that no type lists: the sums say that it is an invoice all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fields_that_fit_give_a_document_its_type() {
    let desk = Desk::new().await;
    let page = "<html><body><p>Harjula Paperi Oy</p><p>Mannerheimintie 4, 00100 Helsinki</p><h1>Lasku</h1>\
        <p>Number: 2026-17</p><p>Date: 3.2.2026</p><p>Subtotal: 100,00 EUR</p><p>VAT: 24,00 EUR</p>\
        <p>Total: 124,00 EUR</p></body></html>";
    desk.write("lasku.html", page.as_bytes());
    desk.write("memo.html", b"<html><body><p>Milk 3, eggs 12, bread 2</p><p>Call Anna on 3.2.2026</p></body></html>");
    let (_, result) = desk.run("documents").await;
    let result = result.unwrap();
    let invoice = &result["documents"][0];
    assert_eq!(invoice["doc_type"], "invoice", "{invoice}");
    assert_eq!(invoice["extracted_data"]["grand_total"], "124.00");
    let because = invoice["because"].to_string();
    assert!(because.contains("its fields are those of the type invoice: net_total + tax_total is 124.00"), "{because}");
    assert_eq!(result["documents"][1]["doc_type"], "other", "{}", result["documents"][1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_e_invoice_of_a_stated_type_is_one_document_of_that_type() {
    let desk = Desk::new().await;
    desk.write("a.pdf", &einvoice_pdf(UBL));
    let taken = intake::take_in(&desk.engine, &[desk.folder()]).await.unwrap();
    let mut new = Intake::new("documents", taken.files);
    intake::state_doctype(&mut new, "credit_note");
    let id = desk.engine.submit(new).await.unwrap().id();
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    let result = view::result(&desk.engine, id).await.unwrap().unwrap();
    let documents = result["documents"].as_array().unwrap();
    let seen: Vec<_> = documents.iter().map(|one| (&one["doc_type"], &one["page_indices"])).collect();
    assert_eq!(seen, [(&json!("credit_note"), &json!([1, 2]))]);
}
