//! `bindery child`: the other end of the processes runner. Hidden: only another bindery starts it.

use crate::exit::Exit;
use bindery_app::Settings;

/// Never touches the store, and prints nothing to stdout: that is the way back to the parent.
pub(crate) fn run(settings: &Settings) -> anyhow::Result<Exit> {
    settings.serve_child()?;
    Ok(Exit::Ok)
}
