//! The processors and workflows that ship with Bindery, from intake to output.
//!
//! | module | what it owns |
//! |---|---|
//! | [`analysis`] | the `checklist` workflow: what a submission as a whole lacks, and what contradicts in it |
//! | [`intake`] | files, folders and standard input become verified copies in the blob store |
//! | `collect` | a last stage for workflows of one's own: what all stages have found as one result |
//! | [`docproc`] | the `default` workflow: the same in the components of a message-driven system |
//! | [`documents`] | the `documents` workflow: pages are classified, put together to documents, and their fields read |
//! | [`external_tasks`] | tasks of state machines that somebody else does: the `question` workflow, and those of queues |
//! | [`functions`] | what the tasks of state machines can call |
//! | [`idp`] | the `idp` workflow: files are taken apart, read and bound as JSON under keys that others look for |
//! | [`ingestion`] | texts are cut into chunks and indexed, so that pages are found by their words |
//! | [`output`] | the last stage: what was found is posted to a program outside |
//! | [`parsers`] | the `parsers` workflows: several parsers read each file side by side |
//! | [`reading`] | the `read` workflow: any files are read page by page and bound as Markdown and JSON |
//! | `text` | the `words` workflow: text files are split into pages, their words counted and bound into one index |
//!
//! Their stages are one set: `stage` has the trait and the adapter onto the engine, `borders` the types that pass from one
//! to the next, `consolidate` the last stage of each. A value of JSON is looked at where a seed's names are written, and
//! nowhere else; a test keeps it so.
//!
//! **On a crash** nothing needs repair. Intake copies bytes before anything points to them, so a crash leaves at most
//! copies that nobody uses; processors keep no state, and what they return counts once.
//!
//! **What wakes it**: the engine's workers.

pub mod analysis;
mod borders;
mod collect;
mod consolidate;
pub mod docproc;
pub mod documents;
pub mod external_tasks;
pub mod functions;
pub mod http;
pub mod idp;
pub mod ingestion;
pub mod intake;
pub mod output;
pub mod parsers;
pub mod reading;
mod results;
mod settings;
mod stage;
mod text;
pub mod workflows;

use bindery_engine::Registry;
use std::sync::Arc;

/// What happens to files of which nobody says what should.
pub const DEFAULT_WORKFLOW: &str = "documents";

/// Every processor that comes with Bindery, with the types of documents that do.
pub fn registry() -> Registry {
    registry_with(documents::Knowledge::shipped())
}

/// The same, with what the user knows of documents.
pub fn registry_with(knowledge: documents::Knowledge) -> Registry {
    let mut registry = Registry::with_builtin();
    let readers = Arc::<reading::SharedReaders>::default();
    reading::register(&mut registry, &readers);
    let knowledge = Arc::new(knowledge);
    documents::register(&mut registry, &readers, &knowledge);
    docproc::register(&mut registry, &readers, &knowledge);
    external_tasks::register(&mut registry);
    idp::register(&mut registry, &readers, &Arc::default());
    parsers::register(&mut registry, &readers);
    registry.register(stage::erased(analysis::SubmissionAnalyzer));
    registry.register(stage::erased(consolidate::Consolidator(collect::Collected)));
    registry.register(output::output(http::Environment::default()));
    text::register(&mut registry);
    workflows::register(&mut registry);
    registry
}
