//! What can be wrong with a definition, and with what is asked of it.

use bindery_engine::EngineError;
use bindery_states::asl::{definition::MAX_BYTES, stepper::TrialError};
use std::io;

/// A definition that cannot be used, or does not have what is asked for.
#[derive(Debug, thiserror::Error)]
pub enum DefinitionError {
    #[error("{name} cannot be read: {error}")]
    Unreadable { name: String, error: io::Error },
    #[error("{name} has more than the {MAX_BYTES} bytes allowed")]
    TooLong { name: String },
    #[error("{name}:{line}: not UTF-8 text")]
    NotUtf8 { name: String, line: usize },
    #[error("{name} is not a state machine that can be run:\n{}", lines.join("\n"))]
    Faults { name: String, lines: Vec<String> },
    /// It calls what is not there.
    #[error("{name}: {error}")]
    NotStored { name: String, error: EngineError },
    #[error("the folder {folder} cannot be read: {error}")]
    FolderUnreadable { folder: String, error: io::Error },
    #[error("the folder {folder} has no definitions")]
    FolderEmpty { folder: String },
    /// A machine has several states.
    #[error("a machine has several states, expected the name of one of them")]
    StateNotNamed { known: Vec<String> },
    #[error("there is no state {name:?}")]
    UnknownState { name: String, known: Vec<String> },
    #[error(transparent)]
    Trial(#[from] TrialError),
    #[error("{name} is not JSON: {error}")]
    NotJson { name: String, error: serde_json::Error },
    #[error("{name}: {message}")]
    History { name: String, message: String },
    #[error("the picture cannot be drawn: {0}")]
    Picture(String),
}
