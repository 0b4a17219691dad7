//! The seed's machine as it ships, run durably: a file in, its pages findable, and a crash anywhere in between.

use super::sample;
use crate::desk::Desk;
use bindery_core::{ExecutionId, Name};
use bindery_engine::{
    Worker, WorkerOptions,
    machines::{Executor, ExecutorOptions, Machines, StartRequest, Tasks},
    stop_pair,
};
use bindery_pipeline::functions::{Functions, MACHINES};
use bindery_states::asl::stepper::StepLimits;
use bindery_store::{
    executions::{ExecutionStatus, StoredExecution},
    search::{Query, SearchRequest},
};
use serde_json::{Value, json};
use std::{fs, path::PathBuf, sync::Arc, time::Duration};
use tokio::task::JoinHandle;

const PATIENCE: Duration = Duration::from_secs(60);

/// An engine with the shipped machines, a worker, and a place for the chain.
struct Ingestion {
    desk: Desk,
    machines: Machines,
    worker: JoinHandle<()>,
}

impl Drop for Ingestion {
    fn drop(&mut self) {
        self.worker.abort();
    }
}

impl Ingestion {
    async fn new() -> Self {
        let desk = Desk::new().await;
        let machines = Machines::new(Arc::clone(desk.engine.store()));
        let (handle, stop) = stop_pair();
        let worker = Worker::new(desk.engine.clone(), WorkerOptions { threads: 2, ..WorkerOptions::default() });
        let worker = tokio::spawn(async move {
            let _handle = handle;
            worker.run(stop).await.unwrap();
        });
        let ingestion = Self { desk, machines, worker };
        let tasks = ingestion.tasks();
        for (name, text) in MACHINES {
            ingestion.machines.put(name, text, Some(&*tasks)).await.unwrap();
        }
        ingestion
    }

    fn place(&self) -> PathBuf {
        self.desk.dir.path().join("idp")
    }

    fn tasks(&self) -> Arc<dyn Tasks> {
        let url = format!("file://{}", self.place().display());
        Arc::new(Functions::new(self.desk.engine.clone()).with_place(&url).unwrap())
    }

    fn executor(&self, name: &str, limits: StepLimits) -> JoinHandle<()> {
        let options = ExecutorOptions {
            name: Name::from(name),
            lease: Duration::from_millis(300),
            limits,
            ..ExecutorOptions::default()
        };
        let executor = Executor::new(self.desk.engine.clone(), self.tasks(), options);
        tokio::spawn(async move {
            let (_handle, stop) = stop_pair();
            executor.run(stop).await;
        })
    }

    async fn start(&self, name: &str, input: Value) -> ExecutionId {
        let request =
            StartRequest { machine: "file_ingestion".to_owned(), name: Some(name.to_owned()), input, owner: None };
        self.machines.start(request).await.unwrap().0
    }

    async fn ended(&self, id: ExecutionId) -> StoredExecution {
        self.machines.wait(id, PATIENCE).await.unwrap().expect("it ends")
    }

    async fn events(&self, id: ExecutionId) -> Vec<Value> {
        self.machines.history(id, 0, 10_000).await.unwrap()
    }

    /// The states in the order in which they were entered.
    async fn states(&self, id: ExecutionId) -> Vec<String> {
        let events = self.events(id).await;
        let entered = events.iter().filter_map(|event| event.pointer("/stateEnteredEventDetails/name")?.as_str());
        entered.map(str::to_owned).collect()
    }

    async fn found(&self, words: &str) -> Vec<(String, u32)> {
        let query = Query::parse(words).unwrap();
        let request = SearchRequest { query, collection: Some("letters".to_owned()), limit: 10, offset: 0 };
        let hits = self.desk.engine.store().search(request).await.unwrap();
        hits.into_iter().map(|hit| (hit.file_name, hit.page)).collect()
    }
}

fn input(file: &std::path::Path) -> Value {
    json!({"file": format!("file://{}", file.display()), "collection_name": "letters", "StatusPollSeconds": 1,
           "ingest_params": {"chunk_size": 400, "overlap": 40}, "llm_params": {"model": "none"}})
}

/// After which events to kill: some and all of the last, where another execution is started and ends; or all of them
/// where that is asked for.
fn moments(last: u64) -> impl Iterator<Item = u64> {
    let all = std::env::var_os("BINDERY_TORTURE_KILLS").is_some();
    (1..last).filter(move |moment| all || moment % 9 == 1 || moment + 7 > last)
}

