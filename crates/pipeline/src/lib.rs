//! The processors and workflows that ship with Bindery, from intake to output.
//!
//! | module | what it owns |
//! |---|---|
//! | [`intake`] | files, folders and standard input become verified copies in the blob store |
//! | [`text`] | the `words` workflow: text files are split into pages, their words counted and bound into one index |
//!
//! **On a crash** nothing needs repair. Intake copies bytes before anything points to them, so a crash leaves at most
//! copies that nobody uses; processors keep no state, and what they return counts once.
//!
//! **What wakes it**: the engine's workers.

pub mod intake;
mod media;
pub mod text;

use bindery_engine::Registry;

/// Every processor that comes with Bindery.
pub fn registry() -> Registry {
    let mut registry = Registry::with_builtin();
    registry.register(text::TextSplitter);
    registry.register(text::WordCounter);
    registry.register(text::WordConsolidator);
    registry
}
