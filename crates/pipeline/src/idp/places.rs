//! Buckets and folders outside, and waiting for them.

use bindery_core::StepError;
use bindery_engine::EngineError;
use bindery_store::blobs::{BlobError, ObjectOptions, Shelf};
use std::{
    collections::HashMap,
    future::Future,
    io,
    sync::{LazyLock, Mutex, PoisonError},
};
use tokio::runtime::{Builder, Runtime};

/// Connections live where they were made, and steps run on threads that come and go: so there is one place for them.
static RUNTIME: LazyLock<io::Result<Runtime>> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).thread_name("outside").enable_all().build());

/// The places that were needed so far, each opened once.
#[derive(Debug)]
pub struct Places {
    options: ObjectOptions,
    open: Mutex<HashMap<String, Shelf>>,
}

impl Default for Places {
    /// With credentials from the environment, as everywhere.
    fn default() -> Self {
        Self::new(ObjectOptions::from_env())
    }
}

impl Places {
    pub fn new(options: ObjectOptions) -> Self {
        Self { options, open: Mutex::default() }
    }

    /// The place at a URL such as `s3://papers/idp` or `file:///srv/idp`.
    pub fn open(&self, url: &str) -> Result<Shelf, BlobError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = open.get(url) {
            return Ok(known.clone());
        }
        let shelf = Shelf::connect(url, &self.options)?;
        open.insert(url.to_owned(), shelf.clone());
        Ok(shelf)
    }
}

/// Waits in a step for something outside.
pub(super) fn wait<T: Send + 'static>(asked: impl Future<Output = T> + Send + 'static) -> Result<T, StepError> {
    let runtime = RUNTIME.as_ref().map_err(|error| StepError::retry(format!("no thread could be started: {error}")))?;
    runtime
        .block_on(runtime.spawn(asked))
        .map_err(|error| StepError::bug(format!("the work outside broke off: {error}")))
}

/// What a place has refused, as a step's error.
pub(super) fn refusal(error: BlobError) -> StepError {
    StepError::from(EngineError::from(error))
}
