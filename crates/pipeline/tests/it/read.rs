//! The `read` workflow on a real engine.

use crate::desk::Desk;
use bindery_core::submission::SubmissionStatus;
use serde_json::{Value, json};

const PAGE: &str = "<html><body><h1>Minutes</h1><p>The motion was carried.</p></body></html>";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_of_several_types_are_bound_page_by_page() {
    let desk = Desk::new().await;
    desk.write("a.html", PAGE.as_bytes());
    desk.write("b.csv", b"item,price\npaper,3\nink,4\n");
    desk.write("wrong-name.pdf", b"Plain text, whatever its name says.\n");
    let (status, result) = desk.run("read").await;
    let result = result.unwrap();
    assert_eq!(status, SubmissionStatus::Completed);
    let kinds: Vec<_> = result["files"].as_array().unwrap().iter().map(|file| file["type"].clone()).collect();
    assert_eq!(kinds, [json!("html"), json!("csv"), json!("txt")]);
    assert_eq!(result["totals"], json!({"files": 3, "pages": 3, "words": 17, "by_ocr": 0, "failed": 0}));
    let markdown = desk.artifact(&result["files"][0]["markdown"]).await;
    assert_eq!(markdown, "## Page 1\n\n# Minutes\n\nThe motion was carried.\n");
    let document: Value = serde_json::from_str(&desk.artifact(&result["files"][1]["json"]).await).unwrap();
    assert_eq!((&document["type"], &document["pageCount"]), (&json!("csv"), &json!(1)));
    assert!(document["pages"][0].as_str().unwrap().contains("| paper | 3 |"), "{document}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_cannot_be_read_fails_alone_and_says_why() {
    let desk = Desk::new().await;
    desk.write("good.html", PAGE.as_bytes());
    desk.write("empty.pdf", b"");
    desk.write("torn.pdf", b"%PDF-1.7\n1 0 obj\n<<");
    desk.write("program", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0");
    let (status, result) = desk.run("read").await;
    let result = result.unwrap();
    assert_eq!(status, SubmissionStatus::Completed);
    assert_eq!(result["totals"]["failed"], 3);
    let failed: Vec<String> = result["failed"].as_array().unwrap().iter().map(Value::to_string).collect();
    assert!(failed[0].contains("empty.pdf") && failed[0].contains("the file is empty"), "{failed:?}");
    assert!(failed[1].contains("program") && failed[1].contains("which cannot be read"), "{failed:?}");
    assert!(failed[2].contains("torn.pdf") && failed[2].contains("damaged"), "{failed:?}");
    assert_eq!(result["files"][1]["type"], "html");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_readable_is_a_failure() {
    let desk = Desk::new().await;
    desk.write("empty.pdf", b"");
    let (status, result) = desk.run("read").await;
    assert_eq!((status, result), (SubmissionStatus::Failed, None));
}
