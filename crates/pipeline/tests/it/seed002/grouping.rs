//! Which pages make a document.

use super::{
    paper::{ID_CARD, INVOICE, PAYSLIP, pdf},
    request::{Request, changed, default_yaml, outside},
};
use bindery_core::{item::ItemKind, submission::SubmissionStatus};
use bindery_engine::message::Published;
use serde_json::{Value, json};

fn documents(expected: &[(&str, Value)]) -> Vec<(String, Value)> {
    expected.iter().map(|(doc_type, pages)| ((*doc_type).to_owned(), pages.clone())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_20_consecutive_pages_of_one_type_are_one_document() {
    let pile = pdf(&[INVOICE, INVOICE, ID_CARD, PAYSLIP, PAYSLIP]);
    let request = Request::worked_on(&default_yaml(), &[("pile.pdf", &pile)]).await;
    assert_eq!(request.submission_status().await, SubmissionStatus::Completed, "{:?}", request.open_reviews().await);
    let expected = [("invoice", json!([0, 1])), ("id_card", json!([2])), ("payslip", json!([3, 4]))];
    assert_eq!(request.documents().await, documents(&expected));
    let labels: Vec<_> = request.items(ItemKind::Page).await.into_iter().map(|page| page.label.unwrap()).collect();
    assert_eq!(labels, ["invoice", "invoice", "id_card", "payslip", "payslip"], "pages show their types");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_20_a_type_that_comes_again_is_another_document() {
    let pile = pdf(&[INVOICE, ID_CARD, INVOICE]);
    let request = Request::worked_on(&default_yaml(), &[("pile.pdf", &pile)]).await;
    let expected = [("invoice", json!([0])), ("id_card", json!([1])), ("invoice", json!([2]))];
    assert_eq!(request.documents().await, documents(&expected));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_20_a_document_ends_with_its_file_unless_the_stage_says_otherwise() {
    let (one, two) = (pdf(&[INVOICE]), pdf(&[INVOICE, PAYSLIP]));
    let files: [(&str, &[u8]); 2] = [("a.pdf", &one), ("b.pdf", &two)];
    let request = Request::worked_on(&default_yaml(), &files).await;
    let expected = [("invoice", json!([0])), ("invoice", json!([1])), ("payslip", json!([2]))];
    assert_eq!(request.documents().await, documents(&expected), "pages are numbered over all files");

    let request = Request::worked_on(&changed("across_files: false", "across_files: true"), &files).await;
    assert_eq!(request.documents().await, documents(&[("invoice", json!([0, 1])), ("payslip", json!([2]))]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_20_a_page_without_a_type_is_unknown() {
    let pile = pdf(&[INVOICE, INVOICE]);
    let request = Request::worked_on(&outside("classifier"), &[("pile.pdf", &pile)]).await;
    for page in 0..2 {
        let message =
            json!({"request_id": "request-1", "page_index": page, "payload": {"doc_type": null, "confidence": 0.9}});
        assert_eq!(request.publish("page.classified", message).await, Published::Taken);
    }
    request.work().await;
    assert_eq!(request.documents().await, documents(&[("unknown", json!([0, 1]))]));
    let read = &request.tables().await.pages[0]["ocr_text"];
    assert!(read.as_str().unwrap().contains("2026-0117"), "what the classifier has not sent on is not lost: {read}");
}
