//! What each component does with a pile of files, and what it sends.

use super::{
    paper::{INVOICE, PAYSLIP, pdf},
    request::{Request, changed, default_yaml, outside},
};
use bindery_core::{Payload, item::ItemKind, submission::SubmissionStatus};
use bindery_engine::message::Published;
use serde_json::{Value, json};

const RECEIPT: &str = "<html><body><h1>Receipt</h1><p>Merchant: Corner Shop</p><p>Date: 2 April 2026</p>\
    <table><tr><th>Item</th><th>Amount</th></tr><tr><td>Tea</td><td>4.00</td></tr><tr><td>Cake</td><td>5.50</td></tr></table>\
    <p>Total: 9.50 EUR</p><p>Paid by card. Thank you for your purchase.</p></body></html>";

fn has_all(value: &Value, keys: &[&str]) {
    for key in keys {
        assert!(value.get(key).is_some(), "{key} is missing in {value}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_17_every_component_sends_what_the_next_one_needs() {
    let pile = pdf(&[INVOICE, PAYSLIP]);
    let files: [(&str, &[u8]); 3] =
        [("a.pdf", &pile), ("b.html", RECEIPT.as_bytes()), ("c.pdf", b"%PDF-1.7\n1 0 obj\n<<")];
    let request = Request::worked_on(&default_yaml(), &files).await;
    assert_eq!(request.submission_status().await, SubmissionStatus::Completed, "{:?}", request.open_reviews().await);

    let split = request.sent("split").await.remove(0);
    assert_eq!(split["page_count"], 3);
    let first: Vec<&Value> = split["files"].as_array().unwrap().iter().map(|file| &file["first_page_index"]).collect();
    assert_eq!(first, [&json!(0), &json!(2), &Value::Null], "one numbering over all files");

    for (index, page) in request.sent("ocr").await.iter().enumerate() {
        has_all(page, &["channel", "file_path", "original_filename", "metadata", "page_id"]);
        assert_eq!((&page["page_index"], &page["ocr_confidence"]), (&json!(index), &json!(1.0)));
        assert!(!page["ocr_text"].as_str().unwrap().is_empty());
    }
    let classified = request.sent("classify").await;
    let types: Vec<&Value> = classified.iter().map(|page| &page["doc_type"]).collect();
    assert_eq!(types, ["invoice", "payslip", "receipt"]);
    for page in &classified {
        has_all(page, &["ocr_text", "ocr_confidence", "page_id", "because"]);
        assert!(page["classification_confidence"].as_f64().unwrap() >= 0.80, "{page}");
    }
    assert_eq!(request.sent("classification_aggregation").await, [json!({"document_count": 3})]);

    let extracted = request.sent("extract").await;
    assert_eq!(
        extracted[0]["extracted_data"],
        json!({
            "invoice_number": "2026-0117", "total_amount": "119.00", "vendor_name": "Nordwind Papier GmbH",
            "date": "2026-03-14",
        })
    );
    assert_eq!(
        extracted[1]["extracted_data"],
        json!({
            "company_name": "Nordwind Papier GmbH", "employee_name": "Ana Ruiz", "gross_amount": "3000.00",
            "net_amount": "2200.00", "period": "March 2026",
        })
    );
    for document in &extracted {
        let least = document["field_confidences"].as_object().unwrap().values().map(|one| one.as_f64().unwrap());
        assert_eq!(document["extraction_confidence"], json!(least.reduce(f64::min).unwrap()));
    }
    let expected = json!({"request_id": "request-1", "source_component": "extraction_aggregator"});
    assert_eq!(request.sent("extraction_aggregation").await, [expected]);

    let result = request.result().await;
    assert_eq!((&result["request_id"], &result["workflow"]), (&json!("request-1"), &json!("default")));
    assert_eq!((&result["total_pages"], &result["total_documents"]), (&json!(3), &json!(3)));
    let payslip = &result["documents"][1];
    assert_eq!(
        (&payslip["file"], &payslip["pages"], &payslip["page_indices"]),
        (&json!("a.pdf"), &json!([2]), &json!([1]))
    );
    let place = &payslip["evidence"]["net_amount"];
    assert_eq!((&place["page"], &place["page_index"]), (&json!(2), &json!(1)));
    assert!(place["quote"].as_str().unwrap().contains("2,200.00") && place["bbox"].is_array(), "{place}");
    let failed = &result["failed"][0];
    assert_eq!(failed["file"], "c.pdf");
    assert!(failed["reason"].as_str().unwrap().contains("damaged"), "{failed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_17_a_pile_of_which_nothing_can_be_read_has_failed() {
    let files: [(&str, &[u8]); 2] = [("a.pdf", b"%PDF-1.7\n1 0 obj\n<<"), ("b.pdf", b"")];
    let request = Request::worked_on(&default_yaml(), &files).await;
    assert_eq!(request.submission_status().await, SubmissionStatus::Failed);
    let error = request.outcomes("split").await.remove(0).error.unwrap();
    assert!(error.message.starts_with("none of the 2 files could be read; the first: "), "{}", error.message);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_17_text_that_another_program_has_read_does_as_well() {
    let picture = pdf(&[&[]]);
    let request = Request::worked_on(&outside("ocr"), &[("scan.pdf", &picture)]).await;
    let waiting = request.queued("q.ocr").await;
    let asked = request.desk.engine.read_payload(&waiting[0].payload).await.unwrap();
    has_all(&asked, &["page_id", "page_index", "file_path", "file_content", "page_number"]);
    let text = INVOICE.join("\n").replace("# ", "");
    let message = json!({
        "request_id": "request-1", "page_index": 0, "page_count": 1,
        "payload": {"page_index": 0, "ocr_text": text, "ocr_confidence": 0.93},
    });
    assert_eq!(request.publish("page.classify", message).await, Published::Taken);
    request.work().await;
    let documents = request.result().await["documents"].take();
    assert_eq!((&documents[0]["doc_type"], &documents[0]["page_indices"]), (&json!("invoice"), &json!([0])));
    assert_eq!(documents[0]["extracted_data"]["invoice_number"], "2026-0117");
    assert_eq!(documents[0]["extracted_data"]["total_amount"], "119.00");
    assert_eq!(request.tables().await.pages[0]["ocr_confidence"], 0.93);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s002_17_long_texts_stand_beside_the_rows() {
    let long = format!("{}\n{}", INVOICE.join("\n").replace("# ", ""), "Paper and ink for the office. ".repeat(600));
    let yaml = changed("confidence_threshold: 0.80", "confidence_threshold: 0.1");
    let request = Request::received(&yaml, &[("long.txt", long.as_bytes())]).await;
    request.pause("q.extractor").await;
    request.work().await;
    let asked = request.queued("q.extractor").await.remove(0).payload;
    assert!(matches!(asked, Payload::Blob(_)));
    let asked = request.desk.engine.read_payload(&asked).await.unwrap();
    assert!(asked["ocr_texts"]["0"].as_str().unwrap().len() > 15_000);
    let document = request.items(ItemKind::Document).await.remove(0);
    assert!(document.data.len() < 2_000, "{}", document.data);
    request.resume("q.extractor").await;
    request.work().await;
    assert_eq!(request.result().await["documents"][0]["extracted_data"]["invoice_number"], "2026-0117");
}
