//! What a workflow asks for.

use super::{
    paper::{ID_CARD, INVOICE, INVOICE_WITHOUT_TOTAL, pdf},
    request::{Request, changed, default_yaml},
};
use bindery_core::submission::SubmissionStatus;
use serde_json::json;

const DATE: &str = "      - { name: vendor_name, type: string }\n      - { name: date, type: date }\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_17_a_field_of_ones_own_is_looked_for_by_its_label() {
    let yaml = changed(DATE, &format!("{DATE}      - {{ name: cost_centre, type: string, required: true }}\n"));
    let request = Request::worked_on(&yaml, &[("a.pdf", &pdf(&[INVOICE]))]).await;
    let result = request.result().await;
    let document = &result["documents"][0];
    assert_eq!(document["extracted_data"]["cost_centre"], "K-88");
    assert!(document["evidence"]["cost_centre"]["quote"].as_str().unwrap().contains("K-88"), "{document}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_17_what_is_required_and_missing_is_named_and_never_made_up() {
    let yaml = changed(DATE, &format!("{DATE}      - {{ name: shelf_mark, type: string, required: true }}\n"));
    let request = Request::worked_on(&yaml, &[("a.pdf", &pdf(&[INVOICE]))]).await;
    let found = request.sent("extract").await.remove(0);
    assert_eq!((&found["extracted_data"]["shelf_mark"], &found["extraction_confidence"]), (&json!(null), &json!(0.0)));
    assert_eq!(found["field_confidences"]["shelf_mark"], 0.0);
    let why = "the required field shelf_mark was not found: nothing is named \"shelf mark\"";
    assert!(found["needs_review"].as_array().unwrap().contains(&json!(why)), "{found}");
    assert_eq!(found["extracted_data"]["invoice_number"], "2026-0117", "the others are there all the same");
    assert_eq!(request.open_reviews().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_17_a_document_without_its_total_waits_for_a_person() {
    let request = Request::worked_on(&default_yaml(), &[("a.pdf", &pdf(&[INVOICE_WITHOUT_TOTAL]))]).await;
    let reviews = request.open_reviews().await;
    assert_eq!((&*reviews[0].queue, &*reviews[0].stage), ("task.extraction", "extract"));
    let found = request.sent("extract").await.remove(0);
    assert_eq!(found["extracted_data"]["total_amount"], json!(null));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_17_a_type_without_a_schema_has_the_fields_of_our_own_and_waits_for_nobody() {
    let yaml = changed("  id_card:\n", "  passport:\n");
    let request = Request::worked_on(&yaml, &[("a.pdf", &pdf(&[ID_CARD]))]).await;
    assert_eq!(request.submission_status().await, SubmissionStatus::Completed);
    let document = request.result().await["documents"][0].take();
    assert_eq!((&document["doc_type"], &document["extraction_confidence"]), (&json!("id_card"), &json!(null)));
    assert_eq!(document["extracted_data"]["document_number"], "X4711220");
    // With the schema, the same under the names that it gives.
    let request = Request::worked_on(&default_yaml(), &[("a.pdf", &pdf(&[ID_CARD]))]).await;
    let expected = json!({"full_name": "Ana Maria Ruiz", "id_number": "X4711220", "date_of_birth": "1990-05-03"});
    assert_eq!(request.sent("extract").await[0]["extracted_data"], expected);
}
