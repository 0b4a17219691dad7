//! What every client of a service does the same way, wherever in the workspace it is.

pub use super::{failure::megabytes, retry::pause, template::environment};

use bindery_core::StepError;

/// A variable of the environment that is needed and not set: the work waits for it.
pub fn missing_variable(name: &str, needed_by: &str) -> StepError {
    let message = format!("the environment variable {name}, which {needed_by} needs, is not set");
    StepError::park(format!("environment variable {name}"), message).named("MissingVariable")
}
