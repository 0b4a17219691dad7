//! State machines as people hand them in and ask about them.
//!
//! | file | what it does |
//! |---|---|
//! | `definition_file` | definitions from files in JSON or YAML, with the line and column of every fault |
//! | `checks` | every fault of every definition in files and folders |
//! | `stored` | definitions stored, executions started and described |
//! | `trial` | one state alone |
//! | `picture` | a machine drawn, with the way that an execution took |
//! | `error` | what can be wrong |
//!
//! What answers are made of comes from the rooms below: definitions and recorded runs from the state language, executions
//! from the store.

mod checks;
mod definition_file;
mod error;
mod picture;
mod stored;
mod trial;

pub use bindery_engine::machines::Answer;
pub use bindery_states::asl::{
    definition::{Diagnostic, Severity},
    replay::{Case, Report, Summary, Tier, Verdict, replay_case},
    stepper::{Answer as TrialAnswer, Detail, Trial, TrialError, TrialStatus},
};
pub use bindery_store::executions::{ExecutionFilter, ExecutionStatus, StoredExecution};
pub use checks::{Checked, check_files};
pub use definition_file::DefinitionFile;
use definition_file::load_definition;
pub use error::DefinitionError;
pub use picture::{Picture, PictureFormat};
pub use stored::{Start, describe_execution};
pub use trial::{TrialResult, try_one_state};
