//! Messages are counted, and one goes on.

use super::{
    paper::{ID_CARD, INVOICE, INVOICE_WITHOUT_TOTAL, PAYSLIP, pdf},
    request::{Request, default_yaml, outside},
};
use bindery_core::{
    item::{Item, ItemKind},
    submission::SubmissionStatus,
};
use bindery_engine::message::{PipelineMessage, Published};
use serde_json::{Value, json};

/// The seed's input message about one document.
fn extracted(document: &str, of: usize) -> Value {
    json!({
        "request_id": "request-1", "document_id": document, "document_count": of,
        "payload": {"doc_type": "invoice", "extracted_data": {"total": document}, "extraction_confidence": 0.91},
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_02_our_extractor_and_the_back_office_count_alike() {
    let pile = pdf(&[PAYSLIP, INVOICE_WITHOUT_TOTAL]);
    let request = Request::worked_on(&default_yaml(), &[("pile.pdf", &pile)]).await;
    assert_eq!(request.counts("extraction").await, (1, 2, false), "only the sure one has been extracted");
    let message = json!({
        "request_id": "request-1", "document_id": "doc_2", "source_component": "backoffice",
        "payload": {"extracted_data": {"invoice_number": "2026-0118", "total_amount": "7.00"}},
    });
    assert_eq!(request.publish("doc.extracted", message.clone()).await, Published::Taken);
    assert_eq!(request.publish("doc.extracted", message).await, Published::Ignored, "a second one finds nothing open");
    assert_eq!(request.counts("extraction").await, (2, 2, true));
    request.work().await;
    let result = request.result().await;
    assert_eq!(result["documents"][1]["extracted_data"]["total_amount"], "7.00");
    assert_eq!(result["documents"][1]["extraction_confidence"], 1.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_04_a_message_of_the_seeds_shape_for_each_of_our_documents() {
    let pile = pdf(&[INVOICE, ID_CARD, PAYSLIP]);
    let request = Request::worked_on(&outside("extractor"), &[("pile.pdf", &pile)]).await;
    let documents: Vec<String> = request.items(ItemKind::Document).await.iter().map(Item::public_id).collect();
    assert_eq!(documents, ["doc_1", "doc_2", "doc_3"]);
    for (index, document) in documents.iter().enumerate() {
        assert_eq!(request.publish("doc.extracted", extracted(document, 3)).await, Published::Taken);
        assert_eq!(request.counts("extraction").await, (index as i64 + 1, 3, index == 2));
    }
    request.work().await;
    let result = request.result().await;
    let totals: Vec<&Value> =
        result["documents"].as_array().unwrap().iter().map(|one| &one["extracted_data"]["total"]).collect();
    assert_eq!(totals, ["doc_1", "doc_2", "doc_3"]);
    assert_eq!(result["documents"][0]["extraction_confidence"], 0.91);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_10_the_next_one_is_our_consolidator() {
    let request = Request::received(&default_yaml(), &[("a.pdf", &pdf(&[INVOICE, PAYSLIP]))]).await;
    request.pause("q.consolidator").await;
    request.work().await;
    let waiting = request.queued("q.consolidator").await;
    assert_eq!(waiting.iter().map(|job| &*job.stage).collect::<Vec<_>>(), ["consolidate"]);
    assert_eq!(request.submission_status().await, SubmissionStatus::Consolidating);
    let sent = request.desk.engine.read_payload(&waiting[0].payload).await.unwrap();
    assert_eq!(sent, json!({"request_id": "request-1", "source_component": "extraction_aggregator"}));
    // 002-12: none of the data came with it, and all of it is in the result.
    request.resume("q.consolidator").await;
    request.work().await;
    assert_eq!(request.outcomes("consolidate").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_12_our_consolidator_reads_the_documents_from_the_store() {
    let request = Request::worked_on(&outside("extractor"), &[("a.pdf", &pdf(&[INVOICE, PAYSLIP]))]).await;
    let long = "9".repeat(20_000);
    let mut message = extracted("doc_1", 2);
    message["payload"]["extracted_data"] = json!({"number": long});
    for message in [message, extracted("doc_2", 2)] {
        assert_eq!(request.publish("doc.extracted", message).await, Published::Taken);
    }
    request.work().await;
    assert_eq!(request.result().await["documents"][0]["extracted_data"], json!({"number": long}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_14_classification_counts_pages_and_makes_what_extraction_waits_for() {
    let request = Request::received(&default_yaml(), &[("a.pdf", &pdf(&[INVOICE, INVOICE, PAYSLIP]))]).await;
    request.pause("q.classification_aggregator").await;
    request.work().await;
    assert_eq!(request.counts("classification").await, (3, 3, true));
    assert!(request.items(ItemKind::Document).await.is_empty(), "documents are made behind the join");
    request.resume("q.classification_aggregator").await;
    request.work().await;
    assert_eq!(request.counts("extraction").await, (2, 2, true));
    assert_eq!(request.outcomes("classification_aggregation").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_16_a_message_for_a_request_without_aggregation_state_is_an_error_that_names_it() {
    let request = Request::received(&default_yaml(), &[("a.pdf", &pdf(&[INVOICE]))]).await;
    request.pause("q.classification_aggregator").await;
    request.work().await;
    let before = request.tables().await;
    for document in ["doc_1", "page_0"] {
        let message: PipelineMessage = serde_json::from_value(extracted(document, 1)).unwrap();
        let error = request.desk.engine.publish("doc.extracted", message).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no aggregation state of the request \"request-1\" at the stage extraction_aggregation"
        );
    }
    assert_eq!(request.tables().await, before, "nothing was changed");
    for queue in ["q.extraction_aggregator", "q.consolidator"] {
        assert!(request.queued(queue).await.is_empty(), "nothing was published to {queue}");
    }
    request.resume("q.classification_aggregator").await;
    request.work().await;
    assert_eq!(request.submission_status().await, SubmissionStatus::Completed, "the request itself goes on");
}
