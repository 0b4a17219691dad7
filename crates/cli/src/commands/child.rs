//! `bindery child`: the other end of the processes runner. Hidden: only another bindery starts it.

use crate::exit::Exit;
use bindery_app::{Settings, open_blobs_blocking};
use bindery_core::StepError;
use bindery_engine::runner::processes::{Service, serve_with};
use bindery_pipeline::reading::FileService;
use std::sync::Arc;

/// Never touches the store, and prints nothing to stdout: that is the way back to the parent.
pub(crate) fn run(settings: &Settings) -> anyhow::Result<Exit> {
    // Most children only read files, and processors take longer to set up than a page to read.
    let services: [Arc<dyn Service>; 1] = [Arc::new(FileService::default())];
    let registry = || match settings.known_processors() {
        Ok(processors) => Ok(processors.registry().clone()),
        Err(error) => Err(StepError::bug(format!("the child process cannot set up the processors: {error:#}"))),
    };
    serve_with(&services, &registry, &open_blobs_blocking)?;
    Ok(Exit::Ok)
}
