//! The other end of the processes runner: this program, started by another one to run steps for it.

use crate::{error::AppResult, opening::open_blobs_blocking, settings::Settings};
use bindery_core::StepError;
use bindery_engine::runner::processes::{Service, serve_with};
use bindery_pipeline::reading::FileService;
use std::sync::Arc;

impl Settings {
    /// Serves until the parent ends it. Never touches the store, and writes nothing to stdout but answers.
    pub fn serve_child(&self) -> AppResult<()> {
        // Most children only read files, and processors take longer to set up than a page to read.
        let services: [Arc<dyn Service>; 1] = [Arc::new(FileService::default())];
        let registry = || match self.known_processors() {
            Ok(processors) => Ok(processors.registry().clone()),
            Err(error) => Err(StepError::bug(format!("the child process cannot set up the processors: {error:#}"))),
        };
        Ok(serve_with(&services, &registry, &open_blobs_blocking)?)
    }
}
