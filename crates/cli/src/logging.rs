//! The log on stderr.

use crate::{failure::Failure, output};
use bindery_app::env_vars;
use tracing_subscriber::EnvFilter;

/// Logs from now on what the filter lets through.
pub(crate) fn start(filter: &str) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(filter).map_err(|error| {
        Failure::usage(format!("--log or {}: {filter:?} is not a filter: {error}", env_vars::LOG))
            .hint("try error, warn, info or debug")
    })?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(output::LogWriter::default)
        .with_ansi(output::colours())
        .init();
    Ok(())
}
