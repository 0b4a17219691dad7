//! What the ingestion machine runs: a document of the chain is cut into chunks and found by its words.

use super::sample;
use crate::desk::Desk;
use bindery_core::submission::SubmissionStatus;
use bindery_engine::intake::Intake;
use bindery_pipeline::{
    idp::{IdpPlace, Places, TaskError, document},
    ingestion::{IngestAnswer, IngestRequest, chunk::ChunkParams, index_submission, ingest},
};
use bindery_store::{
    blobs::ObjectOptions,
    search::{Hit, Query, SearchRequest},
};
use serde_json::{Map, Value, json};
use std::{fs, sync::Arc};

const ID: &str = "0b5c7e1a-97f3-8d52-9d40-3c1f60a7b2e4";

async fn search(desk: &Desk, query: &str) -> Vec<Hit> {
    let query = Query::parse(query).unwrap();
    desk.engine.store().search(SearchRequest { query, collection: None, limit: 50, offset: 0 }).await.unwrap()
}

async fn ingested(desk: &Desk, place: Option<&IdpPlace>, request: Value) -> Result<IngestAnswer, TaskError> {
    ingest(&desk.engine, place, IngestRequest::parse(&request)?).await
}

/// The report, read by the chain under an id of its own.
async fn report(desk: &Desk) {
    let path = desk.write("annual report.pdf", &sample("report.pdf"));
    let file = document::take_in(&**desk.engine.blobs(), &path, ID).await.unwrap();
    let intake = Intake { external_id: Some(ID.to_owned()), ..Intake::new("idp", vec![file]) };
    let id = desk.engine.submit(intake).await.unwrap().id();
    assert_eq!(desk.finish(id).await, SubmissionStatus::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_10_and_28_a_document_is_chunked_and_its_page_is_found() {
    let desk = Desk::new().await;
    report(&desk).await;
    let request = json!({
        "documentId": ID, "ingest_params": {"chunk_size": 400, "overlap": 60, "strategy": "universal"},
        "collection_name": "kb_reports", "file_guid": "guid-7", "file_name": "report 2025.pdf", "llm_params": {},
    });
    let answer = ingested(&desk, None, request.clone()).await.unwrap();
    assert_eq!((&*answer.collection_name, answer.pages), ("kb_reports", 2));
    assert!(answer.chunks > 4, "{answer:?}");
    let shape = serde_json::to_value(&answer).unwrap();
    assert_eq!(
        shape.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["documentId", "collection_name", "chunks", "pages"]
    );
    let found = search(&desk, "scaffolding harbour").await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&*found[0].document_id, found[0].page), (ID, 1));
    assert_eq!((&*found[0].file_guid, &*found[0].file_name), ("guid-7", "report 2025.pdf"));
    assert!(found[0].snippet.marked("[", "]").contains("[scaffolding]"), "{:?}", found[0].snippet);
    // The machine may run a step again.
    assert_eq!(ingested(&desk, None, request).await.unwrap(), answer);
    let views = desk.engine.store().collections().await.unwrap();
    assert_eq!((views.len(), views[0].documents, views[0].chunks), (1, 1, answer.chunks as u64));
    // In another collection it is another document, under the name it was taken in with.
    ingested(&desk, None, json!({"documentId": ID, "collection_name": "all"})).await.unwrap();
    let found = search(&desk, "scaffolding").await;
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().any(|hit| hit.file_name == "annual report.pdf" && hit.file_guid == ID), "{found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_28_a_text_that_stands_outside_is_ingested_too() {
    let desk = Desk::new().await;
    let folder = desk.dir.path().join("idp");
    let settings = Map::from_iter([("place".to_owned(), json!(format!("file://{}", folder.display())))]);
    let place = IdpPlace::from_settings(&settings, &Arc::new(Places::new(ObjectOptions::default()))).unwrap();
    fs::create_dir_all(folder.join("text-docs")).unwrap();
    let document = json!({
        "documentId": "d-1", "type": "docx", "pageCount": 2,
        "pages": ["## Page 1\n\nThe lighthouse is closed.\n", "## Page 2\n\n*This page could not be read: torn*\n"],
        "missing": [{"page": 2, "reason": "torn"}],
    });
    fs::write(folder.join("text-docs/d-1.json"), document.to_string()).unwrap();
    let request = json!({"documentId": "d-1", "collection_name": "a"});
    let answer = ingested(&desk, Some(&place), request).await.unwrap();
    assert_eq!((answer.chunks, answer.pages), (1, 1));
    assert_eq!(search(&desk, "lighthouse").await.len(), 1);
    assert_eq!(search(&desk, "torn OR page").await, [], "neither titles nor gaps are text");
    fs::write(folder.join("text-docs/d-2.json"), "{\"pages\": 7}").unwrap();
    let error = ingested(&desk, Some(&place), json!({"documentId": "d-2", "collection_name": "a"})).await.unwrap_err();
    assert!(
        error.status() == 400 && error.to_string().starts_with("text-docs/d-2.json: expected a document"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_28_a_request_that_is_wrong_is_refused_in_one_sentence() {
    let desk = Desk::new().await;
    for (wrong, status, why) in [
        (json!([]), 400, "expected an object"),
        (json!({"collection_name": "a"}), 400, "documentId is missing"),
        (json!({"documentId": "../x", "collection_name": "a"}), 400, "documentId \"../x\": expected letters"),
        (json!({"documentId": "x"}), 400, "collection_name is missing"),
        (json!({"documentId": "x", "collection_name": "a b"}), 400, "collection_name \"a b\": expected letters"),
        (json!({"documentId": "x", "collection_name": "a", "file_guid": 7}), 400, "file_guid: expected a text"),
        (
            json!({"documentId": "x", "collection_name": "a", "ingest_params": {"overlap": -1}}),
            400,
            "ingest_params.overlap: expected a whole number from 0 to 500",
        ),
        (json!({"documentId": "x", "collection_name": "a"}), 404, "there is no text of document \"x\""),
    ] {
        let error = ingested(&desk, None, wrong).await.unwrap_err();
        assert!(error.status() == status && error.to_string().contains(why), "{error}");
    }
    assert_eq!(desk.engine.store().collections().await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_any_workflow_has_read_can_be_indexed() {
    let desk = Desk::new().await;
    desk.write("a.html", b"<p>The motion was carried.</p>");
    desk.write("b.html", b"<p>The motion was lost.</p>");
    let id = desk.submit("read").await;
    let params = ChunkParams::default();
    assert_eq!(index_submission(&desk.engine, id, "minutes", params).await.unwrap(), [], "nothing was read yet");
    desk.finish(id).await;
    assert_eq!(index_submission(&desk.engine, id, "minutes", params).await.unwrap().len(), 2);
    let found = search(&desk, "motion -lost").await;
    assert_eq!((found.len(), &*found[0].file_name), (1, "a.html"));
}
