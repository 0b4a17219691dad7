//! The `documents` workflow on a real engine.

use crate::desk::Desk;
use bindery_core::submission::SubmissionStatus;
use bindery_insight::DocTypes;
use serde_json::json;

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
