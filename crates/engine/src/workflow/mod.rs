//! Workflows: YAML files that say which stages a submission passes, in what order, over what, and with which limits.
//!
//! [`Workflow::parse`] turns a text into a checked model or into a [`YamlError`](bindery_yaml::YamlError) that lists every problem with its
//! line, column, path and a hint. Nothing in the model is left to be validated later: names are plain, stage names and
//! routing keys are unique, every join waits for something finer than what it completes. Parsing is pure; only
//! [`load_dir`] and [`load_file`] touch a disk.
//!
//! A running submission is pinned to the version it started with, so the engine keeps the text of each version and
//! parses it again after a restart. The same text always gives the same model.
//!
//! The keys are described for their users in `docs/workflows.md`.

pub mod builtin;
mod check;
mod clash;
#[cfg(test)]
mod key_tests;
pub mod keys;
mod load;
mod model;
mod parse;
mod resolve;
mod result_shape;
mod retention;
mod stage;
#[cfg(test)]
mod tests;
mod unread;

pub use bindery_core::Backoff;
pub use clash::{RoutingClash, routing_clashes};
pub use load::{LoadedWorkflow, load_dir, load_file};
pub use model::{
    Aggregation, CompleteWhen, ExtractionSchema, FieldSchema, FieldType, LimitPer, OnFailed, OnReview, Over, Retention,
    Sla, Stage, StageLimits, StageProcessor, StageRunner, Workflow,
};
pub use resolve::{ResolveError, Resolved, Target};
pub use result_shape::{ResultField, ResultShape, ValueKind};
pub use unread::{UnreadOutput, unread_outputs};
