//! A real engine in a folder of its own, for tests.

use crate::{intake, registry};
use bindery_core::{SubmissionId, submission::SubmissionStatus};
use bindery_engine::{Engine, Parts, Worker, WorkerOptions, intake::Intake, stop_pair, view};
use bindery_store::{
    Store,
    blobs::{Blobs, LocalBlobs},
    sqlite::{Options, SqliteStore},
};
use serde_json::Value;
use std::{
    fs,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};
use tempfile::TempDir;

pub(crate) struct Desk {
    pub(crate) engine: Engine,
    pub(crate) dir: TempDir,
}

impl Desk {
    pub(crate) async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(Options::at(dir.path().join("bindery.db"))).unwrap());
        let blobs = Arc::new(LocalBlobs::open(dir.path().join("blobs")).unwrap());
        let engine = Engine::new(Parts::new(store as Arc<dyn Store>, blobs as Arc<dyn Blobs>, registry()));
        engine.register_builtin_workflows().await.unwrap();
        Self { engine, dir }
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.dir.path().join("in").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.dir.path().join("in")
    }

    /// Takes the folder in and works until the submission is final.
    pub(crate) async fn run(&self, workflow: &str) -> (SubmissionStatus, Option<Value>) {
        let taken = intake::take_in(&**self.engine.blobs(), &[self.folder()]).await.unwrap();
        let id = self.engine.submit(Intake::new(workflow, taken.files)).await.unwrap().id();
        let status = self.finish(id).await;
        (status, view::result(&self.engine, id).await.unwrap())
    }

    async fn finish(&self, id: SubmissionId) -> SubmissionStatus {
        let (handle, stop) = stop_pair();
        let worker = Worker::new(self.engine.clone(), WorkerOptions { threads: 2, ..WorkerOptions::default() });
        let running = tokio::spawn(async move { worker.run(stop).await });
        let deadline = Instant::now() + Duration::from_secs(60);
        let status = loop {
            let status = self.engine.store().submission(id).await.unwrap().unwrap().status;
            if status.is_final() {
                break status;
            }
            assert!(Instant::now() < deadline, "{id} is still {status}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        handle.stop();
        running.await.unwrap().unwrap();
        status
    }
}