/// Polls do not count: how many there are depends on how fast the file is read.
fn without_polls(mut states: Vec<String>) -> Vec<String> {
    let polls = ["Wait".to_owned(), "FileUploadStatus".to_owned(), "Choice".to_owned()];
    while states.windows(6).any(|window| window[..3] == polls && window[3..] == polls) {
        let at = states.windows(6).position(|window| window[..3] == polls && window[3..] == polls).unwrap_or(0);
        states.drain(at..at + 3);
    }
    states
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_03_a_file_is_copied_read_and_indexed_by_the_whole_machine() {
    let ingestion = Ingestion::new().await;
    let executor = ingestion.executor("one", StepLimits::default());
    let file = ingestion.desk.write("annual report.pdf", &sample("report.pdf"));
    let id = ingestion.start("one", input(&file)).await;
    let ended = ingestion.ended(id).await;
    executor.abort();
    assert_eq!(ended.status, ExecutionStatus::Succeeded, "{ended:?}");
    let states = without_polls(ingestion.states(id).await);
    assert_eq!(states, ["file_processing", "Wait", "FileUploadStatus", "Choice", "start_ingestion"]);

    let events = ingestion.events(id).await;
    let scheduled = |index: usize| -> Value {
        let parameters = events.iter().filter_map(|event| event.pointer("/taskScheduledEventDetails/parameters"));
        serde_json::from_str(parameters.clone().nth(index).unwrap().as_str().unwrap()).unwrap()
    };
    assert_eq!(scheduled(0)["Payload"], input(&file), "the whole start event");

    // The copy is in its place.
    let output: Value = serde_json::from_str(ended.output.as_deref().unwrap()).unwrap();
    let nested: Value = serde_json::from_str(output["Input"].as_str().unwrap()).unwrap();
    let document = nested["documentId"].as_str().unwrap();
    let copy = ingestion.place().join("raw").join(document).join("annual report.pdf");
    assert_eq!(fs::read(copy).unwrap(), fs::read(&file).unwrap());

    // The nested machine was given what the seed says, and has ended before this one did.
    assert_eq!(nested["ingest_params"], json!({"chunk_size": 400, "overlap": 40}));
    assert_eq!((&nested["collection_name"], &nested["file_name"]), (&json!("letters"), &json!("annual report.pdf")));
    assert_eq!(nested["file_guid"], nested["documentId"]);
    assert_eq!(nested.as_object().unwrap().len(), 5);
    let child = ingestion.machines.find(output["ExecutionArn"].as_str().unwrap()).await.unwrap();
    assert_eq!((child.status, child.parent.map(|(parent, _)| parent)), (ExecutionStatus::Succeeded, Some(id)));
    assert!(child.ended_at.unwrap() <= ended.ended_at.unwrap());

    assert_eq!(ingestion.found("scaffolding harbour").await, [("annual report.pdf".to_owned(), 1)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_07_a_file_that_cannot_be_read_ends_the_machine_with_an_error() {
    let ingestion = Ingestion::new().await;
    let _executor = ingestion.executor("one", StepLimits::default());
    let damaged = ingestion.desk.write("damaged.pdf", b"%PDF-1.4 and nothing else");
    let id = ingestion.start("damaged", input(&damaged)).await;
    let ended = ingestion.ended(id).await;
    assert_eq!((ended.status, ended.error.as_deref()), (ExecutionStatus::Failed, Some("FileFailed")), "{ended:?}");
    assert!(ended.cause.unwrap().contains("damaged.pdf"));

    let id = ingestion.start("rejected", json!({"file": "ftp://x/y", "collection_name": "letters"})).await;
    let ended = ingestion.ended(id).await;
    assert_eq!(ended.error.as_deref(), Some("FileRejected"), "{ended:?}");
    assert_eq!(ingestion.states(id).await, ["file_processing", "FileRejected"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s003_23_killed_between_any_two_events_it_ends_the_same() {
    let ingestion = Ingestion::new().await;
    let file = ingestion.desk.write("annual report.pdf", &sample("report.pdf"));
    // So that every state is stored by itself.
    let limits = StepLimits { transitions: 1, ..StepLimits::default() };
    let executor = ingestion.executor("undisturbed", limits);
    let first = ingestion.start("undisturbed", input(&file)).await;
    ingestion.ended(first).await;
    // The file has been read now, so that every later run polls once.
    let undisturbed = ingestion.start("second", input(&file)).await;
    let expected = ingestion.ended(undisturbed).await;
    executor.abort();
    let kinds = |events: &[Value]| -> Vec<String> {
        events.iter().map(|event| format!("{} {}", event["previousEventId"], event["type"])).collect()
    };
    let answer = |ended: &StoredExecution| -> Value {
        let output: Value = serde_json::from_str(ended.output.as_deref().unwrap()).unwrap();
        json!([output["Status"], output["Input"], output["Output"]])
    };
    let expected_events = kinds(&ingestion.events(undisturbed).await);
    let last = u64::try_from(expected_events.len()).unwrap();
    for kill_after in moments(last) {
        let id = ingestion.start(&format!("killed-{kill_after}"), input(&file)).await;
        let dies = ingestion.executor(&format!("dies-{kill_after}"), limits);
        let store = ingestion.desk.engine.store();
        while store.execution(id).await.unwrap().unwrap().events < kill_after {
            store.changed(store.change_mark(), Duration::from_millis(1)).await;
        }
        dies.abort();
        let heir = ingestion.executor(&format!("heir-{kill_after}"), limits);
        let ended = ingestion.ended(id).await;
        heir.abort();
        assert_eq!(answer(&ended), answer(&expected), "killed after event {kill_after}");
        assert_eq!(kinds(&ingestion.events(id).await), expected_events, "killed after event {kill_after}");
    }
    assert_eq!(ingestion.found("scaffolding harbour").await.len(), 1, "indexed once");
}
