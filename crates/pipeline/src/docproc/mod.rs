//! The `default` workflow: pages are read and classified, grouped into documents, and the fields that the workflow asks
//! for are read from those.
//!
//! | processor | works on | does |
//! |---|---|---|
//! | [`RequestSplitter`] | the submission | opens every file and numbers the pages of all of them |
//! | [`Ocr`] | each page | reads it: its own text, or by OCR where it has none |
//! | [`TypeClassifier`] | each page | says which type of document it is from, how sure that is, and why |
//! | [`ClassificationAggregator`] | the submission | consecutive pages of one type become one document |
//! | [`SchemaExtractor`] | each document | reads the fields of the workflow's `extraction_schemas` |
//! | [`RequestConsolidator`] | the submission | one result, and what is missing and why |
//!
//! Each takes what the one before it sent and sends it on with its own part, so any of them can be replaced by a program
//! outside that sends the same: what a message lacks is looked for in the results of earlier stages, and a text that
//! another program has read does for a page that we have. How messages look is in `docs/docproc.md`; [`status`] and
//! [`tables`] show a submission as that system's own.

mod aggregator;
mod classifier;
mod consolidator;
mod extractor;
mod ocr;
mod pages;
mod schema;
mod splitter;
mod tables;
mod values;

pub use aggregator::ClassificationAggregator;
pub use bindery_engine::view::request_status as status;
pub use classifier::TypeClassifier;
pub use consolidator::RequestConsolidator;
pub use extractor::SchemaExtractor;
pub use ocr::Ocr;
pub use splitter::RequestSplitter;
pub use tables::{TableName, Tables, each_row, tables};

use crate::{documents::Knowledge, reading::ReadingRoom};
use bindery_engine::Registry;
use std::sync::Arc;

/// The type of a page that nobody has given one.
const UNKNOWN: &str = "unknown";

pub(crate) fn register(registry: &mut Registry, room: &Arc<ReadingRoom>, knowledge: &Arc<Knowledge>) {
    registry.register(RequestSplitter::new(Arc::clone(room)));
    registry.register(Ocr::new(Arc::clone(room)));
    registry.register(TypeClassifier::new(Arc::clone(knowledge)));
    registry.register(ClassificationAggregator);
    registry.register(SchemaExtractor::new(Arc::clone(room), Arc::clone(knowledge)));
    registry.register(RequestConsolidator);
}
