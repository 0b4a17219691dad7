//! The document processing aggregator: two processors report on every document of a submission, and it is said exactly
//! once when a document, and then the whole submission, is done. A test's name begins with the number of the
//! requirement that it shows.
//!
//! There are two ways in: processors outside that append events, and processors of our own that run as jobs.

mod events;
mod inside;
mod states;
mod timeouts;
mod trouble;
mod wrong;

use crate::support::{Func, Rig};
use bindery_core::{EventSeq, Name, SubmissionId, event::kind};
use bindery_engine::{Extracted, Registry, Worker, WorkerOptions, aggregator, intake::Intake, stop_pair, view};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The sender's id of the submission, where a test needs only one.
const SUB: &str = "submission-guid";

const BOTH: [&str; 2] = ["markitdown", "foundry"];

/// Files read by two processors of our own.
const OWN: &str = "
name: own
version: 1
stages:
  - name: parse
    over: file
    parallel: true
    processors: [{name: markitdown}, {name: foundry}]
    max_attempts: 2
    retry: {initial_seconds: 60}
  - name: documents_complete
    component: docproc-aggregator
    aggregation: {type: fan_in, collect_by: submission_id, expect_count_from: file_count, on_failed: continue}
";

/// A rig that knows nothing but the workflows that are shipped.
async fn outside() -> Rig {
    let rig = Rig::new(Registry::with_builtin());
    rig.engine.register_builtin_workflows().await.unwrap();
    rig
}

async fn outside_with_manual_clock() -> Rig {
    let rig = Rig::with_manual_clock(Registry::with_builtin());
    rig.engine.register_builtin_workflows().await.unwrap();
    rig
}

/// The processors of [`OWN`]: `markitdown` always succeeds, `foundry` does what it is told.
fn own_registry(foundry: Func) -> Registry {
    let mut registry = Registry::with_builtin();
    registry.register(Func::new("markitdown", |_, _| Ok(Extracted::new(json!({"text": "read"})))));
    registry.register(foundry);
    registry
}

/// Takes `count` files in, known outside as `doc-0`, `doc-1` …
async fn submit_own(rig: &Rig, count: usize) -> SubmissionId {
    rig.workflow(OWN).await;
    let mut files = rig.files(count).await;
    for (index, file) in files.iter_mut().enumerate() {
        file.key = Some(format!("doc-{index}"));
    }
    let mut intake = Intake::new("own", files);
    intake.external_id = Some(SUB.to_owned());
    rig.submit(intake).await
}

fn created(submission: &str, total: i64) -> Value {
    json!({"eventType": "SubmissionCreated", "submissionId": submission, "data": {"totalDocuments": total}})
}

fn completed(submission: &str, document: &str, processor: &str) -> Value {
    json!({
        "eventType": "DocumentProcessedEvent", "submissionId": submission, "timestamp": "2025-07-07T10:00:00Z",
        "data": {
            "documentId": document, "processor": format!("docproc-parser-{processor}"), "status": "completed",
            "documentRecordId": format!("{document}-{processor}"), "error": null,
        },
    })
}

fn failed(submission: &str, document: &str, processor: &str, error: &str) -> Value {
    let mut event = completed(submission, document, processor);
    event["data"]["status"] = json!("failed");
    event["data"]["error"] = json!(error);
    event
}

/// The same event under an id of its own, as a sender that repeats itself would give it.
fn with_id(mut event: Value, id: &str) -> Value {
    event["id"] = json!(id);
    event
}

async fn append(rig: &Rig, events: &[Value]) -> Vec<Option<EventSeq>> {
    rig.engine.append_outside(events).await.unwrap()
}

/// Appends events, one transaction each, and lets everything follow from them.
async fn tell(rig: &Rig, events: &[Value]) {
    for event in events {
        append(rig, std::slice::from_ref(event)).await;
    }
    rig.drain().await;
}

async fn id_of(rig: &Rig, submission: &str) -> SubmissionId {
    rig.engine.find_submission(submission).await.unwrap().id
}

async fn is_known(rig: &Rig, submission: &str) -> bool {
    rig.engine.find_submission(submission).await.is_ok()
}

