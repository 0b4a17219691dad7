//! A real engine in a folder of its own, with everything that ships.

use crate::stores::{self, Time};
use bindery_core::{SubmissionId, submission::SubmissionStatus, time::SystemClock};
use bindery_engine::{Engine, Parts, Registry, Worker, WorkerOptions, intake::Intake, stop_pair, view};
use bindery_pipeline::{intake, registry};
use bindery_store::blobs::{LayeredBlobs, LocalBlobs};
use serde_json::Value;
use std::{
    fs,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// No test should ever wait this long; one that does has found something.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Desk {
    pub(crate) engine: Engine,
    pub(crate) dir: TempDir,
}

impl Desk {
    pub(crate) async fn new() -> Self {
        Self::with(registry()).await
    }

    pub(crate) async fn with(registry: Registry) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = stores::open(dir.path(), Time::Own(Arc::new(SystemClock)));
        let files = Arc::new(LocalBlobs::open(dir.path().join("blobs")).unwrap());
        let blobs = LayeredBlobs::of_store(&store, files);
        let engine = Engine::new(Parts::new(store, blobs, registry));
        engine.register_builtin_workflows().await.unwrap();
        Self { engine, dir }
    }

    /// Puts a file into the folder that is taken in.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.dir.path().join("in")
    }

    /// Takes the folder in.
    pub(crate) async fn submit(&self, workflow: &str) -> SubmissionId {
        let taken = intake::take_in(&self.engine, &[self.folder()]).await.unwrap();
        self.engine.submit(Intake::new(workflow, taken.files)).await.unwrap().id()
    }

    /// Takes the folder in and works until the submission is final.
    pub(crate) async fn run(&self, workflow: &str) -> (SubmissionStatus, Option<Value>) {
        let id = self.submit(workflow).await;
        let status = self.finish(id).await;
        (status, view::result(&self.engine, id).await.unwrap())
    }

    /// Works until the submission is final.
    pub(crate) async fn finish(&self, id: SubmissionId) -> SubmissionStatus {
        self.work_until(async || {
            let status = self.engine.store().submission(id).await.unwrap().unwrap().status;
            status.is_final().then_some(status)
        })
        .await
    }

    /// Works until something is there.
    pub(crate) async fn work_until<T>(&self, mut is_there: impl AsyncFnMut() -> Option<T>) -> T {
        let (handle, stop) = stop_pair();
        let worker = Worker::new(self.engine.clone(), WorkerOptions { threads: 2, ..WorkerOptions::default() });
        let running = tokio::spawn(async move { worker.run(stop).await });
        let deadline = Instant::now() + PATIENCE;
        let found = loop {
            if let Some(found) = is_there().await {
                break found;
            }
            assert!(Instant::now() < deadline, "nothing came in {PATIENCE:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        handle.stop();
        running.await.unwrap().unwrap();
        found
    }

    /// What the only submission has stored under a readable key.
    pub(crate) async fn artifact(&self, key: &Value) -> String {
        let key = key.as_str().expect("a key");
        let artifacts = self.engine.store().artifacts(SubmissionId::from_raw(1), None, 1_000).await.unwrap();
        let artifact = artifacts.into_iter().find(|artifact| artifact.key == key).expect("it is stored");
        String::from_utf8(self.engine.blobs().get(artifact.hash).await.unwrap()).unwrap()
    }
}
