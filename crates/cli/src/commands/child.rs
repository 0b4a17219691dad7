//! `bindery child`: the other end of the processes runner. Hidden: only another bindery starts it.

use crate::{
    config::{Settings, open_blobs},
    exit::Exit,
};
use bindery_engine::runner::processes::serve;

/// Never touches the store, and prints nothing to stdout: that is the way back to the parent.
pub(crate) fn run(settings: &Settings) -> anyhow::Result<Exit> {
    let processors = settings.known_processors()?;
    serve(processors.registry(), &open_blobs)?;
    Ok(Exit::Ok)
}
