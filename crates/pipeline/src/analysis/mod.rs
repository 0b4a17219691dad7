//! The submission as a whole: a stage behind the completion of its documents.
//!
//! ```text
//!  documents ──consolidate──► SubmissionDocumentsCompleteEvent ──analyse──► result with `analysis`,
//!                                       (one commit)                        SubmissionAnalysisCompleteEvent
//! ```
//!
//! | module | what it owns |
//! |---|---|
//! | `analyzer` | the processor `submission_analyzer` |
//! | `papers` | from the documents of a result to what an analysis needs of them |
//! | `chosen` | which checklist a submission is compared with |
//!
//! **On a crash** the stage runs again from the same input. Its result and its event are one commit, so there is one event
//! for each result that is stored, and none without it.

mod analyzer;
mod chosen;
mod papers;

pub(crate) use analyzer::SubmissionAnalyzer;
pub use chosen::{checklist_of, state_checklist};

use bindery_engine::workflow::{Stage, Workflow};

/// The name under which the processor is known.
pub const ANALYZER: &str = "submission_analyzer";

/// The default workflow for submissions with a checklist.
pub const CHECKLIST_WORKFLOW: &str = "checklist";

/// The stage that analyses submissions as a whole, if a workflow has one.
pub fn analysis_stage(workflow: &Workflow) -> Option<&Stage> {
    workflow.stages.iter().find(|stage| stage.processor(ANALYZER).is_some())
}
