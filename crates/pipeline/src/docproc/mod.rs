//! The `default` workflow: pages are read and classified, grouped into documents, and the fields that the workflow asks
//! for are read from those.
//!
//! | processor | works on | does |
//! |---|---|---|
//! | `splitter` | the submission | opens every file and numbers the pages of all of them |
//! | `ocr` | each page | reads it: its own text, or by OCR where it has none |
//! | `classifier` | each page | says which type of document it is from, how sure that is, and why |
//! | `classification_aggregator` | the submission | consecutive pages of one type become one document |
//! | `extractor` | each document | reads the fields of the workflow's `extraction_schemas` |
//! | `consolidator` | the submission | one result, and what is missing and why |
//!
//! Each takes what the one before it sent and sends it on with its own part, so any of them can be replaced by a program
//! outside that sends the same: what a message lacks is looked for in the results of earlier stages, and a text that
//! another program has read does for a page that we have. How messages look is in `docs/docproc.md`; [`status`] and
//! [`tables`] show a submission as that system's own.

mod aggregator;
mod classifier;
mod consolidator;
mod extractor;
mod message;
mod ocr;
mod pages;
mod schema;
mod splitter;
mod tables;
mod values;

pub use bindery_engine::view::request_status as status;
pub use tables::{TableName, Tables, each_row, tables};

use crate::{consolidate::Consolidator, documents::Knowledge, reading::SharedReaders, stage::erased};
use aggregator::ClassificationAggregator;
use bindery_engine::Registry;
use classifier::TypeClassifier;
use consolidator::RequestResult;
use extractor::SchemaExtractor;
use ocr::Ocr;
use splitter::RequestSplitter;
use std::sync::Arc;

/// The type of a page that nobody has given one.
const UNKNOWN: &str = "unknown";

pub(crate) fn register(registry: &mut Registry, readers: &Arc<SharedReaders>, knowledge: &Arc<Knowledge>) {
    registry.register(erased(RequestSplitter::new(Arc::clone(readers))));
    registry.register(erased(Ocr::new(Arc::clone(readers))));
    registry.register(erased(TypeClassifier::new(Arc::clone(knowledge))));
    registry.register(erased(ClassificationAggregator));
    registry.register(erased(SchemaExtractor::new(Arc::clone(readers), Arc::clone(knowledge))));
    registry.register(erased(Consolidator(RequestResult)));
}
