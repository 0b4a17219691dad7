//! How submissions stand, and the tables that seeds know them by.

pub use bindery_engine::view::{AggregationStates, DocumentStates, progress, request_summary, submission_state};
pub use bindery_pipeline::docproc::{TableName, each_row};
pub use bindery_store::query::SubmissionFilter;
