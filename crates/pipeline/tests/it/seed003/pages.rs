//! Pages that are missing, and what is known of a document meanwhile.

use super::{changed_workflow, json, keys, read_by, sample, service::OcrService};
use crate::desk::Desk;
use bindery_core::{SubmissionId, job::JobState, outcome::OutcomeStatus, submission::SubmissionStatus};
use bindery_engine::view;
use bindery_pipeline::idp::audit::{self, AuditStatus};
use bindery_store::query::JobFilter;

const LETTER: &str = r#"{"text": "Dear reader", "confidence": 0.9}"#;

async fn audit_of(desk: &Desk, id: SubmissionId) -> audit::Audit {
    audit::of_submission(&desk.engine, id).await.unwrap().remove(0)
}

async fn has_document(desk: &Desk) -> bool {
    keys(desk).await.iter().any(|key| key.starts_with("text-docs/"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_19_and_20_a_document_waits_for_its_last_page_and_then_there_is_one() {
    let (desk, service) = (Desk::new().await, OcrService::start(LETTER));
    desk.write("scan.pdf", &sample("scan.pdf"));
    let (from, to) = read_by(&service.address);
    let workflow = changed_workflow(&desk, &[(&from, &to)]).await;
    let store = desk.engine.store();
    store.pause(&"q.idp_ocr_extractor".into(), None).await.unwrap();
    let id = desk.submit(workflow).await;
    assert_eq!(audit_of(&desk, id).await.status, AuditStatus::Uploaded);
    desk.work_until(async || {
        let texts = store.outcomes(id, Some(&"text".into())).await.unwrap();
        let scans = store.jobs(JobFilter { stage: Some("ocr".into()), ..JobFilter::default() }).await.unwrap();
        (texts.len() == 1 && scans.len() == 1).then_some(())
    })
    .await;
    let waiting = audit_of(&desk, id).await;
    assert_eq!((waiting.status, waiting.page_count), (AuditStatus::Split, Some(2)));
    assert!(!has_document(&desk).await, "a page is missing");

    store.resume(&"q.idp_ocr_extractor".into()).await.unwrap();
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    let document = json(&desk, "text-docs/item_1.json").await;
    assert_eq!(document["pageCount"], 2);
    assert!(document["pages"][0].as_str().unwrap().starts_with("## Page 1\n\n"), "{document}");
    assert_eq!(document["pages"][1], "## Page 2\n\nDear reader\n");
    assert_eq!(store.outcomes(id, Some(&"combine".into())).await.unwrap().len(), 1, "one document");
    let done = audit_of(&desk, id).await;
    assert_eq!((done.status, done.page_count), (AuditStatus::Combined, Some(2)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_20_and_27_a_page_that_failed_is_missing_until_it_is_repaired() {
    let (desk, service) = (Desk::new().await, OcrService::start(LETTER));
    service.answers(500, "{}");
    desk.write("scan.pdf", &sample("scan.pdf"));
    let (from, to) = read_by(&service.address);
    let once = ("    timeout_seconds: 180\n", "    timeout_seconds: 180\n    max_attempts: 1\n");
    let workflow = changed_workflow(&desk, &[(&from, &to), once]).await;
    let (status, result) = desk.run(workflow).await;
    assert_eq!((status, result), (SubmissionStatus::Failed, None));
    let id = SubmissionId::from_raw(1);
    let audit = audit_of(&desk, id).await;
    assert_eq!(
        (audit.status, audit.page_count, audit.missing.as_slice()),
        (AuditStatus::MissingPages, Some(2), &[2][..])
    );
    let why = audit.reason.unwrap();
    assert!(why.starts_with("page 2 of 2 is missing: ") && why.contains("answered 500"), "{why}");
    assert!(!has_document(&desk).await, "no document with a page missing");

    service.answers(200, LETTER);
    let dead = JobFilter { stage: Some("ocr".into()), states: vec![JobState::Dead], ..JobFilter::default() };
    assert_eq!(desk.engine.store().retry(dead).await.unwrap().jobs, 1);
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
    let audit = audit_of(&desk, id).await;
    assert_eq!((audit.status, audit.missing.len(), audit.reason), (AuditStatus::Combined, 0, None));
    let document = json(&desk, "text-docs/item_1.json").await;
    assert_eq!(document["pages"][1], "## Page 2\n\nDear reader\n");
    let combined = desk.engine.store().outcomes(id, Some(&"combine".into())).await.unwrap();
    assert_eq!((combined.len(), combined[0].status), (1, OutcomeStatus::Completed));
    assert_eq!(view::result(&desk.engine, id).await.unwrap().unwrap()["files"][0]["status"], "COMBINED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_20_a_workflow_may_go_on_with_a_stated_gap() {
    let (desk, service) = (Desk::new().await, OcrService::start(LETTER));
    service.answers(500, "{}");
    desk.write("scan.pdf", &sample("scan.pdf"));
    let (from, to) = read_by(&service.address);
    let once = ("    timeout_seconds: 180\n", "    timeout_seconds: 180\n    max_attempts: 1\n");
    let workflow = changed_workflow(&desk, &[(&from, &to), once, ("on_failed: fail", "on_failed: continue")]).await;
    let (status, result) = desk.run(workflow).await;
    assert_eq!(status, SubmissionStatus::Completed);
    assert_eq!(result.unwrap()["failed"][0]["page"], 2);
    let document = json(&desk, "text-docs/item_1.json").await;
    assert_eq!((&document["pageCount"], &document["missing"][0]["page"]), (&2.into(), &2.into()));
    assert!(document["pages"][1].as_str().unwrap().starts_with("## Page 2\n\n*This page could not be read: "));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_27_a_file_that_cannot_be_read_has_failed_and_says_why() {
    let desk = Desk::new().await;
    desk.write("torn.pdf", b"%PDF-1.7\n1 0 obj\n<<");
    let (status, _) = desk.run("idp").await;
    assert_eq!(status, SubmissionStatus::Failed);
    let audit = audit_of(&desk, SubmissionId::from_raw(1)).await;
    assert_eq!((audit.status, audit.file_name.as_deref()), (AuditStatus::Failed, Some("torn.pdf")));
    assert!(audit.reason.unwrap().contains("damaged"));
}
