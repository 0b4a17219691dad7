//! What is stored and said while two parsers read the files of a submission.

use super::*;
use bindery_core::submission::SubmissionStatus;
use bindery_store::query::JobFilter;
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_04_both_parsers_read_every_file_and_each_is_announced_once() {
    let azure = Azure::start(|_, _| Plan::Succeed { after_looks: 2 });
    let desk = desk_with(&azure, &[]).await;
    write_letters(&desk, 3);
    let id = desk.submit(NAME).await;
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    let result = view::result(&desk.engine, id).await.unwrap().unwrap();
    assert_eq!(result["parsers"], json!(["markitdown", "foundry"]));
    assert_eq!((&result["totals"]["files"], &result["totals"]["failed"]), (&json!(3), &json!(0)));
    let first = &result["files"][0];
    assert_eq!((&first["name"], &first["agreement"]), (&json!("letter-001.html"), &json!(1.0)), "{first:#}");
    assert_eq!(first["text_by"], "markitdown", "of equals the first");
    let local = desk.artifact(&first["parsers"]["markitdown"]["markdown"]).await;
    assert_eq!(local, "## Page 1\n\n# Letter 1\n\nThe motion number 1 was carried.\n");
    let remote = &first["parsers"]["foundry"];
    assert!(desk.artifact(&remote["markdown"]).await.contains("The motion number 1 was carried."));
    assert_eq!((&remote["model"], &remote["read_as"]), (&json!("prebuilt-layout"), &json!("layout")));
    let said: Value = serde_json::from_str(&desk.artifact(&remote["json"]).await).unwrap();
    assert_eq!(said["analyzeResult"]["pages"][0]["pageNumber"], 1, "what the service said is kept whole");
    let ids: Vec<String> = documents(&desk, id).await.iter().map(|d| d["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(fully_processed(&desk).await, ids);
    assert_eq!(events_of(&desk, kind::DOCUMENT_PROCESSED).await.len(), 6);
    assert_eq!((azure.posts(), azure.asked().len()), (3, 12), "one analysis and three looks for each file");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_06_exhausted_attempts_of_one_parser_leave_the_document_partly_done() {
    let azure = Azure::start(|_, _| Plan::Busy { retry_after: 0 });
    let desk = desk_with(&azure, &[]).await;
    write_letters(&desk, 1);
    let (status, result) = desk.run(NAME).await;
    assert_eq!(status, SubmissionStatus::Completed);
    assert_eq!(azure.posts(), 5, "000-34: so often and no more");
    let result = result.unwrap();
    let entry = &result["files"][0];
    assert_eq!((&entry["text_by"], &entry["agreement"]), (&json!("markitdown"), &Value::Null), "{entry:#}");
    let failed = &result["failed"][0];
    assert_eq!((&failed["file"], &failed["parser"]), (&json!("letter-001.html"), &json!("foundry")));
    assert!(failed["reason"].as_str().unwrap().contains("exceeded the call rate limit"), "{failed}");
    let id = SubmissionId::from_raw(1);
    let state = &documents(&desk, id).await[0];
    assert_eq!(state["processors"]["foundry"]["status"], "failed");
    assert!(state["processors"]["foundry"]["error"].as_str().unwrap().contains("429"), "{state}");
    assert_eq!(state["allProcessorsComplete"], true);
    assert_eq!(counts(&desk, id).await, (1, 1, 0, true));
    assert_eq!(fully_processed(&desk).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_05_an_attempt_that_failed_announces_nothing() {
    let azure = Azure::start(|_, before| match before {
        0 => Plan::Busy { retry_after: 3600 },
        _ => Plan::Succeed { after_looks: 0 },
    });
    let desk = desk_with(&azure, &[]).await;
    write_letters(&desk, 1);
    let id = desk.submit(NAME).await;
    desk.work_until(async || {
        let retried = events_of(&desk, kind::JOB_RETRIED).await;
        (statuses(&desk, id).await[0][0] == "completed" && retried.len() == 1).then_some(())
    })
    .await;
    assert_eq!(statuses(&desk, id).await, [["completed".to_owned(), "pending".to_owned()]]);
    assert!(fully_processed(&desk).await.is_empty());
    // What the service asked for is longer than any wait of the workflow; somebody is less patient.
    let scheduled = JobFilter { submission: Some(id), ..JobFilter::default() };
    desk.engine.store().retry(scheduled).await.unwrap();
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    assert_eq!(statuses(&desk, id).await, [["completed".to_owned(), "completed".to_owned()]]);
    assert_eq!(fully_processed(&desk).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_07_a_document_that_no_parser_can_read_has_failed_and_the_others_have_not() {
    let azure = Azure::start(|text, _| {
        if text.contains("Letter") {
            Plan::Succeed { after_looks: 0 }
        } else {
            Plan::Refuse { status: 400, code: "InvalidContent" }
        }
    });
    let desk = desk_with(&azure, &[]).await;
    write_letters(&desk, 2);
    desk.write("program", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0");
    let (status, result) = desk.run(NAME).await;
    let result = result.unwrap();
    assert_eq!(status, SubmissionStatus::Completed);
    let id = SubmissionId::from_raw(1);
    assert_eq!(counts(&desk, id).await, (3, 2, 1, true));
    assert_eq!(fully_processed(&desk).await.len(), 3, "also the one that failed");
    let reasons: Vec<&str> =
        result["failed"].as_array().unwrap().iter().map(|one| one["reason"].as_str().unwrap()).collect();
    assert!(reasons[0].contains("cannot be read") && reasons[1].contains("binary data"), "{reasons:?}");
    assert_eq!(result["files"][2]["error"], reasons[0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_13_the_submission_is_announced_once() {
    let azure = Azure::willing();
    let desk = desk_with(&azure, &[]).await;
    write_letters(&desk, 4);
    let id = desk.submit(NAME).await;
    desk.finish(id).await;
    let complete = events_of(&desk, kind::SUBMISSION_DOCUMENTS_COMPLETE).await;
    let counted = json!({"totalDocuments": 4, "processedDocuments": 4, "allDocumentsProcessed": true});
    assert_eq!(complete, [counted]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_18_first_the_reports_of_a_document_then_the_document_then_the_submission() {
    let azure = Azure::willing();
    let desk = desk_with(&azure, &[]).await;
    write_letters(&desk, 3);
    let id = desk.submit(NAME).await;
    desk.finish(id).await;
    let log = events(&desk).await;
    let place = |kind: &str, item| log.iter().rposition(|event| event.kind == kind && event.item == item).unwrap();
    let end = place(kind::SUBMISSION_DOCUMENTS_COMPLETE, None);
    for item in log.iter().filter(|event| event.kind == kind::DOCUMENT_UPLOADED).map(|event| event.item) {
        let (processed, fully) = (place(kind::DOCUMENT_PROCESSED, item), place(kind::DOCUMENT_FULLY_PROCESSED, item));
        assert!(processed < fully && fully < end);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_25_completion_triggers_the_analysis() {
    let azure =
        Azure::start(
            |text, _| if text.contains("Letter 2") { Plan::FailAnalysis } else { Plan::Succeed { after_looks: 0 } },
        );
    let desk = desk_with(&azure, &[]).await;
    write_letters(&desk, 2);
    desk.write("table.html", b"<html><body><table><tr><td>Ink</td><td>4</td></tr></table></body></html>");
    let id = desk.submit(NAME).await;
    desk.finish(id).await;
    // The stage behind the completion begins with it: exactly one outcome, after the event.
    let log = events(&desk).await;
    let place = |wanted: &dyn Fn(&Event) -> bool| log.iter().position(wanted).unwrap();
    let complete = place(&|event| event.kind == kind::SUBMISSION_DOCUMENTS_COMPLETE);
    let analysed =
        place(&|event| event.kind == kind::OUTCOME_RECORDED && event.envelope().data["stage"] == json!("analyse"));
    assert!(complete < analysed);
    let result = view::result(&desk.engine, id).await.unwrap().unwrap();
    assert_eq!((&result["totals"]["files"], &result["totals"]["failed"]), (&json!(3), &json!(1)));
    assert!(result["failed"][0]["reason"].as_str().unwrap().contains("InvalidContent"), "{:#}", result["failed"]);
    assert_eq!(result["files"][2]["parsers"]["foundry"]["tables"], 1);
    assert_eq!(desk.artifact(&json!(format!("output/{id}.json"))).await, result.to_string());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_parser_on_this_machine_needs_no_service() {
    let desk = Desk::new().await;
    write_letters(&desk, 2);
    desk.write("empty.pdf", b"");
    let (status, result) = desk.run("parsers").await;
    let result = result.unwrap();
    assert_eq!(status, SubmissionStatus::Completed);
    assert_eq!(result["parsers"], json!(["markitdown"]));
    assert_eq!(result["files"][0]["error"], "the file is empty");
    assert_eq!(result["files"][1]["words"], 8, "{:#}", result["files"][1]);
    assert_eq!(fully_processed(&desk).await.len(), 3);
    assert_eq!(events_of(&desk, kind::SUBMISSION_DOCUMENTS_COMPLETE).await.len(), 1);
}
