//! The document processing aggregator with the parsers that ship: one on this machine, and Azure AI Document
//! Intelligence, for which a server on this machine speaks. A test's name begins with the number of the requirement
//! that it shows; the same with parsers outside is among the engine's tests.

mod analysis;
pub(crate) mod azure;
mod completion;
mod foundry;
mod half_way;
mod trouble;

use crate::{desk::Desk, stores};
use azure::{Azure, KEY, Plan};
use bindery_core::{
    EventSeq, SubmissionId,
    event::{Event, kind},
};
use bindery_engine::{Engine, Parts, Registry, view};
use bindery_pipeline::{http::Environment, parsers::foundry, registry};
use bindery_store::{
    blobs::{LayeredBlobs, LocalBlobs},
    query::EventFilter,
};
use serde_json::Value;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// The workflow as it ships.
const WORKFLOW: &str = include_str!("../../../../../workflows/parsers-foundry.yaml");
const NAME: &str = "parsers-foundry";

/// Everything that ships, with `foundry` at this service.
fn registry_at(url: &str, key: &str) -> Registry {
    let (url, key) = (url.to_owned(), key.to_owned());
    let mut registry = registry();
    registry.register(foundry(Environment::new(move |name| match name {
        "BINDERY_FOUNDRY_ENDPOINT" => Some(url.clone()),
        "BINDERY_FOUNDRY_KEY" => Some(key.clone()),
        _ => None,
    })));
    registry
}

/// A desk whose work does not wait before it is tried again, with `changes` made to the workflow.
async fn desk_with(azure: &Azure, changes: &[(&str, &str)]) -> Desk {
    let desk = Desk::with(registry_at(&azure.url(), KEY)).await;
    impatient(&desk, changes).await;
    desk
}

async fn impatient(desk: &Desk, changes: &[(&str, &str)]) {
    let mut workflow = WORKFLOW.replace("version: 1", "version: 2").replace("initial_seconds: 8", "initial_seconds: 0");
    for (from, to) in changes {
        assert!(workflow.contains(from), "{from}");
        workflow = workflow.replace(from, to);
    }
    desk.engine.register_workflow(&workflow, None).await.unwrap();
}

/// Another engine on the same store, as another process would have it.
fn beside(desk: &Desk, registry: Registry) -> Engine {
    let store = stores::open(desk.dir.path(), stores::Time::Own(Arc::new(bindery_core::time::SystemClock)));
    let files = Arc::new(LocalBlobs::open(desk.dir.path().join("blobs")).unwrap());
    let blobs = LayeredBlobs::of_store(&store, files);
    Engine::new(Parts::new(store, blobs, registry))
}

fn letter(number: usize) -> String {
    format!("<html><body><h1>Letter {number}</h1><p>The motion number {number} was carried.</p></body></html>")
}

/// Puts so many letters into the folder.
fn write_letters(desk: &Desk, count: usize) {
    for number in 1..=count {
        desk.write(&format!("letter-{number:03}.html"), letter(number).as_bytes());
    }
}

/// The whole log, once readers can see all of it.
async fn events(desk: &Desk) -> Vec<Event> {
    let newest = stores::newest_event(desk.dir.path()).await.unwrap_or(0);
    let begun = Instant::now();
    loop {
        let all = desk.engine.store().read_events(EventSeq::START, EventFilter::default(), usize::MAX).await.unwrap();
        if all.last().map_or(0, |event| event.seq.raw()) >= newest {
            return all;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "the newest events do not appear");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn events_of(desk: &Desk, kind: &str) -> Vec<Value> {
    let events = events(desk).await.into_iter().filter(|event| event.kind == kind);
    events.map(|event| event.envelope().data).collect()
}

/// The documents that were announced as fully processed, sorted.
async fn fully_processed(desk: &Desk) -> Vec<String> {
    let events = events_of(desk, kind::DOCUMENT_FULLY_PROCESSED).await;
    let mut ids: Vec<String> = events.iter().map(|data| data["documentId"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

async fn documents(desk: &Desk, id: SubmissionId) -> Vec<Value> {
    let mut pages = view::DocumentStates::new(&desk.engine, id).await.unwrap();
    let mut states = Vec::new();
    loop {
        let page = pages.next().await.unwrap();
        if page.is_empty() {
            break;
        }
        states.extend(page.iter().map(|state| serde_json::to_value(state).unwrap()));
    }
    states
}

/// What markitdown and foundry have come to, for each document.
async fn statuses(desk: &Desk, id: SubmissionId) -> Vec<[String; 2]> {
    let of = |state: &Value, parser: &str| state["processors"][parser]["status"].as_str().unwrap().to_owned();
    documents(desk, id).await.iter().map(|state| ["markitdown", "foundry"].map(|parser| of(state, parser))).collect()
}

/// Total, completed and failed documents, and whether that is all.
async fn counts(desk: &Desk, id: SubmissionId) -> (i64, i64, i64, bool) {
    let state = view::submission_state(&desk.engine, id).await.unwrap();
    (state.total_documents, state.completed_documents, state.failed_documents, state.all_documents_processed)
}
