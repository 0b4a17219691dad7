//! Pages that are read by OCR, with the engine that the workflow names.

use super::{bytes, changed_workflow, json, keys, read_by, sample, service::OcrService};
use crate::desk::Desk;
use bindery_core::{SubmissionId, submission::SubmissionStatus};
use bindery_reader::ocr::tesseract::Tesseract;
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_16_and_18_scanned_pages_go_to_the_configured_engine_and_no_others() {
    let desk = Desk::new().await;
    let service = OcrService::start(r#"{"text": "From the service", "confidence": 0.93}"#);
    desk.write("scan.pdf", &sample("scan.pdf"));
    let (from, to) = read_by(&service.address);
    let workflow = changed_workflow(&desk, &[(&from, &to)]).await;
    let (status, result) = desk.run(workflow).await;
    assert_eq!(status, SubmissionStatus::Completed);
    assert_eq!(result.unwrap()["totals"]["by_ocr"], 1);
    let keys = keys(&desk).await;
    for (key, there) in [
        ("text-pages/item_1/page_001.pdf", true),
        ("scan-pages/item_1/page_002.pdf", true),
        ("text-pages/item_1/page_002.pdf", false),
        ("scan-pages/item_1/page_001.pdf", false),
        ("text-pages/item_1/page_001.md", true),
        ("text-pages/item_1/page_002.md", true),
    ] {
        assert_eq!(keys.iter().any(|known| known == key), there, "{key}");
    }
    let requests = service.requests();
    assert_eq!(requests.len(), 1, "only the scan was sent");
    let outcomes = desk.engine.store().outcomes(SubmissionId::from_raw(1), Some(&"ocr".into())).await.unwrap();
    assert!((outcomes[0].confidence.unwrap() - 0.93).abs() < 1e-6);
}

/// Width and height of the first PNG in what was sent.
fn png_size(request: &[u8]) -> (u32, u32) {
    let start = request.windows(8).position(|eight| eight == b"\x89PNG\r\n\x1a\n").unwrap();
    let number = |at: usize| u32::from_be_bytes(request[start + at..start + at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_26_forced_ocr_reads_every_page_at_300_dots_per_inch_and_its_text_is_cleaned() {
    let desk = Desk::new().await;
    let service = OcrService::start(r#"{"text": "An exam-\r\nple  with   spaces\r\n\r\nAnd more", "confidence": 80}"#);
    desk.write("report.pdf", &sample("report.pdf"));
    let (from, to) = read_by(&service.address);
    let workflow = changed_workflow(&desk, &[(&from, &to), ("force_ocr: false", "force_ocr: true")]).await;
    desk.run(workflow).await;
    let document = json(&desk, "text-docs/item_1.json").await;
    for number in 1..=2 {
        let expected = format!("## Page {number}\n\nAn example with spaces\n\nAnd more\n");
        assert_eq!(document["pages"][number - 1], json!(expected));
    }
    assert!(keys(&desk).await.contains(&"scan-pages/item_1/page_001.pdf".to_owned()));
    let requests = service.requests();
    assert_eq!(requests.len(), 2);
    let (width, height) = png_size(&requests[0]);
    // A4 at 300 dots per inch.
    assert!(width.abs_diff(2480) <= 10 && height.abs_diff(3508) <= 10, "{width} x {height}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_26_words_have_boxes_on_every_page_where_they_are_asked_for() {
    let desk = Desk::new().await;
    let words = r#"{"words": [{"text": "Dear", "bbox": [120, 80, 210, 118], "confidence": 0.9},
        {"text": "reader", "bbox": [230, 80, 330, 118], "confidence": 0.7}]}"#;
    let service = OcrService::start(words);
    desk.write("scan.pdf", &sample("scan.pdf"));
    let (from, to) = read_by(&service.address);
    let workflow = changed_workflow(&desk, &[(&from, &to), ("hocr: false", "hocr: true")]).await;
    let (_, result) = desk.run(workflow).await;
    let page = String::from_utf8(bytes(&desk, "hocr/item_1/page_002.json").await).unwrap();
    let expected = r#"{"words":[{"bbox":[120,80,210,118],"text":"Dear"},{"bbox":[230,80,330,118],"text":"reader"}]}"#;
    assert_eq!(page, expected);
    let embedded = json(&desk, "hocr/item_1/page_001.json").await;
    assert!(!embedded["words"].as_array().unwrap().is_empty(), "a page with text of its own has them, too");
    let all = json(&desk, "hocr/item_1.json").await;
    assert_eq!((&all["documentId"], &all["pageCount"]), (&json!("item_1"), &json!(2)));
    assert_eq!((&all["pages"][0], all["pages"][1].to_string()), (&embedded, page), "one schema");
    assert_eq!(result.unwrap()["files"][0]["hocr"], "hocr/item_1.json");
    let outcomes = desk.engine.store().outcomes(SubmissionId::from_raw(1), Some(&"ocr".into())).await.unwrap();
    assert!((outcomes[0].confidence.unwrap() - 0.8).abs() < 1e-6, "the mean over the words");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_26_rows_of_cells_become_tables() {
    let desk = Desk::new().await;
    desk.write("budget.pdf", &sample("budget.pdf"));
    desk.run("idp").await;
    let page = String::from_utf8(bytes(&desk, "text-pages/item_1/page_001.md").await).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| ") && line.ends_with(" |")).count();
    assert!(rows > 5, "{page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_26_an_engine_that_is_not_known_is_named() {
    let desk = Desk::new().await;
    desk.write("scan.pdf", &sample("scan.pdf"));
    let workflow = changed_workflow(&desk, &[("engine: tesseract", "engine: easyocr")]).await;
    let (status, _) = desk.run(workflow).await;
    assert_eq!(status, SubmissionStatus::Failed);
    let outcomes = desk.engine.store().outcomes(SubmissionId::from_raw(1), Some(&"ocr".into())).await.unwrap();
    let message = outcomes[0].error.clone().unwrap().message;
    assert_eq!(message, r#"settings.engine: expected tesseract, ppocr, auto or http, found "easyocr""#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_18_and_26_tesseract_reads_a_scan_with_words_and_confidence() {
    if let Err(error) = Tesseract::default().check(&["eng".to_owned()]) {
        bindery_testkit::missing(error);
        return;
    }
    let desk = Desk::new().await;
    desk.write("note.png", &sample("delivery-note.png"));
    let workflow = changed_workflow(&desk, &[("hocr: false", "hocr: true")]).await;
    let (status, result) = desk.run(workflow).await;
    assert_eq!(status, SubmissionStatus::Completed);
    let file = result.unwrap()["files"][0].clone();
    assert_eq!((&file["type"], &file["by_ocr"]), (&json!("png"), &json!(1)));
    assert!(keys(&desk).await.contains(&"scan-pages/item_1/page_001.png".to_owned()), "a picture is its own page");
    let words = json(&desk, "hocr/item_1/page_001.json").await;
    assert!(words["words"].as_array().unwrap().len() > 10, "{words}");
    let outcomes = desk.engine.store().outcomes(SubmissionId::from_raw(1), Some(&"ocr".into())).await.unwrap();
    assert!(outcomes[0].confidence.unwrap() > 0.5);
}
