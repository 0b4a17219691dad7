//! What is doubtful goes to a person, and comes back certain.

use super::{
    paper::{INVOICE, INVOICE_WITHOUT_TOTAL, NOTE, PAYSLIP, pdf},
    request::{Request, changed, default_yaml},
};
use bindery_core::submission::SubmissionStatus;
use serde_json::json;

/// With a threshold that is exactly the confidence, and one that is a little more.
async fn around(line: &str, stage: &str) {
    let files: [(&str, &[u8]); 1] = [("a.pdf", &pdf(&[INVOICE]))];
    let confidence = Request::worked_on(&default_yaml(), &files).await.outcomes(stage).await[0].confidence.unwrap();
    let threshold = |least: f64| changed(line, &format!("confidence_threshold: {least:.17}"));
    let equal = Request::worked_on(&threshold(confidence), &files).await;
    assert_eq!(equal.submission_status().await, SubmissionStatus::Completed, "exactly as sure as asked for");
    let more = Request::worked_on(&threshold(confidence + 0.0001), &files).await;
    let reviews = more.open_reviews().await;
    assert_eq!(reviews.iter().map(|review| &*review.stage).collect::<Vec<_>>(), [stage]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_18_the_threshold_of_the_classification_is_the_yamls() {
    around("confidence_threshold: 0.80", "classify").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_18_the_threshold_of_the_extraction_is_the_yamls() {
    around("confidence_threshold: 0.75", "extract").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_19_a_type_that_a_person_gives_is_certain_and_goes_on_to_the_grouping() {
    let request = Request::worked_on(&default_yaml(), &[("a.pdf", &pdf(&[PAYSLIP, NOTE]))]).await;
    let reviews = request.open_reviews().await;
    assert_eq!(reviews.iter().map(|review| &*review.queue).collect::<Vec<_>>(), ["task.classification"]);
    let waiting = request.tables().await;
    assert_eq!(waiting.pages[1]["status"], "classification_review");
    assert_eq!(request.counts("classification").await, (1, 2, false));

    request.decide(&reviews[0], json!({"doc_type": "payslip"})).await;
    request.work().await;
    let result = request.result().await;
    assert_eq!(
        (&result["documents"][0]["doc_type"], &result["documents"][0]["page_indices"]),
        (&json!("payslip"), &json!([0, 1]))
    );
    let page = &request.tables().await.pages[1];
    assert_eq!((&page["doc_type"], &page["classification_confidence"]), (&json!("payslip"), &json!(1.0)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_19_fields_that_a_person_gives_are_certain_and_in_the_result() {
    let request = Request::worked_on(&default_yaml(), &[("a.pdf", &pdf(&[INVOICE_WITHOUT_TOTAL]))]).await;
    let review = request.open_reviews().await.remove(0);
    assert_eq!(request.tables().await.documents[0]["status"], "extraction_review");
    assert_eq!(request.counts("extraction").await, (0, 1, false));

    let mut data = request.sent("extract").await[0]["extracted_data"].take();
    data["total_amount"] = json!("238.00");
    request.decide(&review, json!({"extracted_data": data})).await;
    request.work().await;
    assert_eq!(request.submission_status().await, SubmissionStatus::Completed);
    let document = request.result().await["documents"][0].take();
    assert_eq!((&document["status"], &document["extraction_confidence"]), (&json!("completed"), &json!(1.0)));
    assert_eq!(document["extracted_data"]["total_amount"], "238.00");
    assert_eq!(document["evidence"]["total_amount"]["tier"], "person");
    assert_eq!(document["evidence"]["invoice_number"]["tier"], "candidate", "what stays is where it was read");
    assert_eq!(document["needs_review"], json!([]));
}