/// The states of all documents by their names: two that follow the events may draw the ids for them, so that the
/// order of the store says nothing.
async fn documents(rig: &Rig, submission: &str) -> Vec<Value> {
    let mut pages = view::DocumentStates::new(&rig.engine, id_of(rig, submission).await).await.unwrap();
    let mut states: Vec<Value> = Vec::new();
    loop {
        let page = pages.next().await.unwrap();
        if page.is_empty() {
            break;
        }
        states.extend(page.iter().map(|state| serde_json::to_value(state).unwrap()));
    }
    states.sort_by_key(|state| state["id"].as_str().map(str::to_owned));
    states
}

async fn document(rig: &Rig, submission: &str, document: &str) -> Value {
    let states = documents(rig, submission).await;
    states.into_iter().find(|state| state["id"] == document).unwrap_or_else(|| panic!("no document {document}"))
}

/// What each of the two processors has come to.
async fn statuses(rig: &Rig, submission: &str, id: &str) -> [String; 2] {
    let state = document(rig, submission, id).await;
    BOTH.map(|processor| state["processors"][processor]["status"].as_str().unwrap().to_owned())
}

async fn submission(rig: &Rig, submission: &str) -> Value {
    let state = view::submission_state(&rig.engine, id_of(rig, submission).await).await.unwrap();
    serde_json::to_value(state).unwrap()
}

/// Total, completed and failed documents, and whether that is all.
async fn counts(rig: &Rig, id: &str) -> (i64, i64, i64, bool) {
    let state = submission(rig, id).await;
    let number = |field: &str| state[field].as_i64().unwrap();
    let all = state["allDocumentsProcessed"].as_bool().unwrap();
    (number("totalDocuments"), number("completedDocuments"), number("failedDocuments"), all)
}

/// The documents that were announced as fully processed, in order.
async fn fully_processed(rig: &Rig) -> Vec<String> {
    let events = rig.events_of(kind::DOCUMENT_FULLY_PROCESSED).await;
    events.iter().map(|event| event.envelope().data["documentId"].as_str().unwrap().to_owned()).collect()
}

/// The submissions that were announced as complete, in order.
async fn complete_submissions(rig: &Rig) -> Vec<String> {
    let events = rig.events_of(kind::SUBMISSION_DOCUMENTS_COMPLETE).await;
    events.iter().map(|event| event.envelope().submission_id.unwrap()).collect()
}

async fn replay(rig: &Rig) {
    rig.store.reset_consumer(&Name::from(aggregator::CONSUMER), EventSeq::START).await.unwrap();
    rig.drain().await;
}

/// Everything that people and programs can see of some submissions, and the whole log.
async fn picture(rig: &Rig, submissions: &[&str]) -> Value {
    let mut states = Vec::new();
    for id in submissions {
        states.push(json!([submission(rig, id).await, documents(rig, id).await]));
    }
    let events: Vec<_> = rig.events().await.iter().map(bindery_core::event::Event::envelope).collect();
    json!({"states": states, "events": events})
}

/// Waits for something that must come to be true.
async fn eventually(what: &str, holds: impl AsyncFn() -> bool) {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < Duration::from_secs(60), "still not: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Does something while a worker runs.
async fn while_working(rig: &Rig, body: impl AsyncFnOnce()) {
    let (handle, stop) = stop_pair();
    let worker = Worker::new(rig.engine.clone(), rig.worker_options());
    let running = tokio::spawn(async move { worker.run(stop).await });
    body().await;
    handle.stop();
    running.await.unwrap().unwrap();
}

/// Works until the submission is final, also through waits that a moved clock has ended.
async fn work_until_final(rig: &Rig, id: SubmissionId) {
    while_working(rig, async || eventually("final", async || rig.status(id).await.is_final()).await).await;
}

/// Two workers on one store, until nothing is left to do.
async fn drain_side_by_side(one: &Rig, two: &Rig) {
    let named = |rig: &Rig, name: &str| WorkerOptions { name: name.into(), ..rig.worker_options() };
    tokio::join!(one.drain_with(named(one, "one")), two.drain_with(named(two, "two")));
}
