//! Files through the chain.

use super::{artifacts, bytes, changed_workflow, json, keys, sample};
use crate::desk::Desk;
use bindery_core::submission::SubmissionStatus;
use bindery_reader::{ReadOptions, Reader, render};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_13_office_files_are_extracted_and_pdfs_taken_apart_whatever_they_are_called() {
    let desk = Desk::new().await;
    desk.write("a.docx", &sample("invitation.docx"));
    desk.write("b.docx", &sample("report.pdf"));
    desk.write("c.txt", b"Plain words.\n");
    desk.write("d.pdf", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0");
    let (status, result) = desk.run("idp").await;
    let result = result.unwrap();
    assert_eq!(status, SubmissionStatus::Completed);
    let kinds: Vec<_> = result["files"].as_array().unwrap().iter().map(|file| file["type"].clone()).collect();
    assert_eq!(kinds, [json!("docx"), json!("pdf"), json!("txt"), json!(null)]);
    let why = result["files"][3]["error"].as_str().unwrap();
    assert!(why.contains("ELF program, which cannot be read"), "unsupported files say so: {why}");
    assert_eq!(result["files"][3]["status"], "FAILED");
    let keys = keys(&desk).await;
    for key in ["office/item_1/a.docx", "pdf-raw/item_2/b.docx", "office/item_3/c.txt"] {
        assert!(keys.iter().any(|known| known == key), "no {key} in {keys:?}");
    }
    assert!(!keys.iter().any(|key| key.starts_with("pdf-pages/item_1")), "office files are not taken apart: {keys:?}");
    let raw = artifacts(&desk).await.into_iter().find(|artifact| artifact.key == "pdf-raw/item_2/b.docx").unwrap();
    assert_eq!(raw.media_type, "application/pdf", "by content");
    assert_eq!(bytes(&desk, "pdf-raw/item_2/b.docx").await, sample("report.pdf"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_14_office_documents_become_markdown_pages() {
    let desk = Desk::new().await;
    desk.write("a.docx", &sample("invitation.docx"));
    desk.write("b.pptx", &sample("upper-floor.pptx"));
    desk.write("c.xlsx", &sample("stock.xlsx"));
    let (_, result) = desk.run("idp").await;
    let files = result.unwrap()["files"].clone();
    for (index, kind) in ["docx", "pptx", "xlsx"].into_iter().enumerate() {
        let document = json(&desk, files[index]["json"].as_str().unwrap()).await;
        assert_eq!((&document["type"], &document["documentId"]), (&json!(kind), &files[index]["document_id"]));
        let pages = document["pages"].as_array().unwrap();
        assert_eq!(document["pageCount"], pages.len());
        for (number, page) in pages.iter().enumerate() {
            let page = page.as_str().unwrap();
            assert!(page.starts_with(&format!("## Page {}\n\n", number + 1)) && page.ends_with('\n'), "{page}");
            let squeezed = |line: &str| !line.trim().contains("  ") && !line.contains('\r');
            assert!(page.lines().all(squeezed), "{page:?}");
        }
    }
    let opened = Reader::new(ReadOptions::default(), None).open(sample("upper-floor.pptx"), None).unwrap();
    assert_eq!(files[1]["pages"], opened.info().page_count, "a page for each slide");
    let stock = json(&desk, "text-docs/item_3.json").await;
    assert!(stock["pages"][0].as_str().unwrap().contains("| --- |"), "rows with pipes: {stock}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_15_a_pdf_becomes_one_file_per_page() {
    let desk = Desk::new().await;
    desk.write("report.pdf", &sample("report.pdf"));
    desk.run("idp").await;
    let reader = Reader::new(ReadOptions::default(), None);
    let whole = reader.open(sample("report.pdf"), None).unwrap();
    assert_eq!(whole.info().page_count, 2);
    for (index, name) in ["page_001.pdf", "page_002.pdf"].into_iter().enumerate() {
        let file = reader.open(bytes(&desk, &format!("pdf-pages/item_1/{name}")).await, None).unwrap();
        assert_eq!(file.info().page_count, 1);
        let text = |page: bindery_reader::Page| render::text(&page).split_whitespace().count();
        assert_eq!(text(file.page(0).unwrap()), text(whole.page(index).unwrap()), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_17_and_25_pages_with_text_are_bound_in_their_order() {
    let desk = Desk::new().await;
    desk.write("report.pdf", &sample("report.pdf"));
    let (_, result) = desk.run("idp").await;
    let expected = [
        "pdf-pages/item_1/manifest.json",
        "pdf-pages/item_1/page_001.pdf",
        "pdf-pages/item_1/page_002.pdf",
        "pdf-raw/item_1/report.pdf",
        "text-docs/item_1.json",
        "text-docs/item_1.md",
        "text-pages/item_1/page_001.md",
        "text-pages/item_1/page_001.pdf",
        "text-pages/item_1/page_002.md",
        "text-pages/item_1/page_002.pdf",
    ];
    assert_eq!(keys(&desk).await, expected);
    let manifest = String::from_utf8(bytes(&desk, "pdf-pages/item_1/manifest.json").await).unwrap();
    assert_eq!(manifest, r#"{"documentId":"item_1","pages":2}"#);
    let document = json(&desk, "text-docs/item_1.json").await;
    let names: Vec<&str> = document.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["documentId", "type", "pageCount", "pages"]);
    assert_eq!((&document["documentId"], &document["type"]), (&json!("item_1"), &json!("pdf")));
    assert_eq!(document["pageCount"], 2);
    for number in 1..=2 {
        let page = String::from_utf8(bytes(&desk, &format!("text-pages/item_1/page_00{number}.md")).await).unwrap();
        assert!(page.starts_with(&format!("## Page {number}\n\n")), "the real number: {page}");
        assert_eq!(document["pages"][number - 1], json!(page));
    }
    let result = result.unwrap();
    let file = &result["files"][0];
    assert_eq!((&file["status"], &file["json"]), (&json!("COMBINED"), &json!("text-docs/item_1.json")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_25_prefixes_can_be_changed_once_for_all_stages() {
    let desk = Desk::new().await;
    desk.write("a.pdf", &sample("report.pdf"));
    let settings = "    # settings:\n    #   publish: s3://idp\n";
    let changed = "    settings:\n      keys: { text_doc: combined, pdf_page: apart/pages/, text_page: apart/texts }\n";
    let workflow = changed_workflow(&desk, &[(settings, changed)]).await;
    let (_, result) = desk.run(workflow).await;
    assert_eq!(result.unwrap()["files"][0]["json"], "combined/item_1.json");
    let keys = keys(&desk).await;
    for key in ["apart/pages/item_1/page_002.pdf", "apart/texts/item_1/page_002.md", "pdf-raw/item_1/a.pdf"] {
        assert!(keys.iter().any(|known| known == key), "no {key} in {keys:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_25_a_prefix_that_cannot_be_is_refused_in_one_sentence() {
    let desk = Desk::new().await;
    desk.write("a.pdf", &sample("report.pdf"));
    let settings = "    # settings:\n    #   publish: s3://idp\n";
    let wrong = "    settings:\n      keys: { text_docs: x/ }\n";
    let workflow = changed_workflow(&desk, &[(settings, wrong)]).await;
    let (status, _) = desk.run(workflow).await;
    assert_eq!(status, SubmissionStatus::Failed);
    let id = bindery_core::SubmissionId::from_raw(1);
    let outcomes = desk.engine.store().outcomes(id, Some(&"classify".into())).await.unwrap();
    let message = outcomes[0].error.clone().unwrap().message;
    assert!(message.starts_with("settings.keys.text_docs: there is no such kind; there are "), "{message}");
}
