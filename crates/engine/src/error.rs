//! What can go wrong when the engine is asked for something.

use crate::workflow::ResolveError;
use bindery_core::StepError;
use bindery_store::{StoreError, blobs::BlobError};
use bindery_yaml::YamlError;

/// The kind of the error of work that waits for space on a disk.
pub const NO_SPACE: &str = "NoSpace";

pub type EngineResult<T> = Result<T, EngineError>;

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Blob(#[from] BlobError),
    #[error(transparent)]
    Workflow(#[from] YamlError),
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    #[error("there is no workflow {name:?}; known are {}", known.join(", "))]
    UnknownWorkflow { name: String, known: Vec<String> },
    #[error("workflow {workflow}: no processor is registered under {}; known are {}", missing.join(", "), known.join(", "))]
    UnknownProcessors { workflow: String, missing: Vec<String>, known: Vec<String> },
    #[error("there is no {0}")]
    NotFound(String),
    #[error("{0}")]
    Invalid(String),
    /// Somebody else was faster, or has it.
    #[error("{0}")]
    Taken(String),
}

/// What a processor's code sees when the engine cannot give it what it asked for: worth another try.
impl From<EngineError> for StepError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Store(error) if error.is_transient() => Self::retry(error.to_string()).named("Store"),
            EngineError::Blob(error) => {
                let kind = if matches!(error, BlobError::NoSpace { .. }) { NO_SPACE } else { "Blob" };
                Self { kind: kind.to_owned(), message: error.to_string(), disposition: error.disposition() }
            }
            other => Self::bug(other.to_string()).named("Engine"),
        }
    }
}
