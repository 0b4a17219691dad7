//! The shapes in which others know a request: its status, its result, its messages, its rows.

use super::{
    paper::{INVOICE, INVOICE_WITHOUT_TOTAL, PAYSLIP, pdf},
    request::{Request, default_yaml},
};
use bindery_engine::message::PipelineMessage;
use serde_json::{Value, json};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn sorted(columns: &str) -> Vec<&str> {
    let mut columns: Vec<&str> = columns.split_whitespace().collect();
    columns.sort_unstable();
    columns
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_23_status_and_result_have_the_seeds_shape() {
    let request = Request::received(&default_yaml(), &[("a.pdf", &pdf(&[INVOICE, PAYSLIP]))]).await;
    let received = request.status().await;
    for key in sorted(
        "request_id status workflow_name created_at deadline_utc completed_at page_count document_count result error",
    ) {
        assert!(received.get(key).is_some(), "{key} is missing in {received}");
    }
    assert_eq!((&received["request_id"], &received["workflow_name"]), (&json!("request-1"), &json!("default")));
    assert_eq!((&received["result"], &received["completed_at"]), (&json!(null), &json!(null)));
    assert_eq!((&received["page_count"], &received["document_count"]), (&json!(0), &json!(0)));

    request.work().await;
    let done = request.status().await;
    assert_eq!((&done["status"], &done["error"]), (&json!("completed"), &json!(null)));
    assert_eq!((&done["page_count"], &done["document_count"]), (&json!(2), &json!(2)));
    assert!(done["completed_at"].as_str() > done["created_at"].as_str(), "{done}");
    let result = &done["result"];
    for key in sorted("request_id workflow total_pages total_documents documents") {
        assert!(result.get(key).is_some(), "{key} is missing in {result}");
    }
    for document in result["documents"].as_array().unwrap() {
        for key in
            sorted("document_id doc_type page_indices extracted_data extraction_confidence status evidence doubts")
        {
            assert!(document.get(key).is_some(), "{key} is missing in {document}");
        }
        assert_eq!(document["status"], "completed", "as it is when the result is read");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_24_rows_have_the_seeds_columns() {
    let request =
        Request::worked_on(&default_yaml(), &[("a.pdf", &pdf(&[INVOICE, INVOICE_WITHOUT_TOTAL, PAYSLIP]))]).await;
    let tables = request.tables().await;
    let columns = |rows: &[Value]| -> Vec<String> {
        let mut columns: Vec<String> = keys(&rows[0]).iter().map(ToString::to_string).collect();
        columns.sort_unstable();
        columns
    };
    assert_eq!(
        columns(&tables.requests),
        sorted(
            "id external_id channel workflow_name status priority deadline_utc sla_seconds original_filename \
             file_storage_path page_count document_count result_payload error_message metadata created_at updated_at \
             completed_at"
        )
    );
    assert_eq!(
        columns(&tables.pages),
        sorted(
            "id request_id page_index status file_storage_path ocr_text ocr_confidence doc_type \
             classification_confidence document_id metadata created_at updated_at"
        )
    );
    assert_eq!(
        columns(&tables.documents),
        sorted(
            "id request_id doc_type page_indices status extracted_data extraction_confidence metadata created_at updated_at"
        )
    );
    assert_eq!(
        columns(&tables.aggregation_state),
        sorted("id request_id stage expected_count received_count received_ids is_complete created_at updated_at")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_24_rows_tell_what_has_happened() {
    let files: [(&str, &[u8]); 1] = [("a.pdf", &pdf(&[PAYSLIP, INVOICE_WITHOUT_TOTAL]))];
    let request = Request::received(&default_yaml(), &files).await;
    request.pause("q.classifier").await;
    request.work().await;
    let statuses =
        |rows: &[Value]| rows.iter().map(|row| row["status"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(statuses(&request.tables().await.pages), ["ocr_complete", "ocr_complete"]);
    request.resume("q.classifier").await;
    request.work().await;

    let waiting = request.tables().await;
    assert_eq!(statuses(&waiting.requests), ["extracting"]);
    assert_eq!(
        (&waiting.requests[0]["sla_seconds"], &waiting.requests[0]["original_filename"]),
        (&json!(60), &json!("a.pdf"))
    );
    assert_eq!(statuses(&waiting.pages), ["grouped", "grouped"]);
    assert_eq!(waiting.pages[1]["document_id"], waiting.documents[1]["id"]);
    assert_eq!(statuses(&waiting.documents), ["extracted", "extraction_review"]);
    let extraction = waiting.aggregation_state.iter().find(|row| row["stage"] == "extraction").unwrap();
    assert_eq!((&extraction["received_count"], &extraction["expected_count"]), (&json!(1), &json!(2)));
    assert_eq!(extraction["received_ids"], json!([waiting.documents[0]["id"]]));

    let task = &waiting.backoffice_tasks[0];
    let mut columns = keys(task);
    columns.sort_unstable();
    assert_eq!(
        columns,
        sorted(
            "id request_id task_type reference_id status priority assigned_to assigned_at source_stage workflow_name \
             input_data output_data deadline_utc required_skills created_at completed_at"
        )
    );
    assert_eq!((&task["task_type"], &task["source_stage"]), (&json!("extraction"), &json!("extract")));
    assert_eq!((&task["reference_id"], &task["status"]), (&waiting.documents[1]["id"], &json!("pending")));
    assert_eq!(task["required_skills"], json!(["extraction", "invoice"]));
    assert_eq!(keys(&task["input_data"]), ["document_id", "doc_type", "extracted_data", "confidence", "ocr_texts"]);
    assert!(task["input_data"]["ocr_texts"]["1"].as_str().unwrap().contains("2026-0118"), "{task}");

    let mut data = task["input_data"]["extracted_data"].clone();
    data["total_amount"] = json!("7.00");
    request.decide(&request.open_reviews().await[0], json!({"extracted_data": data})).await;
    request.work().await;
    let done = request.tables().await;
    assert_eq!(
        (statuses(&done.requests), statuses(&done.documents)),
        (vec!["completed".to_owned()], vec!["completed".to_owned(); 2])
    );
    assert_eq!(done.requests[0]["result_payload"], request.result().await);
    assert_eq!(done.backoffice_tasks[0]["output_data"]["extracted_data"]["total_amount"], "7.00");
    assert!(done.aggregation_state.iter().all(|row| row["is_complete"] == true));
}

#[test]
fn s002_24_the_envelope_has_every_field() {
    let fields = json!({
        "request_id": "request-1", "trace_id": "7f3c", "workflow_name": "default", "current_stage": "extract",
        "deadline_utc": "2026-11-15T10:43:36.217Z", "page_index": 1, "page_count": 2, "file_index": 0,
        "document_id": "doc_1", "document_count": 1, "payload": {"doc_type": "invoice"},
        "source_component": "extractor", "created_at": "2026-11-15T10:42:39.927Z",
    });
    let message: PipelineMessage = serde_json::from_value(fields.clone()).unwrap();
    assert_eq!(serde_json::to_value(&message).unwrap(), fields, "nothing is lost, nothing is added");
    // Only whose it is has to be said.
    assert!(serde_json::from_value::<PipelineMessage>(json!({"request_id": "request-1"})).is_ok());
    let without = serde_json::from_value::<PipelineMessage>(json!({"payload": {}})).unwrap_err();
    assert!(without.to_string().contains("request_id"), "{without}");
}
